"""Planted faults of the recursion for hidden cohorts: each must show as a bound on the wrong side of the truth."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dpcert.accounting.cohorts import adaptive_choices as attained
from dpcert.accounting.cohorts import cover, recursion
from dpcert.accounting.cohorts import round_profiles as profiles
from dpcert.accounting.cohorts.cover import Family, Inscribed
from dpcert.accounting.cohorts.recursion import Rounds
from dpcert.accounting.losses.closed_form import profile
from dpcert.accounting.losses.smooth import contour
from dpcert.accounting.pairs import GaussianPair, SubsampledPair

from ..accounting.cohorts.oracle import pair_bump, precise_profile
from ..accounting.cohorts.test_cover import in_ball, parts
from ..accounting.cohorts.test_recursion import RATE, SHIFT, STEP, WINDOW, right_angled, start, two_rounds


def below_the_product() -> bool:
    """Whether twenty rounds of the hybrid pair come out below what another accountant proves them to be."""
    family = Family(SHIFT, RATE, Inscribed(), STEP, 500)
    rounds, values = Rounds(family, WINDOW, 0.5), start()
    for _ in range(20):
        values = rounds.advance(values, [family.root])
    product = ((SubsampledPair(GaussianPair(2 * SHIFT), RATE, "hybrid"), 20),)
    return any(values[at] < contour.delta(product, float(WINDOW.losses[at])).lower for at in (350, 400, 450))


def test_nothing_shows_without_a_fault() -> None:
    assert not below_the_product()
    assert not narrow_kernel_below()
    assert not convolution_below()
    assert not federation_above()
    assert not merged_above()


def test_the_supremum_over_remove_and_add_only() -> None:
    _, two = two_rounds(ends_only=True)
    assert two[-WINDOW.first + 500] < right_angled()


def test_chords_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Masses of a function that touches the values between the grid's points, not at them."""
    honest = recursion.masses

    def tangents(values: np.ndarray, window: recursion.Window) -> tuple[np.ndarray, float]:
        rho, rest = honest(values, window)
        return rho * math.exp(-0.5 * window.step), rest

    monkeypatch.setattr(recursion, "masses", tangents)
    assert below_the_product()


def test_what_is_outside_the_kernel_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Family, "outside", lambda self, tilt: (0.0, 0.0))
    assert narrow_kernel_below()


def narrow_kernel_below() -> bool:
    """Whether a round's gain by a narrow kernel is below the same by a wide one."""
    wide, narrow = (Rounds(Family(SHIFT, RATE, Inscribed(), STEP, width), WINDOW, 0.0) for width in (500, 60))
    rho, _ = recursion.masses(start(), WINDOW)
    (whole,), (part,) = (rounds.gains(rho, [Inscribed()]) for rounds in (wide, narrow))
    return bool(np.any(part < whole * (1 - 1e-9) - 1e-12))


def convolution_below() -> bool:
    """Whether a round's gain is below the exact sum of the same products anywhere."""
    family = Family(SHIFT, RATE, Inscribed(), STEP, 150)
    rounds = Rounds(family, WINDOW, 0.0)
    rho, _ = recursion.masses(rounds.advance(start(), [family.root]), WINDOW)
    (found,) = rounds.gains(rho, [family.root])
    kernel, width, level = family.kernel(family.root), family.width, family.outside(0.0)[0]
    below = False
    for i in range(rho.size):
        first, last = max(0, i - width), min(rho.size, i + width + 1)
        exact = math.fsum(rho[first:last] * kernel[i - np.arange(first, last) + width])
        below = below or found[i] - level * float(rho.sum()) < exact
    return below


def test_rounding_subtracted(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Rounds.__post_init__

    def wrong(self: Rounds) -> None:
        honest(self)
        self._rounding = -self._rounding

    monkeypatch.setattr(Rounds, "__post_init__", wrong)
    assert convolution_below()


def federation_above() -> bool:
    """Whether some federation's round is above every box."""
    step, width = SHIFT / 4, 8
    family = Family(SHIFT, RATE, Inscribed(), step, width)
    kernels = [family.kernel(box) for box in parts(Inscribed(), 40)]
    losses, rng = step * np.arange(-width, width + 1), np.random.default_rng(5)
    for at in range(30):
        g, other, h = (in_ball(rng, SHIFT) for _ in range(3))
        g, other = (part / np.linalg.norm(part) * SHIFT for part in (g, other))
        if at == 0:  # next to "remove"
            g, other, h = (SHIFT * np.array(part) for part in ((1.0, 0.0), (-0.9998, 0.02), (-1.0, 0.0)))
        bump = pair_bump(losses, RATE, g - h, other - h)
        if not any(np.all(bump <= kernel + 1e-12) for kernel in kernels):
            return True
    return False


def test_the_wrong_corner_of_a_box(monkeypatch: pytest.MonkeyPatch) -> None:
    """Losses above 0 by the box's last corner, where the profile is smallest."""
    honest = Inscribed.right.fget  # type: ignore[attr-defined]
    monkeypatch.setattr(
        Inscribed, "right", property(lambda box: honest(replace(box, first=min(box.last, 1.0 - box.low))))
    )
    monkeypatch.setattr(Family, "hybrid", property(lambda self: np.ones(2 * self.width + 1)))
    assert federation_above()


def test_a_trapezoidal_rule_too_coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiles, "_ACCURACY", 2.0)
    triangle = profiles.Triangle(0.3, 0.9, 0.7)
    honest = profiles._call_above(np.array([0.4]), 0.25, triangle)
    assert honest is not None  # with its own error bound even this is above the truth
    assert float(honest[0]) > float(precise_profile(0.4, 0.25, (0.3, 0.9), (0.7, 0.0)))
    assert float(honest[0]) - float(precise_profile(0.4, 0.25, (0.3, 0.9), (0.7, 0.0))) > 1e-3


def merged_above() -> bool:
    """Whether the merged "remove" pair reveals more than the pair itself."""
    places, mass = attained.merged(attained.remove_mixtures(0.25, 0.4), 0.03).forward
    for loss in (0.0, 0.1, 0.5):
        there = float(np.sum(mass * np.maximum(-np.expm1(loss - 0.03 * places), 0.0)))
        if there > float(profile(SubsampledPair(GaussianPair(0.4), 0.25, "remove"), 1, loss).upper()):
            return True
    return False


def test_losses_rounded_up_from_below(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last cell, off the grid, with the next larger loss, and every mean a little above its point."""
    monkeypatch.setattr(attained, "OFF_GRID", 2.5)
    assert merged_above()


def test_boxes_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = cover.Inscribed.split
    monkeypatch.setattr(cover.Inscribed, "split", lambda box: honest(box)[:1] * 2)
    assert federation_above()
