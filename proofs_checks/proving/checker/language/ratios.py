"""Numbers divided by the number of entries N, where N is a symbol that both runs know: means, and their noise."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..following import Refused
from ..forms import Form
from .values import Ratio, is_number

LENGTH = "N"


def is_length(form: Form) -> bool:
    """Whether it is a positive multiple of the number of entries."""
    return list(form.slopes) == [LENGTH] and not form.at_zero and form.slopes[LENGTH] > 0


def divided(value: Form, length: Form) -> Ratio:
    """value / length."""
    return Ratio(value.scaled(1 / length.slopes[LENGTH]))


def numerators(a: Any, b: Any) -> tuple[Form, Form]:
    """Both sides times N, which is at least 1: of another number N times that. Raises Refused."""
    from .arithmetic import lifted

    sides = []
    for value in (a, b):
        if isinstance(value, Ratio):
            sides.append(value.form)
            continue
        form = lifted(value)
        if form.slopes:
            raise Refused("a number that is divided by the number of entries, beside one that is not")
        sides.append(Form({LENGTH: form.at_zero}))
    return sides[0], sides[1]


def binary(operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """+, -, and multiples by known numbers and by N."""
    from .arithmetic import lifted

    if operation in (operator.add, operator.sub):
        left, right = numerators(a, b)
        return Ratio(left.plus(right, 1 if operation is operator.add else -1))
    ratio, other = (a, b) if isinstance(a, Ratio) else (b, a)
    if isinstance(other, Ratio) or not is_number(other) or (operation is operator.truediv and ratio is b):
        raise Refused("this operation of a number that is divided by the number of entries")
    factor = lifted(other)
    if operation is operator.mul and is_length(factor):
        return ratio.form.scaled(factor.slopes[LENGTH])
    if factor.slopes or operation not in (operator.mul, operator.truediv) or not factor.at_zero:
        raise Refused("this operation of a number that is divided by the number of entries")
    return Ratio(ratio.form.scaled(factor.at_zero if operation is operator.mul else 1 / factor.at_zero))
