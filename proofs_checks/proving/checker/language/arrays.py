"""numpy's arrays of symbols: made, indexed, written to, and reduced along axes."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, ValuesView
from typing import Any

import numpy as np

from ..current_run import tracer
from ..forms import Form
from ..refusals import Raises, Refused
from . import records
from .arithmetic import add, as_number, binary, boxed, truth
from .values import (
    KINDS,
    Array,
    Ranks,
    Total,
    Uniform,
    Vector,
    Weight,
    is_number,
    is_truth,
    named,
    of_records,
    symbolic,
)

VIEWS: tuple[type, ...] = (KeysView, ValuesView, ItemsView)
"""Of dicts: they show what becomes of these."""
TYPES: dict[Any, str] = {bool: "b", int: "i", float: "f", np.bool_: "b", np.int64: "i", np.float64: "f"}


def kind_of(value: Any) -> str:
    """Of what kind numpy makes the value a cell."""
    if isinstance(value, Vector):
        return "v"
    if is_truth(value):
        return "b"
    if isinstance(value, int):
        return "i"
    if isinstance(value, Form):
        return "w" if tracer().is_whole(value) else "f"
    if isinstance(value, float | Uniform | Weight | Total):
        return "f"
    raise Refused(f"a {named(value)} in an array")


def kind_named(dtype: Any) -> str | None:
    """The kind that a dtype is."""
    from .values import Native

    if dtype is None:
        return None
    stated = dtype.source if isinstance(dtype, Native) else dtype
    if isinstance(stated, str):
        stated = {"float": float, "int": int, "bool": bool, "float64": float, "int64": int}.get(stated)
    if not isinstance(stated, type) or stated not in TYPES:
        raise Refused("a dtype other than float, int or bool")
    return TYPES[stated]


def cast(value: Any, kind: str) -> Any:
    """The value as a cell of an array of that kind."""
    if kind == "v":
        if not isinstance(value, Vector):
            raise Refused("a number in an array of records")
        return Vector(value.form, True)
    if kind == "b":
        if not is_truth(value):
            raise Refused("a number in an array of truth values")
        return value
    if not (is_number(value) or isinstance(value, Uniform | Weight | Total)):
        raise Refused(f"a {named(value)} in an array of numbers")
    value = as_number(value)
    if kind == "f":
        return float(value) if isinstance(value, int) else value
    if isinstance(value, float) or (isinstance(value, Form) and not tracer().is_whole(value)):
        raise Refused("a number that need not be whole in an array of integers, which keeps no fractions")
    return value


def of_cells(cells: Iterable[Any], shape: tuple[int, ...] | None = None, kind: str | None = None) -> Array:
    """An array of these cells, of the kind that numpy gives it."""
    listed = list(cells)
    kind = kind or max((kind_of(cell) for cell in listed), key=KINDS.index, default="f")
    held = np.empty(len(listed), object)
    for place, cell in enumerate(listed):
        held[place] = cast(cell, kind)
    return Array(held.reshape(shape if shape is not None else (len(listed),)), kind)


def array_of(value: Any, kind: str | None = None) -> Array:
    """numpy.array(value): a copy."""
    if isinstance(value, Ranks):
        return of_cells(value.places(), None, kind or "i")
    if isinstance(value, Array):
        return converted(value, kind or value.kind)
    if isinstance(value, Vector):
        return Vector(value.form)  # type: ignore[return-value]
    if isinstance(value, list | tuple | range):
        if any(of_records(row) for row in value):
            return records.array(list(value))
        rows = [array_of(row) for row in value]
        if any(row.kind == "v" for row in rows):
            raise Refused("an array of arrays of records")
        if len({row.cells.shape for row in rows}) > 1:
            raise Raises("the function raises ValueError: rows of different lengths")
        shape = (len(rows), *(rows[0].cells.shape if rows else ()))
        kinds = [row.kind for row in rows]
        return of_cells(
            [c for row in rows for c in row.cells.ravel().tolist()],
            shape,
            kind or max(kinds, key=KINDS.index, default="f"),
        )
    return Array(boxed(cast(value, kind or kind_of(value))), kind or kind_of(value))


def converted(value: Array, kind: str) -> Array:
    """A copy of another kind: integers that are no whole numbers are cut off."""
    from .functions import whole

    def one(cell: Any) -> Any:
        if kind in "iw" and value.kind == "f":
            cell = whole(cell)
        return cast(truth(cell) if kind == "b" and value.kind != "b" else cell, kind)

    return cell_by_cell(one, value.cells, kind)


def cell_by_cell(function: Callable[[Any], Any], cells: np.ndarray[Any, Any], kind: str) -> Array:
    """A new array, which lies in memory as numpy's would: whether a part of it is a view hangs on that."""
    made = np.empty_like(cells)
    for where in np.ndindex(cells.shape):
        made[where] = function(cells[where])
    return Array(made, kind)


def made(value: Any) -> Any:
    """A list as the array that numpy makes of it."""
    return array_of(value) if isinstance(value, list | tuple | Ranks | range) else value


def held(value: Any) -> Any:
    """The value as an array, if it is none."""
    return value if isinstance(value, Array) or of_records(value) else array_of(value)


def scalar_or_array(cells: Any, kind: str) -> Any:
    return Array(cells, kind) if isinstance(cells, np.ndarray) else cells


def raising(function: Callable[..., Any], *args: Any) -> Any:
    """What it returns. Raises Raises, as the function that is followed would."""
    try:
        return function(*args)
    except (IndexError, KeyError, ValueError) as problem:
        raise Raises(f"the function raises {type(problem).__name__}: {problem}") from problem


