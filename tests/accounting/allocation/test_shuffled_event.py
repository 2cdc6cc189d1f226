"""Shuffled batches: the lower bound lies below the exact profile, and close to it where theory says so."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from cases import few
from scipy.special import ndtr
from scipy.stats import norm

from dpcert.accounting import delta, epsilon
from dpcert.accounting.allocation.shuffled_event import Epoch, delta_lower, epochs, epsilon_lower
from dpcert.mechanisms import Gaussian, InputError, Laplace, RandomAllocation, Repeat, Shuffled


def exact_delta_of_two_batches(epoch: Epoch, eps: float) -> tuple[float, float]:
    """Hockey-stick divergence of the two mixtures in the plane on a grid, and the error of a sum over a kink."""
    z = epoch.noise
    axis = np.linspace(-9 * z - 1, 9 * z + 3, 1601)
    step = axis[1] - axis[0]

    def density(move: float) -> np.ndarray:
        still, moved = norm.pdf(axis, 0, z), norm.pdf(axis, move, z)
        return 0.5 * (np.outer(moved, still) + np.outer(still, moved))

    value = float(np.maximum(density(epoch.a) - np.exp(eps) * density(epoch.b), 0).sum() * step**2)
    return value, (step / z) ** 2 / 10


@pytest.mark.parametrize("noise", [0.4, 1.0, 3.0])
@pytest.mark.parametrize(("a", "b"), few([(2, 1), (1, 2), (1, 0), (0, 1), (2, 0), (0, 2)], 4))
@pytest.mark.parametrize("eps", [0.0, 0.3, 2.0])
def test_the_bound_is_below_the_exact_profile(noise: float, a: int, b: int, eps: float) -> None:
    epoch = Epoch(noise, 2, a, b)
    exact, error = exact_delta_of_two_batches(epoch, eps)
    assert delta_lower(epoch, eps) <= exact + error


def test_the_masses_are_right_at_50_digits() -> None:
    """One epoch of 10,000 batches at z = 0.5 (Chua et al. 2024): the event's masses by mpmath."""
    epoch, bound = Epoch(0.5, 10_000, 2, 1), epsilon_lower(Epoch(0.5, 10_000, 2, 1), 1e-6)
    with mpmath.workdps(50):

        def outside(move: int, threshold: float) -> mpmath.mpf:
            z, c = mpmath.mpf(epoch.noise), mpmath.mpf(threshold)
            return 1 - mpmath.ncdf((c - move) / z) * mpmath.ncdf(c / z) ** (epoch.batches - 1)

        masses = [(outside(2, c) - mpmath.mpf(1e-6), outside(1, c)) for c in np.linspace(4.0, 4.5, 501).tolist()]
        best = max(mpmath.log(first / second) for first, second in masses if first > 0)
    assert bound <= best * (1 + mpmath.mpf(10) ** -6)
    assert bound == pytest.approx(10.9948, abs=1e-4)  # the paper's 10.994, recomputed above


def test_one_batch_is_the_gaussian_mechanism() -> None:
    """B = 1: a half-line is the optimal event, so the bound meets the exact profile (grid of thresholds: 1e-4)."""
    run = Repeat(Shuffled(Gaussian(0.7), batches=1), 1)
    found = epsilon(run, 1e-5, "zero-out")
    assert found.lower <= found.upper
    assert found.lower == pytest.approx(found.upper, rel=1e-3)


def test_epsilon_and_delta_ends_agree() -> None:
    epoch = Epoch(0.5, 1000, 2, 1)
    bound = epsilon_lower(epoch, 1e-6)
    assert delta_lower(epoch, bound * (1 - 1e-9)) >= 1e-6 * (1 - 1e-6)


def test_without_amplification_the_upper_end_is_one_gaussian_round_an_epoch() -> None:
    shuffled = epsilon(Repeat(Shuffled(Gaussian(2.0), batches=50), 9), 1e-6, "replace-one", participation="visible")
    assert shuffled.upper == epsilon(Repeat(Gaussian(2.0), 9), 1e-6, "replace-one").upper
    assert delta(Repeat(Shuffled(Gaussian(2.0), batches=50), 9), 1.0, "zero-out").lower <= ndtr(0.5)


def test_more_batches_hide_more() -> None:
    bounds = [epsilon_lower(Epoch(1.0, batches, 2, 1), 1e-5) for batches in (1, 10, 100, 1000)]
    assert bounds == sorted(bounds, reverse=True)


def test_add_remove_and_other_noise() -> None:
    with pytest.raises(InputError, match="zero-out or replace-one"):
        epsilon(Shuffled(Gaussian(1.0), 4), 1e-5, "add-remove")
    assert epochs(Shuffled(Laplace(1.0), 4), "zero-out") == ()


def test_hopeless_cases_give_zero_not_an_error() -> None:
    assert epsilon_lower(Epoch(1e6, 10**9, 2, 1), 1e-5) == 0.0
    assert delta_lower(Epoch(1.0, 10, 2, 1), 5000.0) == 0.0
    assert epsilon_lower(Epoch(1e-300, 10, 2, 1), 0.5) >= 0.0


def test_several_epochs_reveal_what_blocks_of_random_allocation_with_that_move_do():
    """Replace-one: others at -u make the unit's batch stand out by 2."""
    epochs = epsilon(Repeat(Shuffled(Gaussian(4.0), 10), 6), 1e-5, "replace-one")
    blocks = epsilon(Repeat(RandomAllocation(Gaussian(2.0), 10), 6), 1e-5)
    one = epsilon(Shuffled(Gaussian(4.0), 10), 1e-5, "replace-one")
    assert epochs.lower == pytest.approx(blocks.lower, rel=1e-3)
    assert one.lower < epochs.lower <= epochs.upper


def test_an_epoch_of_two_batches_attains_its_lower_end():
    """Exact, by quadrature over both batches' sums along u: N(2, 0) or N(0, 2) at random against N(0, 0)."""
    noise, eps = 2.0, 0.3
    grid = np.linspace(-16.0, 20.0, 1201)
    moved, still = (np.exp(-((grid - at) ** 2) / (2 * noise**2)) for at in (2.0, 0.0))
    p = 0.5 * (np.multiply.outer(moved, still) + np.multiply.outer(still, moved))
    gain = np.maximum(p - math.exp(eps) * np.multiply.outer(still, still), 0.0).sum()
    truth = float(gain * ((grid[1] - grid[0]) / (noise * math.sqrt(2 * math.pi))) ** 2)
    found = delta(Shuffled(Gaussian(noise), 2), eps, "replace-one")
    assert truth * (1 - 1e-3) <= found.lower <= truth * (1 + 1e-4) <= found.upper
