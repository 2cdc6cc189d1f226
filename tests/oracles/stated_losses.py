"""Mechanisms with few outputs, whose delta is a sum over all of them: nothing of the accountants is used."""

from __future__ import annotations

from itertools import product

import mpmath

Laws = tuple[list[mpmath.mpf], list[mpmath.mpf]]
"""P's and Q's probability of each output."""


def laws(p: list[float], q: list[float]) -> Laws:
    """The doubles as they are."""
    return [mpmath.mpf(x) for x in p], [mpmath.mpf(x) for x in q]


def exchanged(one: Laws) -> Laws:
    """The neighbours named the other way round."""
    return one[1], one[0]


def repeated(one: Laws, rounds: int) -> Laws:
    """Of all outputs of so many rounds."""
    return tuple([mpmath.fprod(each) for each in product(side, repeat=rounds)] for side in one)  # type: ignore[return-value]


def sampled(one: Laws, rate: float) -> Laws:
    """The unit, of whom P is the law, is in the sample with this probability."""
    p, q = one
    return [(1 - mpmath.mpf(rate)) * b + mpmath.mpf(rate) * a for a, b in zip(p, q, strict=True)], q


def delta(one: Laws, epsilon: float) -> mpmath.mpf:
    """Of this order of the neighbours."""
    odds = mpmath.exp(mpmath.mpf(epsilon))
    return mpmath.fsum(max(a - odds * b, mpmath.mpf(0)) for a, b in zip(*one, strict=True))


def renyi(one: Laws, order: float) -> mpmath.mpf:
    """D_order(P||Q), of outputs that both have."""
    a = mpmath.mpf(order)
    return mpmath.log(mpmath.fsum(x**a * y ** (1 - a) for x, y in zip(*one, strict=True))) / (a - 1)
