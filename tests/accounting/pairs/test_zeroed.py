"""Zero-out in cohorts of a fixed size, Gaussian noise: the pair of one round is attained and never beaten."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest
from cases import few, many
from numpy.typing import NDArray

from dpcert.accounting.losses.closed_form import profile
from dpcert.accounting.pairs import GaussianPair, OpposedPair, Pair, SubsampledPair, ZeroedPair

SEED = 20261122
Vector = NDArray[np.float64]
Profile = Callable[[float, float, float], float]
"""shift, rate, gamma -> a hockey-stick divergence."""


# Oracles: densities of mixtures on the line, integrated by mpmath.


def density(centres: dict[float, float]) -> Callable[[mp.mpf], mp.mpf]:
    return lambda x: mp.fsum(weight * mp.npdf(x, mp.mpf(c), 1) for c, weight in centres.items())


def divergence(p: dict[float, float], q: dict[float, float], gamma: float) -> float:
    """H_gamma of two mixtures of N(c, 1), given as centre: weight."""
    first, second = density(p), density(q)

    def ahead(x: mp.mpf) -> mp.mpf:
        return first(x) - gamma * second(x)

    grid = [mp.mpf(x) for x in np.linspace(min(*p, *q) - 12, max(*p, *q) + 12, 240)]
    signs = [ahead(x) > 0 for x in grid]
    total = mp.mpf(0)
    roots = [
        mp.findroot(ahead, (a, b), solver="anderson", tol=1e-25)
        for a, b, s, t in zip(grid, grid[1:], signs, signs[1:], strict=False)
        if s != t
    ]
    for a, b in zip([grid[0], *roots], [*roots, grid[-1]], strict=True):
        if ahead((a + b) / 2) > 0:
            for weights, sign in ((p, 1), (q, -gamma)):
                for c, weight in weights.items():
                    total += sign * weight * (mp.ncdf(b - mp.mpf(c)) - mp.ncdf(a - mp.mpf(c)))
    return float(total)


def opposed(s: float, rate: float) -> tuple[dict[float, float], dict[float, float]]:
    """All others contribute -s; the unit s, against 0."""
    return {-s: 1 - rate, s: rate}, {-s: 1 - rate, 0.0: rate}


def aligned(s: float, rate: float) -> tuple[dict[float, float], dict[float, float]]:
    """All others contribute s, as the unit does; against 0."""
    return {s: 1.0}, {s: 1 - rate, 0.0: rate}


@pytest.mark.parametrize(("s", "rate"), few([(0.06, 0.5), (1.0, 0.02), (0.7, 0.9), (3.0, 0.3)], 4))
def test_formulas_of_one_round_against_quadrature(s: float, rate: float) -> None:
    p, q = opposed(s, rate)
    same_p, same_q = aligned(s, rate)
    with mp.workdps(30):
        for epsilon_ in (0.0, 0.1 * rate * s, rate * s, 0.8):
            gamma = math.exp(epsilon_)
            expected: dict[Pair, float] = {
                OpposedPair(s, rate, "remove"): divergence(p, q, gamma),
                OpposedPair(s, rate, "add"): divergence(q, p, gamma),
                ZeroedPair(s, rate, "remove"): max(divergence(p, q, gamma), divergence(same_p, same_q, gamma)),
                ZeroedPair(s, rate, "add"): max(divergence(q, p, gamma), divergence(same_q, same_p, gamma)),
            }
            for pair, exact in expected.items():
                assert float(profile(pair, 1, epsilon_).mid()) == pytest.approx(exact, rel=1e-12, abs=1e-25), pair


def test_where_nothing_is_left_the_profile_is_zero() -> None:
    """Q is never more than e^eps P from some eps on: the square root has no real value there."""
    assert float(profile(OpposedPair(0.5, 0.2, "add"), 1, 0.5).upper()) == 0.0


# The one-round pair against random federations.

AXIS = np.linspace(-9.0, 9.0, 541)
CELL = (AXIS[1] - AXIS[0]) ** 2
ROUNDING = 2e-5
"""Error of the grid sums: the kink of (p - gamma q)_+ costs step^2 / 8 times the jump of slope along it."""
GAMMAS = (0.4, 0.8, 0.95, 1.0, 1.05, 1.3, 2.0)


def in_ball(rng: np.random.Generator) -> Vector:
    """A contribution in three dimensions: often on the sphere."""
    direction = rng.normal(size=3)
    return direction / np.linalg.norm(direction) * (1.0 if rng.random() < 0.7 else rng.random())


def worst_excess(claimed: Profile, cases: int, near: float) -> float:
    """The most by which random federations of one round beat a claimed profile.

    The unit contributes x, its substitute v (near: how near it is to -x or x, where the worst cases are), and the
    rest of the cohort is the origin. Only the plane of 0, x and v matters: the rest of the noise is the same.
    """
    rng, worst = np.random.default_rng(SEED), -math.inf
    for case in range(cases):
        rate, s = float(rng.uniform(0.05, 0.95)), float(rng.uniform(0.2, 1.5))
        x = in_ball(rng)
        v = (-x, x, in_ball(rng))[case % 3] + near * rng.normal(size=3)
        v /= max(1.0, float(np.linalg.norm(v)))
        along = x / np.linalg.norm(x)
        plane = [
            np.array([v @ along, np.linalg.norm(v - (v @ along) * along)]),
            np.array([x @ along, 0.0]),
            np.zeros(2),
        ]
        rest, unit, zero = (np.multiply.outer(*(np.exp(-0.5 * (AXIS - s * c) ** 2) for c in point)) for point in plane)
        p, q = ((1 - rate) * rest + rate * own for own in (unit, zero))
        for gamma in GAMMAS:
            found = float(np.sum(np.maximum(p - gamma * q, 0.0))) * CELL / (2 * math.pi)
            worst = max(worst, found - claimed(s, rate, gamma))
    return worst


def tight(s: float, rate: float, gamma: float) -> float:
    """The zeroed pair's profile, below 1 by reversal."""
    if gamma >= 1:
        return float(profile(ZeroedPair(s, rate, "remove"), 1, math.log(gamma)).mid())
    return 1 - gamma + gamma * float(profile(ZeroedPair(s, rate, "add"), 1, -math.log(gamma)).mid())


