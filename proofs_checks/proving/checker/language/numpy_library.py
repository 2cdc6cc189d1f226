"""What numpy's functions mean. An entry takes the options that it states, and refuses all others."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..following import Raises, Refused, tracer
from ..forms import Form, Sign
from ..order import Ranking, distinct, largest_place, least_place
from .arithmetic import add, as_number, binary, comparison, elementwise, lifted, negative, truth
from .arrays import (
    along,
    array_of,
    cast,
    full,
    kind_named,
    kind_of,
    mean,
    of_cells,
    running,
    shape_of,
    total,
)  # fmt: skip
from .functions import absolute, ceiled, elementary, exponential, floored, greater, lesser, rounded, valued, whole
from .iteration import iterated
from .ranks import Ranks
from .values import KINDS, Array, Total, Uniform, Unknown, Weight, symbolic


def made(value: Any) -> Any:
    """A list as the array that numpy makes of it."""
    return array_of(value) if isinstance(value, list | tuple | Ranks | range) else value


def array(value: Any, dtype: Any = None) -> Array:
    return (
        array_of(value, kind_named(dtype))
        if not isinstance(value, Array) or dtype is None
        else _converted(value, dtype)
    )


def as_array(value: Any, dtype: Any = None) -> Array:
    """numpy.asarray: the array itself where it is one of that kind."""
    kind = kind_named(dtype)
    if isinstance(value, Array) and kind is not None and value.kind == "w":
        raise Refused("np.asarray with a dtype of entries that may be integers or floats: write np.array")
    if isinstance(value, Array) and kind in (None, value.kind):
        return value
    return array(value, dtype)


def _converted(value: Array, dtype: Any) -> Array:
    from .arrays import converted

    kind = kind_named(dtype)
    assert kind is not None
    return converted(value, kind)


def each(function: Callable[[Any], Any], kind: str | None = None) -> Callable[[Any], Any]:
    """The function, cell by cell; the kind of the result, or that of its argument."""

    def applied(value: Any) -> Any:
        held = made(value)
        stated = kind or (held.kind if isinstance(held, Array) else "f")
        return elementwise(lambda cell: function(_plain(cell)), stated if stated != "b" else "i", held)

    return applied


def _plain(cell: Any) -> Any:
    """A cell as a number."""
    return lifted(valued(cell)) if isinstance(cell, Uniform | Weight | Total) else as_number(cell)


def pairs(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The function of two arrays, cell by cell."""

    def applied(a: Any, b: Any) -> Any:
        one, other = made(a), made(b)
        kinds = [x.kind if isinstance(x, Array) else kind_of(x) for x in (one, other)]
        kind = max(*kinds, "i", key=KINDS.index)
        return elementwise(lambda x, y: _floated(function(_plain(x), _plain(y)), kind), kind, one, other)

    return applied


def _floated(value: Any, kind: str) -> Any:
    return float(value) if kind == "f" and type(value) is int else value


