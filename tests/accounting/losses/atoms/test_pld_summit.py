"""Lower ends next to the largest losses: below the truth in closed form, sharp, and wrong once a part is forgotten."""

from __future__ import annotations

import math

import mpmath as mp
import pytest

from dpcert.accounting.losses import closed_form
from dpcert.accounting.losses.atoms import pld, summit
from dpcert.accounting.losses.atoms.edges import Resolution
from dpcert.accounting.losses.atoms.steps import steps
from dpcert.accounting.losses.atoms.transform import AtomLaw
from dpcert.accounting.pairs import (
    ApproximateDpPair,
    Composition,
    DiscreteGaussianPair,
    GaussianPair,
    LaplacePair,
    RandomizedResponsePair,
    SubsampledPair,
)

NEAR_TOP: list[tuple[Composition, float]] = [
    (((RandomizedResponsePair(0.1, 2), 5),), 1e-3),
    (((RandomizedResponsePair(0.1, 2), 5),), 1e-12),
    (((ApproximateDpPair(0.3, 0.0), 20),), 1e-9),
    (((LaplacePair(1.5), 1),), 1e-6),
    (((SubsampledPair(LaplacePair(1.5), 0.2, "remove"), 1),), 1e-5),
    (((SubsampledPair(RandomizedResponsePair(0.2, 2), 0.1, "add"), 1),), 1e-8),
]


def lower(composition: Composition, delta: float, epsilon: float) -> float:
    return summit.lower_at_summit(steps(composition, Resolution(512, 1.0, 1e-7 * delta)), 0.0, delta, epsilon)


@pytest.mark.parametrize(("composition", "delta"), NEAR_TOP)
def test_it_is_a_lower_end_close_to_the_truth(composition: Composition, delta: float) -> None:
    truth = closed_form.epsilon(composition, delta)
    found = lower(composition, delta, truth.upper)
    assert found <= truth.upper
    assert found >= truth.lower * (1 - max(1e-2, 3 * delta))


def upper(composition: Composition, delta: float) -> float:
    return summit.upper_at_summit(steps(composition, Resolution(512, 1.0, 1e-7 * delta)), 0.0, delta)


@pytest.mark.parametrize(("composition", "delta"), NEAR_TOP)
def test_no_loss_above_the_ceiling_matters(composition: Composition, delta: float) -> None:
    truth = closed_form.epsilon(composition, delta)
    found = upper(composition, delta)
    assert found >= truth.lower
    assert found <= truth.upper * (1 + max(1e-2, 3 * delta))


