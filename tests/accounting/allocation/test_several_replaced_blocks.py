"""Several blocks, a replaced unit: quadrature, simulation, profiles in closed form, and planted faults."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from cases import few
from scipy import optimize
from scipy.special import ndtr
from scipy.stats import norm

from dpcert.accounting import delta, epsilon
from dpcert.accounting.allocation import one_jump, replaced_blocks, two_sided_law
from dpcert.accounting.allocation.profile_nodes import law_above
from dpcert.accounting.allocation.two_sided_law import laws_between
from dpcert.accounting.bracket import EmptyBracket
from dpcert.accounting.losses.atoms import pld as lattices
from dpcert.accounting.losses.atoms import steps
from dpcert.accounting.pairs import AllocationPair, GaussianPair, ReplacedAllocationPair
from dpcert.mechanisms import Gaussian, Poisson, RandomAllocation, Repeat, Sequence

QUICK = 1e-3
"""A tolerance for which a second is enough."""


def plane(shift: float) -> tuple[np.ndarray, np.ndarray]:
    """Masses of one block of two rounds on a grid of the plane: N(s, 0) or N(0, s) against N(-s, 0) or N(0, -s)."""
    axis = np.linspace(-9, 9, 1201)
    still, ahead, behind = (norm.pdf(axis, centre) * (axis[1] - axis[0]) for centre in (0, shift, -shift))
    p, q = (0.5 * (np.outer(moved, still) + np.outer(still, moved)) for moved in (ahead, behind))
    return p.ravel(), q.ravel()


def delta_of_two(shift: float, eps: float, beside: Callable[[np.ndarray], np.ndarray] | None = None) -> float:
    """Of two blocks, or of one beside another law of losses k/2000, k >= the first block's least, in its size.

    Losses are rounded to 1/2000, which moves epsilon by less than that.
    """
    p, q = plane(shift)
    loss = np.rint(2000 * np.log(p / q)).astype(int)
    law = np.bincount(loss - loss.min(), p)
    other = law if beside is None else beside(np.arange(loss.min(), loss.max() + 1) / 2000)
    both = np.fft.irfft(np.fft.rfft(law, 4 * law.size) * np.fft.rfft(other, 4 * law.size), 4 * law.size)
    place = (np.arange(both.size) + 2 * loss.min()) / 2000
    return float(both @ np.maximum(1 - np.exp(eps - place), 0.0))


def gaussian_loss(places: np.ndarray) -> np.ndarray:
    """Of a Gaussian round that a replaced unit moves by half a standard deviation."""
    return np.asarray(norm.pdf(places, 0.125, 0.5) / 2000)


@pytest.mark.parametrize(("noise", "eps"), few([(1.0, 1.0), (2.0, 0.5), (0.7, 2.0)], 6))
def test_two_blocks_of_two_rounds_by_quadrature(noise, eps):
    found = delta(Repeat(RandomAllocation(Gaussian(noise), 2), 2), eps, "replace-one", rtol=QUICK)
    assert found.method == "replaced-blocks"
    assert found.lower <= delta_of_two(1 / noise, eps - 5e-4)
    assert found.upper >= delta_of_two(1 / noise, eps + 5e-4)
    assert found.upper <= 1.01 * found.lower


BESIDE = ((ReplacedAllocationPair(AllocationPair(GaussianPair(1.0), 2, 1, "remove")), 1), (GaussianPair(0.5), 1))


@pytest.mark.nightly
def test_a_block_beside_another_round_by_quadrature():
    for eps in (0.5, 1.5):
        found = lattices.delta(BESIDE, eps, QUICK)
        assert found.lower <= delta_of_two(1.0, eps - 5e-4, gaussian_loss)
        assert found.upper >= delta_of_two(1.0, eps + 5e-4, gaussian_loss)
        assert found.upper <= 1.005 * found.lower


def test_infinite_losses_that_are_forgotten_beside_another_round_are_caught(monkeypatch):
    """With a large tail jumps are ordinary, and what they add is said to be infinite."""
    truth = delta_of_two(1.0, 1.5, gaussian_loss)
    monkeypatch.setattr(replaced_blocks, "_LEAST_TAIL", 1e-3)
    monkeypatch.setattr(replaced_blocks, "_MOST_TAIL", 1e-3)
    found = lattices.delta(BESIDE, 1.5, QUICK)
    assert found.lower < truth < found.upper
    known = replaced_blocks.losses_of_one
    monkeypatch.setattr(steps, "losses_of_one", lambda *a, **b: [replace(law, infinite=0.0) for law in known(*a, **b)])
    with pytest.raises(EmptyBracket):  # the upper end falls below the lower one, which is below the truth
        lattices.delta(BESIDE, 1.5, QUICK)


@pytest.mark.nightly
def test_blocks_beside_sampled_rounds_are_narrow():
    rounds = Repeat(RandomAllocation(Gaussian(1.0), 100), 10), Repeat(Poisson(Gaussian(1.0), 0.01), 1000)
    assert epsilon(Sequence(rounds), 1e-6, "replace-one").narrower_than(1e-4)


@pytest.mark.nightly
def test_three_blocks_by_simulation():
    """Means of 200,000 numbers between 0 and 1: further than .0063 from the truth with probability 1e-6 (Hoeffding)."""
    rng = np.random.default_rng(7)
    loss = np.zeros(200_000)
    for _ in range(3):
        x = rng.standard_normal((loss.size, 40))
        x[:, 0] += 1  # by symmetry of the rounds
        loss += np.log(np.exp(x).sum(axis=1) / np.exp(-x).sum(axis=1))
    for eps in (0.1, 1.0):
        drawn = float(np.maximum(1 - np.exp(eps - loss), 0.0).mean())
        found = delta(Repeat(RandomAllocation(Gaussian(1.0), 40), 3), eps, "replace-one", rtol=QUICK)
        assert found.lower - 0.0063 <= drawn <= found.upper + 0.0063
        assert found.width < 0.02 * found.upper


@pytest.mark.nightly
def test_it_is_within_the_coarser_accountant_s_bracket():
    run = Repeat(RandomAllocation(Gaussian(2.0), 100), 10)
    found = epsilon(run, 1e-5, "replace-one", rtol=QUICK)
    coarse = epsilon(run, 1e-5, "replace-one", accountant="pld")
    assert found.narrower_than(QUICK)
    assert coarse.lower <= found.upper
    assert found.lower <= coarse.upper
    again = delta(run, found.upper, "replace-one", rtol=QUICK)
    assert again.lower <= 1e-5 * (1 + 1e-9)


@pytest.mark.nightly
@pytest.mark.parametrize(("noise", "rounds", "blocks", "at"), [(1.0, 100, 10, 1e-6), (2.0, 100, 10, 1e-9)])
def test_it_is_narrow(noise, rounds, blocks, at):
    assert epsilon(Repeat(RandomAllocation(Gaussian(noise), rounds), blocks), at, "replace-one").narrower_than(1e-4)


def value_of_two_rounds(shift: float, eps: float) -> float:
    p, q = plane(shift)
    return float(np.maximum(p - math.exp(eps) * q, 0.0).sum())


@pytest.mark.parametrize("shift", [0.5, 1.0])
@pytest.mark.parametrize("tail", [1e-12, 1e-3])
def test_values_of_the_profile(shift, tail):
    """A large tail: jumps are ordinary, and what two of them may add counts."""
    block = one_jump.block(shift, 2, tail)
    for eps in (0.0, 0.5, 1.5):
        truth = value_of_two_rounds(shift, eps)
        low, high = (value(block, eps, 64) for value in (one_jump.profile_below, one_jump.profile_above))
        assert low <= truth * (1 + 1e-5)
        assert truth * (1 - 1e-5) <= high
        assert high - low <= 1e-3 * truth + 5 * tail


class Fewer:
    """A block whose jumps have half their mass."""

    def __init__(self, block):
        self._block = block
        self.none = np.where(np.arange(block.none.size) < block.jump, block.none, 0.5 * block.none)
        self.ahead, self.behind = (
            np.where(np.arange(block.none.size) < block.jump, each, 0.5 * each) for each in (block.ahead, block.behind)
        )

    def __getattr__(self, name):
        return getattr(self._block, name)


class Slopes:
    def __init__(self, x):
        self.x = np.minimum(x, 0.0)


def test_planted_jumps_that_count_once_are_caught():
    truth = value_of_two_rounds(1.0, 1.5)
    assert one_jump.profile_above(one_jump.block(1.0, 2, 1e-3), 1.5, 64) >= truth
    assert one_jump.profile_above(Fewer(one_jump.block(1.0, 2, 1e-3)), 1.5, 64) < truth


def test_planted_slopes_that_are_too_steep_are_caught(monkeypatch):
    """Steeper slopes than those of the lines' convex minorant: more mass, further up."""
    truth = value_of_two_rounds(1.0, 0.5)
    block = one_jump.block(1.0, 2, 1e-12)
    assert one_jump.profile_below(block, 0.5, 64) <= truth
    right = optimize.isotonic_regression
    monkeypatch.setattr(optimize, "isotonic_regression", lambda slopes: Slopes(1.02 * right(slopes).x))
    assert one_jump.profile_below(block, 0.5, 64) > truth


