"""Which end a certificate states: the tightest that is proved, found with few attempts."""

from __future__ import annotations

import pytest

from dpcert.proofs_checks.certificates.certificate import WIDENINGS, first_proved

ENDS = [repr(2.0 * (1 - widening)) for widening in (*WIDENINGS, 0.5, 0.7, 0.9)]


@pytest.mark.parametrize("easiest", range(len(ENDS) + 1))
def test_the_tightest_end_is_found_with_few_proofs(easiest: int) -> None:
    tried: list[str] = []

    def proof(epsilon: str) -> dict[str, str] | None:
        tried.append(epsilon)
        return {"of": epsilon} if ENDS.index(epsilon) >= easiest else None

    found = first_proved(ENDS, proof)
    if easiest == len(ENDS):
        assert found is None
        assert len(tried) == 2  # one by one it was all of them, for every sub-sequence of the phases
    else:
        assert found == (ENDS[easiest], {"of": ENDS[easiest]})
        assert len(tried) <= 8


def test_no_end_to_prove_needs_no_proof() -> None:
    assert first_proved([], lambda epsilon: pytest.fail(epsilon)) is None
    assert first_proved(["1"], lambda epsilon: None) is None
