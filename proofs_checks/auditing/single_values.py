"""What single values become: numbers, and codes that stand for texts, each at its path in the output.

Of an object it is what it shows of itself: its attributes, or a text that is not an address in memory.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import math
import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats

EXACT = 2**53
"""Whole numbers up to this are floats."""
WORDS = "the words of "
"""Begins the name of what is left of a text without its numbers."""

_LARGEST = float(np.finfo(np.float64).max)


class Block(NamedTuple):
    """values: one number, or an array of them in the shape of the part. text: what a code stands for."""

    path: str
    values: float | Floats
    text: str | None = None


def code(path: str, text: str) -> Block:
    """A number below 2^53 for a text; a collision costs power and never validity."""
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
    return Block(path, float(int.from_bytes(digest, "big") >> 11), text)


def whole_number(value: int, path: str) -> Iterator[Block]:
    """One number up to 2^53; beyond it the nearest one, or (beyond floats) the largest with a logarithm, and a text."""
    if abs(value) <= EXACT:
        yield Block(path, float(value))
        return
    try:
        yield Block(path, float(value))
    except OverflowError:
        sign = 1 if value > 0 else -1
        yield Block(path, sign * _LARGEST)
        yield Block(f"log2 of {path}", sign * math.log2(abs(value)))
    yield code(f"{path} to the last digit", hex(value))


def moment(value: Any, path: str) -> Iterator[Block]:
    """Dates and times, by day, second of the day and microsecond."""
    if isinstance(value, dt.timedelta):
        yield Block(path, float(value.days * 86400 + value.seconds))
        yield Block(f"microseconds of {path}", float(value.microseconds))
        return
    if isinstance(value, dt.date):
        yield Block(f"the day of {path}", float(value.toordinal()))
    if isinstance(value, dt.datetime | dt.time):
        yield Block(f"the second of {path}", float(value.hour * 3600 + value.minute * 60 + value.second))
        yield Block(f"microseconds of {path}", float(value.microsecond))
        yield code(f"the time zone of {path}", str(value.tzinfo))


def exact(value: Decimal | Fraction, path: str) -> Iterator[Block]:
    """The nearest number, and the value to the last digit as text."""
    try:
        yield Block(path, float(value))
    except OverflowError:
        yield Block(path, _LARGEST if value > 0 else -_LARGEST)
    yield code(f"{path} to the last digit", str(value))


def of_bytes(value: bytes, path: str) -> Iterator[Block]:
    """The bytes, as a whole and one by one."""
    content = bytes(value)
    yield code(path, repr(content))
    yield Block(f"len({path})", float(len(content)))
    yield Block(path, np.frombuffer(content, np.uint8).astype(np.float64))


_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{4,}")


def attributes(output: object) -> list[str]:
    if getattr(output, "__dict__", None):
        return sorted(vars(output))
    if hasattr(output, "__attrs_attrs__") or shows_nothing(output):
        slots = (name for kind in type(output).__mro__ for name in _listed(getattr(kind, "__slots__", ())))
        return sorted({name for name in slots if hasattr(output, name) and name != "__weakref__"})
    return []


def _listed(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def shows_nothing(output: object) -> bool:
    """Whether an object's repr is its address."""
    shown: object = type(output).__repr__
    return shown is object.__repr__


def own_text(output: object, path: str) -> str:
    """The repr, which must be the thing's own: an address would tell two equal outputs apart."""
    text = repr(output)
    if shows_nothing(output) or _ADDRESS.search(text):
        raise InputError(
            "mechanism",
            type(output).__name__,
            f"outputs with fields, or with a repr of their own: that of {path} is an address in memory",
        )
    return text
