"""Randomized response: flipped to another category, or picked anew among all of them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from dpcert.mechanisms import InputError, RandomizedResponse, Repeat
from dpcert.proofs_checks import verify
from dpcert.proofs_checks.certificates.checker import check
from dpcert.proofs_checks.claims.claim import Claim, parse_claim

CLAIM = {"title": "t", "neighbouring": "replace-one", "epsilon": 5.0, "delta": 0.0}


def claim(**keys: Any) -> Claim:
    return parse_claim({"claim": CLAIM, "mechanism": {"kind": "randomized-response", **keys}})


def test_a_bit_that_is_picked_anew_is_flipped_half_as_often() -> None:
    """RAPPOR's permanent response with f = 1/2: the true bit with probability 3/4, so epsilon = ln 3."""
    found = verify(claim(pick_rate=0.5))
    assert found.claim.run == Repeat(RandomizedResponse(0.25), 1)
    assert found.certified.upper == pytest.approx(math.log(3), rel=1e-12)
    assert verify(claim(flip_probability=0.5)).certified.upper < 1e-9  # what the same number means as a flip


def test_of_several_categories_the_true_one_is_picked_too() -> None:
    assert claim(pick_rate=0.3, categories=3).run == claim(flip_probability=0.2, categories=3).run


@pytest.mark.parametrize("keys", [{"pick_rate": 0.1, "categories": 3}, {"flip_probability": 0.2}])
def test_its_certificate_states_the_flip(keys: dict[str, Any], tmp_path: Path) -> None:
    found = verify(claim(**keys), certificates=tmp_path)
    assert check(found.certificate or "").ok
    assert found.verdict == "holds"


@pytest.mark.parametrize(
    ("keys", "field"),
    [
        ({}, "mechanism.flip_probability"),
        ({"pick_rate": 0.5, "flip_probability": 0.25}, "mechanism.pick_rate"),
        ({"pick_rate": 1.5}, "mechanism.pick_rate"),
        ({"pick_rate": 0.5, "categories": 1}, "mechanism.categories"),
    ],
)
def test_one_of_the_two(keys: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as refused:
        claim(**keys)
    assert refused.value.field == field
