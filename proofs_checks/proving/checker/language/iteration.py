"""What loops see: as Python, one item after the other, when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..refusals import Refused
from .arithmetic import named
from .arrays import rows
from .values import Array, Ranks


def iterated(value: Any) -> Iterator[Any]:
    """iter(value)."""
    if isinstance(value, Array):
        return rows(value)
    if isinstance(value, set | frozenset):
        raise Refused("a loop over a set, which has no order: write sorted(...)")
    if isinstance(value, list | tuple | range | str | dict | Ranks | Iterator):
        return iter(value)
    raise Refused(f"a loop over a {named(value)}")


def several(value: Any) -> Any:
    """What a list is extended by: by itself as it was before; by an iterator item after item."""
    items = iterated(value)
    return items if isinstance(value, Iterator) else list(items)
