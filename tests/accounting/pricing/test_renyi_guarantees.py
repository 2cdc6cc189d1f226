"""A stated Renyi guarantee, against mechanisms that have it and pairs that attain it."""

from __future__ import annotations

import math

import numpy as np
import pytest
import stated_losses as truth
from scipy.optimize import brentq

from dpcert.accounting import convert, delta, epsilon, renyi, rho
from dpcert.accounting.pairs import RenyiPoints
from dpcert.mechanisms import (
    FixedSize,
    Gaussian,
    Group,
    InputError,
    Mechanism,
    Poisson,
    RenyiDp,
    Repeat,
    Sequence,
    Zcdp,
)

ORDERS = (1.5, 2.0, 3.0, 5.0, 9.0, 20.0, 64.0)


def _gaussian(z: float, move: float = 1.0) -> RenyiDp:
    """What Gaussian noise has: alpha move^2 / (2 z^2)."""
    return RenyiDp(tuple((order, order * (move / z) ** 2 / 2) for order in ORDERS))


@pytest.mark.parametrize("rounds", [1, 30])
@pytest.mark.parametrize("target", [1e-3, 1e-8])
def test_what_gaussian_noise_has_costs_no_less_than_the_noise(rounds: int, target: float) -> None:
    stated, known = Repeat(_gaussian(4.0), rounds), Repeat(Gaussian(4.0), rounds)
    bound = epsilon(stated, target)
    assert bound.lower == 0.0
    assert epsilon(known, target).upper <= bound.upper
    assert (
        epsilon(Repeat(Zcdp(1 / 32), rounds), target).upper * (1 - 1e-9)
        <= bound.upper
        < 1.3 * epsilon(known, target).upper
    )


@pytest.mark.parametrize(
    ("stated", "known", "relation"),
    [
        (Poisson(_gaussian(2.0), 0.1), Poisson(Gaussian(2.0), 0.1), "add-remove"),
        (FixedSize(_gaussian(2.0, 2.0), 100, 10), FixedSize(Gaussian(2.0), 100, 10), "replace-one"),
        (FixedSize(_gaussian(4.0), 100, 10), FixedSize(Gaussian(4.0), 100, 10), "add-remove"),
        (Poisson(_gaussian(2.0), 0.1), Poisson(Gaussian(2.0), 0.1), "zero-out"),
        (Poisson(Sequence(_gaussian(4.0), Gaussian(4.0)), 0.1), Poisson(Repeat(Gaussian(4.0), 2), 0.1), "add-remove"),
        (Group(_gaussian(2.0), 2), Group(Gaussian(2.0), 2), "add-remove"),
        (Group(_gaussian(8.0), 5), Group(Gaussian(8.0), 5), "replace-one"),
    ],
)
def test_samples_and_groups_cost_no_less_than_the_noise(stated: Mechanism, known: Mechanism, relation: str) -> None:
    bound, noise = (epsilon(Repeat(run, 20), 1e-5, relation) for run in (stated, known))
    assert noise.upper <= bound.upper < math.inf
    assert bound.lower == 0.0


def test_sampling_helps_where_the_theorem_says_so() -> None:
    whole = epsilon(Repeat(_gaussian(2.0), 100), 1e-5).upper
    hidden, shown = (
        epsilon(Repeat(Poisson(_gaussian(2.0), 0.01), 100), 1e-5, way) for way in ("add-remove", "replace-one")
    )
    assert hidden.upper < shown.upper / 4 < whole / 16


def _worst_of_two_outputs(order: float, divergence: float, at: float) -> float:
    """The largest p - e^at q with D_order((p, 1-p) || (q, 1-q)) = divergence: what conversions may not fall below."""

    def excess(q: float, p: float) -> float:
        return float(truth.renyi(truth.laws([p, 1 - p], [q, 1 - q]), order)) - divergence

    found = 0.0
    for p in np.geomspace(1e-6, 1 - 1e-9, 200):
        if excess(p * 1e-12, p) > 0:
            q = brentq(excess, p * 1e-12, p, args=(p,), xtol=1e-15)
            found = max(found, p - math.exp(at) * q)
    return found


@pytest.mark.parametrize(
    ("order", "divergence", "at"), [(2.0, 0.1, 1.0), (8.0, 0.2, 0.5), (32.0, 0.9, 1.0), (1.5, 2.0, 0.0)]
)
def test_the_conversion_is_the_best_that_one_order_allows(order: float, divergence: float, at: float) -> None:
    """Two outputs attain it, in the order of the neighbours that is asked about."""
    bound, attained = delta(RenyiDp(((order, divergence),)), at).upper, _worst_of_two_outputs(order, divergence, at)
    assert attained <= bound <= attained * 1.01
    assert convert("renyi", ((order, divergence),), "delta", epsilon=at).at_most == bound


@pytest.mark.parametrize("seed", range(20))
def test_between_orders_the_bound_is_above_every_mechanism_that_has_the_stated_ones(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, q = (rng.dirichlet(np.full(3, 0.5)) + 1e-6 for _ in range(2))
    one = truth.laws(list(p / p.sum()), list(q / q.sum()))
    points = RenyiPoints(tuple((order, float(truth.renyi(one, order)) * (1 + 1e-12)) for order in (1.3, 2.0, 7.0)))
    for order in (1.01, 1.2, 1.7, 2.0, 3.0, 6.9, 7.0):
        assert truth.renyi(one, order) <= points.renyi().divergence(order)
    assert points.renyi().divergence(7.0) == pytest.approx(float(truth.renyi(one, 7.0)), rel=1e-9)


def test_beyond_the_last_order_nothing_is_known() -> None:
    stated = RenyiDp(((2.0, 0.1), (8.0, 0.2)))
    assert renyi(stated, 8.0).upper == pytest.approx(0.2)
    assert renyi(stated, 8.1).upper == math.inf
    assert epsilon(stated, 0.0).upper == math.inf
    assert rho(stated).upper == math.inf
    assert rho(stated, orders_up_to=8.0).upper == pytest.approx(0.1, rel=1e-3)  # next to order 1
    assert math.isfinite(epsilon(RenyiDp(((1.1, 0.01),)), 1e-5).upper)


def test_an_order_that_says_less_than_a_larger_one_is_of_no_use() -> None:
    assert epsilon(RenyiDp(((2.0, 5.0), (8.0, 0.2))), 1e-5).upper == epsilon(RenyiDp(((8.0, 0.2),)), 1e-5).upper


def test_refused() -> None:
    for bad in (
        (),
        ((1.0, 0.1),),
        ((2.0, -0.1),),
        ((2.0, 0.1), (2.0, 0.2)),
        ((math.inf, 0.1),),
        ((2.0, math.inf),),
        2.0,
    ):
        with pytest.raises(InputError):
            RenyiDp(bad)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="renyi"):
        convert("renyi", ((0.5, 1.0),), "epsilon", delta=1e-5)
    with pytest.raises(InputError):
        epsilon(Group(RenyiDp(((2.0, 0.1),)), 2), 1e-5)  # no order is left
