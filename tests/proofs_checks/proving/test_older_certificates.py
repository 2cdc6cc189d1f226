"""Certificates of version 0.2.0 are checked as what they are, and called "up to N" unless they prove more."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from proofs_of_0_2_0 import FUNCTIONS

from dpcert.proofs_checks.proving.checker.check import check_proof
from dpcert.proofs_checks.proving.checker.finite import check_enumeration

DOCUMENTS = json.loads((Path(__file__).parents[2] / "golden" / "proofs_of_0_2_0.json").read_text("utf-8"))
EVERY = {"noisy_sum", "sparse_vector", "noisy_max", "tenths"}


def checked(name, document):
    function = FUNCTIONS[name][0]
    return (check_enumeration if "enumeration" in document["format"] else check_proof)(document, function)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_they_are_checked(name):
    found = checked(name, DOCUMENTS[name])
    assert found.ok, found.reason
    assert found.every_size == (name in EVERY)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_they_prove_no_less_than_they_state(name):
    document = copy.deepcopy(DOCUMENTS[name])
    for claim in ("epsilon", "rho"):
        if claim in document:
            document[claim] = "1/5"
    assert not checked(name, document).ok


def test_numbers_are_what_floats_are_in_them():
    """A scale of 0.1 costs a little less than 10 there; as it is written, 10."""
    document = copy.deepcopy(DOCUMENTS["tenths"])
    assert checked("tenths", document).ok
    assert not checked("tenths", document | {"format": "dpcert proof 2"}).ok
