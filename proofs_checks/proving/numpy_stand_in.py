"""numpy as the user's function finds it: arrays made of symbols are arrays of symbols, and new ones can hold them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .arrays import Symbols, symbolic
from .linear import Condition, Linear
from .numpy_names import FUNCTIONS, NUMBERS
from .stand_ins import Array, Float, of_numpy
from .unsupported import refused, unsupported


class _Numpy:
    """numpy, except that arrays made of symbols are arrays of symbols, and new ones can hold them."""

    def __getattr__(self, name: str) -> Any:
        if name in _MADE:
            return _MADE[name]
        found = getattr(np, name)
        if name == "random":
            return _Random()
        if name in FUNCTIONS or isinstance(found, np.ufunc):
            return _passing(found)
        number = isinstance(found, type) and issubclass(found, np.number | np.bool_)
        if not number and name not in NUMBERS:
            raise unsupported(f"numpy.{name} is not supported")
        return found


class _Random:
    """numpy.random: its types for annotations; anything that draws is refused."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(np.random, name)
        return found if isinstance(found, type) and name == "Generator" else refused(f"numpy.random.{name}")


def _passing(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def passed(*arguments: Any, **options: Any) -> Any:
        if any(symbolic(a) for a in (*arguments, *options.values())):
            arguments = tuple(_made(a) if isinstance(a, list | tuple) and symbolic(a) else a for a in arguments)
            options.pop("dtype", None)
            result = function(*arguments, **options)
            plain = isinstance(result, np.ndarray) and result.dtype == object and not isinstance(result, Symbols)
            return result.view(Symbols) if plain else result
        return function(*map(of_numpy, arguments), **{name: of_numpy(value) for name, value in options.items()})

    return passed


def _itself(value: Any, dtype: Any = None, **_: Any) -> Any:
    """numpy.asarray: an array is not copied."""
    return value if isinstance(value, Symbols) and dtype in (None, Float) else _made(value, dtype)


def _made(value: Any, dtype: Any = None, copy: Any = True, **_: Any) -> Any:
    """numpy.array for what may hold symbols."""
    if not copy:
        raise unsupported("numpy.array with copy=")
    if isinstance(value, Symbols):
        return value.copy() if dtype is None else value.astype(dtype)
    if not symbolic(value) and not (isinstance(value, list | tuple) and any(symbolic(v) for v in value)):
        return np.array(value) if dtype is None or dtype is Float else np.array(value, of_numpy(dtype))
    if isinstance(value, Linear | Condition):
        return value
    array = np.array([list(row) if isinstance(row, np.ndarray) else row for row in value], object).view(Symbols)
    return array if dtype is None else array.astype(dtype)


def _filled(value: Any) -> Callable[..., Any]:
    def filled(shape: Any, dtype: Any = float, **_: Any) -> Any:
        if dtype in (bool, int, np.int64, np.bool_):
            return np.full(shape, value, of_numpy(dtype))
        return np.full(shape, value, object).view(Symbols)

    return filled


def _filled_like(value: Any) -> Callable[..., Any]:
    return lambda other, dtype=float, **_: _filled(value)(np.shape(np.asarray(other, object)), dtype)


def _full(shape: Any, value: Any, dtype: Any = None, **_: Any) -> Any:
    if dtype in (bool, int, np.int64, np.bool_) or (dtype is None and isinstance(value, int)):
        return np.full(shape, value, of_numpy(dtype))
    array = np.empty(shape, object)
    array[...] = value
    return array.view(Symbols)


_MADE: dict[str, Any] = {
    "array": _made,
    "asarray": _itself,
    "asanyarray": _itself,
    "ascontiguousarray": _itself,
    "float64": Float,
    "ndarray": Array,
    "zeros": _filled(0.0),
    "ones": _filled(1.0),
    "empty": _filled(0.0),
    "zeros_like": _filled_like(0.0),
    "ones_like": _filled_like(1.0),
    "empty_like": _filled_like(0.0),
    "full": _full,
    "mean": lambda a, axis=None, **options: (_as_symbols(a) if symbolic(a) else np.asarray(a)).mean(axis, **options),
    "average": lambda a, axis=None, **options: _MADE["mean"](a, axis, **options),
}


def _as_symbols(value: Any) -> Any:
    return value if isinstance(value, Symbols) else _made(value)


NUMPY = _Numpy()
