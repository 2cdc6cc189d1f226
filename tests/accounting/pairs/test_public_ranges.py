"""Noise that is cut, and outputs that stay within a public range: against densities on a grid, and planted faults."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module

import numpy as np
import pytest
from cases import few
from scipy.stats import norm

from dpcert import delta, epsilon, rho
from dpcert.accounting.accountants import composed
from dpcert.accounting.pairs import ClampedGaussianPair, WorstTruncatedGaussianPair, envelope
from dpcert.mechanisms import (
    BoundedLaplace,
    ClampedGaussian,
    FixedSize,
    Gaussian,
    Group,
    InputError,
    Laplace,
    Mechanism,
    Poisson,
    Repeat,
    TruncatedGaussian,
    TruncatedLaplace,
)

public_ranges = import_module("dpcert.accounting.public_ranges")

Masses = Callable[[float], np.ndarray]
"""The masses of the outputs about a value, on cells that do not depend on it."""

CELLS = 4_000


def truncated_laplace(scale: float, bound: float) -> Masses:
    edges = np.linspace(-bound - 0.5, bound + 2.5, CELLS + 1)

    def masses(value: float) -> np.ndarray:
        x = np.clip(edges - value, -bound, bound) / scale
        below = np.where(x < 0, np.exp(np.minimum(x, 0)) / 2, 1 - np.exp(-np.maximum(x, 0)) / 2)
        return np.diff(below) / (1 - math.exp(-bound / scale))

    return masses


def bounded_laplace(scale: float, width: float) -> Masses:
    edges = np.linspace(0.0, width, CELLS + 1)

    def masses(value: float) -> np.ndarray:
        x = (edges - value) / scale
        cells = np.diff(np.where(x < 0, np.exp(np.minimum(x, 0)) / 2, 1 - np.exp(-np.maximum(x, 0)) / 2))
        return cells / cells.sum()

    return masses


def clamped_gaussian(sigma: float, width: float) -> Masses:
    edges = np.concatenate([[-np.inf], np.linspace(0.0, width, CELLS + 1), [np.inf]])
    return lambda value: np.diff(norm.cdf((edges - value) / sigma))


def truncated_gaussian(sigma: float, width: float) -> Masses:
    edges = np.linspace(0.0, width, CELLS + 1)

    def masses(value: float) -> np.ndarray:
        cells = np.diff(norm.cdf((edges - value) / sigma))
        return np.asarray(cells / cells.sum())

    return masses


def worst(masses: Masses, width: float, eps: float) -> float:
    """Over values and moves of at most 1 in the range, and both orders."""
    seen = 0.0
    for start in (width - 1) * (1 - np.cos(np.linspace(0.0, np.pi, 41))) / 2:
        for move in (0.4, 1.0):
            p, q = masses(start), masses(start + move)
            seen = max(seen, *(float(np.maximum(a - math.exp(eps) * b, 0.0).sum()) for a, b in ((p, q), (q, p))))
    return seen


RANGED = [
    (BoundedLaplace(2.0, 4.0), bounded_laplace(2.0, 4.0), 4.0),
    (BoundedLaplace(0.7, 9.0), bounded_laplace(0.7, 9.0), 9.0),
    (BoundedLaplace(0.5, 1.0), bounded_laplace(0.5, 1.0), 1.0),
    (ClampedGaussian(2.0, 4.0), clamped_gaussian(2.0, 4.0), 4.0),
    (ClampedGaussian(0.6, 3.0), clamped_gaussian(0.6, 3.0), 3.0),
    (TruncatedGaussian(2.0, 4.0), truncated_gaussian(2.0, 4.0), 4.0),
    (TruncatedGaussian(0.6, 3.0), truncated_gaussian(0.6, 3.0), 3.0),
    (TruncatedGaussian(3.0, 1.5), truncated_gaussian(3.0, 1.5), 1.5),
]
SHARES = (0.3, 0.95)


@pytest.mark.parametrize(("mechanism", "masses", "width"), few(RANGED, 2))
def test_ranges_against_densities(mechanism: Mechanism, masses: Masses, width: float) -> None:
    """Cells merge outputs, so what they show is a lower bound, and nearly all: the worst of the values is attained."""
    largest = epsilon(mechanism, 0)
    assert largest.upper - largest.lower <= 1e-11 * largest.upper
    for share in SHARES:
        eps = share * largest.upper
        found, seen = delta(mechanism, eps), worst(masses, width, eps)
        assert seen <= found.upper * (1 + 1e-9) + 1e-12
        assert found.lower <= seen * (1 + 1e-2) + 1e-9
        assert seen >= found.upper * (1 - 1e-2)
    assert delta(mechanism, largest.upper).upper <= 1e-12
    p, q = masses(0.0), masses(1.0)
    shown = max(float(np.log(a / b).max()) for a, b in ((p, q), (q, p)))
    assert largest.upper * (1 - 1e-2) <= shown <= largest.upper * (1 + 1e-9)


@pytest.mark.parametrize(("mechanism", "masses", "width"), [RANGED[0], RANGED[6]])
def test_one_release_is_priced_at_the_worst_value(mechanism: Mechanism, masses: Masses, width: float) -> None:
    """Two-sided; the worst value is neither at an end nor in the middle, where less is shown (a planted shortcut)."""
    eps = 0.3 * epsilon(mechanism, 0).upper
    found = delta(mechanism, eps)
    shown = []
    for start in np.linspace(0.0, width - 1, 61):
        p, q = masses(start + 1), masses(start)
        shown.append(float(np.maximum(p - math.exp(eps) * q, 0.0).sum()))
    assert found.narrower_than(1e-6)
    assert max(shown) <= found.upper * (1 + 1e-9)
    assert max(shown) >= found.lower * (1 - 1e-3)
    assert max(shown[0], shown[30], shown[-1]) < found.lower * (1 - 2e-3)
    assert epsilon(mechanism, found.upper).upper <= eps * (1 + 1e-6)


@pytest.mark.nightly
def test_planted_chords_that_cut_the_profile_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Composed from a profile that is a tenth too low, two rounds at one value show more."""
    mechanism = TruncatedGaussian(0.7, 2.0)
    eps = epsilon(mechanism, 0).upper
    p, q = (masses.reshape(-1, 10).sum(axis=1) for masses in map(truncated_gaussian(0.7, 2.0), (1.0, 0.0)))
    seen = float(np.maximum(np.outer(p, p) - math.exp(eps) * np.outer(q, q), 0.0).sum())
    assert seen <= delta(Repeat(mechanism, 2), eps, rtol=1e-3).upper
    pair = WorstTruncatedGaussianPair
    monkeypatch.setattr(pair, "bound", lambda self, at: 0.9 * self._largest(public_ranges.arb(at), 1.001)[1])
    envelope._ends.cache_clear()
    assert composed(((pair(0.7, 2.0), 2),), "pld", "delta", eps, 1e-3).upper < seen
    envelope._ends.cache_clear()


