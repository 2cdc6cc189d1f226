"""From below: merged pairs are postprocessings, and a strategy's profile is never above what it attains."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcert.accounting.cohorts.adaptive_choices import (
    OFF_GRID,
    Attained,
    Mixtures,
    merged,
    opposed_mixtures,
    remove_mixtures,
)
from dpcert.accounting.cohorts.grid_layout import Window
from dpcert.accounting.losses.closed_form import profile
from dpcert.accounting.losses.smooth import contour
from dpcert.accounting.pairs import GaussianPair, OpposedPair, SubsampledPair


@pytest.mark.parametrize("step", [0.002, 0.03])
@pytest.mark.parametrize("kind", ["remove", "opposed"])
def test_a_merged_pair_is_below_its_own_by_ball_arithmetic(kind: str, step: float) -> None:
    rate, move = 0.25, 0.4
    exact = (
        SubsampledPair(GaussianPair(move), rate, "remove") if kind == "remove" else OpposedPair(move, rate, "remove")
    )
    pair: Mixtures = (remove_mixtures if kind == "remove" else opposed_mixtures)(rate, move)
    found = merged(pair, step)
    for places, mass in (found.forward, found.backward):
        assert 1 - 1e-10 < mass.sum() < 1
        assert abs(float(np.sum(mass * np.exp(-step * places))) - 1) < step  # hardly any mean is lost
    for loss in (0.0, 0.01, 0.1, 0.5):
        for (places, mass), order in ((found.forward, "remove"), (found.backward, "add")):
            there = float(np.sum(mass * np.maximum(-np.expm1(loss - step * places + OFF_GRID * step), 0.0)))
            ball = profile(type(exact)(*exact_arguments(exact), order), 1, loss)  # type: ignore[call-arg]
            assert there <= float(ball.upper())
            assert there >= float(ball.mid()) - step * 0.2


def exact_arguments(pair: SubsampledPair | OpposedPair) -> tuple[object, float]:
    return (pair.base if isinstance(pair, SubsampledPair) else pair.shift), pair.rate


def test_remove_alone_is_the_static_product() -> None:
    """Thirty rounds without a choice: next to the contour accountant's, and never above."""
    rate, move, step, rounds = 0.25, 1.0, 0.01, 30
    window = Window(step, -600, 1400)
    state = Attained(window, 0.5)
    kernel = merged(remove_mixtures(rate, move), step).forward
    for _ in range(rounds):
        state.advance([kernel])
    product = ((SubsampledPair(GaussianPair(move), rate, "remove"), rounds),)
    for at in (650, 900, 1200):
        truth = contour.delta(product, float(window.losses[at]))
        assert 0.997 * truth.lower <= state.values[at] <= truth.upper


def test_a_choice_is_worth_something_and_never_less() -> None:
    rate, move, step = 0.25, 1.0, 0.02
    window = Window(step, -400, 900)
    pair = merged(remove_mixtures(rate, move), step)
    alone, both = Attained(window, 0.5), Attained(window, 0.5)
    for _ in range(20):
        alone.advance([pair.forward])
        both.advance([pair.forward, pair.backward])
    assert np.all(both.values >= alone.values - 1e-12)  # what the transforms' rounding allowances may differ by
    assert both.values[500] > alone.values[500] * 1.001


def test_one_round_choosing_once_is_below_the_hybrid_profile() -> None:
    rate, move, step = 0.25, 1.0, 0.01
    window = Window(step, -300, 300)
    pair, state = merged(remove_mixtures(rate, move), step), Attained(window, 0.0)
    state.advance([pair.forward, pair.backward])
    for at in range(300, 600, 20):
        exact = profile(SubsampledPair(GaussianPair(move), rate, "hybrid"), 1, float(window.losses[at]))
        assert state.values[at] <= float(exact.upper()) + 2 * OFF_GRID * step


def test_merging_keeps_most_of_the_variance() -> None:
    rate, move = 0.3, 0.2
    for step in (0.002, 0.005):
        places, mass = merged(remove_mixtures(rate, move), step).forward
        variance = float(np.sum(mass * (step * places) ** 2))
        full = rate**2 * math.expm1(move**2)
        assert 0.8 * full < variance < 1.1 * full
