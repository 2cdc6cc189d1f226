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
from .arrays import along, of_cells
from .functions import absolute, elementary, greater
from .iteration import iterated
from .numpy_cells import as_array, made, numeric
from .numpy_made import linspace
from .values import Array, Ranks, of_records, symbolic


def place_of(place: Callable[[list[Any]], int]) -> Callable[..., Any]:
    """numpy.argmax and argmin."""

    def found(value: Any, axis: Any = None) -> Any:
        def one(cells: list[Any]) -> int:
            if not cells:
                raise Raises("the function raises ValueError: the place of the largest of nothing")
            return place([numeric(cell) for cell in cells])

        return along(one, made(value), axis, "i")

    return found


def extreme(pick: Callable[[Any, Any], Any], place: Callable[[list[Any]], int]) -> Callable[..., Any]:
    """numpy.max and min."""

    def found(value: Any, axis: Any = None, keepdims: bool = False) -> Any:
        def one(cells: list[Any]) -> Any:
            if not cells:
                raise Raises("the function raises ValueError: the largest of nothing")
            plain = [numeric(cell) for cell in cells]
            if len(plain) > 2 and any(isinstance(cell, Form) and cell.noisy for cell in plain):
                return plain[place(plain)]
            return functools.reduce(pick, plain)

        return along(one, made(value), axis, None, keepdims)

    return found


def argsort(value: Any, axis: Any = -1, kind: Any = None, *, stable: Any = None) -> Ranks:
    """Stable, or of values that are almost surely different: numpy promises no order of equal ones otherwise."""
    held = made(value)
    if held.cells.ndim != 1 or axis not in (-1, 0):
        raise Refused("an order along an axis")
    cells = [lifted(numeric(cell)) for cell in held.cells.tolist()]
    if not (stable is True or kind in ("stable", "mergesort") or distinct(cells, tracer().draws)):
        raise Refused('an order of values that may be equal: write kind="stable"')
    return Ranks(Ranking(cells), range(len(cells)))


def sort(value: Any, axis: Any = -1) -> Array:
    from .ordering import ordered

    held = made(value)
    if held.cells.ndim != 1 or axis not in (-1, 0):
        raise Refused("sorting along an axis")
    return of_cells(ordered(held), None, held.kind)


def median(value: Any, axis: Any = None) -> Any:
    from .ordering import ordered

    def one(cells: list[Any]) -> Any:
        if not cells:
            raise Refused("the median of nothing")
        done, half = ordered(cells), len(cells) // 2
        return done[half] if len(cells) % 2 else binary(operator.truediv, add(done[half - 1], done[half]), 2)

    return along(one, made(value), axis, "f")


def _squares(cells: list[Any], ddof: int) -> Any:
    center = binary(operator.truediv, functools.reduce(add, cells, 0), len(cells))
    gaps = [binary(operator.sub, as_number(cell), center) for cell in cells]
    squares = functools.reduce(add, [binary(operator.mul, gap, gap) for gap in gaps], 0)
    return binary(operator.truediv, squares, len(cells) - ddof)


def variance(value: Any, axis: Any = None, ddof: int = 0) -> Any:
    return along(lambda cells: _squares(cells, ddof), made(value), axis, "f")


def deviation(value: Any, axis: Any = None, ddof: int = 0) -> Any:
    root = elementary("sqrt", math.sqrt)
    return along(lambda cells: root(_squares(cells, ddof)), made(value), axis, "f")


