"""What numpy does with arrays cell by cell. An entry takes the options that it states, and refuses all others."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..current_run import tracer
from ..forms import Sign
from ..refusals import Refused
from . import records
from .above_zero import nonnegative, noted, positive
from .arithmetic import as_number, binary, comparison, elementwise, lifted, plain, truth
from .arrays import array_of, cast, kind_named, kind_of, made
from .functions import absolute, elementary, greater, lesser, rounded
from .values import KINDS, Array, Squares, of_records, symbolic


def array(value: Any, dtype: Any = None) -> Array:
    """numpy.array: a copy."""
    kind = kind_named(dtype)
    return array_of(value, None if kind == "f" and of_records(made(value)) else kind)


def as_array(value: Any, dtype: Any = None) -> Array:
    """numpy.asarray: the array itself where it is one of that kind."""
    kind = kind_named(dtype)
    if of_records(value) and kind in (None, "f"):
        return value  # type: ignore[no-any-return]
    if isinstance(value, Array) and kind is not None and value.kind == "w":
        raise Refused("np.asarray with a dtype of entries that may be integers or floats: write np.array")
    return value if isinstance(value, Array) and kind in (None, value.kind) else array(value, dtype)


def each(function: Callable[[Any], Any], kind: str | None = None) -> Callable[[Any], Any]:
    """The function, cell by cell; the kind of the result, or that of its argument."""

    def applied(value: Any) -> Any:
        held = made(value)
        stated = kind or (held.kind if isinstance(held, Array) else "f")
        return elementwise(lambda cell: function(numeric(cell)), stated if stated != "b" else "i", held)

    return applied


def magnitude(value: Any) -> Any:
    """numpy.abs; of truth values it is they themselves."""
    held = made(value)
    return array_of(held) if isinstance(held, Array) and held.kind == "b" else each(absolute)(held)


def square_root(value: Any) -> Any:
    """numpy.sqrt and math.sqrt: of the squares of a record's entries its norm."""
    if isinstance(value, Squares):
        return records.root(value)
    value = lifted(value) if symbolic(value) else value
    if symbolic(value) and not nonnegative(value):
        raise Refused("sqrt of what may be below 0: write sqrt(max(..., 0))")
    made = elementary("sqrt", math.sqrt)(value)
    return noted(made, positive(value)) if symbolic(made) else made


def numeric(cell: Any) -> Any:
    """A cell as a number."""
    return as_number(plain(cell))


def pairs(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The function of two arrays, cell by cell."""

    def applied(a: Any, b: Any) -> Any:
        one, other = made(a), made(b)
        kinds = [x.kind if isinstance(x, Array) else kind_of(x) for x in (one, other)]
        kind = max(*kinds, "i", key=KINDS.index)
        return elementwise(lambda x, y: _floated(function(numeric(x), numeric(y)), kind), kind, one, other)

    return applied


def _floated(value: Any, kind: str) -> Any:
    return float(value) if kind == "f" and type(value) is int else value


def operated(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """numpy.add and so on."""
    return lambda a, b: binary(operation, made(a), made(b), True)


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


def sign(value: Any) -> Any:
    if truth(comparison(operator.gt, value, 0)):
        return 1
    return -1 if truth(comparison(operator.lt, value, 0)) else 0


def float_of(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What rounds to floats, as numpy's floor does."""

    def one(cell: Any) -> Any:
        done = function(cell)
        return float(done) if isinstance(cell, float) and not symbolic(done) else done

    return one


def round_(value: Any, decimals: int = 0) -> Any:
    """numpy.round: floats stay floats."""
    return each(float_of(lambda cell: rounded(cell, decimals)))(value)


def digitized(value: Any, bins: Any) -> Any:
    """numpy.digitize into rising bins: how many edges are at most the value."""
    marks = as_array(made(bins), float).cells.tolist()
    if any(symbolic(mark) for mark in marks) or marks != sorted(marks):
        raise Refused("np.digitize with these bins")

    def one(cell: Any) -> Any:
        return sum(truth(comparison(operator.ge, cell, mark)) for mark in marks)

    found = elementwise(one, "i", made(value))
    return Array(np.ascontiguousarray(found.cells), "i") if isinstance(found, Array) else found
