"""What an object shows of itself: its attributes, or a text that is not an address in memory."""

from __future__ import annotations

import re
from typing import Any

from ...mechanisms import InputError

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
