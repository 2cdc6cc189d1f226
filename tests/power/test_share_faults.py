"""What the shares of an error probability were, planted again: a correct mechanism then fails too often."""

from __future__ import annotations

import pytest
from error_shares import SCENARIOS, spent

from dpcert.proofs_checks import assertion_context
from dpcert.proofs_checks.assertion_context import Calls


class AllOfIt(Calls):
    """Calls outside of examples share all of it each time that they come."""

    def _share(self) -> float:
        return 1.0 if self._example is None else super()._share()


def test_calls_between_examples_have_all_of_it() -> None:
    assert sum(spent(SCENARIOS["calls of its own between examples"], AllOfIt())) > 2


@pytest.mark.parametrize("name", ["failures that are caught in an example", "caught outside of it"])
def test_a_failure_is_thought_to_last(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """What comes after a failure that the test catches has the failing example's share for ever."""
    monkeypatch.setattr(assertion_context, "_in_hypothesis", lambda error: True)
    assert sum(spent(SCENARIOS[name], Calls())) > 2
