"""Files that a user names: regular ones only, whole, and every problem as one InputError."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from .validate import InputError


def content(field: str, path: str | os.PathLike[str], most: int | None = None) -> bytes:
    """The bytes of a regular file, of at most so many. To open a pipe would wait for somebody to write into it.

    Raises InputError, under the field's name, for anything else and for what may not be read.
    """
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise InputError(field, str(path), "a file, not a folder")
        if not stat.S_ISREG(mode):
            raise InputError(field, str(path), "a regular file, not a pipe or a device")
        with open(path, "rb") as stream:
            found = stream.read() if most is None else stream.read(most + 1)
    except InputError:  # which is a ValueError, too
        raise
    except FileNotFoundError:
        named = f"{field} {path}" if field.startswith("-") else path
        raise InputError(field, str(path), "a file that exists", f"{named} does not exist.") from None
    except (OSError, ValueError) as problem:  # ValueError: a path with a null byte
        raise InputError(field, str(path), f"a file that can be read ({reason(problem)})") from None
    if most is not None and len(found) > most:
        raise InputError(field, str(path), f"a file of at most {most} bytes")
    return found


def is_file(path: Path) -> bool:
    """Whether there is such a file. Raises OSError where that may not be known: Path.is_file says no there, or raises
    it, by the version of Python.
    """
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def place_for(field: str, path: Path) -> None:
    """InputError, before any work, where no file could be written there: in no folder that exists, or one itself."""
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(field, str(path), "a file in a folder that exists")


def place_for_new(field: str, path: Path) -> None:
    """The same of a file that is not there yet."""
    if path.exists():
        raise InputError(field, str(path), "a new file: this one exists")
    place_for(field, path)


def reason(problem: Exception) -> str:
    """What the system says, without the path."""
    return (problem.strerror or str(problem)) if isinstance(problem, OSError) else str(problem)


def files_below(
    field: str,
    folder: str | os.PathLike[str],
    endings: tuple[str, ...],
    enters: Callable[[str], bool] = lambda name: True,
    unread: Callable[[InputError], None] | None = None,
) -> Iterator[Path]:
    """The files with these endings in the folder and in its folders whose names it enters, by name, links not followed.

    unread: called for each folder that may not be read; without it that is raised.
    """

    def refused(problem: OSError) -> None:
        found = InputError(field, str(problem.filename), f"a folder that can be read ({reason(problem)})")
        if unread is None:
            raise found from None
        unread(found)

    for place, names, files in os.walk(folder, onerror=refused, followlinks=False):
        names[:] = sorted(filter(enters, names))
        yield from (Path(place) / name for name in sorted(files) if name.endswith(endings))
