"""Planted bugs of the two bounds for noise that nothing else reaches, one_event and revealed: each must show as a bound
on the wrong side of a value that other accountants bracket."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from flint import arb

from dpcert.accounting.bracket import OutOfReach
from dpcert.accounting.losses import gaussian_rounds as gaussian
from dpcert.accounting.losses import one_event
from dpcert.accounting.losses.atoms import pld
from dpcert.accounting.losses.smooth import contour
from dpcert.accounting.pairs import Composition, GaussianPair, Sampling, SubsampledPair
from dpcert.accounting.participation import coalition as participation
from dpcert.accounting.participation import revealed

DELTA = 1e-5


def sampled(order: Sampling, shift: float, rate: float, rounds: int) -> Composition:
    return ((SubsampledPair(GaussianPair(shift), rate, order), rounds),)


SETTINGS: list[Composition] = [
    ((GaussianPair(3.0), 1),),
    ((GaussianPair(0.5), 4),),
    sampled("remove", 3.0, 0.02, 300),
    sampled("replace", 2.5, 0.05, 40),
    sampled("replace", 0.5, 0.97, 40),
    sampled("hybrid", 2.0, 0.1, 60),
    sampled("add", 3.0, 0.9, 20),
    (*sampled("remove", 0.02, 0.98, 5000), (SubsampledPair(GaussianPair(0.02), 0.98, "hybrid"), 500)),
    sampled("remove", 8.0, 0.02, 50),
]


def truth(composition: Composition) -> tuple[float, float]:
    if gaussian.supports(composition):
        found = gaussian.epsilon(composition, DELTA)
    else:
        try:
            found = contour.epsilon(composition, DELTA)
        except OutOfReach:
            found = pld.epsilon(composition, DELTA)
        if not found.narrower_than(1e-6):
            found = pld.epsilon(composition, DELTA)
    return found.lower, found.upper


TRUTHS = [truth(composition) for composition in SETTINGS]


def all_bounds_hold() -> bool:
    """Lower bounds are not above, upper bounds not below the true values, of epsilon and of delta."""
    for composition, (least, most) in zip(SETTINGS, TRUTHS, strict=True):
        if one_event.epsilon(composition, DELTA).lower > most or one_event.delta(composition, most).lower > DELTA:
            return False
        hidden = revealed.supports(composition)
        if hidden and revealed.epsilon(composition, DELTA).upper < least:
            return False
        if hidden and least > 0.0 and revealed.delta(composition, least * (1.0 - 1e-9)).upper < DELTA:
            return False
    return True


def test_the_right_code_passes() -> None:
    assert all_bounds_hold()


def one_round_is_enough_for_the_unlikely_side(patch: pytest.MonkeyPatch) -> None:
    """Q[E] of a single round, however many there are."""
    right = one_event._masses

    def wrong(rate: float, shift: float, replaced: bool, rounds: int, k: int, threshold: float) -> tuple[arb, arb]:
        return (
            right(rate, shift, replaced, rounds, k, threshold)[0],
            right(rate, shift, replaced, k, k, threshold)[1],
        )

    patch.setattr(one_event, "_masses", wrong)


def delta_is_not_subtracted(patch: pytest.MonkeyPatch) -> None:
    """log(P[E] / Q[E]) instead of log((P[E] - delta) / Q[E])."""
    right = one_event._masses
    patch.setattr(
        one_event,
        "_masses",
        lambda *given: (right(*given)[0] + arb(DELTA), right(*given)[1]),
    )


def the_other_side_moves_too(patch: pytest.MonkeyPatch) -> None:
    """The remove order taken for a replacement."""
    right = one_event._parts

    def wrong(pair: object) -> tuple[float, float, bool] | None:
        parts = right(pair)  # type: ignore[arg-type]
        return None if parts is None else (parts[0], parts[1], True)

    patch.setattr(one_event, "_parts", wrong)


def sensitivity_doubled(patch: pytest.MonkeyPatch) -> None:
    right = one_event._parts

    def wrong(pair: object) -> tuple[float, float, bool] | None:
        parts = right(pair)  # type: ignore[arg-type]
        return None if parts is None else (parts[0], 2.0 * parts[1], parts[2])

    patch.setattr(one_event, "_parts", wrong)


def rates_taken_for_one(patch: pytest.MonkeyPatch) -> None:
    """Every unit in every round: more is revealed than is."""
    right = one_event._parts

    def wrong(pair: object) -> tuple[float, float, bool] | None:
        parts = right(pair)  # type: ignore[arg-type]
        return None if parts is None else (1.0 - 1e-12, parts[1], parts[2])

    patch.setattr(one_event, "_parts", wrong)


def replacing_moves_one_way(patch: pytest.MonkeyPatch) -> None:
    """With the coins known, the replace order moves by twice its base's shift."""
    patch.setattr(SubsampledPair, "revealed", lambda pair: SubsampledPair(pair.base, pair.rate, "visible"))


def equal_pairs_overwrite(patch: pytest.MonkeyPatch) -> None:
    """Rounds of pairs that become equal when the coins are known: the last ones only."""

    def wrong(composition: Composition) -> Composition:
        return tuple({pair.revealed() or pair: rounds for pair, rounds in composition}.items())

    patch.setattr(revealed, "_revealed", wrong)


def rates_halved(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SubsampledPair, "revealed", lambda pair: SubsampledPair(pair.base, 0.5 * pair.rate, "visible"))


def first_moment_of_the_coins_only(patch: pytest.MonkeyPatch) -> None:
    """The profile at the mean number of participations instead of its mean over them."""

    def wrong(composition: Composition, delta: float) -> object:
        squares = sum(
            rounds * (pair.rate * pair.base.shift**2 if isinstance(pair, SubsampledPair) else pair.shift**2)
            for pair, rounds in composition
            if isinstance(pair, SubsampledPair | GaussianPair)
        )
        return gaussian.epsilon(((GaussianPair(math.sqrt(squares)), 1),), delta)

    patch.setattr(participation, "epsilon", wrong)


BUGS: list[Callable[[pytest.MonkeyPatch], None]] = [
    one_round_is_enough_for_the_unlikely_side,
    delta_is_not_subtracted,
    the_other_side_moves_too,
    sensitivity_doubled,
    rates_taken_for_one,
    replacing_moves_one_way,
    equal_pairs_overwrite,
    rates_halved,
    first_moment_of_the_coins_only,
]


@pytest.mark.parametrize("plant", BUGS)
def test_a_planted_bug_is_caught(plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    assert not all_bounds_hold()
