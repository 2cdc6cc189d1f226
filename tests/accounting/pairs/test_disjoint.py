"""Parallel composition: a unit's data are in at most k of several releases."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcert import delta, epsilon
from dpcert.accounting.ledger import RunningEpsilon
from dpcert.accounting.pairs import SubsampledPair
from dpcert.accounting.pricing.dominating import dominating
from dpcert.accounting.pricing.neighbour_cases import neighbour_cases
from dpcert.mechanisms import (
    DiscreteLaplace,
    Disjoint,
    Gaussian,
    Group,
    InputError,
    Laplace,
    Mechanism,
    Poisson,
    PureDp,
    Repeat,
    Sequence,
)
from dpcert.mechanisms.serialise import from_json, to_json


def test_a_histogram_over_regions_costs_one_cell() -> None:
    cells = Disjoint([Laplace(2.0)] * 50)
    assert epsilon(cells, 0).upper == 0.5
    assert epsilon(cells, 0, "replace-one").upper == 1.0  # out of one cell, into another, or twice as far within one
    assert epsilon(cells, 1e-5).upper == epsilon(Laplace(2.0), 1e-5).upper


def test_the_worst_part_decides_and_two_of_three_compose() -> None:
    parts = [Gaussian(1.0), Gaussian(2.0), Gaussian(4.0)]
    assert epsilon(Disjoint(parts), 1e-5) == epsilon(Gaussian(1.0), 1e-5)
    two = epsilon(Disjoint(parts, at_most=2), 1e-5)
    assert two.upper == epsilon(Sequence(parts[:2]), 1e-5).upper
    assert two.lower == epsilon(Sequence(parts[:2]), 1e-5).lower
    assert epsilon(Disjoint(parts, at_most=3), 1e-5) == epsilon(Sequence(parts), 1e-5)


def test_replaced_units_may_change_their_part() -> None:
    """Discrete noise on two cells: leaving one and entering the other is two moves of 1."""
    scale, eps = 1.0, 0.7
    x = np.arange(-60, 61)
    noise = np.exp(-np.abs(x) / scale)
    noise /= noise.sum()
    moved = np.roll(noise, 1)
    p, q = np.outer(moved, noise), np.outer(noise, moved)
    apart = float(np.sum(np.maximum(0, p - math.exp(eps) * q)))
    within = float(np.sum(np.maximum(0, np.roll(noise, 2) - math.exp(eps) * noise)))
    found = delta(Disjoint(DiscreteLaplace(scale), DiscreteLaplace(scale)), eps, "replace-one")
    truth = max(apart, within)
    assert found.lower * (1 - 1e-6) <= truth <= found.upper * (1 + 1e-6)
    assert found.narrower_than(1e-5)
    assert apart != pytest.approx(within)


def test_ways() -> None:
    pure, other = PureDp(1.0), PureDp(2.0)
    assert neighbour_cases(Disjoint(pure, pure, other), "add-remove") == (
        {(pure, "stays"): 1},
        {(other, "stays"): 1},
    )
    assert len(neighbour_cases(Disjoint(pure, other), "replace-one")) == 4
    assert neighbour_cases(Repeat(Disjoint(pure, pure), 1_000_000), "zero-out") == ({(pure, "stays"): 1_000_000},)
    with pytest.raises(InputError, match="fewer kinds"):
        neighbour_cases(Repeat(Disjoint(pure, other), 1000), "add-remove")
    with pytest.raises(InputError, match="fewer kinds"):
        neighbour_cases(Disjoint([PureDp(float(k)) for k in range(600)]), "add-remove")
    with pytest.raises(InputError, match="not Disjoint themselves"):
        epsilon(Disjoint(Disjoint(pure, other), pure), 1e-5)
    with pytest.raises(InputError, match="inside of the parts"):
        epsilon(Group(Disjoint(pure, other), 2), 1e-5)


def test_repeated_each_time_anew() -> None:
    """Every epoch may meet the unit in another part: two epochs of (1, 2) cost up to 4, not 2 + 1 or 2."""
    assert epsilon(Repeat(Disjoint(PureDp(1.0), PureDp(2.0)), 2), 0).upper == 4.0
    assert epsilon(Sequence(Disjoint(PureDp(1.0), PureDp(2.0)), PureDp(0.5)), 0).upper == 2.5


def test_sampled_parts_are_left_and_entered_in_opposite_orders() -> None:
    """A replaced unit leaves a Poisson round of one part and enters one of the other: remove and add together."""
    round_ = Poisson(Gaussian(0.7), 0.2)
    both = delta(Disjoint(round_, round_), 1.0, "replace-one")
    assert both.lower >= max(delta(round_, 1.0, "replace-one").lower, delta(round_, 1.0, "add-remove").lower)


def test_a_running_reading_and_json() -> None:
    run: Mechanism = Disjoint(Gaussian(2.0), Gaussian(4.0), at_most=2)
    assert from_json(to_json(run)) == run
    reading = RunningEpsilon(1e-5)
    reading.record(Repeat(run, 3))
    assert reading.epsilon().upper == epsilon(Repeat(run, 3), 1e-5).upper


@pytest.mark.parametrize("at_most", [0, 3])
def test_bad_input(at_most: int) -> None:
    with pytest.raises(InputError, match="at_most"):
        Disjoint(Gaussian(1.0), Gaussian(2.0), at_most=at_most)
    with pytest.raises(InputError, match="mechanisms"):
        Disjoint()
    with pytest.raises(InputError, match="mechanisms"):
        Disjoint(1.0)  # type: ignore[arg-type]


def test_planted_largest_part_alone_for_a_replaced_unit() -> None:
    """The fault this file is to catch: parallel composition as the largest add-remove cost, for replaced units too."""
    largest = delta(Disjoint(Laplace(1.0), Laplace(1.0)), 1.0, "add-remove").upper
    assert delta(Disjoint(Laplace(1.0), Laplace(1.0)), 1.0, "replace-one").lower > largest


def test_directions_are_kept_beside_a_step_that_has_none() -> None:
    """Replaced units leave one sampled part and enter another. Beside a step whose pair is its own mirror image the
    second was once taken as left too, which no neighbours attain."""
    parts = Disjoint(Poisson(Gaussian(1.0), 0.01), Poisson(Gaussian(1.0), 0.02))
    found = dominating(Sequence(Laplace(50.0), parts), "replace-one")
    for product in (*found.upper, *found.lower):
        orders = [pair.order for pair, _ in product if isinstance(pair, SubsampledPair)]
        assert sorted(orders) in (["replace"], ["add", "remove"])