def taken(array: Array, place: Any) -> Any:
    """array[place]: a cell, a view, or (by lists and arrays) a copy."""
    if array.kind == "v":
        return records.taken(array, place)
    return scalar_or_array(raising(array.cells.__getitem__, index(place)), array.kind)


def put(array: Array, place: Any, value: Any) -> None:
    """array[place] = value."""
    if array.kind == "v":
        raise Refused("an array of records that is changed in place: write = and a new one")
    given = array_of(value) if isinstance(value, list | tuple | Array | Ranks) else Array(boxed(value), "f")
    cells = np.frompyfunc(lambda cell: cast(cell, array.kind), 1, 1)(given.cells)
    if not array.cells.flags.writeable:
        raise Refused("an array that outlives the call is written to")
    raising(array.cells.__setitem__, index(place), cells)


def index(place: Any) -> Any:
    """A place, concretely: of truth values this run's."""
    if isinstance(place, tuple):
        return tuple(index(part) for part in place)
    if isinstance(place, Ranks):
        return np.array(place.places(), int)
    if isinstance(place, list):
        place = array_of(place, None if place else "i")
    if isinstance(place, Array):
        cells = place.cells.ravel().tolist()
        if place.kind == "b":
            return np.array([truth(cell) for cell in cells], bool).reshape(place.cells.shape)
        if place.kind == "f" or any(symbolic(cell) for cell in cells):
            raise Refused("a symbol as a place")
        return np.array(cells, int).reshape(place.cells.shape)
    if place is None or place is Ellipsis or isinstance(place, slice) or type(place) is int:
        return place
    raise Refused(f"a {named(place)} as a place")


def rows(array: Array) -> Iterator[Any]:
    """What a loop over it sees."""
    if not array.cells.ndim:
        raise Raises("the function raises TypeError: iteration over a 0-d array")
    for cells in array.cells:
        yield scalar_or_array(cells, array.kind)


def iterated(value: Any) -> Iterator[Any]:
    """iter(value)."""
    if isinstance(value, Array):
        return rows(value)
    if isinstance(value, set | frozenset):
        raise Refused("a loop over a set, which has no order: write sorted(...)")
    if isinstance(value, (dict, *VIEWS)):
        return of_dict(value)
    if isinstance(value, list | tuple | range | str | Ranks | Iterator):
        return iter(value)
    raise Refused(f"a loop over a {named(value)}")


def of_dict(value: Any) -> Iterator[Any]:
    """Its items, as long as it does not change."""
    try:
        yield from value
    except RuntimeError as problem:
        raise Raises(f"the function raises RuntimeError: {problem}") from problem


def several(value: Any) -> Any:
    """What a list is extended by: by itself as it was before; by an iterator item after item."""
    items = iterated(value)
    return items if isinstance(value, Iterator) else list(items)


def along(
    function: Callable[[list[Any]], Any], value: Array, axis: Any, kind: str | None = None, keepdims: bool = False
) -> Any:
    """The function of the cells along an axis; of all where there is none."""
    if value.kind == "v":
        raise Refused("what is computed of the entries of records")
    cells = value.cells
    if axis is None or (cells.ndim == 1 and axis in (0, -1)):
        if keepdims:
            raise Refused("keepdims without an axis")
        return function(cells.ravel().tolist())
    if type(axis) is not int or not -cells.ndim <= axis < cells.ndim:
        raise Refused("an axis that is not one integer")
    if cells.ndim > 2 and not cells.flags.c_contiguous:
        raise Refused("what is computed along an axis of an array with three axes that is a view: write .copy()")
    moved = np.moveaxis(cells, axis, -1)
    found = [function(moved[where].tolist()) for where in np.ndindex(moved.shape[:-1])]
    made = of_cells(found, moved.shape[:-1], kind)
    return Array(np.expand_dims(made.cells, axis), made.kind) if keepdims else made


def total(value: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """numpy.sum."""
    array = held(value)
    if of_records(array):
        return records.total(array, axis, keepdims)
    nothing = 0.0 if array.kind == "f" else 0
    return along(lambda cells: functools.reduce(add, cells, 0) if cells else nothing, array, axis, None, keepdims)


def average(cells: list[Any]) -> Any:
    """Their mean."""
    return binary(operator.truediv, functools.reduce(add, cells, 0), len(cells))


def mean(value: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """numpy.mean."""
    array = held(value)
    return (
        records.mean(array, axis, keepdims)
        if of_records(array)
        else folded(average, "f")(array, axis, keepdims=keepdims)
    )


def folded(function: Callable[[list[Any]], Any], kind: str | None = None, empty: bool = False) -> Callable[..., Any]:
    """A numpy function of all cells, or of those along an axis. empty: of none at all, too."""

    def one(cells: list[Any]) -> Any:
        if not (cells or empty):
            raise Refused("what is computed of no cells")
        return function(cells)

    return lambda value, axis=None, *, keepdims=False: along(one, held(value), axis, kind, keepdims)


def shape_of(value: Any) -> tuple[int, ...]:
    """A shape, or one length."""
    listed = [value] if type(value) is int else list(value) if isinstance(value, tuple | list) else [None]
    if not all(type(each) is int and each >= 0 for each in listed):
        raise Refused("a shape that is not made of integers")
    return tuple(listed)


def filled(shape: tuple[int, ...], value: Any, kind: str) -> Array:
    """An array that has the same in all cells."""
    cells = np.empty(shape, object)
    cells[...] = boxed(cast(value, kind))
    return Array(cells, kind)
