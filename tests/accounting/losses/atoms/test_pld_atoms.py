"""Coarse brackets where the composed loss has atoms: as narrow as asked for, or told to be wider."""

from __future__ import annotations

from importlib import import_module

import mpmath as mp
import pytest

from dpcert import delta
from dpcert.mechanisms import BoundedLaplace, DiscreteLaplace, Mechanism, Repeat

pld = import_module("dpcert.accounting.losses.atoms.pld")
pld_profile = import_module("dpcert.accounting.losses.atoms.composed_profile")

RTOLS = [1e-1, 1e-2, 1e-3, 1e-4]
ATOMIC = Repeat(DiscreteLaplace(2.0), 6)
"""Neighbouring sums differ by 1: every round's loss is -1/2 or 1/2."""


def by_counting(epsilon: float) -> mp.mpf:
    """delta of ATOMIC: how many of the losses are positive is binomial."""
    likely = 1 / (1 + mp.exp(-mp.mpf(1) / 2))
    return mp.fsum(
        mp.binomial(6, k) * likely**k * (1 - likely) ** (6 - k) * max(0, 1 - mp.exp(epsilon - mp.mpf(2 * k - 6) / 2))
        for k in range(7)
    )


@pytest.mark.parametrize("epsilon", [0.4, 0.75, 1.5, 2.7])
def test_coarse_brackets_are_as_narrow_as_asked_for(epsilon: float) -> None:
    truth = by_counting(epsilon)
    for rtol in RTOLS:
        found = delta(ATOMIC, epsilon, rtol=rtol)
        assert found.narrower_than(rtol), rtol
        assert found.reached
        assert found.lower <= truth <= found.upper


def test_a_finer_bracket_is_inside_of_the_coarse_one() -> None:
    """Upper and lower end are two pairs', 6e-5 apart: that much and no more is added to what is asked for."""
    run = Repeat(BoundedLaplace(0.5, 1.0), 2)
    fine = delta(run, 2.0)
    for rtol in RTOLS[:3]:
        found = delta(run, 2.0, rtol=rtol)
        assert found.lower <= fine.lower * (1 + 1e-6)
        assert fine.upper <= found.upper * (1 + 1e-6)
        assert found.width <= (2 * rtol + 6e-5) * found.upper
        assert found.reached is found.narrower_than(rtol)


def test_planted_a_period_that_forgets_the_smoothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the largest loss there is nothing without smoothing: copies a period apart add much of an atom with it."""
    monkeypatch.setattr(pld_profile, "shifted", lambda c, square: 0.0)
    found = delta(ATOMIC, 0.4, rtol=1e-2)
    assert found.width > 0.5 * found.upper
    assert not found.reached
    assert found.lower <= by_counting(0.4) <= found.upper, "wide, not wrong"


@pytest.mark.parametrize("run", [ATOMIC, Repeat(BoundedLaplace(0.5, 1.0), 2)])
def test_planted_giving_up_at_once_is_told(run: Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pld.LatticeLayout, "stages", lambda self: [(512, 0.3)])
    found = delta(run, 1.5, rtol=1e-4)
    assert found.width > 1e-2 * found.upper
    assert not found.reached
