"""How often a bound exceeds the truth, on fourteen mechanisms of exactly known privacy.

Every count of false alarms is tested against the nominal error; a sound bound fails a test here with probability
at most 1e-4 (times the number of tests, about 200). The counts are printed (pytest -rP).
"""

import numpy as np
import pytest
from cases import few
from planted.exact import Exact, mechanisms
from scipy.stats import binomtest

from dpcert.proofs_checks.auditing import approximate_dp, audit, audit_samples, gdp, guessing_game, trials
from dpcert.proofs_checks.auditing import band as bands
from dpcert.proofs_checks.auditing.evidence import Evidence
from dpcert.proofs_checks.auditing.likelihood import epsilon_lower as density_bound
from dpcert.proofs_checks.auditing.outputs import Encoder, Outputs
from dpcert.proofs_checks.auditing.parts import mu_lower
from dpcert.proofs_checks.auditing.rules import Rule
from dpcert.proofs_checks.auditing.scores import Coordinate
from dpcert.proofs_checks.auditing.trials import Samples

RUNS, TRIALS, ERROR = 10_000, 100, 0.05
CASES = mechanisms()
NAMES = [case.name for case in CASES]


def not_significantly_above(alarms: int, runs: int, error: float = ERROR) -> bool:
    return binomtest(int(alarms), runs, error, alternative="greater").pvalue > 1e-4


