"""Renyi moments of sampled Gaussian rounds at real orders against 50 digits, and faults that these catch."""

import math

import mpmath
import pytest

from dpcert.accounting.pairs import Sampling
from dpcert.accounting.renyi import real_orders, renyi, sampled_gaussian, sampled_rounds
from dpcert.accounting.renyi.sampled_gaussian import ends_of_removed, log_moments
from dpcert.mechanisms import FixedSize, Gaussian, Group, Laplace, Poisson, Repeat, Sequence

EXCESS = [(1.0, 0.01, 2.5), (0.25, 0.5, 6.7), (1.2, 1e-5, 3.3), (0.02, 0.3, 40.5), (1.0, 1e-5, 12.5), (3.0, 0.2, 1.01)]
"""Shift, rate and order; by the excess."""

BY_RULE = [(0.25, 0.5, 100.5), (1.0, 0.5, 12.5)]
CLOSED = [(3.3, 0.01, 5.5), (10.0, 1e-5, 2.5), (1.0, 0.01, 30.5)]
JUMPS = BY_RULE + CLOSED
"""By the jumps alone: by the rule, and in closed form."""


def exact(shift, rate, alpha):
    """log E[(1 + u)^alpha] by 50 digits: the trapezoidal rule of the excess, on a far finer grid."""
    with mpmath.workdps(50):
        s, q, a = mpmath.mpf(shift), mpmath.mpf(rate), mpmath.mpf(alpha)
        step = 1 / (7 * max(1, s))
        mean = mpmath.fsum(
            mpmath.exp(-(y * y) / 2) * ((1 + u) ** a - 1 - a * u)
            for y in (k * step for k in range(int(-13 / step), int((13 + a * s) / step)))
            for u in (q * mpmath.expm1(s * y - s * s / 2),)
        )
        return mpmath.log1p(step / mpmath.sqrt(2 * mpmath.pi) * mean)


TRUTH = {setting: exact(*setting) for setting in EXCESS + JUMPS}


def missed(settings, budget=40.0):
    found = []
    for setting in settings:
        ends = real_orders.log_moments(setting[:2], setting[:2], setting[2], budget)
        if ends is not None and not ends[0] <= TRUTH[setting] <= ends[1]:
            found.append(setting)
    return found


def test_both_ends_hold_and_are_close():
    assert missed(TRUTH) == []
    for shift, rate, alpha in TRUTH:
        low, high = log_moments(shift, rate, Sampling.REMOVE, alpha)
        assert low <= TRUTH[shift, rate, alpha] <= high <= low * (1 + 2e-9), (shift, rate, alpha)


@pytest.mark.parametrize("budget", [6.0, 12.0, 20.0])
def test_few_nodes_with_their_error_bounds_are_still_bounds(budget, monkeypatch):
    monkeypatch.setattr(real_orders, "_LOOSEST", 0.5)
    assert missed(TRUTH, budget) == []


def test_discretisation_ignored(monkeypatch):
    """Steps three times as wide, without the bound on what they miss."""
    rule = real_orders._rule
    monkeypatch.setattr(real_orders, "_rule", lambda *given: (3 * rule(*given)[0], 0.0))
    monkeypatch.setattr(real_orders, "_LOOSEST", 0.5)
    assert set(missed(TRUTH)) >= {*EXCESS[:2], *BY_RULE}


def test_rounding_ignored(monkeypatch):
    monkeypatch.setattr(real_orders, "UNIT", 0.0)
    assert missed(TRUTH)


def test_what_is_left_out_at_small_outcomes_ignored(monkeypatch):
    """Of so short a range that it counts."""
    monkeypatch.setattr(real_orders, "_LOOSEST", 0.5)
    monkeypatch.setattr(real_orders, "_excess_at_most", lambda *_: 0.0)
    rule = real_orders._rule
    monkeypatch.setattr(real_orders, "_rule", lambda budget, shift: rule(40.0, shift))
    assert missed(EXCESS, 1.0)


