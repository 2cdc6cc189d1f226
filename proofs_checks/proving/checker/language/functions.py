"""Functions of symbols that are not linear: extremes, rounding, and values that are computed of others.

What is computed of data alone is a variable between known ends. What is computed of noise is the same in both runs
where what it is computed of is shown to be (tracer.computed): that is post-processing.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ..current_run import tracer
from ..exact_numbers import exact
from ..forms import Form, Sign
from ..pairs import Ends
from ..refusals import Refused, UsedTwice
from . import functions_of_size
from .above_zero import has_power, never_zero, nonnegative, noted, positive
from .values import Ratio, Text, Total, Uniform, Weight, is_number, symbolic

NOTHING: Ends = (None, None)
FLIPPED = "of permute-and-flip write np.argmax(scores + rng.exponential(2 / epsilon, len(scores))), which chooses alike"
ROUNDING = Fraction(1, 10**12)
"""Relative error of Python's elementary functions, and far more."""


def greater(a: Any, b: Any) -> Any:
    """max(a, b), of equal ones the first."""
    return _picked("max", a, b)


def lesser(a: Any, b: Any) -> Any:
    """min(a, b), of equal ones the first."""
    return _picked("min", a, b)


def _picked(which: str, a: Any, b: Any) -> Any:
    from .arithmetic import comparison, lifted, ordered, truth

    better = operator.gt if which == "max" else operator.lt
    if not symbolic(a) and not symbolic(b):
        return b if comparison(better, b, a) else a
    for one, other in ((a, b), (b, a)):
        if isinstance(one, float) and math.isinf(one):
            return one if (one > 0) == (which == "max") else other
    if not isinstance(a, Ratio) and not isinstance(b, Ratio):
        merged = functions_of_size.extreme(which, lifted(a), lifted(b))
        if merged is not None:
            return merged
    return b if truth(ordered(better, b, a)) else a


def absolute(value: Any) -> Any:
    """|value|."""
    from .arithmetic import negative

    return greater(value, negative(value)) if isinstance(value, Form | Ratio) else abs(value)


def nonlinear(
    operation: Callable[[Any, Any], Any], left: Form, right: Form, by_int: bool, of_numpy: bool = False
) -> Any:
    """A product, quotient, power or remainder of symbols. of_numpy: cell by cell of arrays."""
    run = tracer()
    between = run.data.between
    by_size = functions_of_size.nonlinear(operation, left, right, of_numpy)
    if by_size is not None:
        return by_size
    if operation is operator.mul:
        if left.same(right):
            return noted(run.computed("square", lambda x: x * x, [left], _square(_ends(left))))
        first, second = sorted((left, right), key=lambda form: form.name())
        return run.computed("product", operator.mul, [first, second], _product(_ends(left), _ends(right)))
    if operation is operator.pow and by_int and not right.slopes and right.at_zero == 2:
        return noted(run.computed("square", lambda x: x * x, [left], _square(_ends(left))))
    if operation is operator.truediv and not never_zero(right):
        raise Refused("a quotient by what may be 0: write max(..., 1e-12)")
    if operation is operator.truediv and not left.noisy and not right.noisy:
        low, high = between(right)
        inverse = (1 / high, 1 / low) if low is not None and high is not None and low * high > 0 else NOTHING
        return run.computed("quotient", operator.truediv, [left, right], _product(_ends(left), inverse))
    words = {operator.truediv: "quotient", operator.pow: "power", operator.floordiv: "floor", operator.mod: "remainder"}
    if operation not in words:
        raise Refused("this operation of symbols")
    power = operation is operator.pow
    if power and not has_power(left, right):
        raise Refused("a power of what may not be above 0: write max(..., 1e-12)")
    if not power and not never_zero(right):
        raise Refused("a quotient or remainder by what may be 0: write max(..., 1e-12)")
    made = run.computed(words[operation], _numeric(operation), [left, right], whole=operation is operator.floordiv)
    above = operation is operator.truediv and nonnegative(left) and positive(right)
    return noted(made, positive(left)) if above else made


