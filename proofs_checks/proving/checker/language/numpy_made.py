"""Arrays that numpy makes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..forms import Form
from ..refusals import Refused
from . import records
from .arithmetic import binary
from .arrays import array_of, cast, full, kind_named, of_cells, shape_of
from .iteration import iterated
from .numpy_cells import made
from .values import KINDS, Array, Unknown, Vector, of_records, symbolic


def empty(shape: Any, dtype: Any = float) -> Array:
    """numpy.empty: what is in it is not known before it is written."""
    made_cells = np.empty(shape_of(shape), object)
    for where in np.ndindex(made_cells.shape):
        made_cells[where] = Unknown("a cell that was not set")
    return Array(made_cells, kind_named(dtype) or "f")


def zeros(value: Any) -> Callable[..., Array]:
    def made_of(shape: Any, dtype: Any = float) -> Any:
        if records.has_dimension(shape) and not value and kind_named(dtype) == "f":
            return records.zeros(shape)
        return full(shape, bool(value) if _bool(dtype) else value, dtype)

    return made_of


def _bool(dtype: Any) -> bool:
    return kind_named(dtype) == "b"


def like(value: float) -> Callable[..., Array]:
    """numpy.zeros_like and ones_like: of the kind of the array, where that is known."""

    def filled(model: Any, dtype: Any = None) -> Array:
        held = made(model)
        if isinstance(held, Vector) and not value and dtype is None:
            return Vector(Form())  # type: ignore[return-value]
        kind = kind_named(dtype) or held.kind
        cell = cast(bool(value) if kind == "b" else int(value), kind) if kind != "f" else float(value)
        return of_cells([cell] * held.cells.size, held.cells.shape, kind)

    return filled


def full_like(model: Any, value: Any, dtype: Any = None) -> Array:
    held = made(model)
    kind = kind_named(dtype) or held.kind
    return of_cells([value] * held.cells.size, held.cells.shape, kind)


def arange(*ends: Any, dtype: Any = None) -> Array:
    if not all(type(end) is int for end in ends):
        raise Refused("np.arange of what is no integer: write np.array and numbers")
    return array_of(range(*ends), kind_named(dtype) or "i")


def linspace(start: Any, stop: Any, num: int = 50) -> Array:
    if type(num) is not int or num < 2 or symbolic(start) or symbolic(stop):
        raise Refused("np.linspace with these ends")
    step = binary(operator.truediv, binary(operator.sub, stop, start), num - 1)
    return of_cells([binary(operator.add, start, binary(operator.mul, step, i)) for i in range(num)], None, "f")


def concatenate(values: Any, axis: Any = 0) -> Array:
    parts = [made(part) for part in iterated(values)]
    if axis != 0 or any(part.cells.ndim != 1 for part in parts):
        raise Refused("np.concatenate of arrays with more than one axis")
    kind = max((part.kind for part in parts), key=KINDS.index)
    return of_cells([cell for part in parts for cell in part.cells.tolist()], None, kind)


def stack(values: Any, axis: Any = 0) -> Array:
    if axis != 0:
        raise Refused("np.stack along another axis than the first")
    return array_of(list(iterated(values)))


def repeated(value: Any, repeats: int) -> Array:
    held = made(value) if not symbolic(value) and isinstance(made(value), Array) else of_cells([value])
    if type(repeats) is not int:
        raise Refused("np.repeat by what is no integer")
    return of_cells([cell for cell in held.cells.ravel().tolist() for _ in range(repeats)], None, held.kind)


def outer_shape(value: Any) -> tuple[Any, ...]:
    if of_records(made(value)):
        return records.shape(made(value))
    return tuple(made(value).cells.shape) if isinstance(made(value), Array) else ()
