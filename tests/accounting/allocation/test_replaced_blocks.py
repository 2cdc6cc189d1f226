"""One of t, a replaced unit: quadrature in the plane, simulation for more rounds, and planted faults."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from dpcert.accounting import delta, epsilon
from dpcert.accounting.allocation import one_jump
from dpcert.mechanisms import BallsInBins, Gaussian, RandomAllocation, Repeat, ToeplitzFactorisation
from dpcert.proofs_checks.simulation.estimates import estimate_delta


def delta_of_two_rounds(shift: float, eps: float) -> float:
    """By a sum over the plane: N(s, 0) or N(0, s) against N(-s, 0) or N(0, -s)."""
    axis = np.linspace(-9, 9, 1201) + 0.0
    still, ahead, behind = (norm.pdf(axis, centre) for centre in (0, shift, -shift))
    p, q = (0.5 * (np.outer(moved, still) + np.outer(still, moved)) for moved in (ahead, behind))
    return float(np.maximum(p - math.exp(eps) * q, 0.0).sum() * (axis[1] - axis[0]) ** 2)


@pytest.mark.parametrize(("noise", "eps"), [(1.0, 0.5), (1.5, 1.0), (2.0, 0.2)])
def test_two_rounds_by_quadrature(noise, eps):
    truth = delta_of_two_rounds(1 / noise, eps)
    found = delta(RandomAllocation(Gaussian(noise), 2), eps, "replace-one")
    assert found.lower <= truth * (1 + 1e-3)
    assert truth * (1 - 1e-3) <= found.upper
    assert found.upper <= 1.001 * truth
    assert found.lower >= 0.999 * truth


@pytest.mark.nightly
def test_more_rounds_and_blocks_by_simulation():
    """Each bound of the simulation errs with probability 1e-6."""
    rounds = ToeplitzFactorisation(1.0, (1.0,), 40)
    drawn = estimate_delta(BallsInBins(rounds, 40), 1.0, neighbouring="replace-one", draws=60_000, error=1e-6)
    found = delta(RandomAllocation(Gaussian(1.0), 40), 1.0, "replace-one")
    assert drawn.lower <= found.upper <= 1.2 * drawn.upper
    assert found.lower <= drawn.upper


@pytest.mark.nightly
def test_it_is_narrow_and_blocks_compose():
    one = epsilon(RandomAllocation(Gaussian(2.0), 100), 1e-5, "replace-one")
    ten = epsilon(Repeat(RandomAllocation(Gaussian(2.0), 100), 10), 1e-5, "replace-one")
    assert one.upper <= 1.03 * one.lower
    assert ten.upper <= 1.03 * ten.lower
    assert 2 * one.lower < ten.lower < 10 * one.upper


def test_one_block_is_known_to_a_ten_thousandth():
    """Between what a law of a few gammas and a sum of scores give, which share nothing with it from below."""
    found = epsilon(RandomAllocation(Gaussian(2.0), 1000), 1e-6, "replace-one")
    assert found.narrower_than(1.2e-4)
    again = delta(RandomAllocation(Gaussian(2.0), 1000), found.upper, "replace-one")
    assert again.lower <= 1e-6 * (1 + 1e-9)
    assert again.upper >= 0.99e-6


@pytest.mark.parametrize("eps", [0.0, 0.5, 1.5])
@pytest.mark.parametrize("step", [0.5, 0.02])
def test_what_is_put_on_the_grid_is_below(eps, step):
    """E(Z' - g)_+ of rounds up to a height against quadrature of E(Z - g)_+, between the grid's points too."""
    odds, x, height = math.exp(eps), np.linspace(-12, 12, 200_001), 6.0
    value, weight = np.exp(x - 0.5) - odds * np.exp(-x - 0.5), norm.pdf(x) * (x[1] - x[0]) * (x <= height)
    places = np.asarray(step * np.arange(math.floor(-500 / step), math.ceil(400 / step) + 1), dtype=float)
    masses = one_jump.contracted(1.0, odds, places, height)
    for g in (-3.1, -0.7, 0.0, 0.26, 2.17, 9.9):
        exact = float(weight @ np.maximum(value - g, 0.0))
        found = float(masses @ np.maximum(places - g, 0.0))
        assert found <= exact * (1 + 1e-6)
        assert found >= exact - 0.3 * step
    assert abs(float(masses.sum()) - 1) < 1e-8  # what is above the height is not on the grid


BLOCK = one_jump.block(1.0, 2, 1e-12)


def test_masses_of_the_upper_law_below_are_caught(monkeypatch):
    """The plant: lines replaced by the values themselves, whose chords lie above; the profile is then too large."""
    truth = delta_of_two_rounds(1.0, 0.5)
    assert one_jump.profile_below(BLOCK, 0.5, 2) <= truth

    def split(shift, odds, grid, height):
        x = np.linspace(-12, height, 20_001)
        value, weight = np.exp(x - 0.5) - odds * np.exp(-x - 0.5), norm.pdf(x) * (x[1] - x[0])
        at = np.array([float(weight @ np.maximum(value - g, 0.0)) for g in grid])
        masses = np.maximum(np.append(np.diff(np.diff(at)), at[-2] - at[-1]) / (grid[1] - grid[0]), 0.0)
        return np.concatenate([[max(0.0, 1 - masses.sum())], masses])

    monkeypatch.setattr(one_jump, "contracted", split)
    assert one_jump.profile_below(BLOCK, 0.5, 2) > truth


def test_a_unit_that_is_left_out_instead_is_caught(monkeypatch):
    """The plant: the other neighbour contributes nothing, L' = 1."""
    right = one_jump.gaussian_masses
    monkeypatch.setattr(one_jump, "gaussian_masses", lambda edges, centre: right(edges, max(centre, 0.0)))
    assert one_jump.profile_above(one_jump.block(1.0, 2, 1.1e-12), 0.5, 24) < 0.97 * delta_of_two_rounds(1.0, 0.5)


def test_cells_rounded_down_are_caught(monkeypatch):
    """The plant: all of a cell's mass goes to the grid point below it."""
    right = one_jump.profile_above(BLOCK, 0.5, 24)
    monkeypatch.setattr(one_jump.np, "clip", lambda *_: 0.0)
    assert right >= delta_of_two_rounds(1.0, 0.5) * (1 - 1e-4)
    assert one_jump.profile_above(BLOCK, 0.5, 24) < delta_of_two_rounds(1.0, 0.5)


@pytest.mark.parametrize(("shift", "rounds"), [(0.1, 10_000), (0.25, 1_000_000)])
def test_many_rounds_lose_no_more_than_the_tail(shift, rounds):
    """Beyond the edges of the cells is any of the rounds, not the unit's alone."""
    assert one_jump.block(shift, rounds, 1e-11).lost <= 1.2e-11


def test_small_noise_and_several_participations_keep_their_renyi_bound():
    for block in (RandomAllocation(Gaussian(0.3), 10), RandomAllocation(Gaussian(1.0), 10, 2)):
        found = epsilon(block, 1e-5, "replace-one")
        assert 0 < found.lower < found.upper < math.inf
