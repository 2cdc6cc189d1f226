"""Disjoint releases, and banded noise with cyclic Poisson cohorts, against small worlds in full."""

from fractions import Fraction
from itertools import product

import pytest
from banded_worlds import ENCODERS, Banded
from cases import at_night, few
from judging import RESOLVED, hold
from part_worlds import PARTS, Parts

from dpcert import epsilon
from dpcert.mechanisms import BandedFactorisation, InputError, Mechanism, cyclic_poisson

RELATIONS = ("add-remove", "zero-out", "replace-one")
VIEWS = ("hidden", "visible", "pooled")
WORLDS = [Parts(*parts, relation, view, delta=0.1) for parts, relation, view in product(PARTS, RELATIONS, VIEWS)]  # type: ignore[arg-type]


@pytest.mark.parametrize("world", few(WORLDS, 28))
def test_no_data_in_the_parts_exceed_the_upper_end(world):
    try:
        bracket = world.ask()
    except InputError:
        assert (world.relation, world.sees) != ("zero-out", "hidden")
        return
    hold(bracket, world.most, world.delta)


def banded_run(world: Banded, multiplier: float = 1.0) -> Mechanism:
    """What the product is told."""
    norms = world.norms()
    noise = BandedFactorisation(
        float(world.noise) * multiplier, norms, min(2, world.groups), world.groups, max_participations=2
    )
    return cyclic_poisson(noise, float(world.rate))


def asked(run: Mechanism, world: Banded, delta: float):
    if world.sees == "visible":
        return epsilon(run, delta, world.relation, participation="visible")
    return epsilon(run, delta, world.relation, notion="billboard" if world.sees == "pooled" else "dp")


BANDED = [
    Banded(*encoder, rate, Fraction(0.75), relation, view)
    for encoder, rate, relation, view in product(ENCODERS.values(), (Fraction(1, 4), Fraction(1, 2)), RELATIONS, VIEWS)
]


TWO_ROUNDS = sum(len(world.encoder) == 2 for world in BANDED)


@pytest.mark.parametrize("world", [*few(BANDED[:TWO_ROUNDS], 22), *map(at_night, BANDED[TWO_ROUNDS:])])
def test_no_coins_of_a_group_exceed_the_upper_end(world):
    if (world.relation, world.sees) == ("add-remove", "visible"):
        with pytest.raises(InputError):
            asked(banded_run(world), world, 0.1)
        return
    bracket = asked(banded_run(world), world, 0.1)
    hold(bracket, lambda at, decided: world.most(at, RESOLVED * 0.1, decided), 0.1)
