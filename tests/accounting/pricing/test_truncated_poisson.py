"""Cut Poisson cohorts (docs/theory/truncated_poisson.md), against exact small cases and the limits on either side."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.stats import binom, norm

from dpcert.accounting import delta, epsilon
from dpcert.accounting.pairs import SubsampledPair
from dpcert.accounting.pricing import cut_cohorts
from dpcert.accounting.pricing import truncated_poisson as truncated
from dpcert.accounting.pricing.additive import additive
from dpcert.mechanisms import Gaussian, InputError, Poisson, Repeat, TruncatedPoisson, from_event

STEP = Poisson(Gaussian(1.0), 0.01)


def cut(most: int, rounds: int = 1000) -> Repeat:
    return Repeat(TruncatedPoisson(Gaussian(1.0), 0.01, 100_000, most), rounds)


@pytest.mark.parametrize(("population", "rate", "most"), [(10, 0.3, 4), (1000, 0.1, 130), (100_000, 0.01, 1300)])
def test_the_tail_is_a_bound_and_tight(population, rate, most):
    with mp.workdps(60):
        exact = sum(
            mp.binomial(population, k) * mpf(rate) ** k * (1 - mpf(rate)) ** (population - k)
            for k in range(most + 1, min(population, most + 600) + 1)
        )
    found = truncated.tail_above(population, rate, most)
    assert exact * (1 - mpf(10) ** -25) <= found <= exact * (1 + mpf(10) ** -9)
    assert found == pytest.approx(binom.sf(most, population, rate), rel=1e-6)


def test_it_meets_poisson_when_cuts_are_rare():
    uncut = epsilon(Repeat(STEP, 1000), 1e-5)
    rare = epsilon(cut(2000), 1e-5)
    assert rare.upper == pytest.approx(uncut.upper, rel=1e-9)
    assert rare.lower <= uncut.lower


@pytest.mark.nightly
def test_it_widens_as_cuts_become_common():
    brackets = [epsilon(cut(most), 1e-5) for most in (1300, 1200, 1100)]
    uncut = epsilon(Repeat(STEP, 1000), 1e-5)
    for bracket, next_one in pairwise(brackets):
        assert next_one.upper >= bracket.lower
        assert bracket.lower <= uncut.upper
    assert brackets[-1].upper > uncut.upper


def test_pooled_cohorts_are_as_far_from_poisson_cohorts_as_the_cuts_are_likely():
    bracket = epsilon(cut(1300), 1e-5, "zero-out", notion="joint")
    tau = truncated.total_variation(cut(1300))
    assert delta(Repeat(STEP, 1000), bracket.upper).upper + (1 + math.exp(bracket.upper)) * tau <= 1e-5 * (1 + 1e-9)
    assert delta(Repeat(STEP, 1000), bracket.lower).lower - (1 + math.exp(bracket.lower)) * tau >= 1e-5 * (1 - 1e-6)


def test_common_cuts_keep_amplification_and_rare_ones_cost_little():
    """A unit in a full cohort keeps another out: at most a hidden round of a move of 2 at every time."""
    common = epsilon(cut(1000, 10), 1e-5)
    twice = epsilon(Repeat(Poisson(Gaussian(0.5), 0.01), 10), 1e-5)
    assert common.upper <= 0.75 * twice.upper
    rarer = epsilon(Repeat(TruncatedPoisson(Gaussian(1.0), 0.01, 1000, 16), 128), 1e-6)
    assert rarer.upper <= 1.2 * rarer.lower


@pytest.mark.parametrize(("population", "rate", "most"), [(7, 0.4, 2), (30, 0.1, 5), (2000, 0.05, 120)])
def test_the_law_of_cuts_is_that_of_all_coins(population, rate, most):
    with mp.workdps(40):
        coins = [
            mp.binomial(population - 1, k) * mpf(rate) ** k * (1 - mpf(rate)) ** (population - 1 - k)
            for k in range(population)
        ]
        full = sum(coins[most:])
        taken = sum(rate * mpf(most) / (k + 1) * p for k, p in enumerate(coins) if k >= most)
        law = cut_cohorts.cut_law(TruncatedPoisson(Gaussian(1.0), rate, population, most))
        assert full <= law.full <= full * (1 + mpf(10) ** -14)
        assert taken / full <= law.rate_when_full * (1 + mpf(10) ** -15) <= taken / full * (1 + mpf(10) ** -14)
        least = rate * sum(coins[:most]) + taken
        assert least * (1 - mpf(10) ** -14) <= law.rate <= least


def one_round(values: list[float], others: int, most: int, rate: float, with_unit: bool) -> dict[float, float]:
    """The law of the clipped sum: all coins, all cohorts; values[0] is the unit's contribution."""
    law: dict[float, float] = {}
    for coins in product((0, 1), repeat=others + 1):
        if coins[0] and not with_unit:
            continue
        p = math.prod(rate if c else 1 - rate for c in (coins if with_unit else coins[1:]))
        chosen = [v for c, v in zip(coins, values, strict=True) if c]
        cohorts = list(combinations(chosen, most)) if len(chosen) > most else [tuple(chosen)]
        for cohort in cohorts:
            law[sum(cohort)] = law.get(sum(cohort), 0.0) + p / len(cohorts)
    return law


