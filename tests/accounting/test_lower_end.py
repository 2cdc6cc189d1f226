"""The lower end of a run that is known as a bound is that of what ran at the least, or 0."""

from __future__ import annotations

import pytest

from dpcert.accounting.bracket import Bracket, EmptyBracket, OutOfReach
from dpcert.accounting.lower_end import with_lower_end
from dpcert.mechanisms import Gaussian, InputError, Mechanism

LEAST = Gaussian(2.0)


@pytest.mark.parametrize(("upper", "certified", "lower"), [(3.0, True, 1.0), (3.0, False, 1.0), (0.5, False, 0.5)])
def test_an_estimate_stays_one(upper: float, certified: bool, lower: float) -> None:
    """Also one that is below what is certain from below."""
    bound = Bracket(upper / 2, upper, certified, "any")
    found = with_lower_end(bound, LEAST, lambda run: Bracket(1.0, 2.0, True, "any"))
    assert (found.lower, found.upper, found.certified) == (lower, upper, certified)


@pytest.mark.parametrize("failure", [InputError("run", LEAST, "another run"), OutOfReach("too far")])
def test_without_an_answer_nothing_is_known_from_below(failure: Exception) -> None:
    def refused(run: Mechanism) -> Bracket:
        raise failure

    bound = Bracket(2.0, 3.0, True, "any")
    assert with_lower_end(bound, LEAST, refused).lower == with_lower_end(bound, None, refused).lower == 0.0


def test_contradictions_surface() -> None:
    """Between two accountants, and between what ran and its bound."""

    def contradicted(run: Mechanism) -> Bracket:
        return Bracket(4.0, 5.0, True, "any").intersect(Bracket(1.0, 2.0, True, "other"))

    bound = Bracket(2.0, 3.0, True, "any")
    for ask in (contradicted, lambda run: Bracket(4.0, 5.0, True, "any")):
        with pytest.raises(EmptyBracket):
            with_lower_end(bound, LEAST, ask)
