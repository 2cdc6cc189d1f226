"""The law of a block's likelihood ratio against quadrature, exact sums and simulation, with planted bugs."""

from __future__ import annotations

import math
from itertools import product

import mpmath as mp
import numpy as np
import pytest
from cases import few
from scipy.special import ndtr

from dpcert.accounting import accountants, delta, epsilon
from dpcert.accounting.allocation import block, mean, scored_block, tilted_sums
from dpcert.accounting.losses.atoms.cells import Atoms
from dpcert.accounting.pairs import (
    AllocationPair,
    DiscreteGaussianPair,
    GaussianPair,
    LaplacePair,
    RandomizedResponsePair,
)
from dpcert.mechanisms import DiscreteGaussian, Gaussian, Laplace, Poisson, RandomAllocation, Repeat, Sequence, Shuffled

TAIL = 1e-13


def quadrature(shift: float, rounds: int, eps: float) -> tuple[float, float]:
    """delta(eps) of both orders: all but one round by the trapezoidal rule, the last by a lognormal's closed form."""
    nodes = np.linspace(-10.0, 10.0, 6001 if rounds == 2 else 801)
    weights = np.exp(-(nodes**2) / 2) * (nodes[1] - nodes[0]) / math.sqrt(2 * math.pi)
    ratio = np.exp(shift * nodes - shift**2 / 2)
    others, weight = ratio, weights
    for _ in range(rounds - 2):
        others, weight = np.add.outer(others, ratio).ravel(), np.multiply.outer(weight, weights).ravel()

    def call(strike):
        """E (L - strike)_+, E L = 1."""
        positive = np.maximum(strike, 1e-300)
        far = np.log(positive) / shift
        return np.where(strike > 0, ndtr(shift / 2 - far) - strike * ndtr(-shift / 2 - far), 1 - strike)

    remove = rounds * math.exp(eps) - others
    add = rounds * math.exp(-eps) - others
    put = call(add) - (1 - add)
    return float(weight @ call(remove)) / rounds, float(weight @ put) / rounds * math.exp(eps)


def profile(law: Atoms, eps: float) -> float:
    return law.infinite + float(law.mass @ np.maximum(-np.expm1(np.minimum(eps - law.loss, 0.0)), 0.0))


@pytest.mark.parametrize(("shift", "rounds"), few([(0.3, 2), (1.0, 2), (2.5, 2), (0.5, 3), (1.5, 3)], 8))
@pytest.mark.parametrize("fineness", [0.2, 0.01])
def test_small_blocks_hold_the_quadrature(shift, rounds, fineness):
    for order, eps in product(("remove", "add"), (0.0, 0.3 * shift, shift)):
        truth = quadrature(shift, rounds, eps)[order == "add"]
        high = profile(block.losses_above(GaussianPair(shift), rounds, order, fineness, TAIL), eps)
        low = profile(block.losses_below(GaussianPair(shift), rounds, order, fineness, TAIL), eps)
        assert low <= truth * (1 + 1e-9)
        assert truth * (1 - 1e-9) <= high
        assert high - low <= 2 * fineness**2 * truth + 1e-12


def held(shift: float = 1.0, rounds: int = 3, fineness: float = 0.3) -> bool:
    """Whether a coarse law from above and one from below hold the truth, at several epsilons and in both orders."""
    block._above.cache_clear()
    block._below.cache_clear()
    for order, eps in product(("remove", "add"), (0.0, 0.2, 0.6, 1.0)):
        truth = quadrature(shift, rounds, eps)[order == "add"]
        high = profile(block.losses_above(GaussianPair(shift), rounds, order, fineness, TAIL), eps)
        low = profile(block.losses_below(GaussianPair(shift), rounds, order, fineness, TAIL), eps)
        if not low <= truth <= high:
            return False
    return True


def test_a_coarse_law_still_holds_the_truth():
    assert held()


def _rounded_down(fraction, step):
    return np.ones_like(fraction), np.zeros_like(fraction)


def _rounded_to_nearest(fraction, step):
    return (fraction < 0.5).astype(float), (fraction >= 0.5).astype(float)


@pytest.mark.parametrize("plant", [_rounded_down, _rounded_to_nearest])
def test_a_pair_moved_instead_of_split_is_caught(monkeypatch, plant):
    monkeypatch.setattr(mean, "_shares", plant)
    assert not held()


def test_labels_taken_for_likelihood_ratios_are_caught(monkeypatch):
    right = block._first_below

    def plant(cut, step):
        law = right(cut, step)
        ratio = np.exp(law.step * (law.first + np.arange(law.q.size) + 0.3))
        return mean.Below(law.step, law.first, law.q, law.q * ratio, law.infinite, law.error)

    monkeypatch.setattr(block, "_first_below", plant)
    assert not held()


