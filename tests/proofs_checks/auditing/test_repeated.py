"""Repeated outputs: the bound keeps its level on mechanisms of exactly known privacy, and rare events get one."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from planted.exact import mechanisms
from scipy.stats import binomtest

from dpcert.proofs_checks.auditing import audit, clopper_pearson
from dpcert.proofs_checks.auditing.evidence import Evidence
from dpcert.proofs_checks.auditing.layout import Layout
from dpcert.proofs_checks.auditing.outputs import Outputs
from dpcert.proofs_checks.auditing.repeated import _Counted, repeated_outputs
from dpcert.proofs_checks.auditing.trials import Samples, Trials
from dpcert.proofs_checks.auditing.witness import Question

ERROR, RUNS, TRIALS = 0.05, 1_500, 200
CASES = {case.name: case for case in mechanisms()}
WITH_VALUES = (
    "identical, discrete",
    "randomized response",
    "randomized response, 4 categories",
    "discrete Laplace",
    "worst (epsilon, delta) pair",
    "exponential mechanism",
)


def alarms_of(case, runs: int, seed: int) -> int:
    """In how many runs the bound is above the epsilon that the mechanism attains."""
    rng, part, found = np.random.default_rng(seed), repeated_outputs, 0
    question = Question("m", (1, 0), seed, "", Layout())
    for _ in range(runs):
        heads = int(rng.binomial(TRIALS, 0.5))
        sides = (Outputs(case.draw[side](rng, n)[:, None]) for side, n in enumerate((heads, TRIALS - heads)))
        bounds = part(Evidence(Samples(*sides), None, case.delta, None, question), ERROR).bounds
        found += bool(bounds and bounds[0].value > case.epsilon)
    return found


@pytest.mark.parametrize("name", WITH_VALUES)
def test_false_alarms_keep_their_level(name: str) -> None:
    alarms = alarms_of(CASES[name], RUNS, seed=3)
    assert binomtest(alarms, RUNS, ERROR, alternative="greater").pvalue > 1e-4


def test_a_bound_that_forgets_how_many_values_it_looked_at_is_seen(monkeypatch) -> None:
    """Planted: each direction of each value is tested at the whole error."""
    made = _Counted.__init__

    def forgetful(self, values, delta, trials, error):
        made(self, values, delta, trials, error * 2 * len(values))

    monkeypatch.setattr(_Counted, "__init__", forgetful)
    alarms = sum(alarms_of(CASES[name], 300, seed=4) for name in WITH_VALUES[:3])
    assert binomtest(alarms, 900, ERROR, alternative="greater").pvalue < 1e-4


def test_leaks_that_are_forgotten_are_seen(monkeypatch) -> None:
    """Planted: delta is taken for 0, where a fifth of the outputs tell all: exactly (0, 0.2)-DP."""

    def telling(own: int):
        return lambda rng, size: np.where(rng.random(size) < 0.2, own, rng.integers(2, size=size)).astype(float)

    tells = SimpleNamespace(draw=(telling(2), telling(3)), epsilon=0.0, delta=0.2)
    assert binomtest(alarms_of(tells, 300, seed=5), 300, ERROR, alternative="greater").pvalue > 1e-4
    made = _Counted.__init__
    monkeypatch.setattr(_Counted, "__init__", lambda self, v, delta, n, error: made(self, v, 0.0, n, error))
    alarms = alarms_of(tells, 300, seed=5)
    assert binomtest(alarms, 300, ERROR, alternative="greater").pvalue < 1e-4


def rare(data, rng, size):
    return (rng.random(size) < data[0]).astype(int)


def clopper_and_pearson(pair: tuple[list[float], list[float]], trials: int, seed: int) -> float:
    """The bound of who knew the event, from all calls, at the audit's error."""
    drawn = Trials(rare, pair, seed).collect(2 * trials)
    right, wrong = drawn.dataset.rows.sum(), drawn.neighbour.rows.sum()
    rate = float(clopper_pearson.upper(wrong, right + wrong, 0.01))
    return float(np.log1p(-rate) - np.log(rate))


@pytest.mark.parametrize("method", ["best", "event"])
def test_a_rare_event_gets_nearly_the_bound_of_who_knew_it(method: str) -> None:
    pair = ([0.0052], [0.0028])
    for seed in range(8):
        found = audit(rare, pair, epsilon=0.3, trials=115_000, seed=seed, method=method).epsilon_lower(0.0)
        assert found >= 0.85 * clopper_and_pearson(pair, 115_000, seed)


def test_some_of_many_against_none_has_a_finite_bound_and_its_counts() -> None:
    found = audit(rare, ([0.002], [0.0]), epsilon=1.0, trials=50_000)
    assert found.refuted
    assert found.witness is not None
    assert found.witness.seen.on_neighbour[0] == 0
    assert 2.0 < found.epsilon_lower(0.0) < 5.0
    assert f"{found.witness.seen.on_dataset[0]} of" in found.witness.sentence


def test_noise_that_is_seldom_forgotten_is_found() -> None:
    """The values that come again are among thousands that do not."""

    def forgets(data, rng, size):
        return sum(data) + np.where(rng.random(size) < 0.004, 0.0, rng.laplace(0, 1, size))

    found = audit(forgets, ([1.0, 0.0], [1.0, 1.0]), epsilon=1.0, trials=20_000)
    assert found.refuted
    assert found.witness is not None
    assert found.witness.method == "repeated outputs"


def test_after_an_early_stop_further_calls_raise_the_bound() -> None:
    def one_sided(data, rng):
        return sum(data) + rng.geometric(0.2)

    short = audit(one_sided, ([1.0], []), epsilon=1.0, trials=20_000)
    long = audit(one_sided, ([1.0], []), epsilon=1.0, trials=20_000, after_stop=10_000)
    assert short.stopped == long.stopped == "early"
    assert long.epsilon_lower(0.0) > short.epsilon_lower(0.0) + 1.5
    assert long.trials == short.trials + 20_000
    assert sum(bound.error for bound in {b.method: b for b in long.bounds}.values()) <= 0.01
