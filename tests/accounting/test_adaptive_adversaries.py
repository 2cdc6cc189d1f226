"""Filters, odometer and individual budgets before adversaries who choose the next mechanism from the last output."""

import math
from functools import cache
from itertools import product

import numpy as np
import pytest
from adaptive import sampled_gaussian, worst
from cases import few
from scipy.special import ndtr

from dpcert.accounting.ledger import GaussianFilter, RenyiFilter, RenyiOdometer, RunningEpsilon
from dpcert.accounting.ledger.individual import IndividualBudgets
from dpcert.mechanisms import Gaussian, Poisson, RandomizedResponse, Repeat

MENU = [Gaussian(0.8), Gaussian(1.3), Gaussian(3.0), Poisson(Gaussian(0.7), 0.3), Poisson(Gaussian(1.0), 0.1)]
TARGET = 0.05


def masses(mechanism, added):
    if isinstance(mechanism, Poisson):
        return sampled_gaussian(mechanism.mechanism.noise_multiplier, mechanism.sampling_rate, added=added)
    return sampled_gaussian(mechanism.noise_multiplier, added=added)


def allowed(make, menu, added):
    """What a fresh filter lets through after the mechanisms chosen so far."""
    laws = [masses(mechanism, added) for mechanism in menu]
    known = {}

    def options(chosen):
        if chosen not in known:
            filter_ = make()
            for number in chosen:
                filter_.record(menu[number])
            known[chosen] = [(k, laws[k]) for k, one in enumerate(menu) if not filter_.would_exceed(one)]
        return known[chosen]

    return options


FILTERS = {
    "gaussian": (lambda epsilon: GaussianFilter(epsilon, TARGET), MENU[:3]),
    "renyi": (lambda epsilon: RenyiFilter(epsilon, TARGET), MENU),
    "renyi, another order": (lambda epsilon: RenyiFilter(epsilon, TARGET, order=3.0), MENU),
}


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("kind", FILTERS)
@pytest.mark.parametrize("epsilon", few([1.5, 3.0], 2))
def test_no_adversary_of_two_stages_exceeds_a_filter(kind, added, epsilon):
    make, menu = FILTERS[kind]
    assert worst(2, allowed(lambda: make(epsilon), menu, added), epsilon) <= TARGET


def test_a_filter_that_lets_a_third_more_through_is_caught():
    """The plant."""
    assert worst(2, allowed(lambda: GaussianFilter(4.0, TARGET), MENU[:3], False), 3.0) > TARGET


def test_the_gaussian_filter_is_spent_in_full_by_one_release():
    """Its budget is exact: the least noise that it lets through needs its epsilon."""
    filter_ = GaussianFilter(2.0, TARGET)
    z = filter_.budget**-0.5 * (1 + 1e-9)
    assert not filter_.would_exceed(Gaussian(z))
    found = worst(1, lambda chosen: [(0, sampled_gaussian(z, cells=4000))], 2.0)
    assert 0.999 * TARGET <= found <= TARGET


@cache
def cost_of(flip, order):
    """What recording one report adds."""
    odometer = RenyiOdometer(0.1, order, 1.0, "replace-one")
    odometer.record(RandomizedResponse(flip))
    return odometer.spent


@pytest.mark.parametrize(
    ("flips", "order", "step"), few([((0.3, 0.4), 4.0, 0.2), ((0.2, 0.45), 8.0, 0.5), ((0.4, 0.4), 2.5, 0.05)], 3)
)
def test_the_odometer_holds_at_every_moment_at_once(flips, order, step):
    """P[the loss exceeds the reading at some moment] <= delta; the adversary goes on with the report's own flip."""
    delta, rounds = 0.02, 6
    total = 0.0
    for reports in product((0, 1), repeat=rounds):
        odometer = RenyiOdometer(delta, order, step, "replace-one")
        mass, loss, broken, flip = 1.0, 0.0, False, flips[0]
        for report in reports:
            mass *= flip if report else 1 - flip
            loss += math.log(flip / (1 - flip)) * (1 if report else -1)
            odometer.spent += cost_of(flip, order)
            broken = broken or loss > odometer.epsilon
            flip = flips[report]
        total += mass * broken
    assert total <= delta


def test_individual_budgets_keep_what_the_gaussian_filter_keeps():
    """A client's norms depend on the last release; its budget of squared shifts is a Gaussian filter's."""
    epsilon = 2.0
    budget = GaussianFilter(epsilon, TARGET).budget
    norms = np.linspace(0.05, 1.5, 12)

    def options(chosen):
        budgets = IndividualBudgets(1, budget)
        for number in chosen:
            budgets.charge(np.array([0]), norms[number] ** 2)
        return [
            (k, sampled_gaussian(1 / norm))
            for k, norm in enumerate(norms)
            if budgets.affordable(np.array([0]), norm**2)[0]
        ]

    assert worst(2, options, epsilon) <= TARGET


def moved(shift, rate, cells=90):
    """A round of noise 1 at that rate, whose function moves the release by `shift` for the unit."""
    edges = np.concatenate([[-np.inf], np.linspace(-7, 7, cells), [np.inf]])
    absent, there = (np.diff(ndtr(edges - mean)) for mean in (0.0, shift))
    return (1 - rate) * absent + rate * there, absent


def reading(*mechanisms):
    running = RunningEpsilon(TARGET)
    for mechanism in mechanisms:
        running.record(mechanism)
        running.epsilon()
    return running.epsilon().upper


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("rates", [(1.0, 1.0), (1.0, 0.3), (0.3, 0.3)])
def test_running_epsilon_holds_whatever_the_next_round_computes(rates, added):
    """The mechanisms are fixed; which function of the data is released is chosen from the last output, in each cell."""
    laws = [[moved(shift, rate) for shift in (-1.0, 0.4, 1.0)] for rate in rates]

    def options(chosen):
        pairs = laws[len(chosen)]
        return list(enumerate([pair[::-1] for pair in pairs] if added else pairs))

    certified = reading(*(Gaussian(1.0) if rate == 1.0 else Poisson(Gaussian(1.0), rate) for rate in rates))
    found = worst(2, options, certified)
    assert found <= TARGET
    assert added or found > 0.9 * TARGET


def test_running_epsilon_is_no_odometer():
    """Why its docstring says so: whoever stops where the reading is low, and goes on elsewhere, exceeds both."""
    first, both = reading(Gaussian(1.0)), reading(Gaussian(1.0), Gaussian(1.0))
    p, q = moved(1.0, 1.0, cells=400)
    stopped = np.maximum(p - math.exp(first) * q, 0.0)
    p2, q2 = moved(1.0, 1.0, cells=400)
    gone_on = np.maximum(p[:, None] * p2 - math.exp(both) * q[:, None] * q2, 0.0).sum(axis=1)
    assert stopped.sum() <= TARGET
    assert gone_on.sum() <= TARGET
    assert np.maximum(stopped, gone_on).sum() > 1.2 * TARGET


def test_a_running_epsilon_that_forgets_a_round_is_caught():
    """The plant: two rounds run, one is recorded."""
    laws = list(enumerate(moved(shift, 1.0) for shift in (-1.0, 1.0)))
    assert worst(2, lambda chosen: laws, reading(Gaussian(1.0))) > TARGET


def test_repeats_are_charged_like_their_rounds():
    for filter_ in (GaussianFilter(5.0, TARGET), RenyiFilter(5.0, TARGET)):
        assert filter_.cost(Repeat(Gaussian(3.0), 7)) >= 7 * filter_.cost(Gaussian(3.0)) * (1 - 1e-12)
