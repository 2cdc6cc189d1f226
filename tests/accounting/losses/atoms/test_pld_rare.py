"""Rare jumps of other noise beside Gaussian rounds: against sums over the coin's outcomes."""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp
import pytest

from dpcert.accounting.bracket import Bracket, EmptyBracket
from dpcert.accounting.losses.atoms import pld
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


def excluded(found: Callable[[], Bracket], delta: float) -> bool:
    """Whether the bracket's ends are on the wrong side of the epsilon at delta."""
    try:
        bracket = found()
    except EmptyBracket:
        return True
    return exact_delta(bracket.upper) > delta * (1 + 1e-12) or (
        bracket.lower > 0 and exact_delta(bracket.lower) < delta * (1 - 1e-12)
    )


@pytest.mark.parametrize("delta", DELTAS)
def test_atoms_behind_a_coin_beside_gaussian_rounds(delta: float) -> None:
    found = pld.epsilon(COMPOSITION, delta)
    assert not excluded(lambda: found, delta)
    assert found.width <= 1e-4 * found.upper


def test_gaussian_rounds_and_jumps_that_matter_alike() -> None:
    """4% wide before far losses were priced in closed form."""
    mixed: Composition = (
        (GaussianPair(0.003), 60),
        (SubsampledPair(DiscreteGaussianPair(1.15, 1), 4e-5, "hybrid"), 28),
    )
    found = pld.epsilon(mixed, 4e-23)
    assert found.lower > 0
    assert found.width <= 1e-4 * found.upper
