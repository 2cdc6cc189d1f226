"""Rare jumps where epsilon is not much larger than delta, and jumps that are not rare at every frequency.

The first by put-call parity, against rigorous balls for two rounds; the second by a difference that is taken as it is,
against the logarithms that serve elsewhere, and against lattices.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import two_rounds

from dpcert.accounting.losses.atoms import pld as lattices
from dpcert.accounting.losses.smooth import jumping, parts, rare
from dpcert.accounting.losses.smooth.densities import DensitiesOnLine
from dpcert.accounting.pairs import Composition, GaussianPair, SubsampledPair

RTOL = 1e-6

SMALL = [(1.0, 1e-6, 3e-7), (0.4, 3e-5, 2e-6), (0.7, 1e-3, 1e-4)]
"""Shift, rate, delta: of two rounds, delta less than ten times below the profile at 0."""

UNEVEN: Composition = tuple(
    (SubsampledPair(GaussianPair(1 / noise), rate, "remove"), rounds)
    for noise, rate, rounds in ((13.8, 0.0269, 1), (17.3, 0.067, 2), (1.96, 0.00156, 123))
)
"""One round of some phases: at some frequencies nothing is left of all outcomes' moment, nor of the jumps'."""


def _rounds(shift: float, rate: float) -> Composition:
    return ((SubsampledPair(GaussianPair(shift), rate, "remove"), 2),)


def _epsilon(composition: Composition, delta: float) -> tuple[float, float]:
    with np.errstate(divide="raise", over="raise", invalid="raise"):  # as all accountants are asked
        return rare.epsilon(composition, delta, RTOL)


def _true() -> bool:
    for shift, rate, delta in SMALL:
        lower, upper = _epsilon(_rounds(shift, rate), delta)
        if not two_rounds.profile(shift, rate, upper) <= delta < two_rounds.profile(shift, rate, lower):
            return False
    return True


def test_small_epsilon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rare, "_LABELS", ())
    assert _true()
    for shift, rate, delta in SMALL:
        lower, upper = _epsilon(_rounds(shift, rate), delta)
        assert upper - lower <= RTOL * upper


def _not_turned(right: Callable[..., Any]) -> Callable[..., Any]:
    """The other pair's profile, less what it is at a loss of 0, is not weighed by e^epsilon."""
    return lambda self, at: tuple(side * math.exp(-at) for side in right(self, at))


def _too_little(right: Callable[..., Any]) -> Callable[..., Any]:
    """Epsilon is taken off, not e^epsilon - 1."""
    return lambda self, at: tuple(side + math.expm1(at) - at for side in right(self, at))


@pytest.mark.parametrize("fault", [_not_turned, _too_little])
def test_planted_faults(fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rare, "_LABELS", ())
    monkeypatch.setattr(parts.Turned, "delta", fault(parts.Turned.delta))
    assert not _true()


def test_jumps_that_are_not_rare_at_every_frequency() -> None:
    lower, upper = _epsilon(UNEVEN, 4.83e-19)
    assert upper - lower <= RTOL * upper
    known = lattices.epsilon(UNEVEN, 4.83e-19, 1e-4)
    assert known.lower <= upper
    assert lower <= known.upper


def _both_ways(monkeypatch: pytest.MonkeyPatch) -> tuple[float, float]:
    """By how much the jumps' transform differs, taken by logarithms and as a difference, in units of both errors at
    each frequency; and the share of its largest value that the difference's error is there."""
    kept: list[Any] = []
    right = jumping.JumpsOnLine.transform

    def both(self: Any, period: float, count: int) -> Any:
        found = []
        for share in (0.5, 0.0):
            with monkeypatch.context() as patch:
                patch.setattr(jumping, "_RARE", share)
                found.append(right(self, period, count))
        kept.append(found)
        return found[0]

    with monkeypatch.context() as patch:
        patch.setattr(jumping.JumpsOnLine, "transform", both)
        rare.lay_profile(UNEVEN, 0.12633569, math.log(4.83e-19), RTOL)
    apart, share = 0.0, 0.0
    for logarithms, difference in kept:
        errors = logarithms.errors + difference.errors
        apart = max(apart, float(np.max(np.abs(logarithms.values - difference.values) / errors)))
        share = max(share, float(np.max(difference.errors) / np.max(np.abs(logarithms.values))))
    assert kept
    return apart, share


def test_a_difference_is_what_its_logarithms_say(monkeypatch: pytest.MonkeyPatch) -> None:
    apart, share = _both_ways(monkeypatch)
    assert apart <= 1.0
    assert share <= 1e-2


def test_errors_of_a_difference_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: moments count as all but exact."""
    right = DensitiesOnLine.product

    def wrong(self: Any, s: Any, changes: Any, errors: Any) -> Any:
        found = right(self, s, changes, errors)
        return replace(found, errors=1e-6 * found.errors)

    monkeypatch.setattr(DensitiesOnLine, "product", wrong)
    monkeypatch.setattr(jumping, "UNIT", 1e-6 * jumping.UNIT)
    assert _both_ways(monkeypatch)[0] > 1.0
