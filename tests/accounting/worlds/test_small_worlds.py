"""Selections, local and shuffled reports, staircases and searches against small worlds with all their outcomes.

tests/oracles/finite_worlds.py lists the worlds, as test_federation.py's are listed: the noise as it is drawn, every
neighbour on a grid, over one to three rounds with adaptive choices. No enumerated pair exceeds the certified upper end,
and where a lower end is printed some pair attains it.
"""

import math
from collections import Counter
from dataclasses import fields
from fractions import Fraction
from itertools import product

import leaf_worlds
import nesting
import pytest
from cases import at_night, few
from finite_worlds import VIEWS, Finite, worlds
from leaves_nested import LEAVES
from leaves_nested import around as leaves_around
from nested_finite import around
from outcomes import joint, largest, pair
from part_worlds import PARTS, Parts
from range_worlds import cells, clamped, normal_below
from report_worlds import alone, response
from selection_worlds import streams, valued
from worlds import NOISES, SCHEMES, World

from dpcert import epsilon
from dpcert.mechanisms import (
    ApproximateDp,
    BestOfSeveral,
    CorrelatedGaussian,
    InputError,
    Mechanism,
    PureDp,
    SparseVector,
    Zcdp,
)

DELTAS = (0.0, 1e-3, 0.05, 0.3)
EVERY = {
    "noisy max": 38,
    "noisy max of many": 99,
    "sparse vector": 7,
    "staircase": 6,
    "best of several": 9,
    "shuffled bounds": 5,
    "groups": 12,
    "public ranges": 99,
}
CASES = [
    case
    for kind, listed in worlds().items()
    for case in few([(kind, at) for at in range(len(listed))], 2 * EVERY.get(kind, 5))
]


NESTED = [
    case for kind, listed in around().items() for case in few([(kind, at) for at in range(len(listed))], len(listed))
]


def answered(world: Finite, rounds: int) -> int:
    """How many questions about the world were answered, each checked."""
    found = 0
    for view, delta in product(VIEWS, DELTAS):
        try:
            bracket = world.ask(view, rounds, delta)
        except InputError:
            continue
        world.check(bracket, view, rounds, delta)
        found += 1
    return found


@pytest.mark.parametrize(("kind", "at"), NESTED)
def test_what_is_inside_of_each_other(kind, at):
    """At delta = 0 at least: the best of several of some schemes has no other answer."""
    assert answered(around()[kind][at], 1) >= 1


@pytest.mark.parametrize("leaf", few(sorted(LEAVES, key=["pure-dp", "staircase"].__contains__, reverse=True), 40))
def test_leaves_in_parts_for_groups_and_in_searches(leaf):
    """Public ranges, correlated noise and stated bounds among them: in cells, so at deltas that are not small.

    The best of several runs of cut noise or of a stated delta has no answer there, nor has a group of stated losses."""
    found, no_groups = Counter(), leaf == "loss-distribution"
    for world, delta in product(leaves_around(leaf), DELTAS[2:]):
        try:
            bracket = world.ask("hidden", 1, delta)
        except InputError:
            assert no_groups or isinstance(world.run, BestOfSeveral)
            continue
        world.check(bracket, "hidden", 1, delta)
        found[type(world.run).__name__] += 1
    assert found["Disjoint"] >= (6 if no_groups else 10)
    assert found["Group"] == (0 if no_groups else 6)


@pytest.mark.parametrize("leaf", ["pure-dp", "clamped-gaussian", "tree-aggregation"])
def test_a_group_that_is_priced_as_one_unit_is_caught(leaf):
    """The plant."""
    wrong = epsilon(LEAVES[leaf], 0.05, "zero-out").upper
    assert max(largest([one], 1, wrong)[0] for one in leaf_worlds.pairs(leaf, "zero-out", 2)) > 0.05


@pytest.mark.parametrize(("kind", "at"), CASES)
def test_no_pair_exceeds_the_upper_end_and_one_attains_the_lower(kind, at):
    assert answered(worlds()[kind][at], 1) >= len(DELTAS)


MANY_OUTCOMES = {"public ranges": 1, "histograms": 1, "shuffled reports": 2}
"""Rounds, where more have too many outcomes together: test_public_ranges.py and test_shuffle_model.py look at two."""

