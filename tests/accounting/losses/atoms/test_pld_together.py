"""Many epsilons of one run by the accountant of lattices: shared inversions give what is true, and few are made."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from dpcert.accounting import deltas, tradeoff
from dpcert.accounting.losses.atoms import pld, pld_together
from dpcert.accounting.pairs import (
    BoundedRangePair,
    Composition,
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    GaussianPair,
    Sampling,
    SubsampledPair,
)
from dpcert.mechanisms import DiscreteGaussian, Repeat, Sequence

RTOL = 1e-2
SHIFT, ROUNDS = 0.3, 20
EPSILONS = np.linspace(0.0, 8.0, 13).tolist()


def _gaussian_delta(eps: float) -> mp.mpf:
    """delta of ROUNDS Gaussian rounds of shift SHIFT: Balle, Wang 2018, Theorem 8."""
    mu, at = mp.mpf(SHIFT) * mp.sqrt(ROUNDS), mp.mpf(eps)
    return mp.ncdf(mu / 2 - at / mu) - mp.exp(at) * mp.ncdf(-mu / 2 - at / mu)


@pytest.mark.parametrize("rtol", [1e-1, 1e-2, 1e-4])
def test_they_bracket_the_closed_form(rtol: float) -> None:
    found = pld_together.deltas(((GaussianPair(SHIFT), ROUNDS),), EPSILONS, rtol)
    with mp.workdps(50):
        for at, bracket in zip(EPSILONS, found, strict=True):
            assert bracket is not None
            assert bracket.narrower_than(rtol)
            assert bracket.lower <= _gaussian_delta(at) <= bracket.upper


COMPOSITIONS: dict[str, tuple[Composition, float]] = {
    "several lattices": (
        ((DiscreteGaussianPair(4.0, 1), 2), (DiscreteGaussianPair(6.5, 1), 2), (GaussianPair(0.2), 3)),
        8.0,
    ),
    "sampled": (((SubsampledPair(GaussianPair(1.0), 0.01, Sampling.REMOVE), 1000),), 2.0),
    "with a largest loss": (((DiscreteLaplacePair(2.0, 1), 6),), 3.1),
}
"""Each with the largest epsilon asked for."""


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_they_are_what_each_point_gives_by_itself(name: str) -> None:
    """A far narrower bracket of the same value lies inside, but for what is lost in rounding: both are bounds of it."""
    composition, largest = COMPOSITIONS[name]
    asked = np.linspace(0.0, largest, 13).tolist()
    found = pld_together.deltas(composition, asked, RTOL)
    known = [(at, bracket) for at, bracket in zip(asked, found, strict=True) if bracket is not None]
    assert len(known) > 6
    for at, bracket in known[::3]:
        alone = pld.delta(composition, at, 1e-5)
        assert bracket.lower <= alone.upper
        assert alone.lower <= bracket.upper
        assert bracket.narrower_than(RTOL)


def test_a_stretch_is_one_inversion(monkeypatch: pytest.MonkeyPatch) -> None:
    laid = []
    whole = pld.LatticeLayout.profile
    monkeypatch.setattr(pld.LatticeLayout, "profile", lambda *args: laid.append(args) or whole(*args))
    run = Sequence(tuple(Repeat(DiscreteGaussian(sigma), 2) for sigma in (6.0, 9.0, 14.0)))
    found = deltas(run, np.linspace(0.0, 1.5, 13).tolist(), rtol=RTOL)
    assert all(bracket.reached for bracket in found)
    assert len(laid) <= 8  # by themselves: five each


def test_knots_that_reach_less_far_bound_the_same_curve() -> None:
    """At the error rates that reports draw, curves with nearer knots are as true, and no wider."""
    run = Sequence((Repeat(DiscreteGaussian(5.0), 4), Repeat(DiscreteGaussian(9.0), 2)))
    far, near = tradeoff(run, points=13, rtol=RTOL), tradeoff(run, points=13, rtol=RTOL, smallest_delta=1e-7)
    fine = tradeoff(run, points=33, rtol=1e-4)
    for rate in (1e-1, 1e-3, 1e-5):
        for curve in (far, near):
            assert curve.power(rate).lower <= fine.power(rate).upper
            assert curve.power(rate).upper >= fine.power(rate).lower
        assert near.power(rate).width < far.power(rate).width


def test_envelopes_are_left_to_others() -> None:
    """Their own profile is more than what neighbours attain: its lower end says nothing of them."""
    assert pld_together.deltas(((BoundedRangePair(1.0), 4),), EPSILONS, RTOL) == [None] * len(EPSILONS)
