"""Filters, odometer and individual budgets before adversaries who choose the next mechanism from the last output."""

import math
from copy import copy, deepcopy

import numpy as np
import pytest
from adaptive import excess, laplace, moment, most_exceeded, sampled_gaussian, worst
from cases import few
from scipy.special import ndtr

from dpcert.accounting.ledger import (
    BudgetExceeded,
    GaussianFilter,
    Ledger,
    MemoryStore,
    PureFilter,
    RenyiFilter,
    RenyiOdometer,
    RunningEpsilon,
    ZcdpFilter,
    odometer,
)
from dpcert.accounting.ledger.individual import IndividualBudgets
from dpcert.accounting.ledger.ledger import _Known
from dpcert.accounting.renyi.conversions import best_epsilon
from dpcert.mechanisms import Gaussian, Laplace, Poisson, RandomizedResponse, Repeat, UnaryEncoding

MENU = [Gaussian(0.8), Gaussian(1.3), Gaussian(3.0), Poisson(Gaussian(0.7), 0.3), Poisson(Gaussian(1.0), 0.1)]
TARGET = 0.05


def masses(mechanism, added):
    if isinstance(mechanism, Laplace):
        return laplace(mechanism.noise_multiplier, added=added)
    if isinstance(mechanism, Poisson):
        return sampled_gaussian(mechanism.mechanism.noise_multiplier, mechanism.sampling_rate, added=added)
    return sampled_gaussian(mechanism.noise_multiplier, added=added)


def allowed(make, menu, added):
    """What a fresh filter lets through after the mechanisms chosen so far."""
    laws = [masses(mechanism, added) for mechanism in menu]
    known, fresh = {}, make()

    def options(chosen):
        if chosen not in known:
            filter_ = deepcopy(fresh)
            for number in chosen:
                filter_.record(menu[number])
            known[chosen] = [(k, laws[k]) for k, one in enumerate(menu) if not filter_.would_exceed(one)]
        return known[chosen]

    return options


MOST = {
    "gaussian": (lambda epsilon: GaussianFilter(epsilon, TARGET), MENU[:3]),
    "renyi": (lambda epsilon: RenyiFilter(epsilon, TARGET), MENU),
    "renyi, another order": (lambda epsilon: RenyiFilter(epsilon, TARGET, order=3.0), MENU[1:4]),
    "ledger": (lambda epsilon: Spent(RenyiFilter(epsilon, TARGET)), [Gaussian(1.3), MENU[3]]),
}
"""Filters of (epsilon, TARGET), each with what may be run."""


class Spent:
    """A ledger's budget, looked at like a filter's: each release is recorded by another run."""

    def __init__(self, budget):
        self.budget, self.store = budget, MemoryStore()

    def record(self, mechanism):
        Ledger(self.store).spend(mechanism, lambda: copy(self.budget))

    def would_exceed(self, mechanism):
        try:
            deepcopy(self).record(mechanism)
        except BudgetExceeded:
            return True
        return False


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("kind", MOST)
@pytest.mark.parametrize("epsilon", few([1.5, 3.0], 4))
def test_no_adversary_of_two_stages_exceeds_a_filter(kind, added, epsilon):
    make, menu = MOST[kind]
    assert worst(2, allowed(lambda: make(epsilon), menu, added), excess(epsilon)) <= TARGET


@pytest.mark.parametrize("added", [False, True])
def test_no_adversary_of_two_stages_exceeds_a_pure_filter(added):
    """Laplace noise of 2 and 4: a loss of 1/2 or 1/4 each. Planted: a budget a quarter larger."""
    menu = [Laplace(2.0), Laplace(4.0)]
    found = [
        worst(2, allowed(lambda most=most: PureFilter(most), menu, added), excess(0.8)) for most in (0.8, 0.8 * 1.25)
    ]
    assert found[0] < 1e-14
    assert found[1] > 1e-3


@pytest.mark.parametrize("order", few([1.5, 3.0], 4))
@pytest.mark.parametrize("added", [False, True])
def test_no_adversary_of_two_stages_exceeds_a_zcdp_filter(order, added):
    """D_alpha of the whole interaction is at most rho alpha. Planted: a budget a third larger."""
    found = [
        math.log(worst(2, allowed(lambda most=most: ZcdpFilter(most), MENU, added), moment(order))) / (order - 1)
        for most in (0.6, 0.8)
    ]
    assert found[0] <= 0.6 * order < found[1]


