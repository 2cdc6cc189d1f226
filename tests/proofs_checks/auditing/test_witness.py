"""Witnesses tell what happened in the words of the mechanism, and how large epsilon is after an early stop."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcert.proofs_checks.auditing import approximate_dp, audit, gdp, observing_failures
from dpcert.proofs_checks.auditing.curve import ClaimedCurve
from dpcert.proofs_checks.auditing.eprocess import HIGHEST, RUNGS, STEEPEST, STEEPS, Bet, above
from dpcert.proofs_checks.auditing.outputs import Outputs
from dpcert.proofs_checks.auditing.rules import Rule
from dpcert.proofs_checks.auditing.scores import LARGEST, MISSING, Interval
from dpcert.proofs_checks.auditing.weighted import Weighted

PAIR = ([1.0, 1.0], [1.0])


def noisy_sum(dataset, rng):
    return sum(dataset) + rng.laplace(0.0, 0.25)


def answer(dataset, rng):
    word = "yes" if rng.random() < (0.9 if len(dataset) > 1 else 0.2) else "no"
    return {"count": 3, "words": ["the", "answer", word]}


def spread(dataset, rng, size):
    return rng.laplace(0.0, 1.0 if len(dataset) > 1 else 0.2, size)


def vector(dataset, rng, size):
    return rng.normal(size=(size, 12)) + 3.0 * (np.arange(12) == 7) * len(dataset)


@pytest.mark.parametrize("method", ["best", "curve"])
@pytest.mark.parametrize(
    ("mechanism", "told"),
    [
        (noisy_sum, ["noisy_sum: output ", "[1.0, 1.0]"]),
        (answer, ["output['words'][2] is "]),
        (spread, ["output"]),
        (vector, ["output[7]"]),
    ],
)
def test_the_first_sentence(mechanism, told, method) -> None:
    witness = audit(mechanism, PAIR, epsilon=1.0, trials=3000, method=method).witness
    assert witness is not None
    for part in (*told, "runs on", "its neighbour", "(1, 0)-DP allows 2.718 times as often"):
        assert part in witness.sentence
    assert str(witness).startswith(witness.sentence)
    assert "log odds" not in str(witness)


def test_the_counts_are_those_of_the_event() -> None:
    """The estimated probabilities, against the ones that are known: .9 and .2, or .1 and .8."""
    seen = audit(answer, PAIR, epsilon=1.0, trials=3000, method="curve").witness.seen  # type: ignore[union-attr]
    often, seldom = seen.rates()
    expected = (0.9, 0.2) if seen.speaks_for == "dataset" else (0.8, 0.1)
    assert (often, seldom) == pytest.approx(expected, abs=0.05)
    assert seen.on_dataset[1] + seen.on_neighbour[1] == 5100


@pytest.mark.parametrize(
    "rule", [Rule(1, 2.0, -1.0), Rule(-1, 2.0, -1.0), Rule(1, math.inf, 0.0), Rule(-1, 1.0, -math.inf)]
)
def test_the_intervals_of_a_rule_are_what_it_counts(rule) -> None:
    rng = np.random.default_rng(0)
    mine, other = np.round(rng.normal(0.5, 2, 500)), np.round(rng.normal(0, 2, 500))
    up, down = (
        [sum(int(interval.holds(side).sum()) for interval in some) for side in (mine, other)]
        for some in rule.intervals()
    )
    assert rule.counts(mine, other) == (up[0] + down[1], up[1] + down[0])


def test_the_intervals_of_weights_are_what_they_count() -> None:
    rule = Weighted((-1.0, 0.0, 1.0, 2.0), (-2, -1, 0, 3, 4))
    assert rule.intervals() == ((Interval(1.0, math.inf),), (Interval(-math.inf, 0.0),))
    scores = np.linspace(-3, 3, 101)
    right, wrong = rule.counts(scores, scores)
    held = [sum(int(interval.holds(scores).sum()) for interval in some) for some in rule.intervals()]
    assert right.sum() == wrong.sum() == sum(held)


@pytest.mark.parametrize(
    ("interval", "told"),
    [
        (Interval(low=1.5), "x >= 1.5"),
        (Interval(high=2.0), "x < 2"),
        (Interval(high=2.0, closed=True), "x <= 2"),
        (Interval(1.0, 2.0), "1 <= x < 2"),
        (Interval(3.0, 3.0, closed=True), "x = 3"),
        (Interval(low=MISSING), "x is NaN"),
        (Interval(low=LARGEST), "x is infinite or NaN"),
        (Interval(high=-LARGEST, closed=True), "x is -infinity"),
        (Interval(), "any x"),
    ],
)
def test_intervals_in_words(interval, told) -> None:
    assert interval.told("x") == told


def test_an_early_stop_says_how_large_epsilon_is() -> None:
    """8-DP that claims 1: the bound was the claim itself; after a few hundred runs it is well above, and below 8."""
    result = audit(lambda d, rng: sum(d) + rng.laplace(0, 1 / 8), PAIR, epsilon=1.0, trials=20_000, method="eprocess")
    assert result.stopped == "early"
    assert result.trials < 2000
    assert 2.0 < result.epsilon_lower() <= 8.0


def laws(epsilon: float, size: int, rng: np.random.Generator) -> tuple[Outputs, Outputs]:
    """Randomised response that is exactly epsilon-DP."""
    truth = 1 / (1 + math.exp(-epsilon))
    return tuple(Outputs((rng.random((size, 1)) < chance).astype(float)) for chance in (truth, 1 - truth))  # type: ignore[return-value]


def first(outputs):
    return outputs.rows[:, 0]


def climbed_mu(mu: float, seed: int, error: float) -> float:
    """What a ladder of mus says after 3 chunks of bets on which side of the middle an output is, which is exactly
    mu-GDP; the line that it bets on is the one that such bets attain."""
    ladder, rng = above(ClaimedCurve((0.0, 1.0), (0.1, 0.05), "two lines")), np.random.default_rng(seed)
    rule = Rule(1, mu / 2, np.nextafter(mu / 2, -np.inf))
    for _ in range(3):
        mine, other = (Outputs(rng.normal(mean, 1.0, (100, 1))) for mean in (mu, 0.0))
        bets = {}
        for rung, lines in ladder.lines.items():
            epsilon, delta = lines[0]
            bets[rung] = Bet("output", first, rule, epsilon, delta, 0.3 / (math.exp(epsilon) + delta))
        ladder.play(bets, mine, other, rng.permutation(200))
    return ladder.bound(error)


def test_the_ladder_of_mus_covers() -> None:
    """As for epsilons; the truth is a rung, so that a bound of it or more is an error."""
    truth = STEEPEST * (5 / STEEPS) ** 2
    assert sum(climbed_mu(truth, seed, 0.05) >= truth for seed in range(400)) <= 38
    assert sum(climbed_mu(truth, seed, 0.9) >= truth for seed in range(400)) > 38
    assert all(climbed_mu(3.0, seed, 0.05) >= 1.5 for seed in range(5))


def test_an_early_stop_of_a_curve_says_how_large_mu_is() -> None:
    """4-GDP that claims 1-GDP: the bound was none at all."""
    result = audit(lambda d, rng: sum(d) + rng.normal(0, 1 / 4), PAIR, claim=gdp(1.0), trials=20_000, method="eprocess")
    assert result.stopped == "early"
    assert 1.5 <= result.mu_lower <= 4.0
    assert result.effective_noise == 1.0 / result.mu_lower


TRUTH = HIGHEST * (8 / RUNGS) ** 2
"""A rung above no claim at all: a bound of it or more is an error."""


def climbed(epsilon: float, seed: int, error: float) -> float:
    """What a ladder says after 3 chunks of bets on "the output is 1"; the output is exactly epsilon-DP."""
    ladder, rng = above(approximate_dp(0.0)), np.random.default_rng(seed)
    for _ in range(3):
        mine, other = laws(epsilon, 100, rng)
        bets = {
            rung: Bet("output", first, Rule(1, 1.0, -math.inf), rung, 0.0, 0.6 / math.exp(rung))
            for rung in ladder.lines
        }
        ladder.play(bets, mine, other, rng.permutation(200))
    return ladder.bound(error)


def test_the_ladder_covers() -> None:
    """400 ladders at error .05: more than 38 bounds above the truth (4.2 deviations) have a probability below 1e-4."""
    assert sum(climbed(TRUTH, seed, 0.05) >= TRUTH for seed in range(400)) <= 38
    assert any(climbed(6.0, seed, 0.05) > 1.0 for seed in range(5))


def test_the_coverage_test_can_fail() -> None:
    """The planted fault: wealth of 1/.9 taken for evidence at .05."""
    assert sum(climbed(TRUTH, seed, 0.9) >= TRUTH for seed in range(400)) > 38


def test_what_exceeds_its_claim_by_little_is_told() -> None:
    """1.25-DP that claims 1-DP: of evenly spaced rungs the first was above it, and only the claim itself was said."""
    result = audit(
        lambda d, rng: sum(d) + rng.laplace(0, 0.8), PAIR, epsilon=1, trials=60_000, method="eprocess", seed=1
    )
    assert result.stopped == "early"
    assert 1.0 < result.epsilon_lower() <= 1.25


def test_rungs_begin_above_the_claim() -> None:
    rungs = list(above(approximate_dp(1.0)).lines)
    assert len(rungs) == RUNGS
    assert 1.0 < rungs[0] < 1.02
    assert rungs[-1] == 1.0 + HIGHEST
    assert list(above(gdp(2.0)).lines)[-1] == 2.0 + STEEPEST
    assert approximate_dp(1.0).epsilons == (1.0,)


def test_a_text_that_never_repeats_is_named() -> None:
    def named(dataset, rng):
        return {"id": rng.bytes(8).hex(), "n": float(rng.normal())}

    result = audit(named, PAIR, epsilon=1.0, trials=300)
    assert not result.refuted
    assert any(told.startswith("output['id']: a text that differed in every run") for told in result.blind)
    assert audit(lambda d, rng: str(rng.normal()), PAIR, epsilon=1.0, trials=300).blind == ()
    assert audit(lambda d, rng: rng.choice(["a", "b"]), PAIR, epsilon=1.0, trials=300).blind == ()


def test_columns_of_outputs_of_two_kinds_have_both_names() -> None:
    def failing(dataset, rng):
        if sum(dataset) > 1.5 and rng.random() < 0.3:
            raise ValueError("too many")
        return {"sum": float(rng.normal())}

    result = audit(observing_failures(failing), PAIR, epsilon=0.1, trials=3000)
    assert result.refuted
    assert "len(output) or failure of output" in str(result.witness)
    assert "of the output's parts" not in str(result.witness)