def hockey_stick(first: dict[float, float], second: dict[float, float], noise: float, gamma: float) -> float:
    grid = np.linspace(-12, 12, 3_001)
    p, q = (sum(w * norm.pdf(grid, mean, noise) for mean, w in law.items()) for law in (first, second))
    return float(np.maximum(p - gamma * q, 0.0).sum() * (grid[1] - grid[0]))


def federations_are_bounded(rate: float = 0.4, most: int = 2, noise: float = 1.2) -> bool:
    """Whether delta of one round is at most the bound for every sign pattern of five others, in every relation."""
    for eps in (0.0, 0.4):
        step = TruncatedPoisson(Gaussian(noise), rate, 6, most)
        for relation in ("add-remove", "zero-out", "replace-one"):
            bound = delta(step, eps, relation).upper * (1 + 1e-6)
            for plus in (0, 2, 3, 5):
                others = [1.0] * plus + [-1.0] * (5 - plus)
                with_unit = one_round([1.0, *others], 5, most, rate, True)
                value = {"zero-out": 0.0, "replace-one": -1.0}.get(relation, 0.0)
                without = one_round([value, *others], 5, most, rate, relation != "add-remove")
                for pair in ((with_unit, without), (without, with_unit)):
                    if hockey_stick(*pair, noise, math.exp(eps)) > bound:
                        return False
    return True


def test_no_federation_of_extreme_contributions_exceeds_the_bound():
    assert federations_are_bounded()


def test_the_unit_taken_for_one_more_in_a_full_cohort_is_caught(monkeypatch):
    """The plant: a full cohort priced as a Poisson round at the conditional rate, a move of 1."""
    orders = ("remove", "add")
    monkeypatch.setattr(
        cut_cohorts,
        "replacing",
        lambda noise, rate, relation: {order: SubsampledPair(additive(noise, 1), rate, order) for order in orders},
    )
    assert not federations_are_bounded()


def test_a_full_cohort_that_is_forgotten_is_caught(monkeypatch):
    """The plant: hardly any cohort is full, so that what is left is a Poisson round."""
    right = cut_cohorts.cut_law
    monkeypatch.setattr(
        cut_cohorts,
        "cut_law",
        lambda step: replace(right(step), full=1e-9, open=1.0),
    )
    assert not federations_are_bounded()


def test_one_round_is_never_above_dp_accountings_bound():
    pld = pytest.importorskip("dp_accounting.pld")
    step = TruncatedPoisson(Gaussian(1.1), 0.1, 200, 22)
    accountant = pld.PLDAccountant()
    accountant.compose(step.event())
    for eps in (0.0, 1.5):
        assert delta(step, eps).upper <= accountant.get_delta(eps) * (1 + 1e-9)
    assert from_event(step.event()) == step