def counts_of(case: Exact, rules: list[Rule], runs: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(correct, wrong), shape (rules, runs), of TRIALS trials with fair coins, simulated run by run."""
    rng = np.random.default_rng(seed)
    heads = rng.random((runs, TRIALS)) < 0.5
    mine = case.draw[0](rng, runs * TRIALS).reshape(runs, TRIALS)
    other = case.draw[1](rng, runs * TRIALS).reshape(runs, TRIALS)
    score = np.where(heads, mine, other)
    correct, wrong = [], []
    for rule in rules:
        up, down = rule.sign * score >= rule.upper, rule.sign * score <= rule.lower
        correct.append(((up & heads) | (down & ~heads)).sum(axis=1))
        wrong.append(((up & ~heads) | (down & heads)).sum(axis=1))
    return np.array(correct), np.array(wrong)


def all_bounds(case: Exact, runs: int, seed: int) -> dict[str, int]:
    """False alarms of each bound, for the rule that attains the mechanism's privacy (the hardest to be right on)."""
    rule = Rule(*case.event)
    correct, wrong = (part[0] for part in counts_of(case, [rule], runs, seed))
    leak = rule.share * case.delta
    alarms = {"event": (guessing_game.epsilon_lower(correct, wrong, TRIALS, leak, ERROR) > case.epsilon).sum()}
    table: dict[tuple[int, int], float] = {}
    for pair in set(zip(correct.tolist(), wrong.tolist(), strict=True)):
        table[pair] = guessing_game.p_value(*pair, TRIALS, case.epsilon, leak)
    alarms["line"] = sum(table[pair] <= ERROR for pair in zip(correct.tolist(), wrong.tolist(), strict=True))
    if rule.total:
        alarms["total"] = (guessing_game.total_p_value(correct, TRIALS, case.epsilon, leak) <= ERROR).sum()
    if case.mu is not None and rule.total:
        alarms["mu"] = (mu_lower(correct, TRIALS, ERROR) > case.mu).sum()
    return alarms


@pytest.mark.parametrize("case", few(CASES, 8), ids=NAMES)
def test_bounds_on_the_worst_event(case):
    for bound, alarms in all_bounds(case, RUNS, seed=1).items():
        assert not_significantly_above(alarms, RUNS), (bound, alarms)


@pytest.mark.nightly
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_bounds_on_the_worst_event_many_runs(case):
    for bound, alarms in all_bounds(case, 10 * RUNS, seed=2).items():
        print(f"{case.name}: {bound}: {alarms} of {10 * RUNS}")
        assert not_significantly_above(alarms, 10 * RUNS), (bound, alarms)


def band_alarms(case: Exact, runs: int, seed: int) -> int:
    """Of three rules that share the error. A band says what its rules say, each with its part, one by one."""
    sign, upper, lower = case.event
    rules = [Rule(sign, upper, lower), Rule(sign, upper, -np.inf), Rule(sign, np.inf, lower)]
    correct, wrong = counts_of(case, rules, runs, seed)
    claim, alarm = approximate_dp(case.epsilon, case.delta), np.zeros(runs, bool)
    for rule, right, bad in zip(rules, correct, wrong, strict=True):
        pairs, place = np.unique(np.stack([right, bad]), axis=1, return_inverse=True)
        false = []
        for pair in pairs.T.tolist():
            found = bands.band((rule,), [tuple(pair)], TRIALS, ERROR / len(rules))
            false.append(found.violates(claim) is not None or (case.mu is not None and found.mu() > case.mu))
        alarm |= np.array(false)[place.ravel()]
    return int(alarm.sum())


@pytest.mark.parametrize("case", few(CASES, 4), ids=NAMES)
def test_band(case):
    assert not_significantly_above(band_alarms(case, RUNS, seed=3), RUNS)


def test_a_band_is_what_its_rules_say():
    """One by one, each with its part of the error."""
    rules, counts = (Rule(1, 1.0, 0.0), Rule(1, 1.0, -np.inf)), [(40, 10), (25, 4)]
    whole = bands.band(rules, counts, TRIALS, ERROR)
    parts = [bands.band((rule,), [seen], TRIALS, ERROR / 2) for rule, seen in zip(rules, counts, strict=True)]
    assert whole.correct == tuple(part.correct[0] for part in parts)
    assert whole.wrong == tuple(part.wrong[0] for part in parts)
    assert whole.epsilon(0.0) == max(part.epsilon(0.0) for part in parts)


@pytest.mark.nightly
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_band_many_runs(case):
    alarms = band_alarms(case, 10 * RUNS, seed=4)
    print(f"{case.name}: band: {alarms} of {10 * RUNS}")
    assert not_significantly_above(alarms, 10 * RUNS)


def end_to_end(case: Exact, runs: int, seed: int, trials: int = 60, method: str = "best") -> int:
    """Audits that report anything false: a refutation of the true claim, or a bound above the truth."""
    claim = approximate_dp(case.epsilon, case.delta) if case.mu is None else gdp(case.mu)
    alarms = 0
    for run in range(runs):
        rng = np.random.default_rng((seed, run))
        heads = int(rng.binomial(2 * trials, 0.5))
        samples = Samples(
            Outputs(case.draw[0](rng, heads)[:, None]), Outputs(case.draw[1](rng, 2 * trials - heads)[:, None])
        )
        result = audit_samples(samples, claim=claim, delta=case.delta, alpha=ERROR, method=method, seed=run)
        alarms += result.refuted or result.epsilon_lower(case.delta) > case.epsilon
    return alarms


def test_whole_audits():
    """All methods composed, learned scores included, 25 audits of each mechanism; nothing false in 95% of them."""
    alarms = [end_to_end(case, 25, seed=5) for case in CASES]
    assert not_significantly_above(sum(alarms), 25 * len(CASES)), dict(zip(NAMES, alarms, strict=True))


@pytest.mark.nightly
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_whole_audits_many_runs(case):
    alarms = end_to_end(case, 2000, seed=6)
    print(f"{case.name}: whole audits: {alarms} of 2000")
    assert not_significantly_above(alarms, 2000)


def test_an_auditor_that_tests_where_it_explored_is_seen(monkeypatch):
    """Planted: the rules are counted on the very trials on which they were chosen."""

    def peeking(self, view, rules):
        score = self.views[view].scorer
        mine, other = self.samples.dataset.part(0, self.cut[0]), self.samples.neighbour.part(0, self.cut[1])
        self.fresh_trials = len(mine) + len(other)
        return [rule.counts(score(mine), score(other)) for rule in rules]

    monkeypatch.setattr(Evidence, "counts", peeking)
    alarms = sum(end_to_end(case, 20, seed=7, trials=200, method="curve") for case in CASES)
    assert not not_significantly_above(alarms, 20 * len(CASES))


def test_an_uncorrected_two_sided_bound_is_seen():
    """Planted: the larger of two bounds, each at the full error, as if only one had been looked at."""
    gaussian = next(case for case in CASES if case.name == "identical, continuous")
    rules = [Rule(1, 0.3, -np.inf), Rule(1, np.inf, 0.2)]
    correct, wrong = counts_of(gaussian, rules, RUNS, seed=8)
    either = guessing_game.epsilon_lower(correct, wrong, TRIALS, 0.0, ERROR).max(axis=0)
    assert not not_significantly_above((either > 0).sum(), RUNS)


@pytest.mark.parametrize(("epsilon", "loss_of"), [(1.0, 1.0), (0.5, 0.5)])
def test_density_bound(epsilon, loss_of):
    """Randomized response: the loss is +-epsilon, delta(epsilon/2) in closed form, attained; 3000 runs."""
    up = np.exp(epsilon) / (1 + np.exp(epsilon))
    delta = up * (1 - np.exp(-epsilon / 2))
    rng = np.random.default_rng(9)
    positive = rng.binomial(200, up, 3000)
    bound = {
        k: density_bound(np.r_[np.full(k, loss_of), np.full(200 - k, -loss_of)], delta, ERROR)
        for k in np.unique(positive).tolist()
    }
    assert not_significantly_above(sum(bound[k] > epsilon / 2 for k in positive.tolist()), 3000)


def rarely_longer(dataset, rng):
    """(0, .001)-DP exactly: a second number now and then, on one side only."""
    first = [float(rng.normal())]
    return [*first, 1.0] if dataset and rng.random() < 1e-3 else first


class ByChunk(Encoder):
    """Planted: one odd output gives all rows of its chunk another layout."""

    def each(self, raw):
        odd = len({len(output) for output in raw}) > 1
        return Outputs(np.array([[7.0, *output, np.nan][:3] if odd else [*output, np.nan, np.nan] for output in raw]))


def test_how_outputs_become_rows_says_nothing_about_the_side(monkeypatch):
    """Honest rows are accused twice in six audits with a probability below 1e-6."""

    def accused() -> int:
        options = {"trials": 3000, "alpha": 1e-4, "method": "curve", "scores": [Coordinate()]}
        return sum(
            audit(rarely_longer, (True, False), epsilon=0.1, delta=1e-3, seed=seed, **options).refuted
            for seed in range(6)
        )

    assert accused() <= 1
    monkeypatch.setattr(trials, "Encoder", ByChunk)
    assert accused() > 1