ROUNDS = [
    (kind, at, rounds)
    for kind, listed in worlds().items()
    for at, rounds in product(range(len(listed)), (2, 3))
    if rounds <= MANY_OUTCOMES.get(kind, 3)
]


@pytest.mark.nightly
@pytest.mark.parametrize(("kind", "at", "rounds"), ROUNDS)
def test_adaptive_choices_over_a_few_rounds(kind, at, rounds):
    assert answered(worlds()[kind][at], rounds) >= len(DELTAS)


@pytest.mark.parametrize("hits", [1, 2])
@pytest.mark.parametrize(("queries", "delta"), [(2, 0.05), at_night((1, 0.01)), at_night((3, 0.05))])
def test_sparse_vector_whose_values_are_released_too(queries, hits, delta):
    """Of one query above, or of two. Planted: what the values cost, forgotten; with two hits, one of them."""
    run = SparseVector(2.0, 4.0, hits=hits, value_scale=1.0)
    certified = epsilon(run, delta, "zero-out")
    forgotten = epsilon(SparseVector(2.0, 4.0, hits=hits), delta, "zero-out").upper
    values = (Fraction(0), Fraction(6)) if queries > 1 else (Fraction(-2), Fraction(0), Fraction(6))
    pairs = [valued(stream, hits, run) for stream in streams(queries, values, False)]
    assert max(largest([one], 1, certified.upper)[1] for one in pairs) <= delta
    assert queries < hits or max(largest([one], 1, forgotten)[0] for one in pairs) > delta


@pytest.mark.parametrize("delta", [0.02, 0.1])
def test_stated_bounds_of_several_currencies_together(delta):
    """What meets them: a Gaussian, binary reports, reports that fail at times. Planted: the Gaussian for nothing."""
    edges = cells(Fraction(-6), Fraction(7), 200)
    normal = pair(*(clamped(normal_below(Fraction(1), Fraction(at)), edges) for at in (0, 1)))
    fails = Fraction(1, 100)
    report = {
        row: {at: (1 - fails) * mass for at, mass in law.items()} for row, law in response(Fraction(1, 4), 2).items()
    }
    told = pair(report[0] | {"first": fails}, report[1] | {"second": fails})
    plain = alone(response(Fraction(1, 3), 2))
    world = [joint((normal, told, one)) for one in plain]
    log_odds = [math.log(odds) * (1 + 1e-15) for odds in (3, 2)]
    parts = [ApproximateDp(log_odds[0], 0.01), PureDp(log_odds[1])]
    assert largest(world, 1, epsilon([Zcdp(0.5), *parts], delta, "zero-out").upper)[0] <= delta
    assert largest(world, 1, epsilon(parts, delta, "zero-out").upper)[0] > delta


def test_every_kind_of_mechanism_has_a_world():
    """From the registry. Correlated noise: test_correlated_worlds.py; the stated bounds: test_federation.py,
    test_renyi_guarantees.py, test_loss_distributions.py; mixtures: test_nested_pairs.py."""
    elsewhere = {name for name, kind in nesting.kinds().items() if issubclass(kind, CorrelatedGaussian)}
    elsewhere |= {"ApproximateDp", "Zcdp", "RenyiDp", "LossDistribution", "MixtureOfGaussians"}
    seen = {kind for listed in worlds().values() for world in listed for kind in inside(world.run)}
    seen |= {kind for parts in PARTS for kind in inside(Parts(*parts, "zero-out", "hidden").run())}
    for noise, scheme in product(NOISES, SCHEMES):
        seen |= inside(World(noise, scheme, "zero-out", "hidden", clients=4, cohort=2, rounds=3, units=2).run())
    assert set(nesting.kinds()) == seen | elsewhere


def inside(run: object) -> set[str]:
    """The kinds of a description and of all that are within it."""
    if isinstance(run, tuple):
        return {kind for part in run for kind in inside(part)}
    if not isinstance(run, Mechanism):
        return set()
    return {type(run).__name__}.union(*(inside(getattr(run, field.name)) for field in fields(run)))  # type: ignore[arg-type]
