"""Every construct that docs/prove.md calls supported: its least epsilon, and that nothing below it is proved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from cases import few

from dpcert.mechanisms.samplers import discrete_laplace
from dpcert.proofs_checks.proving import part, prove


@dataclass
class Released:
    total: object
    above: object


class Interactive:
    """Answers two queries, then none."""

    def __init__(self, dataset, rng):
        self.dataset, self.rng, self.left = dataset, rng, 2

    def answer(self, query):
        if self.left == 0:
            return None
        self.left -= 1
        return query(self.dataset) + self.rng.laplace(0, 2)


def interactive(dataset, rng):
    session = Interactive(dataset, rng)
    return [session.answer(query) for query in (lambda d: d.sum(), lambda d: (d > 0.5).sum(), lambda d: d[0])]


def early(dataset, rng):
    total = dataset.sum() + rng.laplace(0, 1)
    if total < 0:
        return None
    return total


def counted(dataset, rng):
    place, total = 0, 0
    while place < len(dataset):
        total, place = total + dataset[place], place + 1
    return total + rng.laplace(0, 1)


def helper(value, rng):
    return value + rng.laplace(0, 4)


def several(dataset, rng):
    first, *_ = dataset
    return {"all": [helper(dataset.sum(), rng)], "first": (helper(first, rng),)}


def two_loops(dataset, rng):
    total, above = 0, 0
    for value in dataset:
        total += value
    for value in dataset:
        if value > 0.5:
            above += 1
    return total + rng.laplace(0, 2), above + rng.laplace(0, 2)


def top(answers, rng):
    return int(np.argmax(answers + rng.laplace(0, 2, len(answers))))


def last_two(answers, rng):
    return np.argsort(answers + rng.laplace(0, 4, len(answers)))[-2:]


boxed = part(lambda dataset, rng: dataset.sum() + rng.laplace(0, 2), epsilon=0.5)


def composed(dataset, rng):
    first, second = boxed(dataset, rng), boxed(dataset, rng)
    return first if first > second else dataset.sum() + rng.laplace(0, 1)


WHOLE = {"whole": True, "low": 0, "high": 3}
CASES = {
    "min": (lambda d, rng: min(d) + rng.laplace(0, 1), 1.0, {}),
    "max": (lambda d, rng: d.max() + rng.laplace(0, 2), 0.5, {}),
    "abs": (lambda d, rng: abs(d - 0.5).sum() + rng.laplace(0, 1), 0.5, {}),
    "clip": (lambda d, rng: np.clip(d, 0, 0.5).sum() + rng.laplace(0, 1), 0.5, {}),
    "sort": (lambda d, rng: np.sort(d)[0] + rng.laplace(0, 1), 1.0, {}),
    "sorted": (lambda d, rng: sorted(d)[-1] + rng.laplace(0, 1), 1.0, {}),
    "median": (lambda d, rng: np.median(d) + rng.laplace(0, 1), 1.0, {}),
    "mean": (lambda d, rng: d.mean() + rng.laplace(0, 1), 1.0, {"up_to": 1}),
    "argmax": (top, 1.0, {"relation": "answers", "up_to": 3}),
    "argmin": (lambda a, rng: int(np.argmin(a + rng.laplace(0, 2, len(a)))), 1.0, {"relation": "answers"}),
    "argsort": (last_two, 0.5, {"relation": "answers", "up_to": 3}),
    "max of noise": (lambda d, rng: max(x + rng.laplace(0, 2) for x in d), 0.5, {}),
    "where of numbers": (lambda d, rng: np.where(d > 0.5, 1, 0).sum() + rng.laplace(0, 1), 1.0, {}),
    "where of data": (lambda d, rng: np.where(d > 0.5, d, 0.5).sum() + rng.laplace(0, 1), 0.5, {}),
    "cumsum": (lambda d, rng: np.cumsum(d + rng.laplace(0, 1, len(d))), 1.0, {}),
    "mask": (lambda d, rng: d[d > 0.5].sum() + rng.laplace(0, 1), 1.0, {}),
    "generator": (lambda d, rng: sum(x for x in d if x > 0.5) + rng.laplace(0, 1), 1.0, {}),
    "dataclass": (lambda d, rng: Released(d.sum() + rng.laplace(0, 2), (d > 0.5).sum() + rng.laplace(0, 2)), 1.0, {}),
    "dict, list and tuple, helper": (several, 0.5, {}),
    "early return": (early, 1.0, {}),
    "while": (counted, 1.0, {}),
    "state across queries": (interactive, 1.0, {"up_to": 1}),
    "two loops": (two_loops, 1.0, {}),
    "composition": (composed, 2.0, {}),
    "exponential": (lambda a, rng: int(np.argmax(a + rng.exponential(2, len(a)))), 1.0, {"relation": "answers"}),
    "gumbel": (lambda a, rng: int(np.argmax(a + rng.gumbel(0, 2, len(a)))), 1.0, {"relation": "answers"}),
    "discrete Laplace": (lambda d, rng: d.sum() + discrete_laplace(3, rng), 1.0, WHOLE),
    "coins": (lambda d, rng: [x if rng.random() < 0.75 else 1 - x for x in d], np.log(3), {"values": (0, 1)}),
    "a choice": (lambda d, rng: rng.choice([d[0], 0, 1], p=[0.5, 0.25, 0.25]), np.log(3), {"values": (0, 1)}),
    "zCDP": (lambda d, rng: d.sum() + rng.normal(0, 2), 0.125, {"notion": "zcdp"}),
    "zCDP, twice": (lambda d, rng: (d[0] + rng.normal(0, 2), d.sum() + rng.normal(0, 1)), 0.625, {"notion": "zcdp"}),
}


@pytest.mark.parametrize(("mechanism", "least", "options"), few(CASES.values(), 8), ids=list(CASES))
def test_it_is_proved_at_its_least_epsilon_and_not_below(mechanism, least, options):
    options = {"up_to": 2, **options}
    found = prove(mechanism, **options)
    assert found.proved, found.reason
    assert found.epsilon == pytest.approx(least, rel=1e-12)
    claim = "rho" if "notion" in options else "epsilon"
    assert not prove(mechanism, **options, **{claim: 0.9 * least}).proved
