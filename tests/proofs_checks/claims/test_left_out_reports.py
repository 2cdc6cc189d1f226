"""Randomized response under zero-out: who is left out still answers, and the verdict says so."""

from __future__ import annotations

import math

import pytest

from dpcert.proofs_checks import verify
from dpcert.proofs_checks.claims.claim import parse_claim

SENTENCE = "a person that is left out still answers, with a uniformly random category"


@pytest.mark.parametrize(
    ("relation", "epsilon", "said"), [("zero-out", math.log(2), True), ("replace-one", math.log(3), False)]
)
def test_the_verdict_says_what_is_left_out(relation, epsilon, said):
    """Two categories, flipped with probability 1/4: 3/4 against 1/2, and 1/2 against 1/4, or 3/4 against 1/4."""
    told = {"title": "t", "unit": "person", "neighbouring": relation, "epsilon": 2.0, "delta": 0.0}
    found = verify(parse_claim({"claim": told, "mechanism": {"kind": "randomized-response", "flip_probability": 0.25}}))
    assert found.certified.lower <= epsilon <= found.certified.upper <= epsilon * (1 + 1e-12)
    assert (SENTENCE in found.assumptions) is said
