"""Numbers as people read them: fewer digits, rounded so that a bound stays a bound."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any, Protocol

SIGNIFICANT_DIGITS = 8


class Interval(Protocol):
    """What has two ends, such as a Bracket."""

    @property
    def lower(self) -> float: ...
    @property
    def upper(self) -> float: ...


def as_given(value: float) -> str:
    """What was asked for with all its digits: a bound at a rounded delta or epsilon would be another one's."""
    return repr(float(value)).removesuffix(".0")


def rounded_down(value: float, digits: int = SIGNIFICANT_DIGITS) -> str:
    """At most `digits` significant digits, towards minus infinity: a lower bound stays one."""
    return _rounded(value, digits, ROUND_FLOOR)


def rounded_up(value: float, digits: int = SIGNIFICANT_DIGITS) -> str:
    """At most `digits` significant digits, towards plus infinity: an upper bound stays one.

    As everywhere, a double stands for the decimal that it prints as: what is shown is read back as no smaller double.
    """
    return _rounded(value, digits, ROUND_CEILING)


def _rounded(value: float, digits: int, direction: str) -> str:
    if math.isinf(value) or value == 0:
        return "inf" if value else "0"
    return f"{float(Context(prec=digits, rounding=direction).plus(Decimal(repr(float(value))))):.{digits}g}"


def digits_for(rtol: float | None) -> int:
    """So many significant digits that printing an interval of this relative width widens it by a tenth at most."""
    return SIGNIFICANT_DIGITS if rtol is None else min(15, max(SIGNIFICANT_DIGITS, 2 - math.floor(math.log10(rtol))))


def interval(bracket: Interval, digits: int = SIGNIFICANT_DIGITS) -> str:
    """[lower, upper], each end rounded outwards."""
    return f"[{rounded_down(bracket.lower, digits)}, {rounded_up(bracket.upper, digits)}]"


def jsonable(value: Any) -> Any:
    """Plain data as JSON can write them: infinities, which it has not, as the strings "inf" and "-inf"."""
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, dict):
        return {key: jsonable(item) for key, item in value.items()}
    return [jsonable(item) for item in value] if isinstance(value, list | tuple) else value
