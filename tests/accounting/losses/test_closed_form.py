"""Closed forms against references of another kind: the definition integrated or summed in mpmath, exact rationals."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import mpmath as mp
import pytest
from cases import few

from dpcert.accounting.losses import closed_form
from dpcert.accounting.pairs import (
    ApproximateDpPair,
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    GaussianPair,
    LaplacePair,
    Pair,
    RandomizedResponsePair,
    Sampling,
    SubsampledPair,
)

EPSILONS = (0.0, 0.01, 0.5, 1.9)


def laws(base: Pair, order: Sampling, rate: float) -> tuple[Callable[[mp.mpf], mp.mpf], Callable[[mp.mpf], mp.mpf]]:
    """Densities, or masses, of the subsampled pair by its definition."""

    if isinstance(base, DiscreteGaussianPair):
        total = mp.fsum(mp.exp(-(mp.mpf(y) ** 2) / (2 * mp.mpf(base.sigma) ** 2)) for y in range(-99, 100))

    def noise(x: mp.mpf) -> mp.mpf:
        if isinstance(base, GaussianPair):
            return mp.npdf(x)
        if isinstance(base, LaplacePair):
            return mp.exp(-abs(x)) / 2
        if isinstance(base, DiscreteLaplacePair):
            a = mp.exp(-1 / mp.mpf(base.scale))
            return (1 - a) / (1 + a) * a ** abs(x)
        assert isinstance(base, DiscreteGaussianPair)
        variance = mp.mpf(base.sigma) ** 2
        return mp.exp(-(x**2) / (2 * variance)) / total

    r, s = mp.mpf(rate), base.shift

    def mixed(x: mp.mpf, centre: float) -> mp.mpf:
        return (1 - r) * noise(x) + r * noise(x - centre)

    if order == "replace":
        return lambda x: mixed(x, s), lambda x: mixed(x, -s)
    pair = (lambda x: mixed(x, s)), noise
    return pair if order == "remove" else (pair[1], pair[0])


@pytest.mark.parametrize("epsilon", few(EPSILONS, 8))
@pytest.mark.parametrize(
    ("base", "order", "rate"),
    [
        (GaussianPair(1.3), "remove", 0.3),
        (GaussianPair(1.3), "add", 0.3),
        (GaussianPair(0.7), "replace", 0.6),
        (LaplacePair(2.0), "remove", 0.3),
        (LaplacePair(2.0), "add", 0.9),
    ],
)
def test_single_continuous_rounds_by_integration(base: Pair, order: Sampling, rate: float, epsilon: float) -> None:
    with mp.workdps(25):
        p, q = laws(base, order, rate)
        odds = mp.exp(epsilon)

        def gap(x: mp.mpf) -> mp.mpf:
            return p(x) - odds * q(x)

        grid = [(mp.mpf(k) + mp.mpf("0.3")) / 8 for k in range(-160, 200)]
        crossings = [mp.findroot(gap, (a, b), solver="anderson") for a, b in pairwise(grid) if gap(a) * gap(b) < 0]
        points = sorted({*crossings, *map(mp.mpf, (-60, -20, -5, 0, base.shift, 8, 25, 65))})
        exact = mp.fsum(max(mp.mpf(0), mp.quad(gap, [a, b])) for a, b in pairwise(points))
        found = closed_form.delta(((SubsampledPair(base, rate, order), 1),), epsilon)
        assert found.lower * (1 - 1e-12) <= exact + 1e-12
        assert exact <= found.upper * (1 + 1e-12) + 1e-12
        assert found.upper - found.lower <= 1e-13 * max(found.upper, 1e-3)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(
    ("base", "order", "rate"),
    [
        (DiscreteGaussianPair(1.7, 2), "remove", 0.3),
        (DiscreteGaussianPair(1.7, 2), "add", 0.3),
        (DiscreteGaussianPair(0.4, 1), "remove", 1 - 2**-20),
        (DiscreteLaplacePair(2.5, 3), "remove", 0.2),
        (DiscreteLaplacePair(2.5, 3), "add", 0.8),
    ],
)
def test_single_discrete_rounds_by_summation(base: Pair, order: Sampling, rate: float, epsilon: float) -> None:
    with mp.workdps(30):
        p, q = laws(base, order, rate)
        odds = mp.exp(epsilon)
        exact = mp.fsum(max(mp.mpf(0), p(mp.mpf(x)) - odds * q(mp.mpf(x))) for x in range(-160, 165))
        found = closed_form.delta(((SubsampledPair(base, rate, order), 1),), epsilon)
        assert found.lower <= exact * (1 + mp.mpf(10) ** -25)
        assert exact * (1 - mp.mpf(10) ** -25) <= found.upper
        assert found.upper - found.lower <= 1e-11 * max(found.upper, 1e-20)


@pytest.mark.parametrize("sigma", [0.2, 0.1, 0.01])
def test_discrete_noise_that_is_next_to_nothing(sigma: float) -> None:
    """Its profile is nearly 1 up to nearly its loss, and falls at once: the search goes far, and the sums are short."""
    found = closed_form.epsilon(((DiscreteGaussianPair(sigma, 1), 1),), 1e-5)
    with mp.workdps(30):
        p, q = laws(DiscreteGaussianPair(sigma, 1), Sampling.REMOVE, 1.0)
        low, high = (
            mp.fsum(max(mp.mpf(0), p(mp.mpf(x)) - mp.exp(end) * q(mp.mpf(x))) for x in range(-20, 25))
            for end in (found.lower, found.upper)
        )
        assert high <= mp.mpf("1e-5") < low
    assert found.narrower_than(1e-13)
    assert closed_form.delta(((DiscreteGaussianPair(sigma, 1), 1),), 1e17).upper < 1e-300


@pytest.mark.parametrize("rounds", [1, 2, 17, 400])
@pytest.mark.parametrize("flip", [Fraction(1, 4), Fraction(7, 16)])
def test_randomized_response_in_rational_arithmetic(rounds: int, flip: Fraction) -> None:
    odds = (1 - flip) / flip
    for share in (Fraction(0), Fraction(1, 3)):
        power = math.floor(rounds * share)
        ratio = odds**power * Fraction(9, 8)
        delta = sum(
            math.comb(rounds, j) * (1 - flip) ** j * flip ** (rounds - j) * max(0, 1 - ratio / odds ** (2 * j - rounds))
            for j in range(rounds + 1)
        )
        with mp.workdps(40):
            epsilon = float(mp.log(mp.mpf(ratio.numerator) / ratio.denominator))
            exact = mp.mpf(Fraction(delta).numerator) / Fraction(delta).denominator
            found = closed_form.delta(((RandomizedResponsePair(float(flip), 2), rounds),), epsilon)
            assert found.lower <= exact <= found.upper or exact == 0
            assert found.upper - found.lower <= 1e-10 * found.upper + 1e-15


@pytest.mark.parametrize("delta", [1e-2, 1e-7, 1e-30])
@pytest.mark.parametrize(
    ("pair", "rounds"),
    [
        (SubsampledPair(GaussianPair(1.0), 1e-3, "remove"), 1),
        (SubsampledPair(GaussianPair(3.0), 0.5, "replace"), 1),
        (SubsampledPair(LaplacePair(1.0), 0.3, "hybrid"), 1),
        (DiscreteGaussianPair(10.0, 1), 1),
        (RandomizedResponsePair(0.3, 2), 1000),
        (ApproximateDpPair(0.1, 1e-33), 100),
    ],
)
def test_epsilon_inverts_delta(pair: Pair, rounds: int, delta: float) -> None:
    composition = ((pair, rounds),)
    found = closed_form.epsilon(composition, delta)
    assert found.width <= 1e-9 * found.upper
    assert closed_form.delta(composition, found.upper).lower <= delta
    assert found.lower == 0 or closed_form.delta(composition, found.lower).upper >= delta


def test_a_stated_bound_is_returned_at_its_own_delta() -> None:
    found = closed_form.epsilon(((ApproximateDpPair(1.0, 1e-5), 1),), 1e-5)
    assert found.upper == pytest.approx(1, rel=1e-14)
    assert found.upper >= 1
    assert closed_form.epsilon(((ApproximateDpPair(1.0, 1.1e-5), 1),), 1e-5).lower == math.inf
    assert closed_form.epsilon(((ApproximateDpPair(0.0, 0.0), 7),), 1e-5).upper == 0


def test_a_lower_end_is_infinite_only_where_epsilon_is() -> None:
    """Epsilon is about 5e11 there: above what is searched, but finite."""
    found = closed_form.epsilon(((SubsampledPair(GaussianPair(1e6), 0.5, "remove"), 1),), 1e-5)
    assert 1e5 < found.lower < 5e11
    assert found.upper == math.inf


def test_what_has_no_formula_is_refused() -> None:
    assert not closed_form.supports(((LaplacePair(1.0), 2),))
    assert not closed_form.supports(((LaplacePair(1.0), 1), (GaussianPair(1.0), 1)))
    assert not closed_form.supports(((SubsampledPair(LaplacePair(1.0), 0.1, "replace"), 1),))
