"""The order of symbols: one way for each place that is read, and each the one that numpy takes on real numbers."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from dpcert.proofs_checks.proving import order, prove
from dpcert.proofs_checks.proving.arrays import Symbols
from dpcert.proofs_checks.proving.exploration import explore
from dpcert.proofs_checks.proving.instrument import instrumented
from dpcert.proofs_checks.proving.relations import Domain, at, pairs

READS = {
    "the first two": (lambda noisy: np.argsort(noisy)[:2], 12),
    "the last two, the last first": (lambda noisy: np.argsort(noisy)[-2:][::-1], 12),
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
    (pair,) = pairs("answers", 4, Domain(), True)
    function = instrumented(lambda data, rng: np.array(read(data + rng.laplace(0, 1, 4))))
    return explore(function, lambda: Symbols.of(pair.dataset), pair.space)


@pytest.mark.parametrize("name", READS)
def test_there_is_one_way_for_each_outcome_and_numpy_takes_it(name):
    read, ways = READS[name]
    found = runs(read)
    assert len(found) == ways
    chance = random.Random(7)
    for _ in range(40):
        values = [Fraction(chance.randrange(-40, 40), 8) for _ in range(8)]
        if len({a + b for a, b in zip(values[:4], values[4:], strict=True)}) < 4:
            continue
        point = {f"x{i}": values[i] for i in range(4)} | {f"n{i}": values[4 + i] for i in range(4)}
        taken = [run for run in found if all(_holds(condition, point) for condition in run.conditions)]
        expected = np.array(read(np.array([float(values[i] + values[4 + i]) for i in range(4)])))
        assert [run.key[0] for run in taken] == [("array", expected.shape)]
        assert [text for _, text in taken[0].key[1:]] == [repr(item) for item in expected.ravel().tolist()]


def _holds(condition, point):
    value = at(condition.form, point)
    return value > 0 if condition.strict else value >= 0


def top_two(answers, rng):
    return [int(i) for i in np.argsort(-(answers + rng.laplace(0, 4, len(answers))))[:2]]


def test_an_order_that_forgets_a_comparison_is_noticed_by_the_checker(monkeypatch):
    """As if the first place only had to be as good as the next one."""

    def careless(values, better, good):
        options = [() if i + 1 == len(values) else (good(v, values[i + 1]),) for i, v in enumerate(values)]
        return order.state.current().choose(options) if len(options) > 1 else 0

    assert prove(top_two, relation="answers", entries=3, epsilon=1).proved
    monkeypatch.setattr(order, "_place", careless)
    assert not prove(top_two, relation="answers", entries=3, epsilon=1).proved
