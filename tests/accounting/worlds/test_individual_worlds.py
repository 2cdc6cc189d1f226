"""Individual budgets in small worlds: whoever takes part, and however it is chosen, the unit's budget is kept."""

import itertools
import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from adaptive import excess, moment, worst
from cases import few
from individual_worlds import Move, moves, options

from dpcert.accounting.ledger.individual import IndividualBudgets, Participations
from dpcert.mechanisms import InputError, MatrixFactorisation

SIZES = (0.6, 0.95)
DATA = {
    "add-remove": [(size, None) for size in SIZES],
    "zero-out": [(size, 0.0) for size in SIZES],
    "replace-one": [(0.95, -0.6), (0.3, -0.3), (0.0, 0.95)],
}
"""The unit's contributions in both worlds, among which the adversary chooses each round."""

MOST = 1.7
"""The budget of squared moves: of the larger contributions one and a half fit."""


def squared(relation):
    """What a round costs whoever moves the sum so far: as a replacement that goes to the other side, too."""
    factor = 2.0 if relation == "replace-one" else 1.0
    return lambda size: (factor * size) ** 2


def kept(relation, back, cost, make=IndividualBudgets, most=MOST, stages=2, waits=False, menu=None):
    """By how much the worst adversary exceeds what the budget stands for: D_2 <= budget; delta(1) of that shift."""
    budget = most * (4 if relation == "replace-one" else 1)
    choices = options(make(2, budget), menu or moves(DATA[relation], [0.8]), cost, back=back, waits=waits)
    renyi = math.log(worst(stages, choices, moment(2.0))) - budget
    return max(renyi, worst(stages, choices, excess(1.0)) - profile(budget))


def profile(square):
    """delta(1) of Gaussian noise moved by the root."""
    with mpmath.workdps(30):
        mu = mpmath.sqrt(square)
        return float(mpmath.ncdf(mu / 2 - 1 / mu) - mpmath.e * mpmath.ncdf(-mu / 2 - 1 / mu))


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("relation", few(list(DATA), 4))
def test_no_adversary_takes_more_than_the_budget(relation, back):
    """The unit is named in any order; it drops out; the other one is charged beside it."""
    assert kept(relation, back, squared(relation)) <= 1e-12


def test_a_budget_is_spent_in_full():
    """One contribution that just fits shows all that it may: the search finds it, to the width of cells."""
    choices = options(IndividualBudgets(2, MOST), [Move((0,), (math.sqrt(MOST) * (1 - 1e-12), None), 0.0)], squared(""))
    assert worst(1, choices, excess(1.0)) > 0.99 * profile(MOST)


class Sorted(IndividualBudgets):
    """The plant: costs are those of the clients in another order."""

    def charge(self, clients, cost):
        return super().charge(np.sort(clients), cost)


class Least(IndividualBudgets):
    """The plant: one cost for all that are named."""

    def charge(self, clients, cost):
        return super().charge(clients, cost.min(initial=math.inf))


class Everybody(IndividualBudgets):
    """The plant: who cannot be charged is not left out."""

    def charge(self, clients, cost):
        return np.ones_like(super().charge(clients, cost))


class Forgetful(IndividualBudgets):
    """The plant: whoever is not named once has a whole budget again."""

    def charge(self, clients, cost):
        self.spent[[client for client in range(len(self.spent)) if client not in clients]] = 0.0
        return super().charge(clients, cost)


@pytest.mark.parametrize("make", [Sorted, Least, Everybody])
def test_planted_budgets_are_caught(make):
    assert kept("add-remove", False, squared("add-remove"), make) > 0.05


@pytest.mark.parametrize(("make", "caught"), [(IndividualBudgets, False), (Forgetful, True)])
def test_a_unit_that_pauses_is_remembered(make, caught):
    """Three rounds, and the other one alone in one of them."""
    menu = [Move((0,), (0.95, None), 0.0), Move((1,), (0.0, None), 0.8)]
    assert (kept("add-remove", False, squared(""), make, stages=3, menu=menu) > 0.05) == caught


def test_a_replacement_charged_as_an_absence_is_caught():
    """The plant: a unit whose data go to the other side moves the sum twice as far."""
    assert kept("replace-one", False, squared("add-remove"), most=MOST / 4) > 0.1


def test_a_contribution_that_is_added_late_is_caught():
    """The plant: in one sum two of them move it by more than their squares add up to."""
    assert kept("add-remove", False, squared("add-remove"), waits=True) > 0.1


ENCODER = [[2 / (2 + row - column) if row >= column else 0.0 for column in range(6)] for row in range(6)]


def farthest(make):
    """The largest squared move, exactly, over every schedule that is let through, and all signs of contributions."""
    most = Fraction(0)
    for schedule in product((False, True), repeat=6):
        seen = make(1, 2, 2)
        try:
            for round_index in itertools.compress(range(6), schedule):
                seen.record(round_index, np.array([0]))
        except InputError:
            continue
        for signs in product((-1, 1), repeat=sum(schedule)):
            columns = list(zip(signs, itertools.compress(range(6), schedule), strict=True))
            most = max(most, sum(sum(sign * Fraction(row[k]) for sign, k in columns) ** 2 for row in ENCODER))
    return most


class Sooner(Participations):
    """The plant: a round too soon."""

    def __init__(self, clients, min_separation, max_participations):
        super().__init__(clients, min_separation - 1, max_participations)


def test_who_is_let_through_moves_correlated_noise_no_farther_than_it_is_priced():
    noise = MatrixFactorisation(1.0, ENCODER, 2, 2)
    attained, most = noise.squared_sensitivity()
    assert attained <= farthest(Participations) <= most
    assert farthest(Sooner) > most * 1.05
