"""Everything that the accountants accept, against small federations in full (tests/oracles/federation.py).

For every combination of noise, sampling, relation and observer that gets an answer: no enumerated pair of neighbours
exceeds the certified upper end, and where a lower end is printed some pair attains it. The oracle's divergences are
proved enclosures (tests/oracles/hockey_stick.py), narrowed to RESOLVED of delta. docs/combinations.md lists every
combination (test_combinations.py).
"""

import math
import random
from collections import Counter
from fractions import Fraction
from itertools import islice, product

import pytest
from cases import few
from drawing import drawn, grouped
from judging import judged
from worlds import ADDITIVE, AGGREGATIONS, NOISES, OBSERVERS, RELATIONS, SCHEMES, VIEWS, World

from dpcert.accounting import delta, epsilon
from dpcert.mechanisms import (
    ApproximateDp,
    PureDp,
    RandomizedResponse,
    Repeat,
    Zcdp,
)

QUICK = 300
COMBINATIONS = [(n, s, r, v, "", "") for n in NOISES for s in SCHEMES for r in RELATIONS for v in VIEWS] + [
    ("gaussian", *rest) for rest in product(SCHEMES, RELATIONS, OBSERVERS, AGGREGATIONS, ("stateful", "stateless"))
]
GROUPS = [(n, s, r, v, "", "") for n in (*ADDITIVE, "distributed") for s in SCHEMES for r in RELATIONS for v in VIEWS]


def quick(seed: int, worlds: int) -> list[World]:
    """So many worlds of combinations drawn at random, without those that take seconds."""
    rng = random.Random(seed)
    chosen = (drawn(combination, rng) for combination in rng.sample(COMBINATIONS, 3 * worlds))
    return list(islice((world for world in chosen if not slow(world)), worlds))


def quick_groups(seed: int, worlds: int) -> list[World]:
    """Of groups, likewise."""
    rng = random.Random(seed)
    chosen = (grouped(combination, rng) for combination in rng.sample(GROUPS, 3 * worlds))
    return list(islice((world for world in chosen if not slow(world)), worlds))


def slow(world: World) -> bool:
    """Three released coordinates, many coins that are seen, hidden cohorts that are solved, two noises cut."""
    fixed = world.scheme == "fixed-size" and world.relation == "zero-out"
    seen = world.scheme == "shown poisson" and world.clients > 2
    two = world.noise == "gaussian and laplace" and world.scheme == "truncated"
    return two or world.rounds * world.dimension > 2 or ((fixed or seen) and world.rounds > 1)


@pytest.mark.parametrize("part", few(range(4), 8))
def test_a_sample_of_all_worlds(part):
    found = Counter(judged(world, extreme=True) for world in quick(2026 + part, QUICK // 4))
    assert found["bracketed"] >= 15


def test_a_sample_of_all_groups():
    """A tenth of them have an answer (docs/combinations.md)."""
    assert Counter(judged(world, extreme=True) for world in quick_groups(2026, 30))["bracketed"] >= 2


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(10))
def test_every_group(part):
    rng = random.Random(part)
    for combination in GROUPS[part::10]:
        judged(grouped(combination, rng), extreme=False)


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(40))
def test_every_combination(part):
    rng = random.Random(part)
    for combination in COMBINATIONS[part::40]:
        judged(drawn(combination, rng), extreme=False)


@pytest.mark.nightly
@pytest.mark.parametrize(("relation", "noise"), list(product(RELATIONS[1:], ("gaussian", "distributed"))))
@pytest.mark.parametrize(("clients", "cohort", "rounds", "scale"), [(4, 3, 2, 2.0), (3, 2, 3, 1.0), (2, 1, 3, 0.6)])
def test_hidden_cohorts_whose_data_follow_the_rounds_before(relation, noise, clients, cohort, rounds, scale):
    """Their lower ends are such federations': test_nested_worlds.py has the plant."""
    world = World(noise, "fixed-size", relation, "hidden", None, False, clients, cohort, rounds, scale=scale, delta=0.1)
    assert world.is_solved
    assert judged(world, extreme=True) == "bracketed"


def test_before_whoever_sees_releases_alone_data_follow_them_too():
    """The lower end is such a federation's: fixed data reveal .4% less of delta."""
    sees = "outside", "secure, dropouts"
    world = World("gaussian", "fixed-size", "zero-out", *sees, clients=4, cohort=2, scale=2.0, delta=0.02)
    assert world.is_solved
    assert judged(world, extreme=False) == "bracketed"


@pytest.mark.parametrize("relation", few(RELATIONS, 6))
def test_the_oracle_finds_half_the_sensitivity_and_the_wrong_rate(relation):
    world = World("gaussian", "poisson", relation, "hidden", rate=0.2)
    bracket = world.ask()
    for worse in (
        World("gaussian", "poisson", relation, "hidden", rate=0.2, scale=0.9),
        World("gaussian", "poisson", relation, "hidden", rate=0.25),
        World("gaussian", "poisson", relation, "hidden", rate=0.2, rounds=3, clients=2),
    ):
        low, _ = worse.most(bracket.upper, lambda low, high: low > world.delta)
        assert low > world.delta


def responses(flip: Fraction, categories: int, rounds: int, epsilon_: float) -> Fraction:
    """delta of reports of category 0 against category 1, in exact rationals but for e^epsilon, rounded up."""
    odds = Fraction(math.nextafter(math.exp(epsilon_), math.inf))
    other = flip / (categories - 1)
    total = Fraction(0)
    for reports in product(range(categories), repeat=rounds):
        p = math.prod((1 - flip if r == 0 else other for r in reports), start=Fraction(1))
        q = math.prod((1 - flip if r == 1 else other for r in reports), start=Fraction(1))
        total += max(Fraction(0), p - odds * q)
    return total


@pytest.mark.parametrize(("flip", "categories"), [(Fraction(1, 4), 2), (Fraction(1, 2), 3), (Fraction(1, 8), 4)])
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_randomized_response_in_exact_rationals(flip, categories, rounds):
    run = Repeat(RandomizedResponse(float(flip), categories), rounds)
    for target in (0.01, 0.2):
        bracket = epsilon(run, target, "replace-one")
        assert responses(flip, categories, rounds, bracket.upper * (1 + 1e-12)) <= target
        assert (
            responses(flip, categories, rounds, bracket.lower * (1 - 1e-9)) >= target * (1 - 1e-9) or not bracket.lower
        )
    for at in (0.1, 0.7):
        bracket = delta(run, at, "replace-one")
        assert float(bracket.lower) - 1e-12 <= responses(flip, categories, rounds, at) <= bracket.upper + 1e-12


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_stated_bounds_cover_a_mechanism_that_meets_them(rounds):
    """epsilon-DP: binary randomised response; rho-zCDP: a Gaussian; (epsilon, delta)-DP: that and a full disclosure."""
    flip = Fraction(1, 4)
    pure = epsilon(Repeat(PureDp(math.log(3) * (1 + 1e-15)), rounds), 0.05, "replace-one").upper
    assert responses(flip, 2, rounds, pure) <= 0.05
    loss = epsilon(Repeat(ApproximateDp(math.log(3) * (1 + 1e-15), 0.01), rounds), 0.2, "replace-one").upper
    told = 1 - 0.99**rounds
    assert told + (1 - told) * float(responses(flip, 2, rounds, loss)) <= 0.2 + 1e-12
    bound = epsilon(Repeat(Zcdp(0.5), rounds), 0.05, "zero-out").upper
    gaussian = World("gaussian", "none", "zero-out", "hidden", rounds=rounds)
    assert gaussian.most(bound)[1] <= 0.05
