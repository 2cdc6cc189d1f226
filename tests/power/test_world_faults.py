"""For each kind of small world a wrong number that it must catch, and the faults that were found by them."""

import math
from fractions import Fraction
from importlib import import_module

import pytest
from banded_worlds import TILTED, Banded
from finite_worlds import F, Finite, worlds
from outcomes import largest, pair
from part_worlds import RESOLVED, Parts
from report_worlds import alone, response
from worlds import ADDITIVE, World

from dpcert.accounting import Bracket, epsilon
from dpcert.accounting.billboard import Observer, observer_epsilon, observers
from dpcert.accounting.billboard.guarantees import OUTSIDE
from dpcert.mechanisms import (
    BestOfSeveral,
    BoundedLaplace,
    Cyclic,
    Disjoint,
    DistributedGaussian,
    Gaussian,
    Group,
    InputError,
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

dominating = import_module("dpcert.accounting.dominating")


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
    "a group's votes as one unit's": (
        world_of("groups", Group(ReportNoisyMax(0.5, "laplace"), 2)),
        ReportNoisyMax(0.5, "laplace"),
        0.05,
    ),
}


@pytest.mark.parametrize("fault", WRONG)
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


def nothing(*arguments, **options):
    """A check that has been taken out."""


@pytest.mark.parametrize("scheme", ["cyclic", "group"])
def test_a_cohort_of_random_size_inside_of_another_scheme(scheme, monkeypatch):
    """A Poisson cohort brings a random amount of noise, also as a batch of a cyclic pass, or for a group."""
    world = World("distributed", "poisson", "zero-out", "hidden", clients=3, rounds=1, rate=0.5)
    inner = Poisson(DistributedGaussian(math.sqrt(3.0)), 0.5)
    run = Cyclic(inner, 2) if scheme == "cyclic" else Group(inner, 2)
    with pytest.raises(InputError, match="random"):
        epsilon(run, world.delta, "zero-out")
    monkeypatch.setattr(dominating, "refuse_absent_shares", nothing)
    bracket = epsilon(run, world.delta, "zero-out")
    if scheme == "cyclic":
        assert world.most(bracket.upper, lambda low, high: low > world.delta)[0] > world.delta


def test_an_absent_client_s_noise_before_an_outside_reader(monkeypatch):
    world = World("distributed", "none", "add-remove", "hidden", clients=2, rounds=1)
    run = DistributedGaussian(math.sqrt(2.0))
    with pytest.raises(InputError, match="bring this noise themselves"):
        observer_epsilon(run, OUTSIDE, world.delta, "add-remove")
    monkeypatch.setattr(observers, "refuse_absent_shares", nothing)
    wrong = observer_epsilon(run, OUTSIDE, world.delta, "add-remove").epsilon.upper
    assert world.most(wrong, lambda low, high: low > world.delta)[0] > world.delta


@pytest.mark.parametrize("colluders", [None, 1])
def test_who_sent_a_report_knows_it(colluders, monkeypatch):
    """Of two shuffled reports the other client knows one, and so both."""
    run, observer = ShuffledReports(RandomizedResponse(0.25), 2), Observer("coalition", colluders)
    pairs = alone(response(F(1, 4), 2))
    assert largest(pairs, 1, observer_epsilon(run, observer, 0.05, "replace-one").epsilon.upper)[0] <= 0.05
    monkeypatch.setattr(observers, "without_known_reports", lambda run, observer: run)
    wrong = observer_epsilon(run, observer, 0.05, "replace-one").epsilon.upper
    assert largest(pairs, 1, wrong)[0] > 0.05


@pytest.mark.parametrize("view", [{"participation": "visible"}, {"notion": "joint"}])
def test_who_counts_the_runs_learns_more_than_the_best(view):
    """The plant is what was certified: the best of a secret number of runs, seen with the number."""
    run = BestOfSeveral(RandomizedResponse(0.25), 0.1)
    with pytest.raises(InputError, match="secret"):
        epsilon(run, 0.01, "replace-one", **view)
    with pytest.raises(InputError, match="secret"):
        observer_epsilon(run, Observer("coalition"), 0.01, "replace-one")
    certified = epsilon(run, 0.01, "replace-one").upper

    def law(first):
        """The number of runs, and whether the second answer, the better one, came up in one of them."""
        found = {}
        for k in range(1, 80):
            mass = F(1, 10) * F(9, 10) ** (k - 1)
            found[k, False], found[k, True] = mass * first**k, mass * (1 - first**k)
        return found

    low, _ = largest([pair(law(F(3, 4)), law(F(1, 4)))], 1, certified)
    assert low > 0.01


def test_a_histogram_inside_of_another_scheme(monkeypatch):
    """The plant is what was certified: one group that the unit alone is in, whatever the histogram. A group that many
    are in costs its noise, of which half a unit's move tells them apart."""
    histogram = StableHistogram(Laplace(1.0), threshold=8.0, buckets=2)
    for run in (Cyclic(histogram, 4), Poisson(histogram, 1.0), Disjoint(Cyclic(histogram, 4))):
        with pytest.raises(InputError, match="by itself"):
            epsilon(run, 0.01, "zero-out")
    monkeypatch.setattr(import_module("dpcert.accounting.ways"), "_refuse_histogram_inside", nothing)
    wrong = epsilon(Cyclic(histogram, 4), 0.01, "zero-out").upper
    world = World("laplace", "none", "zero-out", "hidden", clients=2, rounds=1, delta=0.01)
    assert world.most(wrong, lambda low, high: low > 0.01)[0] > 0.01
