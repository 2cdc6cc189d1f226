"""Sums of what is clipped by a norm: proved of records of any length, for every number of them; wrong twins are not."""

from __future__ import annotations

import copy
import math

import clipping
import numpy as np
import pytest

from dpcert.mechanisms import InputError
from dpcert.proofs_checks.proving import prove
from dpcert.proofs_checks.proving.checker import check, costs
from dpcert.proofs_checks.proving.checker.check import check_proof
from dpcert.proofs_checks.proving.checker.language import functions_of_size as sizes
from dpcert.proofs_checks.proving.checker.language import records
from dpcert.proofs_checks.proving.checker.pairs import Setting

SOME = ("abadi", "loop")
NAMES = [pytest.param(name, marks=[] if name in SOME else pytest.mark.nightly) for name in clipping.PRIVATE]
COST = {"rho": 0.125, "epsilon": 0.5}


def proved(name, **options):
    function, notion = clipping.PRIVATE[name]
    return prove(function, container="rows", **({notion: COST[notion]} | options))


@pytest.mark.parametrize("name", NAMES)
def test_it_is_proved_for_every_number_of_records_of_any_length(name):
    proof = proved(name)
    assert proof.every_size, str(proof)
    assert "all records of real numbers, of any length" in str(proof)
    assert check_proof(proof.certificate, clipping.PRIVATE[name][0]).every_size


@pytest.mark.parametrize("name", NAMES)
def test_not_for_less(name):
    notion = clipping.PRIVATE[name][1]
    assert not proved(name, **{notion: 0.99 * COST[notion]}, up_to=1).proved


BOTH = [pytest.param(name, marks=[pytest.mark.nightly] * (i > 0)) for i, name in enumerate(clipping.BOTH_RELATIONS)]


@pytest.mark.parametrize("name", BOTH)
def test_a_record_that_is_removed_costs_less(name):
    notion = clipping.PRIVATE[name][1]
    cost = {"rho": 1 / 32, "epsilon": 0.25}[notion]
    assert proved(name, relation="add-remove", **{notion: cost}).every_size


@pytest.mark.parametrize("name", clipping.PROCESSED)
def test_what_is_computed_of_noisy_records(name):
    function, relation, rho = clipping.PROCESSED[name]
    proof = prove(function, rho=rho, relation=relation, container="rows")
    assert proof.every_size, str(proof)
    assert not prove(function, rho=0.99 * rho, relation=relation, container="rows", up_to=1).proved


class Quiet:
    """No noise."""

    def normal(self, loc=0.0, scale=1.0, size=None):
        return np.zeros(size)

    laplace = normal

    def standard_normal(self, size=None):
        return np.zeros(size)


@pytest.mark.parametrize("name", clipping.PRIVATE)
def test_what_is_proved_is_how_far_sums_move(name):
    """The largest move that is found is 2, and never more: 2^2 / (2 * 4^2) = 1/8, and 2 / 4 = 1/2."""
    function, notion = clipping.PRIVATE[name]
    rng, worst = np.random.default_rng(3), 0.0
    for trial in range(60):
        count, columns = int(rng.integers(1, 4)), int(rng.integers(1, 6))
        here = rng.normal(0, 10.0 ** rng.integers(-2, 3), (count, columns))
        there = here.copy()
        there[0] = -here[0] if trial % 2 else rng.normal(0, 10, columns)
        moved = function(there, Quiet()) - function(here, Quiet())
        if name in ("abadi", "where"):
            moved = moved * count
        worst = max(worst, np.linalg.norm(np.ravel(moved), 2 if notion == "rho" else 1))
    assert 1.9 < worst <= 2 + 1e-9


@pytest.mark.parametrize(
    ("function", "rho"),
    [
        pytest.param(*case, marks=[] if i % 6 == 0 else pytest.mark.nightly, id=case[0].__name__)
        for i, case in enumerate(clipping.WRONG)
    ],
)
def test_wrong_twins_are_not_proved(function, rho):
    proof = prove(function, rho=rho, container="rows", up_to=2)
    assert not proof.proved
    assert proof.certificate is None


def test_a_mean_of_a_number_of_records_that_is_private_is_not_proved():
    assert not proved("abadi", relation="add-remove", up_to=2).proved


def test_laplace_noise_does_not_pay_for_the_euclidean_norm():
    proof = prove(clipping.another_norm_for_laplace, epsilon=0.5, container="rows", up_to=1)
    assert not proof.proved
    assert "Euclidean norm" in proof.reason


@pytest.mark.parametrize(
    "function",
    [pytest.param(each, marks=[pytest.mark.nightly] * (i in (1, 3))) for i, each in enumerate(clipping.SCALAR)],
)
def test_numbers_that_are_clipped_by_their_size(function):
    assert prove(function, rho=0.125, low=-10, high=10).every_size


@pytest.mark.parametrize("function", clipping.SCALAR_WRONG)
def test_wrong_twins_of_numbers_are_not_proved(function):
    assert not prove(function, rho=0.125, low=-10, high=10, up_to=2).proved


# Faults that are planted into the rules, each of which a test above notices.


def test_any_norm_for_any_noise_would_be_noticed(monkeypatch):
    monkeypatch.setattr(Setting, "order", property(lambda setting: 2 if setting.container == "rows" else 0))
    assert prove(clipping.another_norm_for_laplace, epsilon=0.5, container="rows", up_to=1).proved


