"""Telling the adversary the coins bounds the hidden profile from above, and closely where the noise is tiny."""

from __future__ import annotations

import pytest

from dpcert.accounting.losses import one_event
from dpcert.accounting.losses.smooth import contour
from dpcert.accounting.pairs import Composition, GaussianPair, LaplacePair, Sampling, SubsampledPair
from dpcert.accounting.participation import revealed


def one(order: Sampling, shift: float, rate: float, rounds: int) -> Composition:
    return ((SubsampledPair(GaussianPair(shift), rate, order), rounds),)


@pytest.mark.parametrize("order", ["remove", "add", "replace", "hybrid"])
@pytest.mark.parametrize(("shift", "rate", "rounds"), [(1.0, 0.05, 200), (3.0, 0.02, 300), (0.2, 0.7, 50)])
def test_never_below_the_hidden_profile(order: Sampling, shift: float, rate: float, rounds: int) -> None:
    composition = one(order, shift, rate, rounds)
    bound, exact = revealed.epsilon(composition, 1e-6), contour.epsilon(composition, 1e-6)
    assert bound.lower == 0.0
    assert bound.upper >= exact.lower
    at = 0.5 * exact.upper
    assert revealed.delta(composition, at).upper >= contour.delta(composition, at).lower


def test_replacing_moves_both_ways() -> None:
    """With the coins known, a replacement moves by twice the base's shift: with less the bound would be false."""
    composition = one("replace", 0.5, 0.97, 40)
    exact = contour.epsilon(composition, 1e-6)
    too_little = revealed.epsilon(one("remove", 0.5, 0.97, 40), 1e-6)
    assert too_little.upper < exact.lower <= revealed.epsilon(composition, 1e-6).upper


@pytest.mark.parametrize("shift", [30.0, 1e3, 1e6])
def test_next_to_nothing_is_lost_where_the_output_reveals_the_coin(shift: float) -> None:
    """8 participations or more have probability 3e-6, 7 or more 3e-5: the loss is about 7 shift^2 / 2."""
    composition = one("remove", shift, 20 / 9343, 400)
    bound, event = revealed.epsilon(composition, 1e-5), one_event.epsilon(composition, 1e-5)
    assert event.lower <= bound.upper < 4.2 * shift**2 + 12.0 * shift


def test_supports_hidden_gaussian_rounds() -> None:
    assert revealed.supports((*one("add", 1.0, 0.1, 3), (GaussianPair(1.0), 5)))
    assert not revealed.supports(one("visible", 1.0, 0.1, 3))
    assert not revealed.supports(((SubsampledPair(LaplacePair(1.0), 0.1, "remove"), 3),))
    assert not revealed.supports(((GaussianPair(1.0), 3),))