def wrong_sign(s: float, rate: float, gamma: float) -> float:
    """Planted: the inner product taken with the wrong sign in both halves, as if Kahane's inequality were reversed."""
    if gamma >= 1:
        return float(profile(SubsampledPair(GaussianPair(s), rate, "add"), 1, math.log(gamma)).mid())
    return 1 - gamma + gamma * float(profile(OpposedPair(s, rate, "add"), 1, -math.log(gamma)).mid())


def idle_substitute(s: float, rate: float, gamma: float) -> float:
    """Planted: the Poisson formula, as if the substitute contributed nothing."""
    order = "remove" if gamma >= 1 else "add"
    value = float(profile(SubsampledPair(GaussianPair(s), rate, order), 1, abs(math.log(gamma))).mid())
    return value if gamma >= 1 else 1 - gamma + gamma * value


def one_order(s: float, rate: float, gamma: float) -> float:
    """Planted: the opposed pair for every gamma, not only from 1 on."""
    order = "remove" if gamma >= 1 else "add"
    value = float(profile(OpposedPair(s, rate, order), 1, abs(math.log(gamma))).mid())  # type: ignore[arg-type]
    return value if gamma >= 1 else 1 - gamma + gamma * value


@pytest.mark.parametrize("near", [0.0, 0.1])
def test_no_random_federation_beats_the_pair(near: float) -> None:
    assert worst_excess(tight, 30, near) <= ROUNDING


@pytest.mark.parametrize("planted", [wrong_sign, idle_substitute, one_order])
def test_wrong_pairs_are_beaten(planted: Profile) -> None:
    assert worst_excess(planted, 12, 0.05) > 0.01


def expectation(covariance: Vector, weights: Vector, strike: float, positive: bool) -> float:
    """E[(strike - sum_i weights_i exp(X_i - Var X_i / 2))_+], or of the negative part; X centred Gaussian."""
    root = np.linalg.cholesky(covariance + 1e-12 * np.eye(2))
    first, second = np.meshgrid(AXIS, AXIS, indexing="ij")
    exponents = (root[i, 0] * first + root[i, 1] * second - 0.5 * covariance[i, i] for i in range(2))
    total = sum(weight * np.exp(exponent) for weight, exponent in zip(weights, exponents, strict=True))
    payoff = np.maximum(strike - total if positive else total - strike, 0.0)
    return float(np.sum(payoff * np.exp(-0.5 * (first**2 + second**2)))) * CELL / (2 * math.pi)


def test_kahane_s_inequality_on_random_covariances() -> None:
    """A larger entry anywhere, the inner product included, never lowers a convex function's expectation."""
    rng = np.random.default_rng(SEED)
    lowered = 0
    for _ in range(many(25)):
        a, b = rng.uniform(0.1, 1.2, 2)
        c = rng.uniform(-0.95, 0.5) * math.sqrt(a * b)
        small = np.array([[a, c], [c, b]])
        large = small + np.array([[rng.uniform(0, 0.4), 0.0], [0.0, rng.uniform(0, 0.4)]])
        more = rng.uniform(0.05, 0.4) * math.sqrt(a * b)
        large[0, 1] += more
        large[1, 0] += more
        weights, strike, positive = rng.uniform(0.2, 1.0, 2), rng.uniform(0.5, 1.5), bool(rng.random() < 0.5)
        before = expectation(small, weights, strike, positive)
        assert expectation(large, weights, strike, positive) >= before - ROUNDING
        opposite = small - np.array([[0.0, more], [more, 0.0]])  # planted: the covariance falls instead
        if np.linalg.eigvalsh(opposite)[0] > 0.01:
            lowered += expectation(opposite, weights, strike, positive) < before - 1e-3
    assert lowered > many(25) * 0.3
