"""Sums by group, withheld below a threshold: against the laws of whole histograms, cut into cells."""

from __future__ import annotations

import math
from importlib import import_module
from itertools import product

import numpy as np
import pytest
from scipy.stats import laplace, norm

from dpcert import delta, epsilon
from dpcert.mechanisms import Disjoint, Gaussian, Group, InputError, Laplace, Poisson, Repeat, StableHistogram

ways = import_module("dpcert.accounting.ways")


def group_law(noise: Laplace | Gaussian, total: float, threshold: float) -> np.ndarray:
    """A group's output: absent, or a cell of its noisy sum; nobody in it: absent."""
    law = laplace if isinstance(noise, Laplace) else norm
    edges = np.concatenate([[-np.inf], np.linspace(threshold, threshold + 30.0, 241), [np.inf]])
    if total == 0:
        return np.concatenate([[1.0], np.zeros(edges.size - 2)])
    return np.diff(law.cdf(edges, loc=total, scale=noise.noise_multiplier))


def worst(mechanism: StableHistogram, eps: float) -> float:
    """Over how many others are in each of the unit's groups, in both orders."""
    found = 0.0
    for others in product((0, 1, 8), repeat=mechanism.buckets):
        p, q = np.ones(1), np.ones(1)
        for count in others:
            p = np.outer(p, group_law(mechanism.noise, count + 1.0, mechanism.threshold)).ravel()
            q = np.outer(q, group_law(mechanism.noise, float(count), mechanism.threshold)).ravel()
        found = max(found, *(float(np.maximum(a - math.exp(eps) * b, 0.0).sum()) for a, b in ((p, q), (q, p))))
    return found


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
        assert seen <= found.upper * (1 + 1e-9)
        assert seen >= found.lower * (1 - 0.02)


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
