"""All calls of one test share its error probability, in whatever order it mixes examples and calls of its own."""

from __future__ import annotations

import pytest
from error_shares import SCENARIOS, spent

from dpcert.proofs_checks.assertion_context import Calls


@pytest.mark.parametrize("name", SCENARIOS)
def test_no_order_of_calls_overspends(name):
    assert 0.4 < sum(spent(SCENARIOS[name], Calls())) <= 1.0


def test_what_is_run_again_to_show_a_failure_has_its_share():
    """Hypothesis shrinks an example and replays it: with less it would pass, and be called flaky."""
    shares = spent(SCENARIOS["caught outside of it"], Calls(), count_failing=True)
    failing = [share for share, failed in shares if failed]
    assert len(failing) > 2
    assert len(set(failing)) == 1
