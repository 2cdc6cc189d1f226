"""False alarms of the bounds that test_false_alarms.py and test_weighted.py leave: on the same fourteen mechanisms.

Each bound meets the rule, or the score, that its statement is tightest for, so that a bound which is wrong shows. A
sound one fails a test here with probability at most 1e-4. The counts are printed (pytest -rP).
"""

import math

import numpy as np
import pytest
from cases import few
from planted.exact import Exact, mechanisms
from scipy import special
from scipy.stats import binomtest

from dpcert.proofs_checks.auditing import approximate_dp, clopper_pearson, gdp, likelihood, one_run
from dpcert.proofs_checks.auditing.eprocess import Bet, EProcess
from dpcert.proofs_checks.auditing.guesses import Guesses, guess
from dpcert.proofs_checks.auditing.outputs import Outputs
from dpcert.proofs_checks.auditing.parts import mu_lower
from dpcert.proofs_checks.auditing.rules import Rule
from dpcert.proofs_checks.auditing.scores import Coordinate, finite

RUNS, TRIALS, ERROR = 10_000, 100, 0.05
CASES = mechanisms()
each_mechanism = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
how_often = pytest.mark.parametrize("runs", [RUNS, pytest.param(10 * RUNS, marks=pytest.mark.nightly)])


def not_significantly_above(what: str, alarms: int, runs: int) -> bool:
    print(f"{what}: {alarms} of {runs}")
    return binomtest(int(alarms), runs, ERROR, alternative="greater").pvalue > 1e-4


