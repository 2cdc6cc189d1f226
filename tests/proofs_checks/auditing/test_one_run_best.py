"""The number of guesses chosen by the bounds themselves, and why a part of the canaries cannot choose it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from counted_guesses import few_lines, law
from scipy.special import ndtri

from dpcert.mechanisms import InputError
from dpcert.proofs_checks.auditing import approximate_dp, gdp, one_run
from dpcert.proofs_checks.auditing.guesses import Guesses, guess


def canaries(count: int, seed: int, mu: float):
    """Scores of independent canaries under noise that is exactly mu-GDP, and their coins."""
    rng = np.random.default_rng(seed)
    coins = rng.random(count) < 0.5
    return coins + rng.normal(0, 1 / mu, count), coins


def excess(canaries: int, guesses: int, chances: dict[tuple[int, int], float], epsilon: float) -> float:
    """The largest P(event) - e^epsilon P'(event), of a mechanism for all coins and the same with the first coin
    flipped.

    It draws how many guesses are right, then which canaries it guesses and which guesses are right, evenly.
    """
    total = 0.0
    for chosen in itertools.combinations(range(canaries), guesses):
        for told in itertools.product((0, 1), repeat=guesses):  # all coins are 1, or the first is 0
            right = sum(told)
            flipped = right + (1 if told[0] == 0 else -1) if chosen[0] == 0 else right
            densities = [
                chances[guesses, k] / (math.comb(canaries, guesses) * math.comb(guesses, k)) for k in (right, flipped)
            ]
            total += max(0.0, densities[0] - math.exp(epsilon) * densities[1])
    return total


@pytest.mark.parametrize(("everyone", "guesses", "least"), [(8, 8, 6), (7, 3, 3)])
def test_a_mechanism_that_keeps_the_claim_stays_below_the_p_value(everyone, guesses, least) -> None:
    """The worst one among those that treat all canaries alike. What it reaches is up to a quarter below the p-value."""
    claim = few_lines(gdp(0.7))
    tail, chances = law(everyone, {guesses: least}, claim)
    lines = list(zip(claim.epsilons, claim.deltas, strict=True))
    assert all(excess(everyone, guesses, chances, epsilon) <= delta + 1e-9 for epsilon, delta in lines)
    assert 0.8 * one_run.curve_p_value(Guesses(everyone, guesses, least), claim) - 1e-6 <= tail
    assert tail <= one_run.curve_p_value(Guesses(everyone, guesses, least), claim) + 1e-6
    # A law with 1% more in that tail is not private, and whoever halves the p-value accuses one that is.
    less = (1 - 1.01 * tail) / (1 - tail)
    more = {cell: value * (1.01 if cell[1] >= least else less) for cell, value in chances.items()}
    assert any(excess(everyone, guesses, more, epsilon) > delta + 1e-6 for epsilon, delta in lines)
    assert tail > 0.5 * one_run.curve_p_value(Guesses(everyone, guesses, least), claim)


def test_the_output_may_not_choose_the_number_of_guesses_for_a_curve() -> None:
    """A number chosen by how well a part of the canaries was guessed depends on the output, which can use that.

    The level of each of two numbers is kept, that of "whichever the output prefers" is not; for pure DP it is.
    """
    for claim, kept in ((few_lines(gdp(1.0)), False), (approximate_dp(0.5), True)):
        single = [law(20, {r: k}, claim)[0] for r, k in ((3, 3), (20, 15))]
        chosen, _ = law(20, {3: 3, 20: 15}, claim)
        assert (chosen <= max(single) + 1e-9) == kept
        assert chosen <= sum(single) + 1e-9  # which is what SHARES pays for


def test_coverage_of_mu() -> None:
    """30 runs at error .1: more than 12 bounds above the truth have a probability below 1e-5."""
    found = [one_run.best_mu_lower(*canaries(60, seed, 1.0), 0.1)[0] for seed in range(30)]
    assert sum(bound > 1.0 for bound in found) <= 12
    assert max(found) > 0.3


def test_the_best_without_a_price_would_not_cover() -> None:
    """The planted fault: the rate of right guesses itself for its bound, the best of the numbers of guesses."""
    above = 0
    for seed in range(60):
        scores, coins = canaries(60, seed, 1.0)
        seen = [guess(scores, coins, round(share * 60)) for share in one_run.SHARES]
        # P(right) at most F(P(wrong)) for the rates among all canaries, as if they were known
        rates = [(min(one.correct / 60, 1 - 1e-9), (one.made - one.correct + 0.5) / 60) for one in seen]
        above += max(ndtri(right) - ndtri(wrong) for right, wrong in rates) > 1.0
    assert above > 18  # what the test above would see


def test_the_parts_of_the_error_are_one() -> None:
    assert sum(one_run.SHARES.values()) == pytest.approx(1.0)


def test_mu_is_decided_by_one_tail() -> None:
    """The same answer as by the p-value, whose largest feasible tail takes fifty of them."""
    for seed in range(3):
        seen = guess(*canaries(120, seed, 3.0), 60)
        bound = one_run.mu_lower(seen, 0.05)
        assert one_run.curve_p_value(seen, gdp(max(bound, 1e-6))) <= 0.05 * (1 + 1e-9)
        assert one_run.curve_p_value(seen, gdp(bound + 2e-3)) > 0.05 * (1 - 1e-9)


def test_best_mu() -> None:
    found, seen = one_run.best_mu_lower(*canaries(400, 3, 3.0), 0.05)
    assert 0.8 < found <= 3.0
    assert seen.canaries == 400


def test_bad_error() -> None:
    with pytest.raises(InputError, match="error"):
        one_run.best_mu_lower([1.0], [True], 1.5)
