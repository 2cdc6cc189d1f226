"""Concrete numbers: a float with the number that is written, of which it is the nearest one.

A proof is about real numbers: 0.1 is a tenth, and 1 / 3 a third, wherever exact values matter (scales of noise, sums
with symbols). What Python computes with floats is kept beside it, since it decides comparisons and is what is put out.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .current_run import tracer
from .refusals import Raises, Refused

LARGEST = 2**63
EXACT = (operator.add, operator.sub, operator.mul, operator.truediv)
WHOLE_VALUED = (operator.floordiv, operator.mod)


class Real(float):
    """A float, and the exact number that it stands for."""

    __slots__ = ("exact",)
    exact: Fraction

    def __new__(cls, value: float, exact: Fraction) -> Real:
        made = super().__new__(cls, value)
        made.exact = exact
        return made


@functools.lru_cache(4096)
def written(value: float) -> Fraction:
    """The shortest decimal that names the float."""
    return Fraction(repr(float(value)))


def exact(value: Any) -> Fraction:
    """A concrete number, exactly. Raises Refused for anything else."""
    if isinstance(value, Real):
        return value.exact
    if isinstance(value, bool | int | Fraction):
        return Fraction(value)
    if isinstance(value, float) and math.isfinite(value):
        return written(value) if tracer().as_written else Fraction(value)
    raise Refused(f"arithmetic with {value!r:.40}")


def number(value: Fraction) -> float:
    """An exact number as a float that remembers it."""
    return Real(_rounded(value), value) if tracer().as_written else _rounded(value)


def _rounded(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError as problem:
        raise Refused("a number too large for floats") from problem


def concrete(operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """An operation of two concrete numbers, as Python has it. Raises Raises, Refused."""
    if operation is operator.pow and isinstance(b, int) and abs(b) > 1000:
        raise Refused("so large a power")
    try:
        result = operation(a, b)
    except (ZeroDivisionError, OverflowError, ValueError, TypeError) as problem:
        raise Raises(f"the function raises {type(problem).__name__}: {problem}") from problem
    if isinstance(result, complex):
        raise Refused("complex numbers")
    if isinstance(result, int) and not isinstance(result, bool) and abs(result) >= LARGEST:
        raise Refused("integers beyond 64 bits, where numpy's are others than Python's")
    if isinstance(result, float):
        return _remembered(operation, a, b, result)
    return result


def _remembered(operation: Callable[[Any, Any], Any], a: Any, b: Any, result: float) -> float:
    """The float with its exact value, where rounding does not decide which that is."""
    finite = all(math.isfinite(value) for value in (a, b, result))
    integral = operation is operator.pow and isinstance(b, int)
    if not finite or not (operation in EXACT or operation in WHOLE_VALUED or integral):
        return result
    value = operation(exact(a), exact(b))
    if operation in WHOLE_VALUED and abs(float(value) - result) > 1e-9 * (1 + abs(result)):
        raise Refused("a quotient or remainder that hangs on the rounding of floats")
    return Real(result, value) if tracer().as_written else result


def compared(operation: Callable[[Any, Any], Any], a: Any, b: Any) -> bool:
    """A comparison of two concrete numbers. Raises Refused where the rounding of floats decides it."""
    result = bool(operation(a, b))
    plain = isinstance(a, int) and isinstance(b, int)
    if not plain and math.isfinite(a) and math.isfinite(b) and bool(operation(exact(a), exact(b))) != result:
        raise Refused("a comparison that the rounding of floats decides: compare numbers that are written alike")
    return result