def test_the_other_ratio_at_jumps(monkeypatch):
    """r without (1 - q)/q."""
    monkeypatch.setattr(real_orders, "_log_ratio", lambda shift, rate, alpha: shift * shift * (0.5 - alpha))
    assert missed(JUMPS) == [CLOSED[2]]


def test_nothing_but_jumps(monkeypatch):
    monkeypatch.setattr(real_orders, "_by_rule", lambda *_: (0.0, 0.0))
    assert missed(JUMPS) == BY_RULE


@pytest.mark.parametrize("alpha", [2.0, 2.5, 33.3])
def test_ends_hold_for_every_parameter_within_rounding(alpha):
    """Not only for the doubles: for what they stand for, two roundings away."""
    shift, rate = 1.0, 0.01
    low, high = ends_of_removed(shift, rate, alpha)
    with mpmath.workdps(50):
        off = mpmath.mpf(2) ** -52
        least, most = (exact(shift * (1 + sign * off), rate * (1 + sign * off), alpha) for sign in (-1, 1))
    assert low <= least <= most <= high <= low * (1 + 1e-11)


RUNS = [
    Poisson(Gaussian(1.0), 0.01),
    Repeat(Poisson(Gaussian(0.3), 0.5), 100),
    Sequence(Repeat(Poisson(Gaussian(1.0), 0.01), 30), Poisson(Gaussian(4.0), 0.2)),
]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("relation", ["add-remove", "zero-out"])
@pytest.mark.parametrize("alpha", [1.5, 2.0, 5.5, 64.0])
def test_the_short_way_says_what_the_pairs_say(run, relation, alpha, monkeypatch):
    short = sampled_rounds.of_sampled_rounds(run, alpha, relation, "hidden")
    found = renyi.renyi(run, alpha, relation)
    assert (found.lower, found.upper) == short
    monkeypatch.setattr(renyi, "of_sampled_rounds", lambda *_: None)
    long = renyi.renyi(run, alpha, relation)
    assert long.lower * (1 - 1e-13) <= short[0] <= long.upper
    assert long.lower <= short[1] <= long.upper * (1 + 1e-13)


@pytest.mark.parametrize(
    ("run", "relation", "participation"),
    [
        (RUNS[1], "replace-one", "hidden"),
        (RUNS[1], "zero-out", "visible"),
        (Poisson(Gaussian(1.0), 1.0), "add-remove", "hidden"),
        (Sequence(RUNS[0], Gaussian(1.0)), "add-remove", "hidden"),
        (Poisson(Laplace(1.0), 0.1), "add-remove", "hidden"),
        (Poisson(Repeat(Gaussian(1.0), 2), 0.1), "add-remove", "hidden"),
        (Group(RUNS[0], 2), "add-remove", "hidden"),
        (FixedSize(Gaussian(1.0), 100, 10), "add-remove", "hidden"),
        (Poisson(Gaussian(1e-200), 0.1), "add-remove", "hidden"),
    ],
)
def test_of_other_runs_the_short_way_says_nothing(run, relation, participation):
    assert sampled_rounds.of_sampled_rounds(run, 2.5, relation, participation) is None


@pytest.mark.parametrize("alpha", [1.0 + 2.0**-30, 1.5, 33.3, 5e5])
def test_next_to_nothing_is_not_below_0(alpha):
    found = renyi.renyi(Repeat(Poisson(Gaussian(5e7), 1e-20), 3), alpha)
    assert 0.0 <= found.lower <= found.upper < 1e-30


def test_a_loop_of_few_terms_is_the_sum_of_many():
    for order in (2, 9, 20):
        for shift, rate in ((1.0, 0.01), (0.01, 1e-5), (5.0, 0.9)):
            odds = math.log(rate) - math.log1p(-rate)
            given = order, shift * shift, odds
            loop, arrays = sampled_gaussian._log_sum(*given), sampled_gaussian._log_sum_of_many(*given)
            assert loop == pytest.approx(arrays, rel=1e-14)
