"""What code looks at is seen whatever way the code was reached: in the search, and in the checker by itself."""

from __future__ import annotations

import gc
import sys
from types import SimpleNamespace

import hidden_peeks
import numpy as np
import pytest
from hidden_peeks import WAYS, mechanism

from dpcert.proofs_checks.proving import instrument, onlooker, prove
from dpcert.proofs_checks.proving.checker import check, entered, names
from dpcert.proofs_checks.proving.checker.check import check_proof


def proved(function, container="list", **options):
    return prove(function, epsilon=1, up_to=1, container=container, **options)


def unread(monkeypatch, *homes):
    """Planted: named functions are scanned as ever, what else runs is not."""
    if "search" in homes:
        monkeypatch.setattr(onlooker, "_look", lambda *_: True)
    if "checker" in homes:
        monkeypatch.setattr(entered.Entered, "_fine", lambda *_: True)


IDENTITY = ("`is` other than with None", "the attribute is_", "the method __getattr__")
"""Why it is refused. (numpy.frompyfunc of symbols is refused besides.)"""


@pytest.mark.parametrize("way", WAYS)
def test_the_search_refuses_it(way):
    proof = proved(mechanism(way))
    assert proof.verdict == "unsupported", str(proof)
    assert any(what in proof.reason for what in IDENTITY) or way == "numpy", proof.reason


@pytest.mark.parametrize("way", [way for way in WAYS if way != "numpy"])
def test_the_checker_refuses_it_by_itself(way, monkeypatch):
    for home in (instrument, onlooker):
        monkeypatch.setattr(home, "no_identity", lambda code: None)
    unread(monkeypatch, "search")
    proof = proved(mechanism(way))
    assert proof.verdict == "not proved", str(proof)
    assert "checker rejects" in proof.reason
    assert any(what in proof.reason for what in IDENTITY), proof.reason


HELD = ("a dict", "a list", "a property", "a static method", "a class method", "a call of an object", "a metaclass",
        "a method by a made-up name", "a made-up attribute", "a descriptor", "a generator", "a map")  # fmt: skip


@pytest.mark.parametrize("way", HELD)
def test_unread_it_is_proved_falsely(way, monkeypatch):
    """The window is there, and nothing else would have seen it."""
    function = mechanism(way)
    middle = (float(hidden_peeks.LOW[0]) + float(hidden_peeks.HIGH[0])) / 2
    assert function([middle], np.random.default_rng(0)) == 5.0
    unread(monkeypatch, "search", "checker")
    proof = proved(function)
    assert proof.proved, str(proof)


def test_a_number_in_the_code_is_tried_in_real_runs(monkeypatch):
    """Nobody reads the code, and random points miss the window; its ends are numbers of the code."""

    def released(data, rng):
        return 5.0 if (data[0] > 0.40012) is True and bool(data[0] < 0.40013) else sum(data) + rng.laplace(0, 1)

    for home, what in ((instrument, "no_identity"), (onlooker, "no_identity"), (names, "by_value_only"),
                       (entered, "by_value_only")):  # fmt: skip
        monkeypatch.setattr(home, what, lambda code: None)
    proof = proved(released)
    assert not proof.proved
    assert "the real function draws less noise" in proof.reason
    monkeypatch.setattr("dpcert.proofs_checks.proving.checker.real_runs.landmarks", lambda function: ())
    assert proved(released).proved


def truth_sum(data, rng):
    """numpy adds truth values as truth values: in earnest 0 but in the window, where it is -10."""
    above, below = data[0] > float(hidden_peeks.LOW[0]), data[0] < float(hidden_peeks.HIGH[0])
    return 10 * ((above + below) * 1 - (above * 1 + below * 1)) + sum(data) + rng.laplace(0, 1)


def bit_by_bit(data, rng):
    above = data[0] > float(hidden_peeks.LOW[0])
    exact = (above & 2) == 0 and above and data[0] < float(hidden_peeks.HIGH[0])
    return 5.0 if exact else sum(data) + rng.laplace(0, 1)


def inverted(data, rng):
    above = data[0] > float(hidden_peeks.LOW[0])
    return 5.0 if ~above and above and data[0] < float(hidden_peeks.HIGH[0]) else sum(data) + rng.laplace(0, 1)


def inverted_again(data, rng):
    above = data[0] > float(hidden_peeks.LOW[0])
    return 5.0 if not ~(above & above) and data[0] < float(hidden_peeks.HIGH[0]) else sum(data) + rng.laplace(0, 1)


def text(data, rng):
    above = data[0] > float(hidden_peeks.LOW[0])
    return 5.0 if f"{above}" == "True" and data[0] < float(hidden_peeks.HIGH[0]) else sum(data) + rng.laplace(0, 1)


