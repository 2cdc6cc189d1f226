"""Enumerations of functions that ask what their generator, or a uniform number, is: in earnest they show their data."""

from __future__ import annotations

import numpy as np
import pytest

from dpcert.proofs_checks.proving import finite, prove
from dpcert.proofs_checks.proving.checker import finite as checking
from dpcert.proofs_checks.proving.checker.finite import check_enumeration


def honest(data, rng):
    return int(rng.random() < 0.5)


def by_generator(data, rng):
    return int(data[0]) if isinstance(rng, np.random.Generator) else int(rng.random() < 0.5)


def by_number(data, rng):
    number = rng.random()
    return int(data[0]) if isinstance(number, float) else int(number < 0.5)


def is_real(rng):
    return type(rng) is np.random.Generator


def by_type(data, rng):
    return int(data[0]) if is_real(rng) else int(rng.random() < 0.5)


ASKING = {by_generator: "impossible", by_number: "impossible", by_type: "type"}


def proved(function, container="array"):
    return prove(function, epsilon=0.1, entries=1, values=(0, 1), container=container)


@pytest.mark.parametrize("container", ["array", "list"])
@pytest.mark.parametrize("function", ASKING)
def test_it_is_not_proved(function, container):
    found = proved(function, container)
    assert not found.proved
    assert ASKING[function] in found.reason


@pytest.mark.parametrize(("function", "said"), [(by_generator, "likely"), (by_number, "likely"), (by_type, "type")])
def test_the_checker_refuses_it_by_itself(function, said):
    proof = proved(honest)
    assert proof.proved
    checked = check_enumeration(proof.certificate, function)
    assert not checked.ok
    assert said in checked.reason


def frank(kind):
    """The generator, that says what it is."""
    return type(kind.__name__, (kind,), {"__class__": property(lambda self: kind)})


def test_planted_coins_that_say_what_they_are(monkeypatch):
    monkeypatch.setattr(finite, "Coins", frank(finite.Coins))
    monkeypatch.setattr(checking, "Forced", frank(checking.Forced))
    assert proved(by_generator).proved