@pytest.mark.parametrize(("mechanism", "masses", "width"), few(RANGED, 3))
def test_two_rounds_at_different_places(mechanism: Mechanism, masses: Masses, width: float) -> None:
    """One round at one end of the range, one at the other, in either order of the neighbours: within the upper end."""
    coarse = [each.reshape(-1, 10).sum(axis=1) if each.size % 10 == 0 else each for each in map(masses, (0.0, 1.0))]
    ends = [
        each.reshape(-1, 10).sum(axis=1) if each.size % 10 == 0 else each for each in map(masses, (width - 1, width))
    ]
    eps = epsilon(mechanism, 0).upper
    found = delta(Repeat(mechanism, 2), eps, rtol=1e-3)
    seen = 0.0
    for first in ((0, 1), (1, 0)):
        for second in ((0, 1), (1, 0)):
            p = np.outer(coarse[first[0]][-500:], ends[second[0]][-500:])
            q = np.outer(coarse[first[1]][-500:], ends[second[1]][-500:])
            seen = max(seen, float(np.maximum(p - math.exp(eps) * q, 0.0).sum()))
    assert 0.0 < seen <= found.upper
    assert found.lower > 0.0


@pytest.mark.parametrize(("scale", "bound"), [(1.0, 6.0), (2.0, 1.4), (0.5, 1.0)])
def test_truncated_laplace_against_its_density(scale: float, bound: float) -> None:
    masses = truncated_laplace(scale, bound)
    for eps in (0.0, 0.5 / scale, 1.0 / scale, 3.0):
        p, q = masses(1.0), masses(0.0)
        seen = float(np.maximum(p - math.exp(eps) * q, 0.0).sum())
        found = delta(TruncatedLaplace(scale, bound), eps)
        assert found.narrower_than(1e-9) or found.upper < 1e-12
        assert seen <= found.upper * (1 + 1e-9) + 1e-12
        assert seen == pytest.approx(found.upper, rel=5e-3, abs=1e-12)
    assert math.isinf(epsilon(TruncatedLaplace(scale, bound), 0).lower)


