"""The files that an attestation is about: their names and digests, read in pieces."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..mechanisms import InputError


def digests(paths: Iterable[Path]) -> dict[str, str]:
    """Name -> SHA-256 of every file; of a folder every file in it, by its path within the folder's own name.

    Raises InputError for what is no regular file (a link may point elsewhere tomorrow), for a file that cannot be read,
    and for two of the same name.
    """
    found: dict[str, str] = {}
    for path in paths:
        for name, file in _files(path):
            if name in found:
                raise InputError("--subject", str(file), f"files of different names: there is another {name!r}")
            found[name] = digest_of(file)
    if not found:
        raise InputError("--subject", "(none)", "at least one file")
    return found


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, however large."""
    try:
        with path.open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as problem:
        raise InputError("--subject", str(path), f"a readable file ({problem.strerror})") from None


def _files(path: Path) -> Iterator[tuple[str, Path]]:
    if path.is_symlink():
        raise InputError("--subject", str(path), "the file itself, not a symbolic link: a link may change its target")
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.is_symlink() or not (file.is_dir() or file.is_file()):
                raise InputError("--subject", str(file), "regular files and folders only, no links, pipes or devices")
            if file.is_file():
                yield f"{path.resolve().name}/{file.relative_to(path).as_posix()}", file
    elif path.is_file():
        yield path.name, path
    elif path.exists():
        raise InputError("--subject", str(path), "a regular file or a folder, not a pipe or a device")
    else:
        raise InputError("--subject", str(path), "a file or folder that exists")
