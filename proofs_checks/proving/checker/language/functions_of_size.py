"""Functions of one size |v|, v a number or a vector: between which ends they are, and how large v times them is.

Clipping by a norm is such a product: v * min(1, C / |v|) is at most C, although its factors have no such bound.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from ..current_run import tracer
from ..forms import Form, Sign

End = Fraction | float
"""A number, or infinity."""
Range = tuple[Fraction, End]
"""Between which ends a size is."""
ZERO, ONE = Fraction(0), Fraction(1)
ANY: Range = (ZERO, math.inf)
INFINITE = Fraction(10**30)
"""Stands for numpy's infinity in real runs: a quotient by a size that is 0."""


class Bounds(NamedTuple):
    """Of a function e >= 0 of a size r: least <= e <= most, share * r <= e, e * r <= product.

    Where most is infinite, e may be so at r = 0, and v * e is not known there.
    """

    least: Fraction
    most: End
    share: Fraction
    product: End


@dataclass(frozen=True)
class OfSize:
    """A function of the size of `base`; size is that size as a form. bounds: by where the size is."""

    base: Form
    size: Form
    bounds: Callable[[Range], Bounds]


def itself(reach: Range) -> Bounds:
    """The size."""
    low, high = reach
    return Bounds(low, high, ONE, high * high)


def constant(value: Fraction) -> Callable[[Range], Bounds]:
    """A number that is not negative."""

    def bounds(reach: Range) -> Bounds:
        high = reach[1]
        share = value / high if isinstance(high, Fraction) and high else ZERO
        return Bounds(value, value, share, value * high if value else ZERO)

    return bounds


def scaled(bounds: Bounds, by: Fraction) -> Bounds:
    """A positive multiple."""
    return Bounds(*[end * by for end in bounds])  # type: ignore[arg-type]


def _each(pick: Callable[..., Any], a: Bounds, b: Bounds) -> Bounds:
    """Bounds of two functions: of their sum the sums, of the larger or lesser one the larger or lesser ones."""
    return Bounds(*map(pick, a, b))


added, larger, lesser = (functools.partial(_each, pick) for pick in (operator.add, max, min))


def inverse(bounds: Bounds) -> Bounds:
    """1 / e: infinite where e is 0, and 0 where e is infinite."""

    def over(end: Any, of_nothing: Any) -> Any:
        return (ZERO if end == math.inf else 1 / end) if end else of_nothing

    least, most, share, product = bounds
    return Bounds(over(most, INFINITE), over(least, math.inf), over(product, ZERO), over(share, math.inf))


def of_form(form: Form, plain: bool = True) -> OfSize | None:
    """The form as a function of one size; None where it is none. plain: a number that is not negative is its size."""
    if form.noisy or not form.slopes:
        return None
    (name, slope), *more = form.slopes.items()
    known = tracer().data.of_size.get(name)
    if not more and known is not None and slope > 0 and form.at_zero >= 0 and nonnegative(known.size):
        more_of_it = constant(form.at_zero)
        return OfSize(known.base, known.size, lambda r: added(scaled(known.bounds(r), slope), more_of_it(r)))
    if not plain:
        return None
    alone = form - form.at_zero
    if form.at_zero > 0 and nonnegative(alone):
        more_of_it = constant(form.at_zero)
        return OfSize(alone, alone, lambda r: added(itself(r), more_of_it(r)))
    return OfSize(form, form, itself) if nonnegative(form) else None


def nonnegative(form: Form) -> bool:
    """Whether the form is not negative on this run, by its range or by one test."""
    run = tracer()
    low, _ = run.data.between(form)
    return (low is not None and low >= 0) or any(_says_so(sign, form) for sign in run.assumed)


def _says_so(sign: Sign, form: Form) -> bool:
    """Whether the test says that the form is not negative."""
    by = ratio(form, sign.form)
    return by is not None and by > 0 and form.at_zero >= by * sign.form.at_zero


def reach(size: Form) -> Range:
    """Between which ends the size is on this run."""
    run = tracer()
    below, above = run.data.between(size)
    low, high = max(below or ZERO, ZERO), math.inf if above is None else above
    for sign in run.assumed:
        by = ratio(sign.form, size)
        if by:
            end = size.at_zero - sign.form.at_zero / by
            low, high = (max(low, end), high) if by > 0 else (low, min(high, end))
    return low, high


