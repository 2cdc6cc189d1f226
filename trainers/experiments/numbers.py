"""Tables in Markdown, and numbers as they show them: with error bars, epsilons rounded to the safe side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

DIGITS = 3
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = [f"| {' | '.join(cells)} |" for cells in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def over_seeds(values: Sequence[float]) -> tuple[float, float | None]:
    """The mean and its standard error, which a single value has not."""
    mean = sum(values) / len(values)
    if len(values) == 1:
        return mean, None
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return mean, math.sqrt(variance / len(values))


def accuracy(mean: float | None, error: float | None) -> str:
    """mean ± standard error; "-" where there is none."""
    shown = "-" if mean is None else f"{mean:.3f}"
    return shown if error is None else f"{shown} ± {error:.3f}"


def upper(value: float | None) -> str:
    """An upper bound, to three digits, rounded up; "none" for None: without noise there is none."""
    if value is None:
        return "none"
    return _plain(_rounded(value, ROUND_CEILING)) if math.isfinite(value) else "∞"


def bracket(ends: Sequence[float]) -> str:
    """[lower, upper]: the upper end where they agree to three digits, else both, rounded outwards."""
    low, high = ends
    if low == high or (math.isfinite(high) and high - low <= 10.0**-DIGITS * high):
        return upper(high)
    if low == 0.0:
        return f"at most {upper(high)}"
    return f"{_plain(_rounded(low, ROUND_FLOOR))} to {upper(high)}"


def _rounded(value: float, rounding: str) -> Decimal:
    return Context(prec=DIGITS, rounding=rounding).create_decimal(Decimal(value))


def _plain(value: Decimal) -> str:
    """Powers of ten from 100,000 on."""
    exponent = value.adjusted() if value else 0
    if exponent < 5:
        return f"{float(value):g}"
    return f"{value.scaleb(-exponent).normalize():f}·10{str(exponent).translate(SUPERSCRIPTS)}"
