"""What a round of each trainer releases moves by two clip norms and has the noise that it was told."""

from __future__ import annotations

import pytest

from dpcert.proofs_checks.papers import judge, register
from dpcert.proofs_checks.papers.row import Status


@pytest.mark.parametrize("what", ["sensitivity", "noise"])
@pytest.mark.parametrize("paper", ["PMTL", "DPFEDMTL", "MOCHA"])
def test_what_a_round_releases(paper: str, what: str) -> None:
    (row,) = register(only=f"{paper}-RUN-{what}")
    assert judge(row).status is Status.UNBROKEN
