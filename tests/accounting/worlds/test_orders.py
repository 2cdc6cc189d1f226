"""Neighbours are named in two orders: what is attained in one is combined with nothing of the other."""

import pytest
from ordered_runs import the_best_of_several_sampled_runs_beside_a_sampled_round as beside
from ordered_runs import the_best_of_several_sampled_runs_in_disjoint_parts as in_parts

from dpcert.accounting.pairs import (
    AllocationPair,
    GaussianPair,
    MixedGaussianPair,
    OpposedPair,
    Order,
    SubsampledPair,
    ZeroedPair,
)
from dpcert.accounting.pricing.dominating import dominating
from dpcert.accounting.pricing.round import Round, bounded, once, tight
from dpcert.mechanisms import InputError, Laplace, Poisson, Sequence, Shuffled


@pytest.mark.parametrize("checked", [beside, in_parts])
def test_lower_ends_are_of_neighbours_that_exist(checked):
    checked()


def test_an_epoch_in_which_the_unit_stands_out_is_of_one_order_under_zero_out():
    """What is attained in the other order leaves the epoch out."""
    lower = dominating(Sequence((Shuffled(Laplace(1.0), 3), Poisson(Laplace(1.0), 0.1))), "zero-out").lower
    orders = [{pair.order for pair, _ in product} for product in lower]
    assert {Order.REMOVE} in orders
    assert {Order.ADD} in orders
    assert not any(len(each) > 1 for each in orders)


@pytest.mark.parametrize(
    "made",
    [
        lambda: SubsampledPair(GaussianPair(1.0), 0.1, "both"),
        lambda: OpposedPair(1.0, 0.1, "replace"),
        lambda: ZeroedPair(1.0, 0.1, "hybrid"),
        lambda: MixedGaussianPair(1.0, 0.1, 2, "visible"),
        lambda: AllocationPair(GaussianPair(1.0), 3, 1, "both 0"),
        lambda: tight({Order.REMOVE: GaussianPair(1.0)}),
        lambda: Round({**bounded(GaussianPair(1.0)).upper, "both 0": once(GaussianPair(1.0))}, {}),
        lambda: Round(bounded(GaussianPair(1.0)).upper, {"both 0": {0: once(GaussianPair(1.0))}}),
        lambda: Round(bounded(GaussianPair(1.0)).upper, {Order.ADD: {}}),
    ],
)
def test_an_order_that_is_not_known_is_refused(made):
    with pytest.raises(InputError, match="order"):
        made()
