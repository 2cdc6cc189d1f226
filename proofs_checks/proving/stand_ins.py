"""What float and int mean inside the user's function: symbols pass through them."""

from __future__ import annotations

import math
from typing import Any

from .arrays import Symbols
from .linear import Condition, Linear


class _FloatMeta(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, float | Linear)

    def __call__(cls, value: Any = 0.0) -> Any:
        return Linear.of(value) if isinstance(value, Linear | Condition) or _lone(value) else float(value)

    def __eq__(cls, other: object) -> bool:
        return other is float or other is cls

    def __hash__(cls) -> int:
        return hash(float)


class Float(metaclass=_FloatMeta):
    """float."""

    fromhex = float.fromhex


class _IntMeta(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, int)

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        if len(arguments) == 1 and not options and (isinstance(arguments[0], Linear) or _lone(arguments[0])):
            return math.trunc(Linear.of(arguments[0]))
        return int(*arguments, **options)

    def __eq__(cls, other: object) -> bool:
        return other is int or other is cls

    def __hash__(cls) -> int:
        return hash(int)


class Int(metaclass=_IntMeta):
    """int: of what is whole whatever the data, that itself."""

    from_bytes = int.from_bytes


def of_numpy(kind: Any) -> Any:
    """The type that numpy knows, for one of these."""
    return float if kind is Float else int if kind is Int else kind


def _lone(value: Any) -> bool:
    return isinstance(value, Symbols) and value.size == 1