def test_sizes_of_numbers_that_may_be_negative_would_be_noticed(monkeypatch):
    """The checker's runs on real numbers do not notice: what is wrong is a range."""
    monkeypatch.setattr(sizes, "nonnegative", lambda form: True)
    assert prove(clipping.only_above, rho=0.125, low=-10, high=10, up_to=1).proved


def test_clipping_by_the_size_of_another_number_would_be_noticed(monkeypatch):
    real = sizes.multiple
    monkeypatch.setattr(sizes, "multiple", lambda form, base: real(form - form.at_zero, base - base.at_zero))
    assert prove(clipping.moved_before, rho=0.125, low=-10, high=10, up_to=1).proved


def test_a_quotient_by_nothing_is_noticed_by_real_runs(monkeypatch):
    """As if 1 / |v| were bounded: a record that is 0 becomes nan."""
    real = sizes.inverse

    def bounded(bounds):
        right = real(bounds)
        return sizes.Bounds(right.least, min(right.most, sizes.ONE * 1000), right.share, right.product)

    monkeypatch.setattr(sizes, "inverse", bounded)
    proof = prove(clipping.infinite_at_zero, rho=0.125, container="rows", up_to=2)
    assert not proof.proved
    assert "real" in proof.reason


RECORD, NUMBER = "x0", "|1*x0|2"


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("shifts", {NUMBER: "1"}),
        ("shifts", {"": "1"}),
        ("bounds", {RECORD: "0", "": "2", f"abs:{RECORD}": "1"}),
        ("source", {"form": {RECORD: "1"}, "strict": False}),
        ("target", {"form": {"n0": "1"}, "strict": False}),
    ],
)
def test_certificates_that_take_records_for_numbers_are_rejected(part, change, monkeypatch):
    certificate = copy.deepcopy(proved("loop", up_to=1).certificate)
    certificate.pop("induction", None)
    assert check_proof(certificate, clipping.by_a_loop).ok
    piece = certificate["cases"][0]["pieces"][0]
    piece[part] = [change] if part in ("shifts", "bounds") else [*piece[part], change]
    assert "record" in check_proof(certificate, clipping.by_a_loop).reason
    monkeypatch.setattr(check, "of_its_sort", lambda *_: None)
    assert "hangs on a record" not in check_proof(certificate, clipping.by_a_loop).reason


def test_an_induction_in_which_records_differ_by_numbers_is_rejected():
    certificate = copy.deepcopy(proved("loop").certificate)
    for each in certificate["induction"]["configurations"]:
        if each["phase"] == "after":
            each["differences"] = [{"form": {"": "1"}} for _ in each["differences"]]
    assert not check_proof(certificate, clipping.by_a_loop).ok


def test_records_are_no_answers_and_lie_nowhere():
    certificate = copy.deepcopy(proved("loop", up_to=1).certificate)
    for change in ({"relation": "answers"}, {"domain": {"ends": ["0", "1"], "whole": False}}, {"container": "columns"}):
        assert not check_proof(certificate | change, clipping.by_a_loop).ok


@pytest.mark.parametrize(
    "options", [{"relation": "answers"}, {"low": -1}, {"high": 2}, {"whole": True}, {"values": [0, 1]}]
)
def test_bad_input(options):
    with pytest.raises(InputError):
        prove(clipping.abadi, container="rows", **options)


def test_epsilon_and_delta_of_a_step():
    proof = prove(clipping.abadi, container="rows", delta=1e-5)
    assert proof.every_size
    assert 1.9 < proof.epsilon < 2.1
    assert math.isclose(proof.delta, 1e-5)


def test_bounds_of_functions_of_a_size():
    """Against the functions themselves, on many sizes."""
    three = sizes.ZERO, sizes.ONE * 3
    one, half = (sizes.constant(value)(three) for value in (sizes.ONE, sizes.ONE / 2))
    forms = {
        "max(r, 1/2)": (lambda b: sizes.larger(b, half), lambda r: max(r, 0.5)),
        "min(1, 2 r)": (lambda b: sizes.lesser(sizes.scaled(b, sizes.ONE * 2), one), lambda r: min(1, 2 * r)),
        "1 / (r + 1)": (lambda b: sizes.inverse(sizes.added(b, one)), lambda r: 1 / (r + 1)),
    }
    for rule, function in forms.values():
        bounds = rule(sizes.itself(three))
        for r in np.linspace(1e-9, 3, 200):
            value = function(r)
            assert bounds.least - 1e-12 <= value <= bounds.most + 1e-12
            assert bounds.share * r <= value + 1e-12
            assert value * r <= bounds.product + 1e-9


def test_the_norm_of_a_record():
    assert records._norm(np.array([3, -4]), 2) == 5
    assert records._norm(np.array([3, -4]), 1) == 7


def test_costs_of_records_are_those_of_numbers():
    assert costs.weight("laplace vector", sizes.ONE * 4) == sizes.ONE / 4


def test_ends_beside_records_are_refused_as_they_were_written():
    with pytest.raises(InputError, match=r"high = 3\.5"):
        prove(clipping.abadi, container="rows", rho=1, high=3.5)
