"""Bounds for partly hidden participation: probabilities against exact rationals, epsilons against exact profiles."""

import math
from fractions import Fraction

import pytest

from dpcert.accounting.hidden_bounds import fewest_colluders, total_statistic_lower
from dpcert.accounting.visible import epsilon_when_visible
from dpcert.mechanisms import Cyclic, FixedSize, Gaussian, Poisson, RandomAllocation, Repeat, WithReplacement


def exact_below(population, colluders, cohort, least):
    """P[J < least], J hypergeometric."""
    ways = sum(math.comb(colluders, j) * math.comb(population - colluders, cohort - j) for j in range(least))
    return Fraction(ways, math.comb(population, cohort))


@pytest.mark.parametrize("delta", [1e-3, 1e-8, 1e-20])
@pytest.mark.parametrize(
    ("population", "colluders", "cohort", "rounds"),
    [(205, 100, 100, 1000), (205, 1, 100, 1000), (40, 30, 20, 5), (40, 38, 4, 100), (1000, 500, 10, 10), (10, 5, 8, 1)],
)
def test_fewest_colluders_holds_in_all_rounds(population, colluders, cohort, rounds, delta):
    least = fewest_colluders(population, colluders, cohort, rounds, delta)
    assert max(0, cohort - (population - colluders)) <= least <= min(cohort, colluders)
    assert rounds * exact_below(population, colluders, cohort, least) <= Fraction(delta)


def test_fewest_colluders_is_worth_something():
    assert fewest_colluders(205, 100, 100, 1000, 1e-6) >= 15
    assert fewest_colluders(205, 100, 100, 1000, 0.0) == 0


@pytest.mark.parametrize("relation", ["zero-out", "replace-one"])
@pytest.mark.parametrize(
    "step",
    [
        RandomAllocation(Gaussian(2.0), 10, 1),
        RandomAllocation(Gaussian(2.0), 10, 4),
        WithReplacement(Gaussian(2.0), 20, 10),
    ],
)
def test_lower_bounds_stay_below_what_the_knowing_see(step, relation):
    known = epsilon_when_visible(Repeat(step, 30), 1e-5, relation)
    assert 0 < total_statistic_lower(step, 30, 1e-5, relation) <= known.upper


def test_random_allocation_in_every_round_is_no_sampling():
    whole = total_statistic_lower(RandomAllocation(Gaussian(2.0), 10, 10), 3, 1e-5, "zero-out")
    plain = epsilon_when_visible(Repeat(Gaussian(2.0), 30), 1e-5, "zero-out")
    assert whole == pytest.approx(plain.lower, rel=1e-9)
    assert whole <= plain.upper


@pytest.mark.parametrize(
    "step", [Poisson(Gaussian(1.0), 0.1), FixedSize(Gaussian(1.0), 10, 2), Cyclic(Gaussian(1.0), 3)]
)
def test_schemes_with_better_bounds_get_none(step):
    assert total_statistic_lower(step, 10, 1e-5, "zero-out") == 0.0
    assert total_statistic_lower(WithReplacement(Gaussian(1.0), 10, 5), 10, 1e-5, "add-remove") == 0.0