def norm(value: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """numpy.linalg.norm of vectors."""
    if of_records(made(value)):
        return records.norm(made(value), ord, axis, keepdims)
    root = elementary("sqrt", math.sqrt)

    def one(cells: list[Any]) -> Any:
        plain = [numeric(cell) for cell in cells]
        if ord in (None, 2):
            if len(plain) == 1:
                return absolute(plain[0])
            return root(functools.reduce(add, [binary(operator.mul, cell, cell) for cell in plain], 0.0))
        if ord == 1:
            return functools.reduce(add, [absolute(cell) for cell in plain], 0.0)
        if isinstance(ord, float) and ord == math.inf:
            return functools.reduce(greater, [absolute(cell) for cell in plain])
        raise Refused("a norm other than 1, 2 and inf")

    held = made(value)
    if not isinstance(held, Array) or (axis is None and held.cells.ndim != 1):
        raise Refused("the norm of something that is no vector")
    return along(one, held, axis, "f", keepdims)


def differences(value: Any) -> Array:
    held = made(value)
    cells = held.cells.tolist()
    if held.cells.ndim != 1 or held.kind == "b":
        raise Refused("np.diff of these values")
    return of_cells([binary(operator.sub, b, a) for a, b in itertools.pairwise(cells)], None, held.kind)


def dot(a: Any, b: Any) -> Any:
    one, other = made(a), made(b)
    if not all(isinstance(x, Array) and x.cells.ndim == 1 for x in (one, other)) or one.cells.size != other.cells.size:
        raise Refused("np.dot of anything but two vectors of one length")
    pairs_of = zip(one.cells.tolist(), other.cells.tolist(), strict=True)
    return functools.reduce(add, [binary(operator.mul, as_number(x), as_number(y)) for x, y in pairs_of], 0.0)


def count_nonzero(value: Any, axis: Any = None) -> Any:
    held = made(value)
    tests = held if held.kind == "b" else comparison(operator.ne, held, 0)
    return along(lambda cells: functools.reduce(add, cells, 0), tests, axis, "i")


def histogram(value: Any, bins: Any = 10, range: Any = None) -> tuple[Array, Array]:
    """numpy.histogram with given edges; the last bin holds its upper end."""
    held = made(value)
    if type(bins) is int:
        if range is None:
            raise Refused("np.histogram without a range: its bins depend on the data")
        low, high = iterated(range)
        edges = linspace(low, high, bins + 1)
    else:
        edges = as_array(made(bins), float)
    marks = edges.cells.tolist()
    if any(symbolic(mark) for mark in marks) or marks != sorted(marks) or held.cells.ndim != 1:
        raise Refused("np.histogram with these bins")
    counts = []
    for i, (low, high) in enumerate(itertools.pairwise(marks)):
        below = operator.le if i == len(marks) - 2 else operator.lt
        counts.append(functools.reduce(add, [_inside(cell, low, high, below) for cell in held.cells.tolist()], 0))
    return of_cells(counts, None, "i"), edges


def _inside(cell: Any, low: Any, high: Any, below: Callable[[Any, Any], Any]) -> Any:
    """1 where low <= cell < high, as the difference of two tests, so that data need not fork."""
    under, over = comparison(below, cell, high), comparison(operator.lt, cell, low)
    return binary(operator.sub, as_number(under), as_number(over))


def bincount(value: Any, minlength: int = 0) -> Array:
    held = made(value)
    cells = held.cells.tolist()
    if any(symbolic(cell) for cell in cells):
        raise Refused("np.bincount of data: count with (data == value).sum()")
    size = max([minlength, *(cell + 1 for cell in cells)])
    return of_cells([sum(cell == i for cell in cells) for i in range(size)], None, "i")


def truths(done: Callable[[Any], bool]) -> Callable[..., Any]:
    """numpy.any and all: every cell is looked at until the answer is known."""
    return lambda value, axis=None: along(lambda cells: done(truth(cell) for cell in cells), made(value), axis, "b")


def same(a: Any, b: Any) -> bool:
    """numpy.array_equal."""
    one, other = made(a), made(b)
    if one.cells.shape != other.cells.shape:
        return False
    return all(
        truth(comparison(operator.eq, x, y)) for x, y in zip(one.cells.ravel(), other.cells.ravel(), strict=True)
    )


def ones_where(value: Any) -> tuple[Array, ...]:
    """numpy.flatnonzero and nonzero, of one axis."""
    held = made(value)
    if held.cells.ndim != 1:
        raise Refused("the places in more than one axis")
    found = [i for i, cell in enumerate(held.cells.tolist()) if truth(cell)]
    return (of_cells(found, None, "i"),)