def ratio(one: Form, other: Form) -> Fraction | None:
    """one / other of their slopes, where they are proportional."""
    if not other.slopes or one.slopes.keys() != other.slopes.keys():
        return None
    name = next(iter(other.slopes))
    by = one.slopes[name] / other.slopes[name]
    return by if all(one.slopes[each] == by * slope for each, slope in other.slopes.items()) else None


def multiple(form: Form, base: Form) -> Fraction | None:
    """form / base, where the one is a multiple of the other."""
    by = ratio(form, base)
    return by if by is not None and form.at_zero == by * base.at_zero else None


def made(size: Form, what: str, forms: tuple[Form, ...], value: Any, ends: Any) -> Form:
    """A variable that is computed of data; what is known of it is known of runs on which the size is what it is."""
    data, text = tracer().data, f"by {size.name()}: {what}({';'.join(form.name() for form in forms)})"
    if any(name in data.vectors for form in forms for name in form.slopes):
        data.vectors.add(text)
    return data.merge(text, forms, lambda point: value(*[form.value(point) for form in forms]), ends)  # type: ignore[no-any-return]


def extreme(which: str, left: Form, right: Form) -> Form | None:
    """max or min of data as a variable: of functions of one size, and numbers; else where tests are merged."""
    run = tracer()
    of = _extreme_of(which, left, right, plain=False)
    if of is not None:
        return _remembered(of, which, (left, right), max if which == "max" else min)
    merged = run.merged_extreme(which, left, right)
    if merged is not None and not merged.same(left) and not merged.same(right):
        of = _extreme_of(which, left, right, plain=True)
        if of is not None:
            run.data.of_size[next(iter(merged.slopes))] = of
    return merged  # type: ignore[no-any-return]


def _extreme_of(which: str, left: Form, right: Form, plain: bool) -> OfSize | None:
    """The larger or lesser as a function of a size; None where it is none."""
    sides = [of_form(form, plain) if form.slopes else None for form in (left, right)]
    found = next((side for side in sides if side is not None), None)
    rules: list[Callable[[Range], Bounds]] = []
    for form, side in zip((left, right), sides, strict=True):
        known = side is not None or (not form.slopes and form.at_zero >= 0)
        if found is None or not known or (side is not None and not side.size.same(found.size)):
            return None
        rules.append(constant(form.at_zero) if side is None else side.bounds)
    assert found is not None
    (a, b), pick = rules, larger if which == "max" else lesser
    return OfSize(found.base, found.size, lambda r: pick(a(r), b(r)))


def _remembered(of: OfSize, what: str, forms: tuple[Form, ...], value: Any) -> Form:
    """A variable that is this function of a size."""
    everywhere = of.bounds(ANY)
    form = made(of.size, what, forms, value, (everywhere.least, _finite(everywhere.most)))
    tracer().data.of_size[next(iter(form.slopes))] = of
    return form


def _finite(end: End) -> Fraction | None:
    return end if isinstance(end, Fraction) else None


def nonlinear(operation: Any, left: Form, right: Form, of_numpy: bool) -> Form | None:
    """A product or quotient in which one side is a function of a size. of_numpy: of 0 a quotient is infinite.

    A number divided by it is one again; v times it, or divided by it, is bounded as Bounds says.
    """
    if operation is operator.mul:
        return _product(left, right) or _product(right, left)
    if operation is not operator.truediv or left.noisy:
        return None
    of = of_form(right)
    if of is None:
        return None
    least = of.bounds(reach(of.size)).least
    if not left.slopes and left.at_zero > 0 and (least > 0 or of_numpy):
        over, rule = left.at_zero, of.bounds
        inverted = OfSize(of.base, of.size, lambda r: scaled(inverse(rule(r)), over))
        return _remembered(inverted, "quotient", (left, right), lambda a, b: a / b if b else INFINITE)
    by = multiple(left, of.base)
    share = of.bounds(reach(of.size)).share
    if by is None or not least or not share:
        return None
    return _bounded(of, "divided", left, right, operator.truediv, abs(by) / share)


def _product(base: Form, factor: Form) -> Form | None:
    of = of_form(factor, plain=False)
    by = None if of is None else multiple(base, of.base)
    if of is None or by is None:
        return None
    bounds = of.bounds(reach(of.size))
    product = _finite(bounds.product)
    if bounds.most == math.inf or product is None:
        return None
    return _bounded(of, "product", base, factor, operator.mul, abs(by) * product)


def _bounded(of: OfSize, what: str, left: Form, right: Form, operation: Any, most: Fraction) -> Form:
    """v times a function of its size: at most so large on this run, which its name says."""
    return made(of.size, f"{what} up to {most}", (left, right), operation, (-most, most))