def test_a_tail_that_is_dropped_from_above_is_caught(monkeypatch):
    """The plant: what is trimmed at the top goes nowhere."""
    right = mean._trimmed_above
    first = block.first_above(block.cells(GaussianPair(1.0), 0.02, 0.0, TAIL), 0.02)

    def bound() -> float:
        law = mean.mean_above(first, first, (1, 1), 1, 1e-3)
        return law.infinite + float(law.q @ np.maximum(np.exp(law.places) - math.exp(0.6), 0.0))

    truth = quadrature(1.0, 2, 0.6)[0]
    assert bound() >= truth

    def plant(law, tail):
        kept = right(law, tail)
        return mean.Above(kept.step, kept.first, kept.q, kept.zero, law.infinite, kept.error, kept.slack)

    monkeypatch.setattr(mean, "_trimmed_above", plant)
    assert bound() < truth


def _outcomes(base) -> list[tuple[float, float]]:
    if isinstance(base, RandomizedResponsePair):
        return [(1 - base.flip, base.flip), (base.flip, 1 - base.flip)]
    points = np.arange(-12, 14)
    p, q = (np.exp(-((points - at) ** 2) / (2 * base.sigma**2)) for at in (base.shift, 0))
    return [(a / p.sum(), b / q.sum()) for a, b in zip(p, q, strict=True) if a > 1e-30 and b > 1e-30]


@pytest.mark.parametrize("base", [RandomizedResponsePair(0.3, 2), DiscreteGaussianPair(1.0, 1)])
def test_other_noise_holds_the_sum_over_all_outcomes(base):
    rounds = 4 if isinstance(base, RandomizedResponsePair) else 2
    for order, eps in product(("remove", "add"), (0.0, 0.2, 0.5)):
        truth = 0.0
        for drawn in product(_outcomes(base), repeat=rounds):
            q = math.prod(b for _, b in drawn)
            p = q * sum(a / b for a, b in drawn) / rounds
            truth += max(p - math.exp(eps) * q if order == "remove" else q - math.exp(eps) * p, 0.0)
        high = profile(block.losses_above(base, rounds, order, 0.05, 1e-11), eps)
        low = profile(block.losses_below(base, rounds, order, 0.05, 1e-11), eps)
        assert low <= truth + 1e-12
        assert truth - 1e-12 <= high <= low + 4e-3


@pytest.mark.parametrize("order", ["remove", "add"])
@pytest.mark.parametrize("sigma", [0.15, 0.1, 0.03, 0.01])
def test_noise_that_is_next_to_nothing_ends_in_bounds(sigma, order):
    """All mass is in one place, whose neighbours are hundreds of losses away: against the sum over all outcomes."""
    one = ((AllocationPair(DiscreteGaussianPair(sigma, 1), 3, 1, order, 0.02), 1),)
    found = accountants.composed(one, "best", "epsilon", 1e-5, 1e-3)
    assert found.upper < 1e4
    with mp.workdps(30):
        each = [[mp.exp(-((x - at) ** 2) / (2 * mp.mpf(sigma) ** 2)) for x in range(-4, 6)] for at in (1, 0)]
        masses = [[mass / mp.fsum(law) for mass in law] for law in each]
        drawn = list(product(range(10), repeat=3))
        q = [mp.fprod(masses[1][x] for x in xs) for xs in drawn]
        p = [b * mp.fsum(masses[0][x] / masses[1][x] for x in xs) / 3 for b, xs in zip(q, drawn, strict=True)]
        first, second = (p, q) if order == "remove" else (q, p)
        low, high = (
            mp.fsum(max(mp.mpf(0), a - mp.exp(end) * b) for a, b in zip(first, second, strict=True))
            for end in (found.lower, found.upper)
        )
        assert high <= mp.mpf("1e-5") <= low


def test_shuffled_discrete_noise_that_is_next_to_nothing():
    runs = [Shuffled(DiscreteGaussian(0.1), 3, 3), Shuffled(Gaussian(1e-6), 30), Shuffled(DiscreteGaussian(0.01), 9)]
    for run in runs:
        found = epsilon(run, 1e-5, neighbouring="replace-one")
        assert found.upper == epsilon(run.mechanism, 1e-5, neighbouring="replace-one").upper


def test_simulation_with_laplace_noise():
    """P(1 - gamma/X)_+ lies in [0, 1]: by Hoeffding a correct bracket fails this with probability below 2e-9."""
    rounds, shift, eps, draws = 6, 1.2, 0.4, 200_000
    rng = np.random.default_rng(18)
    noise = rng.laplace(size=(draws, rounds))
    noise[:, 0] += shift  # by symmetry the round drawn may be the first one
    ratio = np.exp(np.abs(noise) - np.abs(noise - shift)).mean(axis=1)
    found = float(np.maximum(1 - math.exp(eps) / ratio, 0.0).mean())
    error = math.sqrt(math.log(2e9) / (2 * draws))
    low = profile(block.losses_below(LaplacePair(shift), rounds, "remove", 0.02, TAIL), eps)
    high = profile(block.losses_above(LaplacePair(shift), rounds, "remove", 0.02, TAIL), eps)
    assert low - error <= found <= high + error
    forgotten = profile(block.losses_below(LaplacePair(shift), rounds - 1, "remove", 0.02, TAIL), eps)
    assert forgotten > found + error  # the plant: one round less is told apart


