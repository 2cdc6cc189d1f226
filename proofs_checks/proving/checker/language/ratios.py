"""Numbers divided by the number of entries N, where N is a symbol that both runs know: means, and their noise."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..current_run import tracer
from ..forms import Form
from .above_zero import nonnegative, noted, positive
from .values import Ratio, is_number

LENGTH = "N"


def is_length(form: Form) -> bool:
    """Whether it is a positive multiple of the number of entries."""
    return list(form.slopes) == [LENGTH] and not form.at_zero and form.slopes[LENGTH] > 0


def divided(value: Form, length: Form) -> Ratio:
    """value / length."""
    return Ratio(value.scaled(1 / length.slopes[LENGTH]))


def numerators(a: Any, b: Any) -> tuple[Form, Form] | None:
    """Both sides times N, which is at least 1: of a known number N times that. None where one is another symbol."""
    from .arithmetic import lifted

    sides = []
    for value in (a, b):
        form = value.form if isinstance(value, Ratio) else lifted(value)
        if form.slopes and not isinstance(value, Ratio):
            return None
        sides.append(form if isinstance(value, Ratio) else Form({LENGTH: form.at_zero}))
    return sides[0], sides[1]


def number(value: Any) -> Any:
    """The number, of which nothing is known but what it is computed of."""
    if not isinstance(value, Ratio):
        return value
    made = tracer().computed("quotient", operator.truediv, [value.form, Form.variable(LENGTH)])
    return noted(made, positive(value.form)) if nonnegative(value.form) else made


def binary(operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """+, -, and multiples by known numbers and by N; anything else is computed of what is equal in both runs."""
    from .arithmetic import binary as of_numbers

    done = _sum(operation, a, b) if operation in (operator.add, operator.sub) else _multiple(operation, a, b)
    return of_numbers(operation, number(a), number(b)) if done is None else done


def _sum(operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Ratio | None:
    sides = numerators(a, b)
    return None if sides is None else Ratio(sides[0].plus(sides[1], 1 if operation is operator.add else -1))


def _multiple(operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    from .arithmetic import lifted

    ratio, other = (a, b) if isinstance(a, Ratio) else (b, a)
    if isinstance(other, Ratio) or not is_number(other) or (operation is operator.truediv and ratio is b):
        return None
    return multiple(operation, ratio, lifted(other))


def multiple(operation: Callable[[Any, Any], Any], ratio: Form | Ratio, factor: Form) -> Any:
    """A number, or one that is divided by N, times a known number or N, or divided by it; None where it is none."""
    if isinstance(ratio, Form):
        return divided(ratio, factor) if operation is operator.truediv and is_length(factor) else None
    if operation is operator.mul and is_length(factor):
        return ratio.form.scaled(factor.slopes[LENGTH])
    if factor.slopes or operation not in (operator.mul, operator.truediv) or not factor.at_zero:
        return None
    return Ratio(ratio.form.scaled(factor.at_zero if operation is operator.mul else 1 / factor.at_zero))