def test_planted_every_round_may_use_all_of_delta(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rounds, each of which exceeds the ceiling with .8 of delta: together they need more than that."""
    composition: Composition = ((SubsampledPair(ApproximateDpPair(0.1, 8e-7), 0.9, "add"), 2),)
    truth = pld.epsilon(composition, 1e-6).lower
    assert upper(composition, 1e-6) >= truth
    monkeypatch.setattr(AtomLaw, "ceiling", lambda law, mass, honest=AtomLaw.ceiling: honest(law, 2 * mass))
    assert upper(composition, 1e-6) < truth


@pytest.mark.parametrize(("composition", "delta"), NEAR_TOP)
def test_planted_the_mass_of_the_summit_is_forgotten(
    composition: Composition, delta: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With mass 1 for what the largest losses have, the lower end is above the truth everywhere."""
    truth = closed_form.epsilon(composition, delta)
    honest = summit._lower
    monkeypatch.setattr(summit, "_lower", lambda parts, *rest: honest([(loss, 1.0, t) for loss, _, t in parts], *rest))
    assert lower(composition, delta, truth.upper) > truth.upper


def test_no_summit_without_atoms_and_none_below_delta() -> None:
    assert lower(((GaussianPair(1.0), 2), (RandomizedResponsePair(0.1, 2), 1)), 1e-6, 5.0) == 0
    assert (
        lower(((ApproximateDpPair(0.3, 0.0), 200),), 1e-9, 10.0)
        < closed_form.epsilon(((ApproximateDpPair(0.3, 0.0), 200),), 1e-9).lower
    )


_WIDTHS = {6.9e-28: 3e-4, 6e-27: 2e-2, 1.4e-18: 1e-2}
"""Of the rows, by delta, whose brackets are left wider: by smoothing, where delta is made of a few losses next to eps,
and by rounding, where small jumps of one step lie on the largest loss of another, so that no loss is far."""


@pytest.mark.parametrize(
    ("composition", "delta"),
    [
        # each was 2e-4 to 6e-3 wide, or without any lower end, before summits, trimming and sampled jumps only
        (((SubsampledPair(ApproximateDpPair(0.0018, 4.6e-37), 0.00011, "add"), 2),), 2.9e-17),
        (((SubsampledPair(ApproximateDpPair(0.006, 5e-37), 0.333, "add"), 8),), 4e-21),
        (((SubsampledPair(ApproximateDpPair(0.0058, 1.6e-40), 0.2, "add"), 94),), 6.9e-28),
        (
            (
                (SubsampledPair(GaussianPair(0.45), 0.000576, "hybrid"), 3),
                (RandomizedResponsePair(0.05, 5), 1),
            ),
            6e-27,
        ),
        (
            (
                (SubsampledPair(ApproximateDpPair(0.59, 1.3e-42), 5e-5, "add"), 1),
                (SubsampledPair(RandomizedResponsePair(0.44, 2), 0.245, "add"), 1),
            ),
            2.6e-22,
        ),
        (
            (
                (SubsampledPair(RandomizedResponsePair(0.363, 2), 0.064, "add"), 1),
                (SubsampledPair(DiscreteGaussianPair(5.4, 4), 7.8e-6, "replace"), 1),
            ),
            1.4e-18,
        ),
        (((SubsampledPair(ApproximateDpPair(0.081, 8.5e-36), 1.3e-5, "add"), 1),), 2.5e-26),
    ],
)
def test_large_losses_of_no_consequence_do_not_widen_the_bracket(composition: Composition, delta: float) -> None:
    found = pld.epsilon(composition, delta)
    assert found.lower > 0
    assert found.width <= _WIDTHS.get(delta, 1e-5) * found.upper


def test_a_law_of_two_losses_next_to_infinity_is_inverted_exactly() -> None:
    """Two rounds of an (e, d) pair behind a coin: both at the loss l, of mass m each, delta = m^2 (1 - e^{eps-2l})."""
    e, rate, delta = 0.0018, 0.00011, 2.9e-17
    found = pld.epsilon(((SubsampledPair(ApproximateDpPair(e, 4.6e-37), rate, "add"), 2),), delta)
    # "add": P is without the unit, and Q mixes; the largest loss is where P is e^e times the unit's law
    loss = -math.log1p(rate * math.expm1(-e))
    mass = math.exp(e) / (1 + math.exp(e))
    truth = 2 * loss + math.log1p(-delta / mass**2)
    assert found.lower * (1 - 1e-11) <= truth <= found.upper * (1 + 1e-11)


def test_the_mass_at_or_above_a_loss() -> None:
    law = steps(((RandomizedResponsePair(0.1, 3), 1),), Resolution(64, 1.0, 1e-30))[0].lower
    assert isinstance(law, AtomLaw)
    loss, mass = law.summit(1e9, 0.0)
    assert loss == pytest.approx(math.log(0.9 / 0.05), rel=1e-12)
    assert mass <= 0.9
    assert mass == pytest.approx(0.9, rel=1e-11)


def test_a_wide_bracket_holds_many_rounds_of_two_losses() -> None:
    """94 rounds of an (e, d) pair behind a coin, d negligible: the epsilon at delta by the binomial sum."""
    e, rate, rounds, delta = 0.0058, 0.2, 94, 6.9e-28
    found = pld.epsilon(((SubsampledPair(ApproximateDpPair(e, 1.6e-40), rate, "add"), rounds),), delta)
    assert binomial_delta(e, rate, rounds, found.lower) >= delta * (1 - 1e-9)
    assert binomial_delta(e, rate, rounds, found.upper) <= delta * (1 + 1e-9)


def binomial_delta(e: float, rate: float, rounds: int, epsilon: float) -> mp.mpf:
    """P is without the unit; a round's two losses are -log(1 + rate (e^{-+e} - 1)), the larger of mass 1/(1 + e^-e)."""
    with mp.workdps(50):
        more = 1 / (1 + mp.exp(-mp.mpf(e)))
        high, low = (-mp.log1p(mp.mpf(rate) * mp.expm1(sign * mp.mpf(e))) for sign in (-1, 1))
        total = mp.mpf(0)
        for j in range(rounds + 1):
            loss = j * high + (rounds - j) * low
            if loss > epsilon:
                mass = mp.binomial(rounds, j) * more**j * (1 - more) ** (rounds - j)
                total += mass * -mp.expm1(mp.mpf(epsilon) - loss)
        return total
