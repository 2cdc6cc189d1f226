"""The e-process: its level under optional stopping, and its quickness."""

import numpy as np
import pytest
from planted.exact import mechanisms
from scipy.stats import binomtest

from dpcert.proofs_checks.auditing import EProcess, approximate_dp, gdp
from dpcert.proofs_checks.auditing.eprocess import combined
from dpcert.proofs_checks.auditing.outputs import Outputs
from dpcert.proofs_checks.auditing.scores import Coordinate


def feed(process, draw, rng, chunks, stop_at):
    for size in chunks:
        heads = int(rng.binomial(size, 0.5))
        sides = Outputs(draw[0](rng, heads)[:, None]), Outputs(draw[1](rng, size - heads)[:, None])
        if process.feed(*sides, stop_at=stop_at):
            return True
    return False


def alarms(cases, runs, chunks, seed):
    count = 0
    for run in range(runs):
        case = cases[run % len(cases)]
        process = EProcess(approximate_dp(case.epsilon, case.delta), (Coordinate(),), run)
        count += feed(process, case.draw, np.random.default_rng((seed, run)), chunks, stop_at=20.0)
    return count


def test_false_alarms_at_any_time():
    """Fourteen mechanisms at exactly their privacy, 700 runs, stopped whenever 1/.05 is reached."""
    assert binomtest(alarms(mechanisms(), 700, [40, 40, 80], 11), 700, 0.05, alternative="greater").pvalue > 1e-4


def curve_alarms(mu, claimed, runs):
    """Of a whole claimed curve, for two normals mu apart: at each look bets are placed on lines of it anew."""

    draw, count = (lambda rng, n: rng.normal(mu, 1, n), lambda rng, n: rng.normal(0, 1, n)), 0
    for run in range(runs):
        process = EProcess(gdp(claimed), (Coordinate(),), run)
        count += feed(process, draw, np.random.default_rng((13, run)), [40, 40, 80], stop_at=20.0)
    return count


@pytest.mark.parametrize("runs", [30, pytest.param(1000, marks=pytest.mark.nightly)])
def test_false_alarms_on_a_curve_at_any_time(runs):
    """The curve is kept with equality on every line."""
    assert binomtest(curve_alarms(1.0, 1.0, runs), runs, 0.05, alternative="greater").pvalue > 1e-4


def test_a_claim_of_half_the_curve_is_told_from_it():
    assert binomtest(curve_alarms(2.0, 1.0, 20), 20, 0.05, alternative="greater").pvalue < 1e-4


@pytest.mark.nightly
def test_false_alarms_at_any_time_many_runs():
    runs = 28_000
    assert binomtest(alarms(mechanisms(), runs, [40, 40, 80, 160], 12), runs, 0.05, alternative="greater").pvalue > 1e-4


def test_betting_with_hindsight_would_be_seen(monkeypatch):
    """Planted: bets are chosen on the very trials that they are played on."""
    original = EProcess.feed

    def cheating(self, dataset, neighbour, stop_at=float("inf")):
        self._remember(dataset, neighbour)
        self.bets = self._choose()
        return original(self, dataset, neighbour, stop_at)

    monkeypatch.setattr(EProcess, "feed", cheating)
    assert binomtest(alarms(mechanisms(), 280, [40, 40, 80], 11), 280, 0.05, alternative="greater").pvalue < 1e-4


def test_the_mean_of_one_bet_is_at_most_one():
    """Laplace at exactly eps = 1: the average factor of bets that were made before is 1 within 4 standard errors."""
    laplace = {case.name: case for case in mechanisms()}["Laplace"]
    rng = np.random.default_rng(0)
    process = EProcess(approximate_dp(0.8), (Coordinate(),))
    feed(process, laplace.draw, rng, [400, 1], stop_at=np.inf)  # bets are made when the next trial comes
    assert process.bets
    leak_free = EProcess(approximate_dp(1.0), (Coordinate(),), bets=process.bets)
    for bet in process.bets:
        honest = type(bet)(bet.score, bet.scorer, bet.rule, 1.0, 0.0, min(bet.stake, 0.9 / np.e))
        factors = np.concatenate(
            honest.factors(
                Outputs(laplace.draw[0](rng, 200_000)[:, None]), Outputs(laplace.draw[1](rng, 200_000)[:, None])
            )
        )
        assert factors.mean() < 1 + 4 * factors.std() / np.sqrt(len(factors))
    assert leak_free.e_value == 1.0


@pytest.mark.parametrize(("scale", "most"), [(0.5, 1000), (0.9, 80_000)])
def test_calls_until_a_laplace_mechanism_is_refuted(scale, most):
    """Claim eps = 1 at error .001; medians of 11 runs: PEERS had 657 calls at half noise."""
    needed = []
    for seed in range(11):
        rng = np.random.default_rng(seed)
        draw = (lambda g, n: 1 + g.laplace(0, scale, n)), (lambda g, n: g.laplace(0, scale, n))
        process = EProcess(approximate_dp(1.0), None, seed)
        feed(process, draw, rng, [64 * 2**k for k in range(12)], stop_at=1000.0)
        needed.append(process.trials_at_largest if process.largest >= 1000 else 10**9)
    assert np.median(needed) < most


def test_a_curve_is_refuted_too():
    draw = (lambda g, n: g.normal(1, 0.9, n)), (lambda g, n: g.normal(0, 0.9, n))
    process = EProcess(gdp(1.0))
    assert feed(process, draw, np.random.default_rng(0), [64 * 2**k for k in range(12)], stop_at=1000.0)
    assert process.p_value <= 1e-3


def test_bets_are_made_from_the_trials_before(monkeypatch):
    """Once a chunk, never from the chunk itself, and not after the last one, where it would be wasted."""
    seen, original = [], EProcess._choose

    def watched(self):
        seen.append(sum(len(mine) + len(other) for mine, other in self._past))
        return original(self)

    monkeypatch.setattr(EProcess, "_choose", watched)
    laplace = {case.name: case for case in mechanisms()}["Laplace"]
    feed(EProcess(approximate_dp(1.0)), laplace.draw, np.random.default_rng(0), [40, 80, 160], stop_at=np.inf)
    assert seen == [0, 40, 120]


def test_combined_is_the_average():
    assert combined([1.0, 3.0]) == 2.0
    assert combined([]) == 1.0
