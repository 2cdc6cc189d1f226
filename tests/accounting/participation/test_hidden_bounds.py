"""Lower bounds from the total of all releases, against exact profiles of those who know the cohorts."""

import pytest

from dpcert.accounting.participation.hidden_bounds import total_statistic_lower
from dpcert.accounting.participation.visible import epsilon_when_visible
from dpcert.mechanisms import Cyclic, FixedSize, Gaussian, Poisson, RandomAllocation, Repeat, WithReplacement


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