def _numeric(function: Callable[..., Any]) -> Callable[..., Fraction]:
    """The function on exact numbers, by floats."""

    def value(*given: Fraction) -> Fraction:
        result = function(*map(float, given))
        if isinstance(result, complex):
            raise ValueError("a complex number")
        return Fraction(result)

    return value


def _ends(form: Form) -> Ends:
    return NOTHING if form.noisy else tracer().data.between(form)


def _square(ends: Ends) -> Ends:
    if None in ends:
        return NOTHING
    low, high = ends
    squares = low * low, high * high  # type: ignore[operator]
    return (Fraction(0) if low <= 0 <= high else min(squares)), max(squares)  # type: ignore[operator]


def _product(one: Ends, other: Ends) -> Ends:
    if None in one or None in other:
        return NOTHING
    corners = [a * b for a in one for b in other]  # type: ignore[operator]
    return min(corners), max(corners)


ABOVE = {"log": 0, "log2": 0, "log10": 0, "log1p": -1}
"""Each is defined only above this number."""


def elementary(name: str, function: Callable[[float], float], rising: bool = True) -> Callable[[Any], Any]:
    """A function of one number. rising: it is monotone, so that ends of data are ends of what is computed."""

    def applied(value: Any) -> Any:
        if not symbolic(value):
            if not is_number(value):
                raise Refused(f"{name} of something that is no number")
            return function(value)
        from .arithmetic import lifted

        form = lifted(value)
        if name in ABOVE and not positive(form - ABOVE[name]):
            raise Refused(f"{name} of what may not be above {ABOVE[name]}: write {name}(max(..., 1e-12))")
        made = tracer().computed(
            name, _numeric(function), [form], _monotone(function, _ends(form)) if rising else NOTHING
        )
        return noted(made, True) if name == "exp" else made

    return applied


def _monotone(function: Callable[[float], float], ends: Ends) -> Ends:
    """The ends, rounded outwards."""
    if None in ends:
        return NOTHING
    try:
        low, high = (Fraction(function(float(end))) for end in ends)  # type: ignore[arg-type]
    except (ArithmeticError, ValueError):
        return NOTHING
    return low - ROUNDING * (1 + abs(low)), high + ROUNDING * (1 + abs(high))


def whole(value: Any) -> Any:
    """int(value): truncated."""
    return _rounded("int", math.trunc, value, int)


def floored(value: Any) -> Any:
    return _rounded("floor", math.floor, value, math.floor)


def ceiled(value: Any) -> Any:
    return _rounded("ceil", math.ceil, value, math.ceil)


def rounded(value: Any, digits: Any = None) -> Any:
    """round(value, digits), halves to even."""
    if digits is not None and type(digits) is not int:
        raise Refused("a number of digits that is no integer")
    if not symbolic(value):
        return round(value, digits)
    if digits is None or digits >= 0:
        return _rounded(f"round {digits or 0}", lambda x: round(x, digits), value, None, digits in (None, 0))
    return _rounded(f"round {digits}", lambda x: round(x, digits), value, None, False, False)


def _rounded(
    name: str, function: Callable[[Any], Any], value: Any, plain: Any, integral: bool = True, stays: bool = True
) -> Any:
    """stays: what is whole is its own value."""
    from .arithmetic import lifted

    if not symbolic(value):
        if not is_number(value):
            raise Refused(f"{name} of something that is no number")
        return plain(value)
    if isinstance(value, Sign):
        return lifted(value)
    if stays and tracer().is_whole(value):
        return value
    return tracer().computed(name, lambda x: Fraction(function(x)), [lifted(value)], _steps(name, value), integral)


def _steps(name: str, form: Form) -> Ends:
    """Between which ends data are when they are rounded to integers."""
    low, high = _ends(form)
    if low is None or high is None or name not in ("int", "floor", "ceil", "round 0"):
        return NOTHING
    return Fraction(math.floor(low)), Fraction(math.ceil(high))