def test_long_blocks_are_narrow_in_both_orders_and_below_poisson():
    """Figures of docs/theory/allocation.md; a double-precision prototype with transforms gave .620940 and .481041."""
    for noise, rounds, target, known in ((1.0, 100, 1e-5, 0.620940), (0.8, 500, 1e-5, 0.48104)):
        found = epsilon(RandomAllocation(Gaussian(noise), rounds), target)
        assert found.method == "allocation"
        assert found.lower <= known * (1 + 2e-5)
        assert known * (1 - 2e-5) <= found.upper
        assert found.width <= 1e-4 * found.upper
        assert found.upper < epsilon(Repeat(Poisson(Gaussian(noise), 1 / rounds), rounds), target).lower


def test_epochs_and_other_rounds_compose():
    block_of = RandomAllocation(Gaussian(1.0), 8)
    alone, epochs = epsilon(block_of, 1e-5), epsilon(Repeat(block_of, 5), 1e-5)
    mixed = epsilon(Sequence((block_of, Repeat(Poisson(Gaussian(2.0), 0.05), 50))), 1e-5)
    for found in (epochs, mixed):
        assert alone.upper < found.lower <= found.upper <= found.lower * (1 + 2e-4)
    assert delta(Repeat(block_of, 5), epochs.upper).lower <= 1e-5


def test_delta_is_the_inverse_of_epsilon_however_small():
    run = RandomAllocation(Laplace(1.0), 2)
    for target in (1e-3, 1e-15):
        found = epsilon(run, target)
        assert delta(run, found.upper).lower <= target <= delta(run, found.lower).upper


def exact_k_of_t(shift: float, rounds: int, times: int, eps: float) -> tuple[float, float]:
    """Both orders of 2 of 3 by quadrature over all three rounds."""
    assert (rounds, times) == (3, 2)
    nodes, weights = np.polynomial.legendre.leggauss(160)
    nodes, weights = 8 * nodes, 8 * weights * np.exp(-32 * nodes**2) / math.sqrt(2 * math.pi)
    ratio = np.exp(shift * nodes - shift**2 / 2)
    one, other = np.meshgrid(ratio, ratio)
    weight = np.multiply.outer(weights, weights)
    # (L1 L2 + (L1 + L2) L3)/3: linear in L3
    slope, rest = (one + other) / 3, one * other / 3
    result = []
    for gamma in (math.exp(eps), math.exp(-eps)):
        strike = (gamma - rest) / slope
        far = np.log(np.maximum(strike, 1e-300)) / shift
        call = np.where(strike > 0, ndtr(shift / 2 - far) - strike * ndtr(-shift / 2 - far), 1 - strike)
        result.append((float((weight * slope * call).sum()), float((weight * slope * (call - 1 + strike)).sum())))
    return result[0][0], result[1][1] * math.exp(eps)


@pytest.mark.parametrize("shift", few([0.5, 1.2], 4))
def test_two_of_three_lies_between_the_statistic_and_the_blocks(shift):
    run = RandomAllocation(Gaussian(1 / shift), 3, 2)
    for eps in (0.2, 0.8):
        truth = max(exact_k_of_t(shift, 3, 2, eps))
        found = delta(run, eps, "zero-out")
        assert found.lower <= truth * (1 + 1e-9)
        assert truth * (1 - 1e-9) <= found.upper
        assert found.lower >= 0.8 * truth


def test_a_statistic_that_forgets_the_transforms_error_is_caught(monkeypatch):
    """The plant: error 0. At losses where the masses are below the transform's rounding the ratio is noise."""
    right = tilted_sums.law_of_sum

    def bound(eps: float) -> float:
        scored_block.losses_of_block.cache_clear()
        return profile(scored_block.losses_of_block(GaussianPair(0.5), 12, 2, "remove", 1e-13), eps)

    # any two of twelve rounds seen: N(0.5 sqrt 2) is an upper bound whatever is hidden
    move, eps = 0.5 * math.sqrt(2), 7.0
    most = ndtr(move / 2 - eps / move) - math.exp(eps) * ndtr(-move / 2 - eps / move)
    assert bound(eps) <= most
    monkeypatch.setattr(tilted_sums, "law_of_sum", lambda parts: (np.abs(right(parts)[0]) + 1e-300, 0.0))
    assert bound(eps) > most


def test_a_finer_tolerance_is_no_wider() -> None:
    run = Repeat(RandomAllocation(Gaussian(2.0), 12), 2)
    fine, coarse = (epsilon(run, 1e-6, rtol=rtol) for rtol in (1e-9, 1e-6))
    assert fine.narrower_than(1e-3)
    assert fine.width <= 1.01 * coarse.width