def a_complex_number(data, rng):
    return 5.0 if data[0] == 0.37 + 0j else sum(data) + rng.laplace(0, 1)


def stored_as(data, rng):
    exact = np.asarray(data).dtype == float and float(hidden_peeks.LOW[0]) < data[0] < float(hidden_peeks.HIGH[0])
    return 5.0 if exact else sum(data) + rng.laplace(0, 1)


def type_of_results(data, rng):
    floats = np.issubdtype(np.result_type(np.asarray(data)), np.floating)
    exact = floats and float(hidden_peeks.LOW[0]) < data[0] < float(hidden_peeks.HIGH[0])
    return 5.0 if exact else sum(data) + rng.laplace(0, 1)


def no_copy(data, rng):
    same = np.asarray(data)
    same[0] = data[0] + 7
    exact = data[0] > 6 and data[0] > 7 + float(hidden_peeks.LOW[0]) and data[0] < 7 + float(hidden_peeks.HIGH[0])
    return 5.0 if exact else sum(data) + rng.laplace(0, 1)


def order_in_place(data, rng):
    order = np.argsort(data + rng.laplace(0, 1, len(data)))
    order.sort()
    return order[0]


def attempted(data, rng):
    try:
        return 5.0 if float(hidden_peeks.LOW[0]) < data[0] % 1 < float(hidden_peeks.HIGH[0]) else 1.0
    except TypeError:
        return 1.0


ALIKE = [truth_sum, bit_by_bit, inverted, inverted_again, text, a_complex_number, stored_as, type_of_results, no_copy,
         order_in_place, attempted]  # fmt: skip


@pytest.mark.parametrize("container", ["array", "list"])
@pytest.mark.parametrize("function", ALIKE, ids=lambda f: f.__name__)
def test_what_symbols_do_otherwise_than_numbers_is_refused(function, container):
    if container == "list" and function is no_copy:
        pytest.skip("of a list it is a copy")
    assert not proved(function, container).proved


@pytest.mark.parametrize("function", ALIKE, ids=lambda f: f.__name__)
def test_the_checker_refuses_that_by_itself(function):
    """A certificate of the innocent part alone: the checker does not come to compare anything."""
    innocent = prove(lambda data, rng: sum(data) + rng.laplace(0, 1), epsilon=1, up_to=1).certificate
    assert not check_proof(innocent, function).ok


def test_what_is_reached_otherwise_than_by_its_name_may_not_use_what_is_replaced():
    class Helper:
        def larger(self, x):
            return np.maximum(x, 0.5)

        def real(self, x):
            return isinstance(x, float)

        def plain(self, x):
            return min(x, 0.5)

    helper = [Helper()]
    for name, said in (
        ("larger", "np is not supported in larger()"),
        ("real", "isinstance is not supported in real()"),
    ):
        proof = proved(lambda data, rng, n=name: getattr(helper[0], n)(data[0]) + rng.laplace(0, 1))
        assert said in proof.reason, proof.reason
    assert proved(lambda data, rng: helper[0].plain(data[0]) + rng.laplace(0, 1)).proved


@pytest.mark.parametrize("function", [mechanism("a dict"), lambda data, rng: sum(data) + rng.laplace(0, 1)])
def test_nobody_looks_any_longer_afterwards(function):
    before = sys.gettrace()
    proved(function)
    assert sys.gettrace() is before


def test_tracing_may_not_be_switched_off(monkeypatch):
    monkeypatch.setattr(check, "at_random", lambda *_, **__: 0)
    held = [sys.settrace]

    def released(data, rng):
        held[0](None)
        return sum(data) + rng.laplace(0, 1)

    assert "traced" in proved(released).reason


def private(dataset, rng):
    return sum(dataset) + rng.laplace(0.0, 1.0)


def told(phase, info):
    """What others are told of a collection, as Hypothesis is: it catches exceptions."""
    try:
        assert phase in ("start", "stop")
    finally:
        pass


def collected(function):
    """The proof while a collection, and a call of `told`, comes after every few allocations."""
    thresholds = gc.get_threshold()
    gc.callbacks.append(told)
    gc.set_threshold(1)
    try:
        return prove(function, epsilon=1.0, up_to=1)
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(told)


def test_what_is_told_of_collections_is_not_the_function_s():
    assert collected(private).proved


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("side", [onlooker, entered])
def test_planted_collections_while_it_is_watched_are_taken_for_its_own(side, monkeypatch):
    monkeypatch.setattr(side, "gc", SimpleNamespace(isenabled=lambda: False, disable=lambda: None))
    assert not collected(private).proved
