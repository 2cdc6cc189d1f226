"""The visible profile for every scheme, against enumeration of the coins in ball arithmetic."""

import itertools
import math

import pytest
from flint import arb, ctx

from dpcert.accounting.participation.visible import epsilon_when_visible, visible_law
from dpcert.mechanisms import (
    Cyclic,
    FixedSize,
    Gaussian,
    InputError,
    Laplace,
    Poisson,
    RandomAllocation,
    Repeat,
    Sequence,
    Shuffled,
    WithReplacement,
)


def arb_gaussian_delta(epsilon, mu_squared):
    if mu_squared == 0:
        return arb(0)
    mu, root2 = arb(mu_squared).sqrt(), arb(2).sqrt()
    first = ((arb(epsilon) / mu - mu / 2) / root2).erfc() / 2
    return first - arb(epsilon).exp() * ((arb(epsilon) / mu + mu / 2) / root2).erfc() / 2


@pytest.mark.parametrize("relation", ["zero-out", "replace-one"])
def test_with_replacement_by_enumerating_every_draw(relation):
    population, draws, rounds, z, delta = 3, 2, 3, 2.0, 1e-3
    bracket = epsilon_when_visible(Repeat(WithReplacement(Gaussian(z), population, draws), rounds), delta, relation)
    move = 2 if relation == "replace-one" else 1
    ctx.prec = 200
    weights = {}
    for drawn in itertools.product(range(population), repeat=draws * rounds):  # the unit is number 0
        squares = sum(drawn[t * draws : (t + 1) * draws].count(0) ** 2 for t in range(rounds))
        weights[squares] = weights.get(squares, 0) + 1

    def exact(epsilon):
        outcomes = population ** (draws * rounds)
        return sum(arb(n) / outcomes * arb_gaussian_delta(epsilon, arb(s) * move**2 / 4) for s, n in weights.items())

    assert exact(bracket.upper) <= delta < exact(bracket.lower)
    assert bracket.width < 1e-9


def test_with_replacement_costs_more_than_a_fixed_cohort():
    drawn = epsilon_when_visible(Repeat(WithReplacement(Gaussian(5.0), 205, 100), 100), 1e-5, "zero-out")
    fixed = epsilon_when_visible(Repeat(FixedSize(Gaussian(5.0), 205, 100), 100), 1e-5, "zero-out")
    assert drawn.lower > fixed.upper


@pytest.mark.parametrize("mechanism", [Shuffled(Gaussian(3.0), 7), Cyclic(Gaussian(3.0), 7), Gaussian(3.0)])
def test_one_participation_an_epoch_is_the_plain_gaussian(mechanism):
    bracket = epsilon_when_visible(Repeat(mechanism, 5), 1e-5, "replace-one")
    ctx.prec = 200
    assert arb_gaussian_delta(bracket.upper, arb(5) * 4 / 9) <= 1e-5 < arb_gaussian_delta(bracket.lower, arb(5) * 4 / 9)


def test_random_allocation_counts_its_participations():
    allocated = epsilon_when_visible(Repeat(RandomAllocation(Gaussian(3.0), 20, 4), 5), 1e-5, "zero-out")
    plain = epsilon_when_visible(Repeat(Gaussian(3.0), 20), 1e-5, "zero-out")
    assert (allocated.lower, allocated.upper) == (plain.lower, plain.upper)


def test_phases_add_up():
    run = Sequence(
        (Repeat(WithReplacement(Gaussian(2.0), 3, 2), 4), Repeat(Poisson(Gaussian(1.0), 0.2), 3), Gaussian(4.0))
    )
    law = visible_law(run, "zero-out", 1e-290)
    mean = 4 * (2 / 3 + 2 / 9) / 4 + 3 * 0.2 + 1 / 16  # E J^2 = q/m + q(q-1)/m^2
    assert float((law.low * law.mass_low).sum()) == pytest.approx(mean, rel=1e-9)
    assert float(law.mass_low.sum()) == pytest.approx(1.0, abs=1e-9)


def test_a_population_of_one_is_always_drawn():
    bracket = epsilon_when_visible(WithReplacement(Gaussian(3.0), 1, 3), 1e-5, "zero-out")
    assert bracket.lower <= epsilon_when_visible(Gaussian(1.0), 1e-5, "zero-out").upper
    assert math.isclose(bracket.upper, epsilon_when_visible(Gaussian(1.0), 1e-5, "zero-out").upper, rel_tol=1e-12)


def test_what_it_cannot_do():
    assert epsilon_when_visible(Poisson(Laplace(1.0), 0.1), 1e-5, "zero-out") is None
    with pytest.raises(InputError, match="presence"):
        epsilon_when_visible(Poisson(Gaussian(1.0), 0.1), 1e-5, "add-remove")
    with pytest.raises(InputError, match="fewer draws"):
        epsilon_when_visible(Repeat(WithReplacement(Gaussian(20.0), 20, 1000), 1000), 1e-5, "zero-out")
