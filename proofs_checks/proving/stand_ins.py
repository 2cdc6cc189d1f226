"""What float, int, str and numpy.ndarray mean inside the user's function: symbols pass through, or are refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .arrays import Symbols, symbolic
from .linear import Condition, Linear
from .unsupported import unsupported


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


class _StrMeta(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, str)

    def __call__(cls, *arguments: Any, **options: Any) -> str:
        if any(symbolic(value) for value in arguments):  # str(array, "latin1") reads the array's memory
            raise unsupported("the text of a value that depends on the data or on noise")
        return str(*arguments, **options)

    def __getattr__(cls, name: str) -> Any:
        return getattr(str, name)

    def __eq__(cls, other: object) -> bool:
        return other is str or other is cls

    def __hash__(cls) -> int:
        return hash(str)


class Str(metaclass=_StrMeta):
    """str."""


class _ArrayMeta(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, np.ndarray)

    def __call__(cls, *_: Any, **__: Any) -> Any:
        raise unsupported("numpy.ndarray() (use numpy.array)")


class Array(metaclass=_ArrayMeta):
    """numpy.ndarray."""


def of_numpy(kind: Any) -> Any:
    """The type that numpy knows, for one of these."""
    return float if kind is Float else int if kind is Int else kind


def _lone(value: Any) -> bool:
    return isinstance(value, Symbols) and value.size == 1