def test_truncated_laplace_meets_its_recipe_and_is_sampled() -> None:
    """Geng, Ding, Guo, Kumar 2020, Theorem 1: exactly (eps, delta) at a bound of log(1 + (e^eps - 1)/(2 delta))/eps."""
    eps, target = 0.5, 1e-5
    mechanism = TruncatedLaplace(1 / eps, math.log1p(math.expm1(eps) / (2 * target)) / eps)
    assert delta(mechanism, eps).upper == pytest.approx(target, rel=1e-9)
    rate = 0.25
    masses = truncated_laplace(1 / eps, mechanism.bound)
    p, q = (1 - rate) * masses(0.0) + rate * masses(1.0), masses(0.0)
    for at in (0.0, 0.05):
        seen = max(float(np.maximum(a - math.exp(at) * b, 0.0).sum()) for a, b in ((p, q), (q, p)))
        assert delta(Poisson(mechanism, rate), at).upper == pytest.approx(seen, rel=5e-3)
    twice = delta(Repeat(Poisson(mechanism, rate), 2), 0.1, rtol=1e-4)
    assert twice.narrower_than(1e-3)
    assert twice.lower >= delta(Repeat(Poisson(Laplace(1 / eps), rate), 2), 0.1, rtol=1e-3).lower * (1 - 1e-3)
    assert delta(FixedSize(mechanism, 20, 5), 0.3, "replace-one").upper > 0


def test_little_of_the_range_is_the_noise_without_it() -> None:
    """A range far wider than the noise: what is left is Gaussian, or Laplace."""
    for mechanism in (ClampedGaussian(1.0, 60.0), TruncatedGaussian(1.0, 60.0)):
        assert epsilon(mechanism, 1e-6).upper == pytest.approx(epsilon(Gaussian(1.0), 1e-6).upper, rel=1e-9)
        assert rho(mechanism).upper <= rho(Gaussian(1.0)).upper * (1 + 1e-3)
    assert delta(BoundedLaplace(1.0, 60.0), 0.0).lower == pytest.approx(delta(Laplace(1.0), 0.0).upper, rel=1e-6)
    assert epsilon(Group(ClampedGaussian(2.0, 9.0), 2), 1e-3).upper == pytest.approx(
        epsilon(ClampedGaussian(1.0, 4.5), 1e-3).upper, rel=1e-9
    )
    everything = epsilon(Group(BoundedLaplace(2.0, 4.0), 50), 0).upper  # nobody can move it farther than the range
    assert everything == pytest.approx(epsilon(BoundedLaplace(0.5, 1.0), 0).upper, rel=1e-9)


def test_planted_the_forgotten_normaliser_is_caught() -> None:
    """Bounded Laplace noise at 1/scale, as if the normaliser did not depend on the value."""
    masses = bounded_laplace(2.0, 4.0)
    p, q = masses(0.0), masses(1.0)
    assert float(np.log(p / q).max()) > 1 / 2 * 1.2
    assert epsilon(BoundedLaplace(2.0, 4.0), 0).lower > 1 / 2 * 1.2


def test_planted_a_clamp_in_the_middle_is_caught() -> None:
    """Priced as if both neighbours were in the middle of the range: two values at its end show more."""
    sigma, width = 2.0, 4.0
    shift = 1 / sigma
    middle = ClampedGaussianPair(shift, shift * width / sigma / 2, shift * width / sigma / 2)
    eps = 0.9 * epsilon(ClampedGaussian(sigma, width), 0).upper
    wrong = composed(((middle, 1),), "best", "delta", eps, 1e-6).upper
    assert worst(clamped_gaussian(sigma, width), width, eps) > wrong


def test_planted_a_knee_too_near_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tangent that ends before the largest loss: delta is 0 where outputs show more."""
    mechanism, masses, width = TruncatedGaussian(0.3, 3.0), truncated_gaussian(0.3, 3.0), 3.0
    eps = 0.95 * epsilon(mechanism, 0).upper
    seen = worst(masses, width, eps)
    real = public_ranges._both
    monkeypatch.setattr(public_ranges, "_both", lambda shift, largest: real(shift, largest * 0.9))
    assert public_ranges.stated(mechanism).upper.profile(public_ranges.arb(eps)) < seen


@pytest.mark.parametrize(
    "build",
    [
        lambda: BoundedLaplace(0.0, 3.0),
        lambda: BoundedLaplace(1.0, 0.9),
        lambda: ClampedGaussian(-1.0, 3.0),
        lambda: TruncatedGaussian(1.0, math.nan),
        lambda: TruncatedLaplace(1.0, 0.0),
        lambda: epsilon(TruncatedLaplace(1.0, 0.5), 1e-6),
        lambda: epsilon(Poisson(BoundedLaplace(1.0, 3.0), 0.1), 1e-6),
    ],
)
def test_bad_input(build: Callable[[], object]) -> None:
    with pytest.raises(InputError):
        build()