def written(value: Any, how: str) -> Any:
    """The text of a value, by a format."""
    if isinstance(value, Text):
        if how:
            raise Refused("the format of a text that is made of symbols")
        return value
    if symbolic(value):
        from .arithmetic import lifted

        form = lifted(value)
        return Text([tracer().computed(f"text {how}", lambda x: x, [form])])
    if not (value is None or isinstance(value, bool | int | float | str)):
        raise Refused("the text of a container")
    try:
        return format(float(value) if isinstance(value, float) else value, how)
    except ValueError as problem:
        raise Refused(f"the format {how!r} ({problem})") from problem


def joined(pieces: list[Any]) -> Any:
    """Texts one after the other."""
    out: list[Any] = []
    for piece in pieces:
        if not isinstance(piece, str | Text):
            raise Refused("a text beside something that is none")
        out += piece.pieces if isinstance(piece, Text) else [piece]
    return "".join(out) if all(isinstance(piece, str) for piece in out) else Text(out)


def uniform(value: Uniform) -> Form:
    """The number, where it is used as one."""
    run = tracer()
    kind, _ = run.draws[value.place]
    number = Form.variable(f"n{value.place}")
    if kind == "coin":
        raise UsedTwice("a uniform number that is used after it was compared")
    if kind == "unused":
        run.draws[value.place] = ("uniform", "1")
        run.assumed += [Sign(number, False), Sign(1 - number, False)]
    return number


def thrown(operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """A comparison of a uniform number: with a constant it is a coin."""
    from .arithmetic import comparison

    below = (operation in (operator.lt, operator.le)) == isinstance(a, Uniform)
    drawn, other = (a, b) if isinstance(a, Uniform) else (b, a)
    run = tracer()
    fresh = run.draws[drawn.place][0] == "unused"
    if isinstance(other, Weight | Total):
        raise Refused(f"a coin whose chance hangs on the data: {FLIPPED}")
    if operation in (operator.eq, operator.ne):
        raise Refused("a uniform number that is compared by ==")
    if not fresh or not run.coins or symbolic(other) or isinstance(other, Uniform) or not 0 < exact(other) < 1:
        sides = [uniform(x) if isinstance(x, Uniform) else x for x in (a, b)]
        return comparison(operation, *sides)
    one = coin(exact(other), drawn.place)
    return one if below else not one


def coin(chance: Fraction, place: int | None = None) -> bool:
    """Whether a coin falls 1, on this run. place: of the draw that it is; None draws one."""
    run = tracer()
    if place is None:
        place = len(run.draws)
        run.draws.append(("coin", ""))
    value = Form.variable(f"n{place}")
    run.draws[place] = ("coin", str(chance))
    run.assumed += [Sign(value, False), Sign(1 - value, False)]
    return bool(run.choose([(Sign(value - 1, False),), (Sign(-value, False),)]) == 0)


def exponential(value: Any) -> Any:
    """exp: of data and noise a weight, by which a choice may be made."""
    return Weight(value) if isinstance(value, Form) else elementary("exp", math.exp)(value)


def weighed(operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """Weights times constants, their sums, and their shares of a total; anything else needs their numbers."""
    from .arithmetic import binary

    if operation is operator.add and all(isinstance(x, Weight | Total) or x == 0 for x in (a, b)):
        parts = [x.weights if isinstance(x, Total) else (x,) for x in (a, b) if isinstance(x, Weight | Total)]
        return Total(tuple(part for each in parts for part in each))
    if operation is operator.truediv and isinstance(a, Weight) and isinstance(b, Total) and a.total is None:
        return Weight(a.form, b.weights)
    return binary(operation, *[valued(x) for x in (a, b)])


def valued(value: Any) -> Any:
    """A weight as the number that it is."""
    from .arithmetic import add, binary

    if isinstance(value, Weight):
        number = elementary("exp", math.exp)(value.form)
        return number if value.total is None else binary(operator.truediv, number, valued(Total(value.total)))
    if isinstance(value, Total):
        total: Any = 0
        for weight in value.weights:
            total = add(total, valued(weight))
        return total
    return value