def operated(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """numpy.add and so on."""
    return lambda a, b: binary(operation, made(a), made(b))


def compared(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: comparison(operation, made(a), made(b))


def logical(rule: Callable[[bool, bool], bool]) -> Callable[[Any, Any], Any]:
    return lambda a, b: elementwise(lambda x, y: rule(truth(x), truth(y)), "b", made(a), made(b))


def clip(value: Any, a_min: Any = None, a_max: Any = None, **ends: Any) -> Any:
    """numpy.clip: the larger of the lower end, then the lesser of the upper one."""
    if set(ends) - {"min", "max"}:
        raise Refused(f"np.clip with {', '.join(ends)}")
    low, high = ends.get("min", a_min), ends.get("max", a_max)
    held = value if low is None else pairs(greater)(value, low)
    return held if high is None else pairs(lesser)(held, high)


def where(condition: Any, x: Any, y: Any) -> Any:
    held = [made(part) for part in (condition, x, y)]
    kinds = [part.kind if isinstance(part, Array) else kind_of(part) for part in held[1:]]
    kind = max(kinds, key=KINDS.index)
    return elementwise(lambda c, a, b: _chosen(c, cast(a, kind), cast(b, kind)), kind, *held)


def _chosen(condition: Any, a: Any, b: Any) -> Any:
    """Of known numbers by data the one or the other: no fork where the test is a value of its own."""
    plain = isinstance(condition, Sign) and not any(
        symbolic(x) or not math.isfinite(x) for x in (a, b) if not symbolic(x)
    )
    if plain and not symbolic(a) and not symbolic(b) and isinstance(condition, Sign):
        merged = tracer().merged_sign(condition)
        if merged is not None:
            return binary(operator.add, b, binary(operator.mul, binary(operator.sub, a, b), merged))
    return a if truth(condition) else b


def place_of(place: Callable[[list[Any]], int]) -> Callable[..., Any]:
    """numpy.argmax and argmin."""

    def found(value: Any, axis: Any = None) -> Any:
        def one(cells: list[Any]) -> int:
            if not cells:
                raise Raises("the function raises ValueError: the place of the largest of nothing")
            return place([_plain(cell) for cell in cells])

        return along(one, made(value), axis, "i")

    return found


def extreme(pick: Callable[[Any, Any], Any], place: Callable[[list[Any]], int]) -> Callable[..., Any]:
    """numpy.max and min."""

    def found(value: Any, axis: Any = None, keepdims: bool = False) -> Any:
        def one(cells: list[Any]) -> Any:
            if not cells:
                raise Raises("the function raises ValueError: the largest of nothing")
            plain = [_plain(cell) for cell in cells]
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
    cells = [lifted(_plain(cell)) for cell in held.cells.tolist()]
    if not (stable is True or kind in ("stable", "mergesort") or distinct(cells, tracer().draws)):
        raise Refused('an order of values that may be equal: write kind="stable"')
    return Ranks(Ranking(cells), range(len(cells)))


def sort(value: Any, axis: Any = -1) -> Array:
    from .library import ordered

    held = made(value)
    if held.cells.ndim != 1 or axis not in (-1, 0):
        raise Refused("sorting along an axis")
    return of_cells(ordered(held), None, held.kind)


def median(value: Any, axis: Any = None) -> Any:
    from .library import ordered

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


def norm(value: Any, ord: Any = None, axis: Any = None) -> Any:
    """numpy.linalg.norm of vectors."""
    root = elementary("sqrt", math.sqrt)

    def one(cells: list[Any]) -> Any:
        plain = [_plain(cell) for cell in cells]
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
    return along(one, held, axis, "f")


def empty(shape: Any, dtype: Any = float) -> Array:
    """numpy.empty: what is in it is not known before it is written."""
    made_cells = np.empty(shape_of(shape), object)
    for where in np.ndindex(made_cells.shape):
        made_cells[where] = Unknown("a cell that was not set")
    return Array(made_cells, kind_named(dtype) or "f")


def zeros(value: Any) -> Callable[..., Array]:
    return lambda shape, dtype=float: full(shape, bool(value) if _bool(dtype) else value, dtype)


def _bool(dtype: Any) -> bool:
    return kind_named(dtype) == "b"


def like(value: float) -> Callable[..., Array]:
    """numpy.zeros_like and ones_like: of the kind of the array, where that is known."""

    def filled(model: Any, dtype: Any = None) -> Array:
        held = made(model)
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
    return of_cells(counts, None, "w" if any(symbolic(c) for c in counts) else "i"), edges


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


def sign(value: Any) -> Any:
    if truth(comparison(operator.gt, value, 0)):
        return 1
    return -1 if truth(comparison(operator.lt, value, 0)) else 0


def round_(value: Any, decimals: int = 0) -> Any:
    """numpy.round: floats stay floats."""

    def one(cell: Any) -> Any:
        done = rounded(cell, decimals)
        return float(done) if isinstance(cell, float) and not symbolic(done) else done

    return each(one)(value)


def _float_of(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What rounds to floats, as numpy's floor does."""

    def one(cell: Any) -> Any:
        done = function(cell)
        return float(done) if isinstance(cell, float) and not symbolic(done) else done

    return one


def truths(done: Callable[[Any], bool]) -> Callable[..., Any]:
    """numpy.any and all: every cell is looked at until the answer is known."""
    return lambda value, axis=None: along(lambda cells: done(truth(cell) for cell in cells), made(value), axis, "b")


def scalar(kind: Callable[[Any], Any]) -> Callable[..., Any]:
    """numpy.float64 and so on, of one number."""
    return lambda value=0: _applied(kind, value)


def _applied(kind: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, Array | list | tuple):
        raise Refused("a numpy scalar of several numbers")
    return kind(value)


def _real(value: Any) -> Any:
    from .library import real

    return real(value)


def same(a: Any, b: Any) -> bool:
    """numpy.array_equal."""
    one, other = made(a), made(b)
    if one.cells.shape != other.cells.shape:
        return False
    return all(
        truth(comparison(operator.eq, x, y)) for x, y in zip(one.cells.ravel(), other.cells.ravel(), strict=True)
    )


def outer_shape(value: Any) -> tuple[int, ...]:
    return tuple(made(value).cells.shape) if isinstance(made(value), Array) else ()


def ones_where(value: Any) -> tuple[Array, ...]:
    """numpy.flatnonzero and nonzero, of one axis."""
    held = made(value)
    if held.cells.ndim != 1:
        raise Refused("the places in more than one axis")
    found = [i for i, cell in enumerate(held.cells.tolist()) if truth(cell)]
    return (of_cells(found, None, "i"),)


def repeated(value: Any, repeats: int) -> Array:
    held = made(value) if not symbolic(value) and isinstance(made(value), Array) else of_cells([value])
    if type(repeats) is not int:
        raise Refused("np.repeat by what is no integer")
    return of_cells([cell for cell in held.cells.ravel().tolist() for _ in range(repeats)], None, held.kind)


def digitized(value: Any, bins: Any) -> Any:
    """numpy.digitize into rising bins: how many edges are at most the value."""
    marks = as_array(made(bins), float).cells.tolist()
    if any(symbolic(mark) for mark in marks) or marks != sorted(marks):
        raise Refused("np.digitize with these bins")

    def one(cell: Any) -> Any:
        return sum(truth(comparison(operator.ge, cell, mark)) for mark in marks)

    return elementwise(one, "i", made(value))


_numpy_floor, _numpy_ceil, _numpy_trunc = _float_of(floored), _float_of(ceiled), _float_of(whole)
TABLE: list[tuple[Any, Callable[..., Any]]] = [
    (np.array, array),
    (np.asarray, as_array),
    (np.sum, total),
    (np.mean, mean),
    (np.average, lambda a, axis=None: mean(a, axis)),
    (np.median, median),
    (np.var, variance),
    (np.std, deviation),
    (np.cumsum, running),
    (np.where, where),
    (np.clip, clip),
    (np.abs, each(absolute)),
    (np.fabs, each(absolute)),
    (np.maximum, pairs(greater)),
    (np.minimum, pairs(lesser)),
    (np.fmax, pairs(greater)),
    (np.fmin, pairs(lesser)),
    (np.max, extreme(greater, largest_place)),
    (np.min, extreme(lesser, least_place)),
    (np.argmax, place_of(largest_place)),
    (np.argmin, place_of(least_place)),
    (np.argsort, argsort),
    (np.sort, sort),
    (np.zeros, zeros(0.0)),
    (np.ones, zeros(1.0)),
    (np.empty, empty),
    (np.full, lambda shape, fill_value, dtype=None: full(shape, fill_value, dtype)),
    (np.zeros_like, like(0.0)),
    (np.ones_like, like(1.0)),
    (np.full_like, full_like),
    (np.arange, arange),
    (np.linspace, linspace),
    (np.concatenate, concatenate),
    (np.stack, stack),
    (np.vstack, stack),
    (np.diff, differences),
    (np.dot, dot),
    (np.inner, dot),
    (np.count_nonzero, count_nonzero),
    (np.histogram, histogram),
    (np.bincount, bincount),
    (np.digitize, digitized),
    (np.any, truths(any)),
    (np.all, truths(all)),
    (np.sign, each(sign)),
    (np.round, round_),
    (np.rint, each(_float_of(rounded))),
    (np.floor, each(_numpy_floor)),
    (np.ceil, each(_numpy_ceil)),
    (np.trunc, each(_numpy_trunc)),
    (np.sqrt, each(elementary("sqrt", math.sqrt), "f")),
    (np.log, each(elementary("log", math.log), "f")),
    (np.log1p, each(elementary("log1p", math.log1p), "f")),
    (np.log2, each(elementary("log2", math.log2), "f")),
    (np.exp, lambda value: elementwise(exponential, "f", made(value))),
    (np.tanh, each(elementary("tanh", math.tanh), "f")),
    (np.square, lambda value: binary(operator.mul, made(value), made(value))),
    (np.add, operated(operator.add)),
    (np.subtract, operated(operator.sub)),
    (np.multiply, operated(operator.mul)),
    (np.divide, operated(operator.truediv)),
    (np.power, operated(operator.pow)),
    (np.negative, lambda value: negative(made(value))),
    (np.greater, compared(operator.gt)),
    (np.greater_equal, compared(operator.ge)),
    (np.less, compared(operator.lt)),
    (np.less_equal, compared(operator.le)),
    (np.equal, compared(operator.eq)),
    (np.not_equal, compared(operator.ne)),
    (np.logical_and, logical(operator.and_)),
    (np.logical_or, logical(operator.or_)),
    (np.logical_not, lambda value: elementwise(lambda cell: not truth(cell), "b", made(value))),
    (np.isnan, each(lambda value: False if symbolic(value) else math.isnan(value))),
    (np.isfinite, each(lambda value: True if symbolic(value) else math.isfinite(value))),
    (np.float64, scalar(_real)),
    (np.linalg.norm, norm),
    (np.array_equal, same),
    (np.shape, outer_shape),
    (np.flatnonzero, lambda value: ones_where(value)[0]),
    (np.nonzero, ones_where),
    (np.repeat, repeated),
    (np.ravel, lambda value: Array(made(value).cells.ravel(), made(value).kind)),
    (np.copy, array),
    (np.size, lambda value: int(made(value).cells.size)),
    (np.transpose, lambda value: Array(made(value).cells.T, made(value).kind)),
    (
        np.atleast_1d,
        lambda value: made(value) if isinstance(made(value), Array) and made(value).cells.ndim else of_cells([value]),
    ),
]
