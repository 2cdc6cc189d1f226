"""Reading a TOML file of claim tables: whatever is wrong with the file comes back as one InputError."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, BinaryIO

from .. import InputError

MAXIMUM_BYTES = 1_000_000


def read_tables(path: str | Path) -> dict[str, Any]:
    """The tables of a TOML file of at most 1 MB, UTF-8; its decimal numbers remember how they were written."""
    return _parsed(str(path), _content(Path(path)))


def read_stream(stream: BinaryIO, name: str = "-") -> dict[str, Any]:
    """The same of a stream, such as standard input."""
    content = stream.read(MAXIMUM_BYTES + 1)
    if len(content) > MAXIMUM_BYTES:
        raise _too_large(name)
    return _parsed(name, content)


def _content(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise _bad(str(path), "a TOML file, not a directory", "is a folder; name a claim file in it")
        if path.exists() and not path.is_file():  # to open a named pipe would wait for somebody to write into it
            raise _bad(
                str(path), "a regular file, not a pipe or a device", "is a pipe or a device; a claim is a regular file"
            )
        with path.open("rb") as stream:
            content = stream.read(MAXIMUM_BYTES + 1)
    except InputError:  # which is a ValueError, too
        raise
    except FileNotFoundError:
        raise _bad(str(path), "an existing TOML file", "does not exist") from None
    except (OSError, ValueError) as problem:  # ValueError: a path with a null byte
        raise _bad(str(path), "a readable TOML file", f"cannot be read: {problem}") from None
    if len(content) > MAXIMUM_BYTES:
        raise _too_large(str(path))
    return content


class _Written(float):
    """A number that remembers how it was written."""

    def __new__(cls, text: str) -> _Written:
        number = super().__new__(cls, text)
        number.text = text
        return number

    text: str


def _parsed(file: str, content: bytes) -> dict[str, Any]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise _bad(file, "UTF-8 text", f"is not UTF-8 text: byte {problem.start} cannot be read") from None
    if not text.strip():
        raise _bad(file, "a TOML file with a claim", "is empty; it should contain a claim (`dpcert new` writes one)")
    try:
        return tomllib.loads(text, parse_float=_Written)
    except RecursionError:
        raise _bad(file, "valid TOML", "is not valid TOML: it is nested hundreds of levels deep") from None
    except ValueError as problem:  # TOMLDecodeError is one; so is a number with too many digits
        reason = " ".join(str(problem).split())[:160]
        why = f"is not valid TOML: {reason}. To see what a claim looks like, run `dpcert new`"
        raise _bad(file, "valid TOML", why) from None


def _bad(file: str, expected: str, why: str) -> InputError:
    return InputError("file", file, expected, f"{file} {why}.")


def _too_large(file: str) -> InputError:
    return _bad(file, f"a TOML file of at most {MAXIMUM_BYTES} bytes", f"has more than {MAXIMUM_BYTES:,} bytes")