@pytest.mark.parametrize(
    ("population", "mean", "most", "noise", "rounds", "theirs"),
    # epsilon at delta = 1e-5 by dp-accounting 0.6.0, PLDAccountant, TruncatedSubsampledGaussianDpEvent
    [(60_000, 256, 320, 1.1, 14_062, 2.409), (50_000, 4096, 4300, 3.0, 2000, 5.798)],
)
def test_training_runs_are_below_dp_accountings_bound_and_near_poisson(population, mean, most, noise, rounds, theirs):
    step = TruncatedPoisson(Gaussian(noise), mean / population, population, most)
    found = epsilon(Repeat(step, rounds), 1e-5)
    uncut = epsilon(Repeat(Poisson(Gaussian(noise), mean / population), rounds), 1e-5)
    assert found.upper < theirs
    assert uncut.lower * 0.999 <= found.upper <= 1.05 * uncut.upper


@pytest.mark.nightly
def test_never_above_dp_accountings_bound_and_near_poisson():
    pld = pytest.importorskip("dp_accounting.pld")
    run = Repeat(TruncatedPoisson(Gaussian(1.1), 256 / 60_000, 60_000, 320), 500)
    accountant = pld.PLDAccountant()
    accountant.compose(run.event())
    found = epsilon(run, 1e-5)
    assert found.upper <= accountant.get_epsilon(1e-5)
    assert found.upper <= 1.05 * epsilon(Repeat(Poisson(Gaussian(1.1), 256 / 60_000), 500), 1e-5).upper
    assert from_event(run.event()) == run


def exact_delta(units: int, rate: float, most: int, noise: float, eps: float) -> float:
    """One round, scalar contributions: the unit's is +1, the others' -1; zero-out neighbours; by quadrature."""

    def law(unit: float) -> dict[float, float]:
        sums: dict[float, float] = {}
        for coins in product((0, 1), repeat=units):
            chosen = [i for i, coin in enumerate(coins) if coin]
            weight = math.prod(rate if coin else 1 - rate for coin in coins)
            values = [unit if i == 0 else -1.0 for i in chosen]
            if len(chosen) <= most:
                sums[sum(values)] = sums.get(sum(values), 0.0) + weight
            else:  # most = 1: one of the chosen, uniformly
                for value in values:
                    sums[value] = sums.get(value, 0.0) + weight / len(values)
        return sums

    grid = [-12 + 24 * k / 48_000 for k in range(48_001)]
    with_unit, without = law(1.0), law(0.0)

    def density(sums: dict[float, float]):
        return sum(weight * norm.pdf(grid, mean, noise) for mean, weight in sums.items())

    return float(sum((density(with_unit) - math.exp(eps) * density(without)).clip(0.0)) * 24 / 48_000)


@pytest.mark.parametrize(("rate", "eps"), [(0.02, 0.05), (0.1, 0.3)])
def test_an_exact_small_case_lies_inside_and_poisson_alone_does_not_bound_it(rate, eps):
    """The plant: to forget the cuts. With opposite contributions the cut round reveals more than the Poisson round."""
    truth = exact_delta(4, rate, 1, 2.0, eps)
    found = delta(TruncatedPoisson(Gaussian(2.0), rate, 4, 1), eps, "zero-out")
    assert found.lower <= truth <= found.upper
    assert truth > delta(Poisson(Gaussian(2.0), rate), eps, "zero-out").upper


def test_bad_input():
    for build, field in (
        (lambda: TruncatedPoisson(Gaussian(1.0), 1.5, 10, 5), "sampling_rate"),
        (lambda: TruncatedPoisson(Gaussian(1.0), 0.5, 0, 5), "population"),
        (lambda: TruncatedPoisson(Gaussian(1.0), 0.5, 10, 0), "max_cohort"),
        (lambda: TruncatedPoisson("noise", 0.5, 10, 5), "mechanism"),
    ):
        with pytest.raises(InputError) as problem:
            build()
        assert problem.value.field == field
