"""Guarantees of different kinds cannot be composed or compared by accident."""

import itertools

import pytest

from dpcert.accounting import Bracket
from dpcert.accounting.billboard.guarantees import (
    EVERYBODY_ELSE,
    FINAL_MODELS,
    ONE_OTHER_CLIENT,
    OUTSIDE,
    SERVER,
    Guarantee,
    Observer,
    UnlikeGuarantees,
    compose,
)
from dpcert.mechanisms import InputError


def guarantee(
    epsilon=1.0, delta=1e-5, notion="billboard", unit="client", relation="replace-one", observer=EVERYBODY_ELSE
):
    return Guarantee(notion, unit, relation, Bracket(0.9 * epsilon, epsilon, True, "test"), delta, observer)


KINDS = {
    "notion": ({"notion": "billboard"}, {"notion": "joint"}, {"notion": "dp"}),
    "unit": ({"unit": "client"}, {"unit": "example"}),
    "neighbouring": ({"relation": "replace-one"}, {"relation": "zero-out"}, {"relation": "add-remove"}),
    "observer": ({"observer": EVERYBODY_ELSE}, {"observer": ONE_OTHER_CLIENT}, {"observer": OUTSIDE}),
}


@pytest.mark.parametrize("field", KINDS)
@pytest.mark.parametrize(
    "operation",
    [
        lambda a, b: compose([a, b]),
        lambda a, b: a + b,
        lambda a, b: a <= b,
        lambda a, b: a >= b,
        lambda a, b: a.implies(b),
    ],
)
def test_unlike_guarantees_do_not_mix(field, operation):
    for first, second in itertools.permutations(KINDS[field], 2):
        with pytest.raises(UnlikeGuarantees) as caught:
            operation(guarantee(**first), guarantee(**second))
        assert caught.value.field == field


def test_composition_adds_up_and_rounds_up():
    total = compose([guarantee(0.1, 0.1), guarantee(0.2, 0.2)])
    assert total.epsilon.upper >= 0.1 + 0.2
    assert total.delta >= 0.1 + 0.2
    assert total.epsilon.upper == pytest.approx(0.3)
    # At delta = .3 neither part's lower end need be true any more.
    assert total.epsilon.lower == 0.0
    assert compose([guarantee(1.0, 0.0), guarantee(2.0, 1e-5)]).epsilon.lower == pytest.approx(1.8)
    assert compose([guarantee()]).epsilon == guarantee().epsilon


def test_comparison():
    assert guarantee(1.0, 1e-6) <= guarantee(2.0, 1e-5)
    assert not guarantee(1.0, 1e-4) <= guarantee(2.0, 1e-5)
    assert guarantee(2.0, 1e-5) >= guarantee(1.0, 1e-6)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"notion": "differential"}, "notion"),
        ({"relation": "swap"}, "neighbouring"),
        ({"unit": " "}, "unit"),
        ({"delta": 1.5}, "delta"),
        ({"delta": float("nan")}, "delta"),
        ({"observer": SERVER}, "observer"),
    ],
)
def test_bad_guarantees(change, field):
    with pytest.raises(InputError) as caught:
        guarantee(**change)
    assert caught.value.field == field


def test_an_estimate_is_no_guarantee():
    with pytest.raises(InputError, match="an estimate guarantees nothing"):
        Guarantee("dp", "client", "zero-out", Bracket(1.0, 1.0, False, "clt"), 1e-5, OUTSIDE)


@pytest.mark.parametrize(
    ("kind", "size"), [("eavesdropper", None), ("server", 3), ("coalition", 0), ("coalition", 1.5)]
)
def test_bad_observers(kind, size):
    with pytest.raises(InputError):
        Observer(kind, size)


def test_observers_have_names():
    names = {str(observer) for observer in (SERVER, EVERYBODY_ELSE, ONE_OTHER_CLIENT, FINAL_MODELS, OUTSIDE)}
    assert len(names) == 5
