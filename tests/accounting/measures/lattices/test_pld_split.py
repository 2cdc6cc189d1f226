"""Outcomes with a jump and those without, each inverted on a line of its own: against sums over the coin's outcomes."""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp
import pytest

from dpcert.accounting.bracket import Bracket, EmptyBracket
from dpcert.accounting.measures.lattices import accountant as pld
from dpcert.accounting.measures.lattices import search
from dpcert.accounting.measures.lattices.laws import Resolution, steps
from dpcert.accounting.measures.lattices.profile import Profile, Sides
from dpcert.accounting.measures.lattices.search import Table
from dpcert.accounting.pairs import (
    Composition,
    DiscreteGaussianPair,
    GaussianPair,
    RandomizedResponsePair,
    SubsampledPair,
)

SHIFT, FLIP, RATE, ROUNDS = 0.02, 0.05, 1e-4, 2
COMPOSITION: Composition = (
    (GaussianPair(SHIFT), 1),
    (SubsampledPair(RandomizedResponsePair(FLIP, 2), RATE, "remove"), ROUNDS),
)
DELTAS = (1e-5, 1e-6, 1e-7)


def gaussian_share(epsilon: mp.mpf) -> mp.mpf:
    """E[(1 - e^{eps - L})_+] for a Gaussian pair, at any eps of either sign."""
    s = mp.mpf(SHIFT)
    return mp.ncdf(s / 2 - epsilon / s) - mp.exp(epsilon) * mp.ncdf(-s / 2 - epsilon / s)


def exact_delta(epsilon: float) -> mp.mpf:
    """The sum over the answers of randomized response behind the coin, of the Gaussian's share at what is left."""
    with mp.workdps(40):
        flip, rate, e = mp.mpf(FLIP), mp.mpf(RATE), mp.mpf(epsilon)
        kept, turned = (1 - flip, flip)
        first = [(1 - rate) * turned + rate * kept, (1 - rate) * kept + rate * turned]  # under P, by answer
        second = [turned, kept]  # under Q, where the unit is away
        losses = [mp.log(p / q) for p, q in zip(first, second, strict=True)]
        answers = [(first[a] * first[b], losses[a] + losses[b]) for a in range(2) for b in range(2)]
        return mp.fsum(mass * gaussian_share(e - loss) for mass, loss in answers)


@pytest.fixture
def always_split(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Table, "threshold", lambda table, epsilon, log_delta, log_share: None)
    monkeypatch.setattr(search, "_MOST", -100.0)


def excluded(found: Callable[[], Bracket], delta: float) -> bool:
    """Whether the bracket's ends are on the wrong side of the epsilon at delta."""
    try:
        bracket = found()
    except EmptyBracket:
        return True
    return exact_delta(bracket.upper) > delta * (1 + 1e-12) or (
        bracket.lower > 0 and exact_delta(bracket.lower) < delta * (1 - 1e-12)
    )


@pytest.mark.usefixtures("always_split")
@pytest.mark.parametrize("delta", DELTAS)
def test_both_lines_together_hold_the_truth(delta: float) -> None:
    found = pld.epsilon(COMPOSITION, delta)
    assert not excluded(lambda: found, delta)
    assert found.width <= 1e-4 * found.upper


@pytest.mark.usefixtures("always_split")
@pytest.mark.parametrize("forgotten", [0, 1])
def test_planted_a_part_is_forgotten(monkeypatch: pytest.MonkeyPatch, forgotten: int) -> None:
    """Either the outcomes with a jump or those without: an upper end below the truth at one of the deltas."""
    honest = Profile.log_delta

    def without(profile: Profile, epsilon: float) -> tuple[float, float, float]:
        low, _, slope = honest(profile, epsilon)
        return low, honest(Profile(profile.sides, profile.parts[1 - forgotten : 2 - forgotten]), epsilon)[1], slope

    monkeypatch.setattr(Profile, "log_delta", without)
    assert any(excluded(lambda delta=delta: pld.epsilon(COMPOSITION, delta), delta) for delta in DELTAS)


@pytest.mark.usefixtures("always_split")
def test_planted_small_losses_counted_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Profile.log_delta

    def twice(profile: Profile, epsilon: float) -> tuple[float, float, float]:
        low, _, slope = honest(Profile(profile.sides, (*profile.parts, *profile.parts[1:])), epsilon)
        return low, honest(profile, epsilon)[1], slope

    monkeypatch.setattr(Profile, "log_delta", twice)
    assert any(excluded(lambda delta=delta: pld.epsilon(COMPOSITION, delta), delta) for delta in DELTAS)


def test_what_was_wide_before_there_were_two_lines() -> None:
    """4% wide, on one line: the Gaussian rounds and the jumps matter alike."""
    mixed: Composition = (
        (GaussianPair(0.003), 60),
        (SubsampledPair(DiscreteGaussianPair(1.15, 1), 4e-5, "hybrid"), 28),
    )
    found = pld.epsilon(mixed, 4e-23)
    assert found.lower > 0
    assert found.width <= 1e-4 * found.upper


def test_no_split_without_a_sampled_step() -> None:
    plain = steps(((GaussianPair(1.0), 3),), Resolution(64, 1.0, 1e-20))
    assert not Table.of(plain, 1.0).splits
    assert len(Sides.of(plain).parts) == 1
