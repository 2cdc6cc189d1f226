"""The Gaussian accountant against mpmath at 400 digits and against known numbers."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from cases import few

from dpcert.accounting.losses import gaussian_rounds as gaussian
from dpcert.accounting.pairs import Composition, GaussianPair, LaplacePair


def oracle(epsilon: float, mu: mpmath.mpf) -> mpmath.mpf:
    """delta(epsilon; mu), from mpmath's erfc at the working precision; shares nothing with the accountant."""
    a, b = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    root = mpmath.sqrt(2)
    return (mpmath.erfc(a / root) - mpmath.exp(epsilon) * mpmath.erfc(b / root)) / 2


def settings(number: int, seed: int) -> list[tuple[Composition, float]]:
    """Compositions of one to three pairs with composed mu in about [1e-12, 1e4], and a delta to 1e-300."""
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        mu = 10.0 ** generator.uniform(-12, 4)
        rounds = [int(10.0 ** generator.uniform(0, 6)) for _ in range(generator.integers(1, 4))]
        pairs = [GaussianPair(mu * generator.uniform(0.2, 1.0) / math.sqrt(len(rounds) * t)) for t in rounds]
        found.append((tuple(zip(pairs, rounds, strict=True)), 10.0 ** -generator.uniform(0.2, 300)))
    return found


def composed(composition: Composition) -> mpmath.mpf:
    return mpmath.sqrt(mpmath.fsum(t * mpmath.mpf(pair.shift) ** 2 for pair, t in composition))  # type: ignore[attr-defined]


@pytest.mark.parametrize("seed", few(range(4), 8))
def test_epsilon_brackets_the_crossing_of_the_profile(seed: int) -> None:
    with mpmath.workdps(400):
        for composition, delta in settings(60, seed):
            mu = composed(composition)
            bracket = gaussian.epsilon(composition, delta)
            assert bracket.certified
            assert oracle(bracket.upper, mu) <= delta
            assert bracket.lower == 0.0 or oracle(bracket.lower, mu) > delta
            assert bracket.width <= 1e-12 * bracket.upper


@pytest.mark.parametrize("seed", few(range(4), 8))
def test_delta_brackets_the_profile(seed: int) -> None:
    with mpmath.workdps(400):
        for composition, target in settings(60, 100 + seed):
            epsilon = gaussian.epsilon(composition, target).upper
            mu = composed(composition)
            truth = oracle(epsilon, mu)
            bracket = gaussian.delta(composition, epsilon)
            assert bracket.lower <= truth <= bracket.upper
            condition = 1.0 + float(epsilon / mu + mu) ** 2
            assert bracket.width <= 1e-14 * condition * float(truth)


def test_the_width_covers_decimal_parameters() -> None:
    """noise_multiplier 1.1 means the decimal: 1/1.1 rounded twice must be inside."""
    with mpmath.workdps(60):
        for z in ("1.1", "0.7", "13.3"):
            truth = oracle(3.0, 1 / mpmath.mpf(z))
            bracket = gaussian.delta(((GaussianPair(1.0 / float(z)), 1),), 3.0)
            assert bracket.lower <= truth <= bracket.upper


def test_known_number() -> None:
    """z = 1, T = 10, delta = 1e-5: 17.8565868301 (design note, section 3, from a prototype in another method)."""
    bracket = gaussian.epsilon(((GaussianPair(1.0), 10),), 1e-5)
    assert abs(bracket.upper - 17.8565868301) < 1e-10


def test_large_delta_costs_no_epsilon() -> None:
    bracket = gaussian.epsilon(((GaussianPair(0.01), 1),), 0.01)
    assert (bracket.lower, bracket.upper) == (0.0, 0.0)


def test_delta_below_the_smallest_double_stays_positive_above() -> None:
    bracket = gaussian.delta(((GaussianPair(1.0), 1),), 60.0)
    assert bracket.lower == 0.0
    assert 0.0 < bracket.upper < 1e-300


def test_absurd_shifts_end_with_an_honest_bracket() -> None:
    bracket = gaussian.epsilon(((GaussianPair(1e200), 1),), 1e-5)
    assert bracket.upper == math.inf
    assert bracket.lower < math.inf
    assert gaussian.delta(((GaussianPair(1e200), 1),), 1.0).upper == 1.0


def test_supports_gaussian_rounds_only() -> None:
    assert gaussian.supports(((GaussianPair(1.0), 3), (GaussianPair(0.5), 2)))
    assert not gaussian.supports(((GaussianPair(1.0), 3), (LaplacePair(0.5), 2)))
    with pytest.raises(TypeError, match="Gaussian pair"):
        gaussian.composed_shift(((LaplacePair(0.5), 2),))


@pytest.mark.parametrize("mu", [1e3, 1e7, 1e12, 1e18])
@pytest.mark.parametrize("delta", [0.5, 1e-5, 1e-30])
def test_enormous_shifts_keep_all_digits(mu: float, delta: float) -> None:
    """Where e^eps Phi(-v) vanishes beside Phi(-u) the crossing is mu^2/2 + t mu with Phi(-t) = delta, nearly."""
    found = gaussian.epsilon(((GaussianPair(mu), 1),), delta)
    assert found.width <= 1e-14 * found.upper
    with mpmath.workdps(60):
        target = mpmath.mpf(delta)
        t = mpmath.findroot(
            lambda x: mpmath.ncdf(-x) - target, max(0.1, float(mpmath.sqrt(-2 * mpmath.log(delta))) - 1)
        )
        far = mpmath.mpf(mu) ** 2 / 2 + t * mpmath.mpf(mu)
        # what is neglected is at most phi(t) / mu of delta, in units of mu / (t + 1/t)
        assert abs(mpmath.mpf(found.upper) - far) <= 3 + far * mpmath.mpf(10) ** -14
