"""Enumerations of functions that ask what their generator, or a uniform number, is: in earnest they show their data."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpcert.proofs_checks.proving import finite, prove
from dpcert.proofs_checks.proving.checker import finite as checking
from dpcert.proofs_checks.proving.checker.finite import check_enumeration
from dpcert.proofs_checks.proving.checker.following import Refused


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


def by_text(data, rng):
    return int(data[0]) if "Generator(" in str(rng) else int(rng.random() < 0.5)


def by_what_is_drawn(data, rng):
    return int(data[0]) if isinstance(rng.integers(2), np.int64) else int(rng.random() < 0.5)


HELD = {"type": type}


def by_what_is_held(data, rng):
    return int(data[0]) if HELD["type"](rng) is np.random.Generator else int(rng.random() < 0.5)


def by_what_is_caught(data, rng):
    try:
        rng.bit_generator  # noqa: B018
    except BaseException:
        return int(rng.random() < 0.5)
    return int(data[0])


UNLIKELY = "not as likely as with coins"
ASKING = {
    by_generator: "impossible",
    by_number: "impossible",
    by_type: UNLIKELY,
    by_text: UNLIKELY,
    by_what_is_drawn: UNLIKELY,
    by_what_is_held: "holds type",
    by_what_is_caught: UNLIKELY,
}


def proved(function, container="array"):
    return prove(function, epsilon=0.1, up_to=1, values=(0, 1), container=container)


@pytest.mark.parametrize("container", ["array", "list"])
@pytest.mark.parametrize("function", ASKING)
def test_it_is_not_proved(function, container):
    found = proved(function, container)
    assert not found.proved
    assert ASKING[function] in found.reason


@pytest.mark.parametrize("function", ASKING)
def test_the_checker_refuses_it_by_itself(function):
    proof = proved(honest)
    assert proof.proved
    assert not check_enumeration(proof.certificate, function).ok


@pytest.mark.parametrize("function", [by_type, by_text, by_what_is_drawn, by_what_is_caught])
def test_planted_no_real_runs(function, monkeypatch):
    monkeypatch.setattr(checking, "in_earnest", lambda *_: None)
    assert proved(function).proved


def test_a_law_that_is_right_is_not_refused_and_one_that_is_not_is():
    """By chance with probability 1e-9 an output at most."""
    law = checking.distribution(honest, [0.0])
    checking.in_earnest(honest, [0.0], law)
    with pytest.raises(Refused, match=UNLIKELY):
        checking.in_earnest(honest, [0.0], dict(zip(law, (Fraction(1, 10), Fraction(9, 10)), strict=True)))


def frank(kind):
    """The generator, that says what it is."""
    return type(kind.__name__, (kind,), {"__class__": property(lambda self: kind)})


def test_planted_coins_that_say_what_they_are(monkeypatch):
    monkeypatch.setattr(finite, "Coins", frank(finite.Coins))
    monkeypatch.setattr(checking, "Forced", frank(checking.Forced))
    monkeypatch.setattr(checking, "in_earnest", lambda *_: None)
    assert proved(by_generator).proved
