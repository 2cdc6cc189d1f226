"""Noise that is cut, and outputs within a public range: against masses of cells in balls, and planted faults."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction as F
from functools import cache
from importlib import import_module

import numpy as np
import pytest
import range_worlds as ranges
from cases import at_night, few
from flint import arb
from outcomes import Pair, coarser, joint, largest, pair
from scipy.stats import laplace, norm

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

public_ranges = import_module("dpcert.accounting.pricing.public_ranges")

Build = Callable[..., list[Pair]]
"""By scale and width, and the places of the values if they are not all kinds of places: pairs in balls."""


@dataclass(frozen=True)
class Ranged:
    """A mechanism, and the laws of its outputs about two values, in cells that do not depend on them.

    cdf: what the worst places are looked for with, in double precision; None where they are at the ends.
    """

    mechanism: Mechanism
    build: Build
    scale: F
    width: F
    cdf: Callable[[np.ndarray], np.ndarray] | None = None

    def everywhere(self) -> list[Pair]:
        """At the ends, in the middle and between."""
        return _everywhere(self)

    def shown(self, eps: float) -> float:
        """At most what the outputs show at eps: there, and at the place where double precision sees most."""
        pairs = list(self.everywhere())
        if self.cdf is not None:
            pairs += self.build(self.scale, self.width, ranges.worst_values(self.cdf, self.scale, eps))
        return most(pairs, eps)

    def at(self, start: F) -> list[Pair]:
        """About one value and the next, one further."""
        return self.build(self.scale, self.width, lambda width: iter([(start, start + 1)]))


@cache
def _everywhere(world: Ranged) -> list[Pair]:
    return world.build(world.scale, world.width)


def most(pairs: list[Pair], eps: float, rounds: int = 1) -> float:
    """At most the largest divergence; nothing where there is next to none."""
    return largest(pairs, rounds, eps)[0]


def largest_loss(pairs: list[Pair]) -> float:
    """At most the largest log likelihood ratio of a cell."""
    return max(float(np.log(one.p[0][seen] / one.q[1][seen]).max()) for one in pairs for seen in [one.p[0] > 0.0])


LAPLACE, NORMAL = laplace.cdf, norm.cdf
RANGED = [
    Ranged(BoundedLaplace(2.0, 4.0), ranges.bounded_laplace, F(2), F(4), LAPLACE),
    Ranged(BoundedLaplace(0.7, 9.0), ranges.bounded_laplace, F(7, 10), F(9), LAPLACE),
    Ranged(BoundedLaplace(0.5, 1.0), ranges.bounded_laplace, F(1, 2), F(1), LAPLACE),
    Ranged(ClampedGaussian(2.0, 4.0), ranges.clamped_gaussian, F(2), F(4)),
    Ranged(ClampedGaussian(0.6, 3.0), ranges.clamped_gaussian, F(3, 5), F(3)),
    Ranged(TruncatedGaussian(2.0, 4.0), ranges.truncated_gaussian, F(2), F(4), NORMAL),
    Ranged(TruncatedGaussian(0.6, 3.0), ranges.truncated_gaussian, F(3, 5), F(3), NORMAL),
    Ranged(TruncatedGaussian(3.0, 1.5), ranges.truncated_gaussian, F(3), F(3, 2), NORMAL),
]
SHARES = (0.3, 0.95)


@pytest.mark.parametrize("world", few(RANGED, 16))
def test_ranges_against_balls(world: Ranged) -> None:
    """Cells merge outputs, so what they show is a lower bound, and nearly all: the worst of the values is attained."""
    largest = epsilon(world.mechanism, 0)
    assert largest.upper - largest.lower <= 1e-11 * largest.upper
    for share in SHARES:
        eps = share * largest.upper
        found, seen = delta(world.mechanism, eps), world.shown(eps)
        assert seen <= found.upper
        assert found.lower <= seen * (1 + 1e-2) + 1e-9
        assert seen >= found.upper * (1 - 1e-2)
    assert delta(world.mechanism, largest.upper).upper <= 1e-12
    assert largest.upper * (1 - 1e-2) <= largest_loss(world.everywhere()) <= largest.upper


@pytest.mark.parametrize("world", [RANGED[0], at_night(RANGED[6])])
def test_one_release_is_priced_at_the_worst_value(world: Ranged) -> None:
    """Two-sided; the worst value is neither at an end nor in the middle, where less is shown (a planted shortcut)."""
    eps = 0.3 * epsilon(world.mechanism, 0).upper
    found = delta(world.mechanism, eps)
    assert found.narrower_than(1e-6)
    assert found.lower * (1 - 1e-3) <= world.shown(eps) <= found.upper
    for start in (F(0), (world.width - 1) / 2, world.width - 1):
        assert largest(world.at(start), 1, eps)[1] < found.lower
    assert epsilon(world.mechanism, found.upper).upper <= eps * (1 + 1e-6)


@pytest.mark.nightly
def test_planted_chords_that_cut_the_profile_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Composed from a profile that is a tenth too low, two rounds at one value show more."""
    mechanism = TruncatedGaussian(0.7, 2.0)
    eps = epsilon(mechanism, 0).upper
    pairs = ranges.truncated_gaussian(F(7, 10), F(2), lambda width: iter([(F(0), F(1))]))
    seen = most([joint((each, each)) for each in (coarser(one, 400) for one in pairs)], eps)
    assert seen <= delta(Repeat(mechanism, 2), eps, rtol=1e-3).upper
    pair = WorstTruncatedGaussianPair
    monkeypatch.setattr(pair, "bound", lambda self, at: 0.9 * self._largest(public_ranges.arb(at), 1.001)[1])
    envelope._ends.cache_clear()
    assert composed(((pair(0.7, 2.0), 2),), "pld", "delta", eps, 1e-3).upper < seen
    envelope._ends.cache_clear()


