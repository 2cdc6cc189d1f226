"""k of t rounds by the number of heads of t coins (docs/theory/allocation.md, "Three numbers"), by enumeration."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import pytest
from cases import many
from coins_of_rounds import heads, ratio, two_valued

from dpcert.accounting import epsilon
from dpcert.mechanisms import Gaussian, RandomAllocation, Repeat


@pytest.mark.parametrize(("t", "k"), [(3, 2), (5, 2), (6, 4), (4, 4)])
def test_the_ratio_is_that_of_coins_given_their_number(t, k):
    draw = random.Random(1)
    likelihoods = [Fraction(draw.randrange(1, 60), 17) for _ in range(t)]
    for r in (Fraction(k, t + 1), Fraction(1, 7)):
        each = [1 - r + r * ell for ell in likelihoods]
        coins = [r * ell / mix for ell, mix in zip(likelihoods, each, strict=True)]
        assert ratio(likelihoods, k) == math.prod(each) * heads(coins, k) / heads([r] * t, k)


def _passed(corners: bool) -> Iterator[bool]:
    """Whether coins lie between the extremes of two values with their sum and their squares."""
    draw = random.Random(2)
    for t, _ in product((3, 4, 5), range(many(40))):
        coins = [draw.choice((0.0, 1.0, draw.random(), draw.random())) for _ in range(t)]
        points = list(two_valued(t, sum(coins), sum(p * p for p in coins), corners))
        for k in range(t + 1):
            found = [heads(point, k) for point in points]
            yield bool(found) and min(found) - 1e-9 <= heads(coins, k) <= max(found) + 1e-9


def test_coins_lie_between_those_of_two_values():
    assert all(_passed(corners=True))


def test_planted_extremes_without_sure_coins_are_passed():
    """The plant: 0 and 1 are forgotten."""
    assert not all(_passed(corners=False))


def test_every_round_is_the_composition():
    assert epsilon(RandomAllocation(Gaussian(2.0), 5, 5), 1e-5) == epsilon(Repeat(Gaussian(2.0), 5), 1e-5)
