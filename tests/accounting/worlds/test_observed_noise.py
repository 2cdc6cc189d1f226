"""What an observer learns where the noise is not Gaussian, or clients bring it, against small federations in full.

As test_federation.py, for every such noise, scheme, relation and observer, with and without state: no enumerated pair
of neighbours exceeds the certified upper end, and some pair attains a lower end above 0. What is accepted at all:
docs/combinations.md.
"""

import math
import random
from itertools import product

import pytest
from cases import few
from drawing import drawn
from judging import hold, judged
from scipy.special import ndtr
from worlds import NOISES, OBSERVERS, RELATIONS, SCHEMES, World

from dpcert.accounting.billboard import Observer, faced_noise, observer_epsilon, observers
from dpcert.mechanisms import Disjoint, FixedSize, Gaussian, InputError, PureDp, ShuffledReports

COMBINATIONS = [
    (noise, scheme, relation, observer, "none", state)
    for noise in NOISES
    if noise != "gaussian"
    for scheme, relation, observer, state in product(SCHEMES, RELATIONS, OBSERVERS, ("stateful", "stateless"))
]
PARTS = 40


def small(noise: str, scheme: str, relation: str, sees: str, **sizes: float) -> World:
    return World(noise, scheme, relation, sees, "none", **{"clients": 2, "rounds": 1} | sizes)  # type: ignore[arg-type]


QUICK = [
    small("discrete-laplace", "truncated", "zero-out", "all others", rounds=2),
    small("discrete-laplace", "poisson", "add-remove", "one other", scale=0.6),
    small("discrete-laplace", "shown fixed-size", "replace-one", "outside"),
    small("discrete-gaussian", "poisson", "add-remove", "outside", rounds=2, scale=0.6),
    small("discrete-gaussian", "fixed-size", "zero-out", "final models", clients=3),
    small("laplace", "none", "zero-out", "one other", clients=3, rounds=2),
    small("laplace", "poisson", "replace-one", "outside", scale=0.6),
    small("distributed", "fixed-size", "zero-out", "outside", clients=3, cohort=2),
    small("skellam", "none", "zero-out", "outside"),
    small("shares", "fixed-size, everybody", "zero-out", "final models"),
    small("two gaussians", "fixed-size", "zero-out", "all others", scale=2.0, delta=0.3),
    small("two lattices", "shown poisson", "zero-out", "all others", scale=2.0, delta=0.3),
]


@pytest.mark.parametrize("world", few(QUICK, 4), ids=lambda world: f"{world.noise}, {world.scheme}, {world.sees}")
def test_a_few_observers(world):
    assert judged(world, extreme=True) == "bracketed"


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(PARTS))
def test_every_observer(part):
    rng = random.Random(part)
    for combination in COMBINATIONS[part::PARTS]:
        judged(drawn(combination, rng), extreme=False)


def nothing(*arguments):
    """A check that has been taken out."""


def test_a_coalition_that_knows_its_shares_of_the_noise_is_noticed(monkeypatch):
    """The plant: the others' noise still protects whoever they look at."""
    world = small("distributed", "none", "zero-out", "all others")
    with pytest.raises(InputError):
        world.ask()
    monkeypatch.setattr(faced_noise, "refuse_known_shares", nothing)
    with pytest.raises(AssertionError, match="is at least"):
        judged(world, extreme=True)


def test_a_cut_cohort_that_is_taken_for_seen_is_noticed(monkeypatch):
    """What was printed: as the lower end, the cost to somebody who does see who takes part."""
    world = QUICK[0]
    hold(world.ask(), world.most, world.delta)
    monkeypatch.setattr(observers, "_truly_known", lambda *_: True)
    with pytest.raises(AssertionError, match=r"is in \["):
        judged(world, extreme=True)


def test_cohorts_inside_of_disjoint_ones_are_known_to_the_others(monkeypatch):
    """What was certified: the price of hidden ones. Half the time the unit is seen to take part, beside N(0, 1)."""
    part = FixedSize(Gaussian(1.0), population=4, cohort=2)
    asked = Disjoint(part, part), Observer("coalition"), 0.02, "zero-out"
    with pytest.raises(InputError, match="not proved"):
        observer_epsilon(*asked)
    monkeypatch.setattr(observers, "refuse_unproved", nothing)
    wrong = observer_epsilon(*asked).epsilon.upper
    assert (ndtr(0.5 - wrong) - math.exp(wrong) * ndtr(-0.5 - wrong)) / 2 > 0.02


@pytest.mark.parametrize("relation", ["add-remove", "zero-out"])
def test_the_others_count_the_reports(relation, monkeypatch):
    """What was certified: one report's epsilon, for a unit whose report is missing where it is absent."""
    asked = ShuffledReports(PureDp(1.0), 3), Observer("coalition"), 0.02, relation
    with pytest.raises(InputError, match="always reports"):
        observer_epsilon(*asked)
    monkeypatch.setattr(observers, "refuse_unproved", nothing)
    assert observer_epsilon(*asked).epsilon.upper < math.inf
