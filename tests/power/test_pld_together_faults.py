"""Planted bugs of many deltas read off one inversion of lattices: each shows as a bracket that excludes the truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpcert.accounting.bracket import Bracket
from dpcert.accounting.losses import closed_form
from dpcert.accounting.losses.atoms import laws, pld, pld_together
from dpcert.accounting.losses.atoms.cells import Atoms, Cells, pessimistic
from dpcert.accounting.losses.atoms.composed_profile import ComposedProfile
from dpcert.accounting.pairs import Composition, GaussianPair, SubsampledPair

ONE_ROUND: Composition = ((SubsampledPair(GaussianPair(1.0), 0.2, "remove"), 1),)
"""With a closed form, an independent reference."""

EPSILONS = np.linspace(0.1, 1.2, 9).tolist()


def _wrong() -> tuple[int, int]:
    """How many shared brackets exclude the truth, and of how many."""
    found = pld_together.deltas(ONE_ROUND, EPSILONS, 1e-2)
    both = [(one, closed_form.delta(ONE_ROUND, at)) for one, at in zip(found, EPSILONS, strict=True) if one]
    return sum(one.upper < truth.lower or one.lower > truth.upper for one, truth in both), len(both)


@pytest.mark.parametrize(
    ("name", "guess"), [("_BELOW_CHERNOFF", -3.0), ("_BELOW_CHERNOFF", 12.0), ("_REACH", 0.0), ("_FIRST", 3.0)]
)
def test_guesses_decide_how_narrow_brackets_are_and_no_more(
    monkeypatch: pytest.MonkeyPatch, name: str, guess: float
) -> None:
    assert _wrong() == (0, len(EPSILONS))
    monkeypatch.setattr(pld_together, name, guess)
    assert _wrong()[0] == 0


def _of_the_next_point(found: ComposedProfile, epsilon: float) -> Bracket:
    return pld.delta_between(found, epsilon + EPSILONS[1] - EPSILONS[0])


def _of_lower_ends(found: ComposedProfile, epsilon: float) -> Bracket:
    lower = pld.delta_between(found, epsilon).lower
    return Bracket(lower, lower, True, "pld")


@pytest.mark.parametrize("read", [_of_the_next_point, _of_lower_ends])
def test_brackets_that_are_read_off_wrongly(monkeypatch: pytest.MonkeyPatch, read: object) -> None:
    monkeypatch.setattr(pld_together, "delta_between", read)
    wrong, served = _wrong()
    assert wrong == served >= 8


@pytest.mark.parametrize("dropped", [False, True])
def test_mass_of_a_tail_that_is_lost(monkeypatch: pytest.MonkeyPatch, dropped: bool) -> None:
    """Tails of 1e-3 cut off: harmless while their mass counts, too small a delta once it does not."""

    def without_stray(cells: Cells) -> Atoms:
        return pessimistic(replace(cells, stray=0.0))

    monkeypatch.setattr(pld_together, "lost_tail", lambda *_: 1e-3)
    if dropped:
        monkeypatch.setattr(laws, "pessimistic", without_stray)
    assert (_wrong()[0] >= 3) is dropped
