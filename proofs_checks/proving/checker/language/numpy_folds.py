"""What numpy computes of whole arrays, or along an axis."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

from ..current_run import tracer
from ..forms import Form
from ..order import Ranking, distinct
from ..refusals import Raises, Refused
from . import records
from .arithmetic import add, as_number, binary, comparison, lifted, truth
from .arrays import average, folded, held, iterated, made, of_cells, total
from .functions import absolute, elementary, greater
from .numpy_cells import as_array, numeric
from .numpy_made import linspace
from .ordering import ordered
from .values import KINDS, Array, Ranks, of_records, symbolic

root = elementary("sqrt", math.sqrt)


def running(value: Any, axis: Any = None) -> Array:
    """numpy.cumsum of an array with one axis."""
    array = _line(value, axis)
    sums = list(itertools.accumulate(map(as_number, array.cells.tolist()), add))
    return of_cells(sums, None, "f" if array.kind == "f" else max(array.kind, "i", key=KINDS.index))


def _line(value: Any, axis: Any = None) -> Array:
    """The value as an array with one axis, which is the one that is meant."""
    array = held(value)
    if of_records(array) or array.cells.ndim != 1 or axis not in (None, 0, -1):
        raise Refused("this of an array with more than one axis, or of records")
    return array  # type: ignore[no-any-return]


def place_of(place: Callable[[list[Any]], int]) -> Callable[..., Any]:
    """numpy.argmax and argmin."""
    return folded(lambda cells: place(_some(cells)), "i", empty=True)


def _some(cells: list[Any]) -> list[Any]:
    """As numbers, of which there is at least one."""
    if not cells:
        raise Raises("the function raises ValueError: the largest or least of nothing")
    return [numeric(cell) for cell in cells]


def extreme(pick: Callable[[Any, Any], Any], place: Callable[[list[Any]], int]) -> Callable[..., Any]:
    """numpy.max and min."""

    def one(cells: list[Any]) -> Any:
        plain = _some(cells)
        if len(plain) > 2 and any(isinstance(cell, Form) and cell.noisy for cell in plain):
            return plain[place(plain)]
        return functools.reduce(pick, plain)

    return folded(one, empty=True)


def argsort(value: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> Ranks:
    """Stable, or of values that are almost surely different: numpy promises no order of equal ones otherwise."""
    cells = [lifted(numeric(cell)) for cell in _line(value, axis).cells.tolist()]
    if not (stable is True or kind in ("stable", "mergesort") or distinct(cells, tracer().draws)):
        raise Refused('an order of values that may be equal: write kind="stable"')
    return Ranks(Ranking(cells), range(len(cells)))


def sort(value: Any, axis: Any = -1) -> Array:
    array = _line(value, axis)
    return of_cells(ordered(array), None, array.kind)


def middle(cells: list[Any]) -> Any:
    """The median."""
    done, half = ordered(cells), len(cells) // 2
    return done[half] if len(cells) % 2 else binary(operator.truediv, add(done[half - 1], done[half]), 2)


def _spread(cells: list[Any], ddof: int) -> Any:
    """The variance."""
    gaps = [binary(operator.sub, as_number(cell), center) for center in [average(cells)] for cell in cells]
    squares = functools.reduce(add, [binary(operator.mul, gap, gap) for gap in gaps], 0)
    return binary(operator.truediv, squares, len(cells) - ddof)


def variance(value: Any, axis: Any = None, *, ddof: int = 0) -> Any:
    return folded(lambda cells: _spread(cells, ddof), "f")(value, axis)


def deviation(value: Any, axis: Any = None, *, ddof: int = 0) -> Any:
    return folded(lambda cells: root(_spread(cells, ddof)), "f")(value, axis)


def norm(value: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """numpy.linalg.norm of vectors."""
    array = held(value)
    if of_records(array):
        return records.norm(array, ord, axis, keepdims)

    def one(cells: list[Any]) -> Any:
        plain = [numeric(cell) for cell in cells]
        if ord in (None, 2) and len(plain) > 1:
            return root(functools.reduce(add, [binary(operator.mul, cell, cell) for cell in plain], 0.0))
        if ord in (None, 1, 2):
            return functools.reduce(add, map(absolute, plain), 0.0)
        if isinstance(ord, float) and ord == math.inf:
            return functools.reduce(greater, map(absolute, plain))
        raise Refused("a norm other than 1, 2 and inf")

    if axis is None and array.cells.ndim != 1:
        raise Refused("the norm of something that is no vector")
    return folded(one, "f", empty=True)(array, axis, keepdims=keepdims)


def differences(value: Any) -> Any:
    """numpy.diff."""
    array = _line(value)
    return binary(operator.sub, Array(array.cells[1:], array.kind), Array(array.cells[:-1], array.kind))


def dot(a: Any, b: Any) -> Any:
    one, other = _line(a), _line(b)
    if one.cells.size != other.cells.size:
        raise Refused("np.dot of vectors of different lengths")
    return total(binary(operator.mul, one, other))


def count_nonzero(value: Any, axis: Any = None) -> Any:
    array = held(value)
    tests = array if array.kind == "b" else comparison(operator.ne, array, 0)
    return folded(lambda cells: functools.reduce(add, cells, 0), "i", empty=True)(tests, axis)


def histogram(value: Any, bins: Any = 10, range: Any = None) -> tuple[Array, Array]:
    """numpy.histogram with given edges; the last bin holds its upper end."""
    cells = _line(value).cells.tolist()
    if type(bins) is int:
        if range is None:
            raise Refused("np.histogram without a range: its bins depend on the data")
        low, high = iterated(range)
        edges = linspace(low, high, bins + 1)
    else:
        edges = as_array(made(bins), float)
    marks = edges.cells.tolist()
    if any(symbolic(mark) for mark in marks) or marks != sorted(marks):
        raise Refused("np.histogram with these bins")
    counts = []
    for i, (low, high) in enumerate(itertools.pairwise(marks)):
        below = operator.le if i == len(marks) - 2 else operator.lt
        counts.append(functools.reduce(add, [_inside(cell, low, high, below) for cell in cells], 0))
    return of_cells(counts, None, "i"), edges


def _inside(cell: Any, low: Any, high: Any, below: Callable[[Any, Any], Any]) -> Any:
    """1 where low <= cell < high, as the difference of two tests, so that data need not fork."""
    under, over = comparison(below, cell, high), comparison(operator.lt, cell, low)
    return binary(operator.sub, as_number(under), as_number(over))


def bincount(value: Any, *, minlength: int = 0) -> Array:
    cells = _line(value).cells.tolist()
    if any(symbolic(cell) for cell in cells):
        raise Refused("np.bincount of data: count with (data == value).sum()")
    size = max([minlength, *(cell + 1 for cell in cells)])
    return of_cells([sum(cell == i for cell in cells) for i in range(size)], None, "i")


def truths(done: Callable[[Any], bool]) -> Callable[..., Any]:
    """numpy.any and all: every cell is looked at until the answer is known."""
    return folded(lambda cells: done(truth(cell) for cell in cells), "b", empty=True)


def same(a: Any, b: Any) -> bool:
    """numpy.array_equal."""
    one, other = held(a), held(b)
    if one.cells.shape != other.cells.shape:
        return False
    return all(
        truth(comparison(operator.eq, x, y)) for x, y in zip(one.cells.ravel(), other.cells.ravel(), strict=True)
    )


def ones_where(value: Any) -> tuple[Array, ...]:
    """numpy.nonzero, of one axis."""
    found = [i for i, cell in enumerate(_line(value).cells.tolist()) if truth(cell)]
    return (of_cells(found, None, "i"),)
