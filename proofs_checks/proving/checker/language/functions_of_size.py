"""Functions of one size |v|, v a number or a vector: between which ends they are, and how large v times them is.

Clipping by a norm is such a product: v * min(1, C / |v|) is at most C, although its factors have no such bound.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..current_run import tracer
from ..forms import Form, Sign

ZERO, ONE = Fraction(0), Fraction(1)
INFINITE = Fraction(10**30)
"""Stands for numpy's infinity in real runs: a quotient by a size that is 0."""


@dataclass(frozen=True)
class Bounds:
    """Of a function e >= 0 of a size r: least <= e <= most, share * r <= e, e * r <= product. None: no bound.

    Where most is None, e may be infinite at r = 0, so that v * e is not known there.
    """

    least: Fraction
    most: Fraction | None
    share: Fraction
    product: Fraction | None


Range = tuple[Fraction, Fraction | None]
"""Between which ends a size is."""
ANY: Range = (ZERO, None)


@dataclass(frozen=True)
class OfSize:
    """A function of the size of `base`; size is that size as a form. bounds: by where the size is."""

    base: Form
    size: Form
    bounds: Callable[[Range], Bounds]


def itself(reach: Range) -> Bounds:
    """The size."""
    low, high = reach
    return Bounds(low, high, ONE, None if high is None else high * high)


def constant(value: Fraction) -> Callable[[Range], Bounds]:
    """A number that is not negative."""

    def bounds(reach: Range) -> Bounds:
        high = reach[1]
        if high is None:
            return Bounds(value, value, ZERO, None if value else ZERO)
        return Bounds(value, value, value / high if high else ZERO, value * high)

    return bounds


def scaled(bounds: Bounds, by: Fraction) -> Bounds:
    """A positive multiple."""
    most, product = (None if end is None else end * by for end in (bounds.most, bounds.product))
    return Bounds(bounds.least * by, most, bounds.share * by, product)


def added(a: Bounds, b: Bounds) -> Bounds:
    """A sum."""
    most = None if a.most is None or b.most is None else a.most + b.most
    product = None if a.product is None or b.product is None else a.product + b.product
    return Bounds(a.least + b.least, most, a.share + b.share, product)


def larger(a: Bounds, b: Bounds) -> Bounds:
    """max(a, b)."""
    most = None if a.most is None or b.most is None else max(a.most, b.most)
    product = None if a.product is None or b.product is None else max(a.product, b.product)
    return Bounds(max(a.least, b.least), most, max(a.share, b.share), product)


def lesser(a: Bounds, b: Bounds) -> Bounds:
    """min(a, b)."""
    most = min((end for end in (a.most, b.most) if end is not None), default=None)
    product = min((end for end in (a.product, b.product) if end is not None), default=None)
    return Bounds(min(a.least, b.least), most, min(a.share, b.share), product)


def inverse(bounds: Bounds) -> Bounds:
    """1 / e: infinite where e is 0, and 0 where e is infinite."""
    return Bounds(
        1 / bounds.most if bounds.most else ZERO if bounds.most is None else INFINITE,
        1 / bounds.least if bounds.least else None,
        1 / bounds.product if bounds.product else ZERO,
        1 / bounds.share if bounds.share else None,
    )


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
    low, high = run.data.between(size)
    low = max(low or ZERO, ZERO)
    for sign in run.assumed:
        by = ratio(sign.form, size)
        if by:
            end = size.at_zero - sign.form.at_zero / by
            low, high = (max(low, end), high) if by > 0 else (low, end if high is None else min(high, end))
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
    form = made(of.size, what, forms, value, (everywhere.least, everywhere.most))
    tracer().data.of_size[next(iter(form.slopes))] = of
    return form


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
    if bounds.most is None or bounds.product is None:
        return None
    return _bounded(of, "product", base, factor, operator.mul, abs(by) * bounds.product)


def _bounded(of: OfSize, what: str, left: Form, right: Form, operation: Any, most: Fraction) -> Form:
    """v times a function of its size: at most so large on this run, which its name says."""
    return made(of.size, f"{what} up to {most}", (left, right), operation, (-most, most))
