"""Arrays that numpy makes, and those whose cells it puts elsewhere."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..forms import Form
from ..refusals import Refused
from . import records
from .arithmetic import binary
from .arrays import (
    array_of,
    cast,
    cell_by_cell,
    filled,
    held,
    iterated,
    kind_named,
    kind_of,
    made,
    of_cells,
    raising,
    shape_of,
)
from .values import KINDS, Array, Unknown, Vector, of_records, symbolic

NUMBERS: dict[str, Callable[[Any], Any]] = {"b": bool, "i": int, "w": int, "f": float}
"""A constant as a cell of an array of that kind."""


def empty(shape: Any, dtype: Any = float) -> Array:
    """numpy.empty: what is in it is not known before it is written."""
    cells = np.empty(shape_of(shape), object)
    for where in np.ndindex(cells.shape):
        cells[where] = Unknown("a cell that was not set")
    return Array(cells, kind_named(dtype) or "f")


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Array:
    return filled(shape_of(shape), fill_value, kind_named(dtype) or kind_of(fill_value))


def zeros(value: int) -> Callable[..., Array]:
    """numpy.zeros and ones."""

    def made_of(shape: Any, dtype: Any = float) -> Any:
        kind = kind_named(dtype) or "f"
        if records.has_dimension(shape) and not value and kind == "f":
            return records.zeros(shape)
        return filled(shape_of(shape), NUMBERS[kind](value), kind)

    return made_of


def full_like(a: Any, fill_value: Any, dtype: Any = None) -> Array:
    array = held(a)
    kind = kind_named(dtype) or array.kind
    return cell_by_cell(lambda _: cast(fill_value, kind), array.cells, kind)


def like(value: int) -> Callable[..., Array]:
    """numpy.zeros_like and ones_like: of the kind of the array, where that is known."""

    def made_of(a: Any, dtype: Any = None) -> Array:
        if isinstance(a, Vector) and not value and dtype is None:
            return Vector(Form())  # type: ignore[return-value]
        return full_like(a, NUMBERS.get(kind_named(dtype) or held(a).kind, float)(value), dtype)

    return made_of


def arange(*ends: Any, dtype: Any = None) -> Array:
    if not all(type(end) is int for end in ends):
        raise Refused("np.arange of what is no integer: write np.array and numbers")
    return array_of(range(*ends), kind_named(dtype) or "i")


def linspace(start: Any, stop: Any, num: int = 50) -> Array:
    if type(num) is not int or num < 2 or symbolic(start) or symbolic(stop):
        raise Refused("np.linspace with these ends")
    step = binary(operator.truediv, binary(operator.sub, stop, start), num - 1)
    return of_cells([binary(operator.add, start, binary(operator.mul, step, i)) for i in range(num)], None, "f")


def rearranged(method: str) -> Callable[..., Array]:
    """A method of numpy's arrays that puts cells elsewhere, and asks nothing of them: numpy itself does it."""

    def applied(value: Any, *places: Any) -> Array:
        listed = [place if isinstance(place, tuple | list) else [place] for place in places]
        if not all(type(each) is int for place in listed for each in place):
            raise Refused("places or a shape that are not made of integers")
        array = held(value)
        return Array(raising(getattr(array.cells, method), *places), array.kind)

    return applied


def combined(function: Callable[..., Any]) -> Callable[..., Any]:
    """numpy's functions that make one array of several: numpy itself does it with their cells."""

    def applied(arrays: Any, **axis: Any) -> Any:
        parts = [made(part) for part in iterated(arrays)]
        if any(of_records(part) for part in parts):
            if axis.get("axis", 0) != 0:
                raise Refused("records put together along another axis than the first")
            return array_of([row for part in parts for row in iterated(part)] if function is np.concatenate else parts)
        if not all(type(each) is int for each in axis.values()):
            raise Refused("an axis that is not one integer")
        parts = [held(part) for part in parts]
        cells = raising(lambda: function([part.cells for part in parts], **axis))
        kind = max((part.kind for part in parts), key=KINDS.index)
        return cell_by_cell(lambda cell: cast(cell, kind), cells, kind)

    if function is np.vstack:
        return lambda tup: applied(tup)
    return lambda arrays, axis=0: applied(arrays, axis=axis)


def outer_shape(value: Any) -> tuple[Any, ...]:
    """numpy.shape."""
    array = made(value)
    if of_records(array):
        return records.shape(array)
    return tuple(array.cells.shape) if isinstance(array, Array) else ()
