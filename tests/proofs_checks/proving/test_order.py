"""The order of symbols: one way for each place that is read, and each the one that numpy takes on real numbers."""

from __future__ import annotations

import itertools
import json
import random
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from cases import many

from dpcert.proofs_checks.proving import prove
from dpcert.proofs_checks.proving.checker import current_run, order
from dpcert.proofs_checks.proving.checker import runs as checkers_runs
from dpcert.proofs_checks.proving.checker.check import check_proof
from dpcert.proofs_checks.proving.checker.forms import Form
from dpcert.proofs_checks.proving.checker.language import numpy_folds
from dpcert.proofs_checks.proving.checker.pairs import Setting
from dpcert.proofs_checks.proving.search import paths
from dpcert.proofs_checks.proving.solver import pairs

READS = {
    "the first two": (lambda noisy: np.argsort(noisy)[:2], 12),
    "the last two, the last first": (lambda noisy: np.argsort(noisy)[-2:][::-1], 12),
    "the first two of it backwards": (lambda noisy: np.argsort(noisy)[::-1][:2], 12),
    "the last of it, backwards twice": (lambda noisy: np.argsort(noisy)[::-1][::-1][-1], 4),
    "all, returned": (np.argsort, 24),
    "all, backwards": (lambda noisy: np.argsort(noisy)[::-1], 24),
    "both ends": (lambda noisy: [np.argsort(noisy)[0], np.argsort(noisy)[-1]], 12),
    "the second": (lambda noisy: np.argsort(noisy)[1], 12),
    "all": (lambda noisy: list(np.argsort(noisy)), 24),
    "two by a list": (lambda noisy: np.argsort(noisy)[[0, 3]], 24),
    "one more than the order": (lambda noisy: 1 + np.argsort(noisy), 24),
    "the largest": (np.argmax, 4),
    "the least": (lambda noisy: noisy.argmin(), 4),
    "a maximum against a bound": (lambda noisy: bool(max(noisy) > 1), 8),
    "a minimum in numpy": (lambda noisy: bool(noisy.min() > 1), 8),
}


def runs(read):
    """Of a function of four noisy answers: the runs on symbols."""
    (pair,) = pairs(Setting("answers"), 4, True)

    def mechanism(data, rng):
        return np.array(read(data + rng.laplace(0, 1, 4)))

    return paths(mechanism, pair.case.dataset, pair, "array")


@pytest.mark.parametrize("name", READS)
def test_there_is_one_way_for_each_outcome_and_numpy_takes_it(name):
    read, ways = READS[name]
    found = runs(read)
    assert len(found) == ways
    chance = random.Random(7)
    for _ in range(many(40)):
        values = [Fraction(chance.randrange(-40, 40), 8) for _ in range(8)]
        if len({a + b for a, b in zip(values[:4], values[4:], strict=True)}) < 4:
            continue
        point = {f"x{i}": values[i] for i in range(4)} | {f"n{i}": values[4 + i] for i in range(4)}
        taken = [run for run in found if all(condition.holds(point) for condition in run.tests)]
        expected = np.array(read(np.array([float(values[i] + values[4 + i]) for i in range(4)])))
        keys = [json.loads(run.key) for run in taken]
        assert [key[0] for key in keys] == [["array", list(expected.shape)]]
        assert [text for _, text in keys[0][1:]] == [repr(item) for item in expected.ravel().tolist()]


def top_two(answers, rng):
    return [int(i) for i in np.argsort(-(answers + rng.laplace(0, 4, len(answers))))[:2]]


def test_an_order_that_forgets_a_comparison_is_noticed_by_the_real_runs(monkeypatch):
    """As if the first place only had to be as good as the next one."""

    def careless(values, better, good):
        ways = [() if i + 1 == len(values) else (order._test(good, v, values[i + 1]),) for i, v in enumerate(values)]
        return current_run.tracer().choose(ways) if len(ways) > 1 else 0

    assert prove(top_two, relation="answers", up_to=3, epsilon=1).proved
    monkeypatch.setattr(order, "_place", careless)
    assert not prove(top_two, relation="answers", up_to=3, epsilon=1).proved


@pytest.mark.parametrize("name", ["largest_place", "least_place"])
def test_of_any_numbers_exactly_one_way_of_the_checkers_fork_holds(name, monkeypatch):
    """So that none is left out, nor taken for two; a fork that breaks ties on both sides leaves some out."""
    assert ways_held(name, order) == {1}
    right = order._place
    monkeypatch.setattr(order, "_place", lambda values, better, as_good: right(values, better, better))
    assert ways_held(name, order) == {0, 1}


def sorted_data(d, rng):
    return np.argsort(np.array([0.0 * x for x in d]))[::-1].tolist()


def sorted_whole(d, rng):
    return np.argsort([rng.geometric(0.5) for _ in d])[0]


def in_parts(d, rng):
    return np.argpartition(d + rng.laplace(0, 9, len(d)), 0)[0]


def first_parts(d, rng):
    return np.partition(d + rng.laplace(0, 9, len(d)), 0)[0]


@pytest.mark.parametrize("mechanism", [sorted_data, sorted_whole, in_parts, first_parts], ids=lambda f: f.__name__)
def test_an_order_that_numpy_does_not_promise_is_refused(mechanism, monkeypatch):
    proof = prove(mechanism, epsilon=9, up_to=2)
    assert proof.verdict == "unsupported"
    assert "test_order.py, line" in proof.reason
    if mechanism in (sorted_data, sorted_whole):
        monkeypatch.setattr(numpy_folds, "distinct", lambda values, draws: True)
        assert prove(mechanism, epsilon=9, up_to=2).verdict != "unsupported"  # so it is this check that stops it


def test_a_stable_order_of_data_is_followed():
    def mechanism(d, rng):
        return (np.argsort(0 * d, kind="stable")[0], np.argsort(0 * d, stable=True)[0])

    assert prove(mechanism, epsilon=0, up_to=2).proved


def ways_held(name, home):
    """How many ways of its fork hold, over all values of three symbols on a grid."""
    asked = SimpleNamespace(choose=lambda ways: asked.__dict__.update(ways=ways) or 0, spoilt=None)
    with current_run.followed(asked):
        getattr(home, name)([Form.variable(each) for each in "abc"])
    points = [dict(zip("abc", values, strict=True)) for values in itertools.product(range(3), repeat=3)]
    return {sum(all(_true(sign, point) for sign in way) for way in asked.ways) for point in points}


def _true(sign, point):
    value = sign.form.value(point)
    return value > 0 if sign.strict else value >= 0


@pytest.mark.nightly
def test_the_top_two_of_eight_are_proved():
    proof = prove(top_two, relation="answers", up_to=8, epsilon=1)
    assert proof.proved
    assert proof.sizes[-1] == 8


def test_what_the_checker_does_not_follow_leaves_what_it_accepts(monkeypatch):
    """Three answers have six ways to a top two."""
    monkeypatch.setattr(checkers_runs, "LIMIT", 5)
    proof = prove(top_two, relation="answers", up_to=4, epsilon=1)
    assert (proof.proved, proof.up_to, proof.sizes) == (False, 2, (1, 2))
    assert "too many ways through the function" in str(proof)
    assert check_proof(proof.certificate, top_two).ok
