"""The recursion from above: against exact sums, another accountant's products, and two rounds by quadrature."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

from dpcert.accounting.cohorts.cover import Family, Inscribed, Opened
from dpcert.accounting.cohorts.grid_layout import Window
from dpcert.accounting.cohorts.recursion import Rounds, masses
from dpcert.accounting.losses.smooth import contour
from dpcert.accounting.pairs import GaussianPair, SubsampledPair

from .oracle import line_expectation, plane_expectation

SHIFT, RATE, STEP = 0.5, 0.25, 0.02
WINDOW = Window(STEP, -300, 500)


def start() -> np.ndarray:
    return np.maximum(-np.expm1(WINDOW.losses), 0.0)


def chord_errors(values: np.ndarray, losses: np.ndarray) -> np.ndarray:
    """How far the function of the masses is above the values, at their own points, by sums in doubles."""
    rho, rest = masses(values, WINDOW)
    gamma = np.exp(losses)
    return rest + np.maximum(1 - gamma[:, None] / gamma[None, :], 0.0) @ rho - values


def test_masses_are_those_of_the_chords() -> None:
    values = start()
    for shift in (0.2, 0.3):
        family = Family(shift, RATE, Inscribed(), STEP, 300)
        values = Rounds(family, WINDOW, 0.5).advance(values, [family.root])
        errors = chord_errors(values, WINDOW.losses)
        assert np.all(errors >= -1e-15)
        assert np.all(errors[100:] <= 1e-11)


def test_values_that_are_not_convex_are_only_raised() -> None:
    values = start() * (1 + 0.01 * np.sin(np.arange(WINDOW.losses.size)))
    values = np.minimum(values, 1.0)
    assert np.all(chord_errors(values, WINDOW.losses) >= -1e-12)


@pytest.mark.parametrize("tilt", [0.0, 0.4, 3.0])
def test_the_convolution_is_above_the_exact_sum(tilt: float) -> None:
    """By exact summation of the same products: the transform's rounding is inside, and it is small."""
    family = Family(SHIFT, RATE, Inscribed(), STEP, 150)
    rounds = Rounds(family, WINDOW, tilt)
    values = rounds.advance(rounds.advance(start(), [family.root]), [family.root])
    rho, _ = masses(values, WINDOW)
    (found,) = rounds.gains(rho, [family.root])
    kernel, width, level = family.kernel(family.root), family.width, family.outside(tilt)[0]
    for i in range(0, rho.size, 7):
        inside = [j for j in range(rho.size) if abs(i - j) <= width]
        exact = math.fsum(rho[j] * kernel[i - j + width] for j in inside)
        assert exact <= found[i]
        if WINDOW.losses[i] >= 0.0:
            assert found[i] <= exact * (1 + 1e-9) + level * 1.01 + 1e-10 * math.exp(-tilt * WINDOW.losses[i])


def test_one_box_is_the_hybrid_pair_s_product() -> None:
    """20 rounds: the contour accountant composes the same pair by another method."""
    family = Family(SHIFT, RATE, Inscribed(), STEP, 500)
    rounds, values = Rounds(family, WINDOW, 0.5), start()
    for _ in range(20):
        values = rounds.advance(values, [family.root])
    product = ((SubsampledPair(GaussianPair(2 * SHIFT), RATE, "hybrid"), 20),)
    for at in (350, 400, 450):
        truth = contour.delta(product, float(WINDOW.losses[at]))
        assert truth.lower <= values[at] <= truth.upper * 1.004  # chords: h^2/6 of variance 0.1 a round


def two_rounds(ends_only: bool = False) -> tuple[Window, np.ndarray]:
    """V_2 by the recursion, with a fine cover in the second round."""
    window = Window(0.005, -800, 1200)
    family = Family(SHIFT, RATE, Inscribed(), window.step, 1000)
    boxes = [Inscribed()]
    while len(boxes) < 100:
        boxes.sort(key=lambda box: -box.size)
        boxes += boxes.pop(0).split()
    rounds = Rounds(family, window, 0.0)
    one = rounds.advance(np.maximum(-np.expm1(window.losses), 0.0), [family.root])
    return window, rounds.advance(one, Inscribed().ends if ends_only else boxes)


def after_one(loss: np.ndarray) -> np.ndarray:
    """V_1, the hybrid profile: attained by one federation for each loss."""
    there = np.abs(loss)
    strike = 1.0 + np.expm1(there) / RATE
    threshold = np.log(strike) / (2 * SHIFT) + SHIFT
    right = RATE * (ndtr(2 * SHIFT - threshold) - strike * ndtr(-threshold))
    return np.where(loss >= 0.0, right, 1.0 - np.exp(loss) + np.exp(loss) * right)


def right_angled() -> float:
    """V_2 is at least this at epsilon 0: the unit's two values at right angles, seen from the others'."""
    side = math.sqrt(2.0) * SHIFT
    return plane_expectation(after_one, 0.0, RATE, (side, 0.0), (0.0, side))


def test_two_rounds_are_above_every_strategy() -> None:
    """V_1 is the hybrid profile, so V_2 is at least E_P[V_1(gamma e^{-L})] for any attained pair, by quadrature."""
    window, two = two_rounds()
    remove = ([(1 - RATE, 0.0), (RATE, 2 * SHIFT)], [(1.0, 0.0)])
    for at in (800, 810, 900, 1000):
        loss = float(window.losses[at])
        best = max(line_expectation(after_one, loss, *pair) for pair in (remove, remove[::-1]))
        assert best <= two[at] <= best * 1.02
    # 100 boxes leave 1.4% here, 400 leave .8%: the cover is linear in the boxes' sides.
    assert right_angled() <= two[800] <= right_angled() * 1.015


def test_zero_out_one_box_is_below_replace_one() -> None:
    zero, replace = (Family(SHIFT, RATE, root, STEP, 300) for root in (Opened(), Inscribed()))
    assert np.all(zero.hybrid <= replace.hybrid + 1e-15)
    assert float(zero.hybrid.sum()) < 0.5 * float(replace.hybrid.sum())
