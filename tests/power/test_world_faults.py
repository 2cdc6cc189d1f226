"""For each kind of small world a wrong number that it must catch. What they found: test_faults_found_in_worlds.py."""

import math
from fractions import Fraction

import pytest
from banded_worlds import TILTED, Banded
from cases import few
from finite_worlds import Finite, worlds
from part_worlds import RESOLVED, Parts
from worlds import ADDITIVE, World

from dpcert.accounting import Bracket, epsilon
from dpcert.mechanisms import (
    BestOfSeveral,
    BoundedLaplace,
    Gaussian,
    Group,
    Laplace,
    Poisson,
    PureDp,
    RandomizedResponse,
    Repeat,
    ReportNoisyMax,
    ShuffledReports,
    SparseVector,
    StableHistogram,
    Staircase,
    TruncatedLaplace,
    UnaryEncoding,
)


def world_of(kind, run, relation="replace-one"):
    return next(world for world in worlds()[kind] if world.run == run and world.relation == relation)


def signed(noise):
    """Signed votes at epsilon 2: the second listed of the relation."""
    both = [w for w in worlds()["noisy max"] if w.run == ReportNoisyMax(2.0, noise) and w.relation == "zero-out"]
    return both[1]


WRONG = {
    "signed votes by the constant of monotone ones": (signed("gumbel"), ReportNoisyMax(1.0, "gumbel"), 0.05),
    "permute and flip within the range of the exponential mechanism": (
        signed("exponential"),
        ReportNoisyMax(2.0, "gumbel"),
        0.05,
    ),
    "Laplace noise within that range": (signed("laplace"), ReportNoisyMax(2.0, "gumbel"), 0.05),
    "the threshold's noise for nothing": (
        world_of("sparse vector", SparseVector(2.0, 4.0, monotone=True)),
        PureDp(0.25),
        0.0,
    ),
    "a second hit for nothing": (
        world_of("sparse vector", SparseVector(2.0, 4.0, hits=2)),
        PureDp(0.5),
        0.0,
    ),
    "a staircase of other steps": (world_of("staircase", Staircase(2.0, 0.5)), Staircase(2.0, 0.875), 0.3),
    "a range for nothing": (world_of("public ranges", BoundedLaplace(0.5, 2.0), "zero-out"), Laplace(0.5), 0.001),
    "the ends of cut noise for nothing": (
        world_of("public ranges", TruncatedLaplace(2.0, 9.0), "zero-out"),
        Laplace(2.0),
        0.001,
    ),
    "a group that nobody else is in for nothing": (
        world_of("histograms", StableHistogram(Laplace(1.0), 4.0), "zero-out"),
        Laplace(1.0),
        0.01,
    ),
    "kept bits alone": (
        world_of("reports", UnaryEncoding(0.5, 0.25)),
        RandomizedResponse(0.375),
        0.05,
    ),
    "a group's reports as one unit's": (
        world_of("reports", Group(RandomizedResponse(0.25), 2)),
        RandomizedResponse(0.25),
        0.05,
    ),
    "one report more than there are": (
        world_of("shuffled reports", ShuffledReports(RandomizedResponse(0.5, 3), 2)),
        ShuffledReports(RandomizedResponse(0.5, 3), 6),
        0.05,
    ),
    "clones as of more reports": (
        world_of("shuffled bounds", ShuffledReports(PureDp(math.log(5) * (1 + 1e-15)), 2)),
        ShuffledReports(PureDp(math.log(5) * (1 + 1e-15)), 8),
        0.3,
    ),
    "the best of several for one": (
        world_of("best of several", BestOfSeveral(RandomizedResponse(0.4, 3), 0.1, 2.0)),
        RandomizedResponse(0.4, 3),
        0.05,
    ),
    "a Poisson number of runs as one": (
        world_of("best of several", BestOfSeveral(RandomizedResponse(0.4, 3), poisson_mean=2.0)),
        RandomizedResponse(0.4, 3),
        0.05,
    ),
    "a group's votes as one unit's": (
        world_of("groups", Group(ReportNoisyMax(0.5, "laplace"), 2)),
        ReportNoisyMax(0.5, "laplace"),
        0.05,
    ),
}


@pytest.mark.parametrize("fault", few(WRONG, 8))
def test_a_number_that_is_too_small_is_caught(fault):
    world, priced, delta = WRONG[fault]
    with pytest.raises(AssertionError, match="is at least"):
        world.check(epsilon(priced, delta, world.relation), "hidden", 1, delta)


@pytest.mark.parametrize("kind", ["noisy max", "staircase", "reports", "shuffled reports", "best of several"])
def test_a_lower_end_that_nobody_attains_is_caught(kind):
    """The plant: a lower end that is above the upper one by a twentieth."""
    world: Finite = worlds()[kind][-1]
    above = 1.05 * world.ask("hidden", 1, 0.01).upper
    with pytest.raises(AssertionError, match="below"):
        world.check(Bracket(above, math.inf, True, "planted"), "hidden", 1, 0.01)


@pytest.mark.parametrize("noise", ADDITIVE)
def test_a_group_for_one_unit_is_caught(noise):
    world = World(noise, "none", "zero-out", "hidden", clients=2, rounds=1, units=2)
    one = epsilon(world.base(), world.delta, "zero-out").upper
    assert world.most(one, lambda low, high: low > world.delta)[0] > world.delta


def test_a_group_by_one_coin_s_worth_of_users_is_caught():
    """A user with two examples taken for two rounds of one."""
    world = World("gaussian", "poisson", "zero-out", "hidden", clients=2, rounds=1, rate=0.2, units=2)
    apart = epsilon(Repeat(Poisson(Gaussian(1.0), 0.2), 2), world.delta, "zero-out").upper
    assert world.most(apart, lambda low, high: low > world.delta)[0] > world.delta


def test_a_coin_for_each_of_several_releases_is_caught():
    world = World("two lattices", "poisson", "zero-out", "hidden", clients=2, rounds=1, rate=0.5, delta=0.02)
    noises = world.base().mechanisms  # type: ignore[attr-defined]
    apart = epsilon([Poisson(noise, 0.5) for noise in noises], world.delta, "zero-out").upper
    assert apart < world.ask().lower
    assert world.most(apart, lambda low, high: low > world.delta)[0] > world.delta


def test_the_largest_part_alone_for_a_replaced_unit_is_caught():
    world = Parts(("laplace", "laplace"), (1.0, 1.0), (1.0, 1.0), 1, "replace-one", "hidden")
    largest_part = epsilon(Laplace(1.0), world.delta, "add-remove").upper
    assert world.most(largest_part, lambda low, high: low > world.delta)[0] > world.delta


def test_one_pass_of_two_is_caught():
    world = Banded(TILTED, 2, Fraction(1, 4), Fraction(3, 4), "zero-out", "visible")
    one = epsilon(Poisson(Gaussian(0.75), 0.25), 0.1, "zero-out", participation="visible").upper
    assert world.most(one, RESOLVED * 0.1, lambda low, high: low > 0.1)[0] > 0.1