@pytest.mark.parametrize("kind", ["renyi", "renyi, another order"])
def test_the_renyi_filters_own_divergence_is_kept(kind):
    """At its order, whose conversion has a margin. Planted: one Poisson round in two is charged."""
    make, menu = MOST[kind][0], MENU[2:4]
    filter_ = make(2.0)
    order, budget = filter_.order, filter_.budget

    def forgetful():
        wrong = copy(filter_)
        wrong.cost = lambda mechanism: filter_.cost(mechanism) / (2 if isinstance(mechanism, Poisson) else 1)
        return wrong

    found = [
        math.log(worst(2, allowed(maker, menu, False), moment(order))) / (order - 1)
        for maker in (lambda: copy(filter_), forgetful)
    ]
    assert found[0] <= budget * (1 + 1e-12)
    assert found[1] > budget


def test_a_filter_that_lets_a_third_more_through_is_caught():
    """The plant."""
    assert worst(2, allowed(lambda: GaussianFilter(4.0, TARGET), MENU[:3], False), excess(3.0)) > TARGET


def test_a_ledger_that_looks_at_its_own_runs_releases_only_is_caught(monkeypatch):
    """The plant: a budget for each run, of which there are two."""
    make, menu = MOST["ledger"]

    def uncounted(self, new):
        return _Known(self.events + len(new), new[-1][0].hash, self.counts)

    monkeypatch.setattr(_Known, "with_events", uncounted)
    assert worst(2, allowed(lambda: make(3.0), [*menu, MENU[0]], False), excess(3.0)) > TARGET


def test_the_gaussian_filter_is_spent_in_full_by_one_release():
    """Its budget is exact: the least noise that it lets through needs its epsilon."""
    filter_ = GaussianFilter(2.0, TARGET)
    z = filter_.budget**-0.5 * (1 + 1e-9)
    assert not filter_.would_exceed(Gaussian(z))
    found = worst(1, lambda chosen: [(0, sampled_gaussian(z, cells=4000))], excess(2.0))
    assert 0.999 * TARGET <= found <= TARGET


UNLIKELY, FREQUENT = UnaryEncoding(0.01, 1e-5), RandomizedResponse(0.3)
REPORTS = [
    [(a * b, c * d) for a, c in ((0.01, 1e-5), (0.99, 1 - 1e-5)) for b, d in ((1e-5, 0.01), (1 - 1e-5, 0.99))],
    [(0.7, 0.3), (0.3, 0.7)],
]
"""Outcomes of both: of a bit that is seldom set, and tells much where it is; of a flipped one."""


def read(order, delta):
    """The odometer's reading after reports so chosen."""
    costs = []
    for report in (UNLIKELY, FREQUENT):
        odometer = RenyiOdometer(delta, order, neighbouring="replace-one")
        odometer.record(report)
        costs.append(odometer.spent)

    def reading(chosen):
        odometer = RenyiOdometer(delta, order, neighbouring="replace-one")
        odometer.spent = sum(costs[number] for number in chosen)
        return odometer.epsilon

    return reading


@pytest.mark.parametrize(("order", "delta"), few([(2.0, 0.005), (3.0, 0.005), (8.0, 0.001), (8.0, 0.005)], 4))
def test_the_odometer_holds_at_every_moment_at_once(order, delta, monkeypatch):
    """The loss exceeds the reading at some moment with probability delta at most, whatever the adversary does.

    What was shipped: a filter's conversion, which bounds delta(epsilon), and not how likely a larger loss is; budgets
    in steps, with a share of delta each."""
    assert most_exceeded(3, REPORTS, read(order, delta)) <= delta
    monkeypatch.setattr(odometer, "mironov_epsilon", lambda a, spent, d: best_epsilon(a, spent, 6 * d / math.pi**2))
    assert most_exceeded(3, REPORTS, read(order, delta)) > 1.9 * delta


def test_individual_budgets_keep_what_the_gaussian_filter_keeps(monkeypatch):
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

    assert worst(2, options, excess(epsilon)) <= TARGET
    monkeypatch.setattr(IndividualBudgets, "charge", lambda *_: None)  # planted: what was spent is forgotten
    assert worst(2, options, excess(epsilon)) > TARGET


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
    found = worst(2, options, excess(certified))
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
    assert worst(2, lambda chosen: laws, excess(reading(Gaussian(1.0)))) > TARGET


def test_repeats_are_charged_like_their_rounds():
    for filter_ in (GaussianFilter(5.0, TARGET), RenyiFilter(5.0, TARGET)):
        assert filter_.cost(Repeat(Gaussian(3.0), 7)) >= 7 * filter_.cost(Gaussian(3.0)) * (1 - 1e-12)