def gaussian(gamma: np.ndarray, move: float = 0.5) -> np.ndarray:
    at = np.log(gamma) / move
    return np.asarray(ndtr(0.5 * move - at) - gamma * ndtr(-0.5 * move - at))


def profile(law, gamma: np.ndarray) -> np.ndarray:
    losses = np.exp(law.step * law.index)
    return np.array([law.infinite + float(law.masses @ np.maximum(1 - x / losses, 0.0)) for x in gamma])


NODES = 16 * np.arange(0, 100)
STEP = 0.5 / (16 * 20)
BETWEEN = np.exp(np.linspace(-2.6, 2.6, 997))


@pytest.mark.parametrize("gap", [0.0, 1e-4])
def test_laws_lie_around_a_known_profile(gap):
    truth = gaussian(np.exp(STEP * NODES))
    above, below = laws_between(STEP, NODES, truth * (1 + gap), truth * (1 - gap))
    exact, high, low = gaussian(BETWEEN), profile(above, BETWEEN), profile(below, BETWEEN)
    assert np.all(low <= exact * (1 + 1e-12) + 1e-15)
    assert np.all(exact * (1 - 1e-12) <= high + 1e-15)
    middle = np.abs(np.log(BETWEEN)) < 1.0
    assert np.all((high - low)[middle] <= (0.01 + 10 * gap) * exact[middle])


def test_planted_chords_in_place_of_lines_are_caught(monkeypatch):
    truth = gaussian(np.exp(STEP * NODES))
    monkeypatch.setattr(
        two_sided_law,
        "_from_below",
        lambda step, index, odds, high, low: two_sided_law.on_grid(step, law_above(step * index, low)),
    )
    wrong = profile(laws_between(STEP, NODES, truth, truth)[1], BETWEEN)
    assert np.max(wrong / gaussian(BETWEEN)) > 1 + 1e-4