def played(case: Exact, runs: int, trials: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Fair coins, and the log density ratios of the outputs on their sides; shape (runs, trials)."""
    rng = np.random.default_rng((seed, runs))
    heads = rng.random((runs, trials)) < 0.5
    mine, other = (case.loss(draw(rng, runs * trials)).reshape(runs, trials) for draw in case.draw)
    return heads, np.where(heads, mine, other)


@how_often
@each_mechanism
def test_mu(case, runs):
    """The best guess there is, right with probability (1 + total variation)/2."""
    heads, loss = played(case, runs, TRIALS, seed=1)
    correct = ((loss > 0) == heads).sum(axis=1)
    truth = 2 * special.ndtri((1 + case.variation) / 2)
    assert not_significantly_above(f"{case.name}: mu", (mu_lower(correct, TRIALS, ERROR) > truth).sum(), runs)


def wealthy(case: Exact, epsilon: float, runs: int, seed: int) -> int:
    """Runs in which three stakes on the rule that attains the statement, averaged, reach 1/error at some time."""
    rule, rng = Rule(*case.event), np.random.default_rng((seed, runs))
    heads = rng.random((runs, TRIALS)) < 0.5
    sides = [Outputs(draw(rng, runs * TRIALS)[:, None]) for draw in case.draw]
    growth = np.zeros((runs, TRIALS))
    for part in (0.05, 0.3, 0.95):
        stake = part / (math.exp(epsilon) + case.delta * rule.share)
        bet = Bet("output", Coordinate().fit(*sides, 0), rule, epsilon, case.delta, stake)
        mine, other = (factors.reshape(runs, TRIALS) for factors in bet.factors(*sides))
        growth += np.where(heads, mine, other) / 3
    return int((np.cumsum(np.log(growth), axis=1).max(axis=1) >= math.log(1 / ERROR)).sum())


@how_often
@each_mechanism
def test_betting(case, runs):
    """The e-process with bets that were made before, stopped whenever it is worth it."""
    assert not_significantly_above(f"{case.name}: betting", wealthy(case, case.epsilon, runs, seed=2), runs)


@how_often
@each_mechanism
@pytest.mark.parametrize("order", few([0, 1], 4), ids=["forward", "backward"])
def test_known_densities(case, order, runs):
    """The true epsilon is refuted; the bound exceeds it in no other runs, as its tests are nested."""
    rng = np.random.default_rng((3, order, runs))
    losses = (1 - 2 * order) * case.loss(case.draw[order](rng, runs * 40)).reshape(runs, 40)
    seen: dict[bytes, bool] = {}
    alarms = 0
    for row in losses:
        # The statement is exact, the losses are rounded: what exceeds epsilon by 1e-12 does not exceed it.
        values = -np.expm1(case.epsilon - np.sort(row[row > case.epsilon + 1e-12]))
        key = values.tobytes()
        if key not in seen:
            seen[key] = likelihood.mean_exceeds(values, case.delta, len(row), ERROR)
        alarms += seen[key]
    assert not_significantly_above(f"{case.name}: densities, order {order}", alarms, runs)


@how_often
@each_mechanism
def test_one_run(case, runs):
    """Forty canaries, each one use of the mechanism; twenty guesses, by the true log density ratio."""
    heads, loss = played(case, runs, 40, seed=4)
    scores = finite(loss)
    correct = np.array([guess(*row, 20).correct for row in zip(scores, heads, strict=True)])
    claim = gdp(case.mu) if case.mu is not None else approximate_dp(case.epsilon, case.delta)
    times = dict(zip(*np.unique(correct, return_counts=True), strict=True))
    for analysis, p_value in (
        ("Theorem 5.2", lambda seen: one_run.p_value(seen, case.epsilon, case.delta)),
        ("curve", lambda seen: one_run.curve_p_value(seen, claim)),
    ):
        alarms = sum(count for value, count in times.items() if p_value(Guesses(40, 20, int(value))) <= ERROR)
        assert not_significantly_above(f"{case.name}: one run, {analysis}", alarms, runs)


@pytest.mark.nightly
@each_mechanism
def test_the_whole_e_process(case):
    """With bets chosen on the way, 10,000 runs; test_eprocess.py has fewer."""
    claim = gdp(case.mu) if case.mu is not None else approximate_dp(case.epsilon, case.delta)
    alarms = 0
    for run in range(RUNS):
        rng = np.random.default_rng((5, run))
        process = EProcess(claim, (Coordinate(),), run)
        for size in (40, 40, 80):
            heads = int(rng.binomial(size, 0.5))
            sides = Outputs(case.draw[0](rng, heads)[:, None]), Outputs(case.draw[1](rng, size - heads)[:, None])
            if process.feed(*sides, stop_at=1 / ERROR):
                alarms += 1
                break
    assert not_significantly_above(f"{case.name}: e-process", alarms, RUNS)


CHEATED = next(case for case in CASES if case.name == "Laplace")


def test_a_bound_on_mu_without_confidence_is_seen(monkeypatch):
    """Planted: the rate of correct guesses itself for its lower bound."""
    monkeypatch.setattr(clopper_pearson, "lower", lambda correct, trials, error: np.asarray(correct) / trials)
    with pytest.raises(AssertionError):
        test_mu(CHEATED, RUNS)


def test_a_bet_that_loses_too_little_is_seen():
    """Planted: a wrong guess costs e^(epsilon/2) times the stake instead of e^epsilon times."""
    assert not not_significantly_above("cheap", wealthy(CHEATED, CHEATED.epsilon / 2, RUNS, seed=7), RUNS)


def test_densities_that_are_wrong_are_seen(monkeypatch):
    """Planted: a loss that is 10% too large."""
    case = next(case for case in CASES if case.name == "Gaussian")
    wrong = type(case)(**{**{f: getattr(case, f) for f in case.__slots__}, "loss": lambda rows: 1.5 * (rows - 0.5)})
    with pytest.raises(AssertionError):
        test_known_densities(wrong, 0, RUNS)


def test_one_run_without_its_coins_is_seen():
    """Planted: the analysis of one guess a canary at half of the claimed epsilon."""
    case = next(case for case in CASES if case.name == "randomized response")
    heads, loss = played(case, RUNS, 40, seed=6)
    correct = ((loss > 0) == heads).sum(axis=1)
    values = {v: one_run.p_value(Guesses(40, 40, v), case.epsilon / 2) for v in np.unique(correct).tolist()}
    assert not not_significantly_above("half", sum(values[v] <= ERROR for v in correct.tolist()), RUNS)
