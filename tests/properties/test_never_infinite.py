"""Extreme settings of every mechanism, sampling and relation: never NaN, and infinite only where epsilon is above 1e4.

Noise from next to none to enormous, rates from 1e-9 to 1 - 1e-9, up to 1e7 rounds, several phases, delta from 1e-30 to
0.999. `make nightly` runs 1,500 draws.
"""

from __future__ import annotations

import math
import random

import pytest
from cases import few

from dpcert.accounting import epsilon
from dpcert.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    FixedSize,
    Gaussian,
    InputError,
    Laplace,
    Mechanism,
    Neighbouring,
    Poisson,
    RandomizedResponse,
    Repeat,
    Sequence,
)

RELATIONS: tuple[Neighbouring, ...] = ("add-remove", "replace-one", "zero-out")


def noise(rng: random.Random) -> Mechanism:
    return rng.choice(
        [
            Gaussian(10 ** rng.uniform(-3, 4)),
            Gaussian(10 ** rng.uniform(-1, 2)),
            Laplace(10 ** rng.uniform(-2, 4)),
            RandomizedResponse(rng.uniform(1e-4, 0.49), rng.choice([2, 3, 10])),
            DiscreteGaussian(10 ** rng.uniform(-0.5, 2), rng.choice([1, 2, 5])),
            DiscreteLaplace(10 ** rng.uniform(-0.5, 3), rng.choice([1, 2, 5])),
        ]
    )


def step(rng: random.Random) -> Mechanism:
    part, scheme = noise(rng), rng.choice(["none", "poisson", "fixed-size"])
    if scheme == "poisson":
        part = Poisson(part, rng.choice([10 ** rng.uniform(-9, 0), 1 - 10 ** rng.uniform(-9, -1)]))
    elif scheme == "fixed-size":
        population = int(10 ** rng.uniform(0.5, 7))
        part = FixedSize(part, population, max(1, int((population - 1) * 10 ** rng.uniform(-4, 0))))
    return Repeat(part, int(10 ** rng.uniform(0, rng.choice([1, 3, 7]))))


def checked(rng: random.Random) -> bool:
    """Whether the drawn setting has a meaning; if so, it has passed."""
    parts = tuple(step(rng) for _ in range(rng.choice([1, 1, 1, 2])))
    run = parts[0] if len(parts) == 1 else Sequence(parts)
    delta = rng.choice([0.5, 0.999, 1e-30, 10 ** -rng.uniform(1, 30), 10 ** -rng.uniform(3, 10)])
    relation, notion = rng.choice(RELATIONS), rng.choice(["dp", "billboard"])
    try:
        found = epsilon(run, delta, relation, notion=notion)
    except InputError:  # no meaning, such as adding a unit to randomized response
        return False
    assert not math.isnan(found.lower)
    assert not math.isnan(found.upper)
    assert found.certified
    assert found.upper < math.inf or found.lower >= 1e4, (run, delta, relation, notion, found)
    return True


@pytest.mark.parametrize("seed", few(range(1, 7), 4))
def test_a_few_extreme_settings(seed: int) -> None:
    rng = random.Random(seed)
    while not checked(rng):
        pass


@pytest.mark.nightly
@pytest.mark.parametrize("block", range(50))
def test_many_extreme_settings(block: int) -> None:
    rng = random.Random(1000 + block)
    assert sum(checked(rng) for _ in range(30)) >= 10
