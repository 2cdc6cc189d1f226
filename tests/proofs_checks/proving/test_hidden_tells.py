"""What tells symbols from numbers without asking for a type is refused, by the search and by the checker by itself."""

from __future__ import annotations

import contextvars
import dataclasses
import sys

import numpy as np
import pytest
from hidden_tells import (
    REMEMBERING,
    TELLS,
    attribute_after_a_property,
    attribute_in_a_text,
    context,
    deep_in_a_large_list,
    end_of_an_object,
    memory_as_hex,
    memory_as_numbers,
    memory_summed,
    scalar,
)

from dpcert.proofs_checks.proving import prove
from dpcert.proofs_checks.proving.checker import (
    entered,
    finite,
    harmless,
    lacking,
    names,
    numpy_stand_in,
    reachable,
    real_runs,
    tables,
)
from dpcert.proofs_checks.proving.checker.check import check_proof
from dpcert.proofs_checks.proving.checker.finite import check_enumeration


@pytest.fixture(scope="module")
def always_one():
    """A certificate of a function that puts out 1: what the symbolic runs of all these seem to do."""
    return prove(lambda data, rng: 1, up_to=1, epsilon=0).certificate


@pytest.mark.parametrize("tell", TELLS, ids=lambda tell: tell.__name__)
def test_it_is_not_supported(tell):
    proof = prove(tell, up_to=1)
    assert proof.verdict == "unsupported", str(proof)
    assert TELLS[tell] in proof.reason


@pytest.mark.parametrize("tell", [*TELLS, *REMEMBERING], ids=lambda tell: tell.__name__)
def test_the_checker_refuses_it_by_itself(tell, always_one):
    checked = check_proof(always_one, tell)
    assert not checked.ok
    assert (TELLS | REMEMBERING)[tell] in checked.reason


def no_methods(patch):
    patch.setattr(entered, "UNSEEN", ())


def attributes_missing(patch):
    def missing(self, name):
        raise AttributeError(name)

    patch.setattr(lacking.Attributes, "__getattr__", missing)


def exceptions_pass(patch):
    patch.setattr(entered, "StopIteration", BaseException, raising=False)


PLANTS = {
    "memory": (memory_as_hex, lambda patch: patch.delattr(tables.Table, "data")),
    "any function of numpy": (
        memory_as_numbers,
        lambda patch: patch.setattr(numpy_stand_in, "KNOWN", {"frombuffer"}),
    ),
    "another function of numpy": (scalar, lambda patch: patch.setattr(numpy_stand_in, "KNOWN", {"isscalar"})),
    "any module": (
        memory_summed,
        lambda patch: patch.setattr(harmless, "HARMLESS", harmless.HARMLESS | {"zlib", "struct"}),
    ),
    "texts that name attributes": (
        attribute_in_a_text,
        lambda patch: [patch.setattr(home, "by_value_only", lambda code: None) for home in (entered, names)],
    ),
    "exceptions": (
        attribute_after_a_property,
        lambda patch: (no_methods(patch), attributes_missing(patch), exceptions_pass(patch)),
    ),
    "what cannot be compared": (
        context,
        lambda patch: patch.setattr(reachable, "_CALLED", (*reachable._CALLED, contextvars.ContextVar)),
    ),
    "large containers": (deep_in_a_large_list, lambda patch: patch.setattr(reachable, "_few", lambda values: ())),
}


@pytest.mark.parametrize("plant", PLANTS)
def test_without_the_rule_it_is_believed(plant, always_one, monkeypatch):
    """It does tell, and nothing else would have seen it."""
    tell, off = PLANTS[plant]
    assert not check_proof(always_one, tell).ok
    off(monkeypatch)
    checked = check_proof(always_one, tell)
    assert checked.ok, checked.reason


def test_the_end_of_an_object_is_seen(always_one, monkeypatch):
    """What is raised there nobody gets; but the run is no longer watched after it."""
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    assert "how it is traced" in prove(end_of_an_object, up_to=1).reason
    assert "traced by something else" in check_proof(always_one, end_of_an_object).reason
    no_methods(monkeypatch)
    attributes_missing(monkeypatch)
    assert "an exception that is caught" in check_proof(always_one, end_of_an_object).reason
    exceptions_pass(monkeypatch)
    assert check_proof(always_one, end_of_an_object).ok


def test_exceptions_are_seen_without_the_other_rules(always_one, monkeypatch):
    no_methods(monkeypatch)
    attributes_missing(monkeypatch)
    assert "an exception that is caught: AttributeError" in check_proof(always_one, attribute_after_a_property).reason


def scaled_like_the_data(data, rng):
    """numpy.full_like an array of integers is one of integers: noise of scale 1."""
    return (data + rng.laplace(0, np.full_like(data, 1.5))).sum()


def test_whole_entries_may_come_as_integers(monkeypatch):
    proof = prove(scaled_like_the_data, whole=True, high=3, up_to=1)
    assert not proof.proved
    assert "the real function draws laplace noise of 1.0" in proof.reason
    monkeypatch.setattr(real_runs, "int", float, raising=False)
    believed = prove(scaled_like_the_data, whole=True, high=3, up_to=1)
    assert believed.epsilon == 2.0  # of integers it is 3


def kept_like_the_data(data, rng):
    """Of integers the chances are .3 and .7, not .54 and .74."""
    share = np.zeros_like(data)
    share[:] = data * 0.5 + 0.6
    return bool(rng.random() < share[0] * 0.4 + 0.3)


def test_listed_values_may_come_as_integers(monkeypatch):
    proof = prove(kept_like_the_data, values=[0, 1], up_to=1)
    assert proof.epsilon == pytest.approx(np.log(0.7 / 0.3))
    document = proof.certificate | {"epsilon": "3/5"}
    assert "is too likely" in check_enumeration(document, kept_like_the_data).reason
    of_size = finite._check_size
    monkeypatch.setattr(finite, "_check_size", lambda f, values, *others: of_size(f, [*map(float, values)], *others))
    assert check_enumeration(document, kept_like_the_data).ok


def test_what_is_harmless_may_be_used():
    """Containers, getattr without a default, classes of one's own."""

    def honest(data, rng):
        settings = {"clip": (0.25, 0.5)}
        low, high = settings["clip"]
        named = Raised(high)
        return sum(min(max(x, low), named.value) for x in data) + rng.laplace(0, getattr(named, "scale"))  # noqa: B009

    assert prove(honest, up_to=2).proved
    assert prove(in_a_dataclass, up_to=1).proved
    assert names.foreign("zlib")
    assert not names.foreign("itertools")


@dataclasses.dataclass
class Report:
    total: float
    known: object = object


def in_a_dataclass(data, rng):
    return Report(data.sum() + rng.laplace(0, 2), known=isinstance(rng, object))


class Raised:
    scale = 0.5

    def __init__(self, value):
        self.value = value
