"""Sums by group, withheld below a threshold: against the laws of whole histograms in cells, in balls."""

from __future__ import annotations

import math
from fractions import Fraction as F
from functools import cache
from importlib import import_module

import pytest
import range_worlds as ranges
from outcomes import Pair, largest

from dpcert import delta, epsilon
from dpcert.mechanisms import Disjoint, Gaussian, Group, InputError, Laplace, Poisson, Repeat, StableHistogram

ways = import_module("dpcert.accounting.pricing.neighbour_cases")


@cache
def worlds(mechanism: StableHistogram) -> list[Pair]:
    """Each of the unit's groups its own alone, or of a few others or many."""
    below = ranges.laplace_below if isinstance(mechanism.noise, Laplace) else ranges.normal_below
    noise, threshold = F(mechanism.noise.noise_multiplier), F(mechanism.threshold)
    return ranges.histogram(below, noise, threshold, mechanism.buckets, "add-remove")


def worst(mechanism: StableHistogram, eps: float) -> float:
    """At most what they show, in both orders."""
    pairs = worlds(mechanism)
    return max(largest([one, one.swapped()], 1, eps)[0] for one in pairs)


CASES = [
    StableHistogram(Laplace(1.0), 4.0),
    StableHistogram(Laplace(2.0), 8.0, 2),
    StableHistogram(Gaussian(1.0), 4.0),
    StableHistogram(Gaussian(2.0), 6.0, 2),
]


@pytest.mark.parametrize("mechanism", CASES)
def test_histograms_against_their_laws(mechanism: StableHistogram) -> None:
    for eps in (0.0, 0.4, 1.2):
        found, seen = delta(mechanism, eps), worst(mechanism, eps)
        assert found.narrower_than(1e-3)
        assert found.lower * (1 - 0.02) <= seen <= found.upper


def test_the_threshold_s_delta_is_that_of_new_groups() -> None:
    """At epsilon = k/b nothing is left of Laplace noise: some of the unit's k new groups is released, exactly."""
    mechanism = StableHistogram(Laplace(2.0), 20.0, 3)
    released = 0.5 * math.exp(-19.0 / 2)
    assert delta(mechanism, 1.5).upper == pytest.approx(1 - (1 - released) ** 3, rel=1e-6)
    assert math.isinf(epsilon(mechanism, 0).lower)
    assert delta(mechanism, 3.1, "replace-one", rtol=1e-3).upper == pytest.approx(1 - (1 - released) ** 3, rel=1e-3)


def test_too_many_combinations_are_bounded_from_both_sides() -> None:
    exact, wide = (Repeat(StableHistogram(Gaussian(4.0), 20.0, 9), rounds) for rounds in (1, 8))
    known, bounded = (epsilon(run, 1e-3, rtol=1e-3) for run in (exact, wide))
    assert known.narrower_than(1e-3)
    assert known.upper < bounded.lower <= bounded.upper < bounded.lower * 1.01


def test_planted_a_threshold_without_its_delta_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The groups' noise alone, as if all groups were known: a new group shows more."""
    monkeypatch.setattr(
        ways, "groups_of", lambda step, rounds, relation: [{(step.noise, "stays"): rounds * step.buckets}]
    )
    mechanism = CASES[0]
    assert worst(mechanism, 1.2) > delta(mechanism, 1.2).upper + 0.01


def test_planted_all_groups_new_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The threshold's delta alone: a group that others are in shows more at a small epsilon."""
    monkeypatch.setattr(ways, "groups_of", lambda step, rounds, relation: [{(step, "stays"): rounds}])
    mechanism = CASES[0]
    assert worst(mechanism, 0.0) > delta(mechanism, 0.0).upper * 1.2


def test_what_is_refused() -> None:
    mechanism = CASES[0]
    for run in (Group(mechanism, 2), Poisson(mechanism, 0.1), Disjoint(mechanism, Gaussian(1.0))):
        with pytest.raises(InputError):
            epsilon(run, 1e-5)
    for build in (
        lambda: StableHistogram(Laplace(1.0), 0.5),
        lambda: StableHistogram(Laplace(1.0), 2.0, 0),
        lambda: StableHistogram(Poisson(Laplace(1.0), 0.5), 2.0),  # type: ignore[arg-type]
    ):
        with pytest.raises(InputError):
            build()