@pytest.mark.parametrize("world", few(RANGED, 16))
def test_two_rounds_at_different_places(world: Ranged) -> None:
    """At whatever places, chosen after what came before, in either order of the neighbours: within the upper end."""
    eps = 0.9 * epsilon(world.mechanism, 0).upper
    found = delta(Repeat(world.mechanism, 2), eps)
    seen = most([coarser(one, 200) for one in world.everywhere()], eps, rounds=2)
    assert 0.0 < seen <= found.upper
    assert found.lower > 0.0


@pytest.mark.parametrize(("scale", "bound"), [("1", "6"), ("2", "1.4"), ("0.5", "1")])
def test_truncated_laplace_against_balls(scale: str, bound: str) -> None:
    pairs, mechanism = ranges.truncated_laplace(F(scale), F(bound), 1), TruncatedLaplace(float(scale), float(bound))
    for eps in (0.0, 0.5 / float(scale), 1.0 / float(scale), 3.0):
        seen, found = most(pairs, eps), delta(mechanism, eps)
        assert found.narrower_than(1e-9) or found.upper < 1e-12
        assert seen <= found.upper
        assert seen == pytest.approx(found.upper, rel=5e-3, abs=1e-12)
    assert math.isinf(epsilon(mechanism, 0).lower)


def test_truncated_laplace_meets_its_recipe_and_is_sampled() -> None:
    """Geng, Ding, Guo, Kumar 2020, Theorem 1: exactly (eps, delta) at a bound of log(1 + (e^eps - 1)/(2 delta))/eps."""
    eps, target = 0.5, 1e-5
    mechanism = TruncatedLaplace(1 / eps, math.log1p(math.expm1(eps) / (2 * target)) / eps)
    assert delta(mechanism, eps).upper == pytest.approx(target, rel=1e-9)
    rate, bound = F(1, 4), F(mechanism.bound)
    edges = ranges.cells(-bound, bound + 1, 8, (bound, 1 - bound, *ranges.cells(F(0), F(1), 400)))
    moved, q = (ranges.within(ranges.laplace_below(F(2), at), edges, at - bound, at + bound) for at in (F(1), F(0)))
    p = {edge: (1 - arb(0.25)) * q.get(edge, arb(0)) + arb(0.25) * moved.get(edge, arb(0)) for edge in edges[:-1]}
    for at in (0.0, 0.05):
        seen = most([pair(p, q), pair(q, p)], at)
        assert seen <= delta(Poisson(mechanism, float(rate)), at).upper <= seen * (1 + 5e-3)
    twice = delta(Repeat(Poisson(mechanism, float(rate)), 2), 0.1, rtol=1e-4)
    assert twice.narrower_than(1e-3)
    assert twice.lower >= delta(Repeat(Poisson(Laplace(1 / eps), 0.25), 2), 0.1, rtol=1e-3).lower * (1 - 1e-3)
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
    assert largest_loss(RANGED[0].at(F(0))) > 1 / 2 * 1.2
    assert epsilon(BoundedLaplace(2.0, 4.0), 0).lower > 1 / 2 * 1.2


def test_planted_a_clamp_in_the_middle_is_caught() -> None:
    """Priced as if both neighbours were in the middle of the range: two values at its end show more."""
    sigma, width = 2.0, 4.0
    shift = 1 / sigma
    middle = ClampedGaussianPair(shift, shift * width / sigma / 2, shift * width / sigma / 2)
    eps = 0.9 * epsilon(ClampedGaussian(sigma, width), 0).upper
    wrong = composed(((middle, 1),), "best", "delta", eps, 1e-6).upper
    assert RANGED[3].shown(eps) > wrong


def test_planted_a_knee_too_near_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tangent that ends before the largest loss: delta is 0 where outputs show more."""
    mechanism = TruncatedGaussian(0.3, 3.0)
    eps = 0.95 * epsilon(mechanism, 0).upper
    seen = most(ranges.truncated_gaussian(F(3, 10), F(3)), eps)
    real = public_ranges._both
    monkeypatch.setattr(public_ranges, "_both", lambda shift, largest: real(shift, largest * 0.9))
    assert public_ranges.stated_pairs(mechanism).upper.profile(public_ranges.arb(eps)) < seen


@pytest.mark.parametrize(
    "build",
    [
        lambda: BoundedLaplace(0.0, 3.0),
        lambda: BoundedLaplace(1.0, 0.9),
        lambda: ClampedGaussian(-1.0, 3.0),
        lambda: TruncatedGaussian(1.0, math.nan),
        lambda: TruncatedLaplace(1.0, 0.0),
        lambda: epsilon(TruncatedLaplace(1.0, 0.5), 1e-6),
    ],
)
def test_bad_input(build: Callable[[], object]) -> None:
    with pytest.raises(InputError):
        build()
