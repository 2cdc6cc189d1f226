"""Trees of clones (docs/theory/shuffled.md, Theorem T): no game of few units passes it; games pass faulty ones."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from cases import few
from mpmath import mp, mpf
from scipy.stats import binom, norm
from tree_game import against, along, following, game, mixed, shares

from dpcert.accounting.allocation import tree_laws
from dpcert.accounting.allocation.profile_nodes import heights
from dpcert.accounting.allocation.shuffled_epoch import FINE, values
from dpcert.accounting.allocation.tree_laws import OrderLaws, losses_of_tree
from dpcert.accounting.allocation.tree_shapes import Reveals, Shape, Types, needs, reveals, types, weighted_shapes
from dpcert.accounting.pairs import GaussianPair, Order

FEDERATIONS = (against, along, following, mixed)
UNITS = {(0, 1): (2,), (1, 0): (1,), (1, 1): (2, 1, 1), (0, 2): (2, 2), (2, 0): (1, 1)}
"""Types of the others in trees of two levels, by shape."""

SETTINGS = [
    (shift, reach, shape, order, gamma)
    for order in Order
    for shape in UNITS
    for shift, reach in ((1.0, (1.0, 2.2)), (1.5, (0.7, 2.0)), (0.6, (1.2, 2.0)), (1.0, (0.4, 1.5)))
    for gamma in (1.1, 0.8, 1.5)
]


@pytest.fixture(autouse=True)
def _nothing_is_remembered() -> Iterator[None]:
    losses_of_tree.cache_clear()
    yield
    losses_of_tree.cache_clear()


def of_reach(shift: float, reach: tuple[float, ...]) -> Types:
    return types(GaussianPair(shift), tuple(-math.log(share) for share in shares(shift, reach)))


def bound(shift: float, of: Types, shape: Shape, order: Order, gamma: float) -> float:
    law = losses_of_tree(GaussianPair(shift), of, shape, order, 0.03, 1e-12)
    return float(heights(law, np.array([-40.0, math.log(gamma), 40.0]))[1])


def attained(shift: float, reach: tuple[float, ...], shape: Shape, order: Order, gamma: float, **more: float) -> float:
    """The largest game's value, less what its error may be."""
    found = (game(shift, shares(shift, reach), UNITS[shape], gamma, order.value, how, **more) for how in FEDERATIONS)
    return max(value - error for value, error in found)


@pytest.mark.parametrize(("shift", "reach", "shape", "order", "gamma"), few(SETTINGS, 16))
def test_no_game_of_few_units_passes_the_bound(shift, reach, shape, order, gamma) -> None:
    assert attained(shift, reach, shape, order, gamma) <= bound(shift, of_reach(shift, reach), shape, order, gamma)


def faulty(monkeypatch: pytest.MonkeyPatch, **changed) -> None:  # type: ignore[no-untyped-def]
    """Plants other numbers into what siblings reveal, as functions of the right ones."""

    def wrong(of: Types, shape: Shape) -> Reveals:
        right = reveals(of, shape)
        assert right is not None
        return replace(right, **{name: fault(getattr(right, name)) for name, fault in changed.items()})

    monkeypatch.setattr(tree_laws, "reveals", wrong)


def test_marks_that_are_not_paid_for_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plant: no outcome shows a head, whatever its siblings' ratios are."""
    asked = (1.0, (1.0, 2.2), (1, 0), Order.REMOVE, 1.5)
    assert attained(*asked) <= bound(1.0, of_reach(1.0, (1.0, 2.2)), *asked[2:])
    faulty(monkeypatch, classes=lambda known: (math.inf,) * len(known))
    losses_of_tree.cache_clear()
    assert attained(*asked) > bound(1.0, of_reach(1.0, (1.0, 2.2)), *asked[2:])


def test_siblings_that_fail_and_are_not_counted_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plant: b = 0 for two siblings each of which shows the other."""
    asked = (1.0, (0.4, 1.5), (2, 0), Order.ADD, 0.8)
    assert attained(*asked) <= bound(1.0, of_reach(1.0, (0.4, 1.5)), *asked[2:])
    faulty(monkeypatch, failing=lambda known: (0.0,) * len(known))
    losses_of_tree.cache_clear()
    assert attained(*asked) > bound(1.0, of_reach(1.0, (0.4, 1.5)), *asked[2:])


@pytest.mark.parametrize("shape", [(0, 1), (1, 1)])
def test_kernels_that_are_not_normalised_are_caught(shape: Shape) -> None:
    """The plant: kappa = 1."""
    asked = (1.5, (0.7, 2.0), shape, Order.ADD, 0.8)
    of = replace(of_reach(1.5, (0.7, 2.0)), density=(1.0, 1.0))
    assert attained(*asked) > bound(1.5, of, *asked[2:])


@pytest.mark.parametrize("shape", [(0, 1), (0, 2)])
def test_a_sibling_too_many_is_caught(shape: Shape) -> None:
    asked = (1.0, (1.0, 2.2), shape, Order.ADD, 1.1)
    assert attained(*asked) > bound(1.0, of_reach(1.0, (1.0, 2.2)), (0, shape[1] + 1), Order.ADD, 1.1)


def test_contributions_must_have_the_length_that_types_are_drawn_for() -> None:
    """The plant: shorter ones with the weights of longer ones. Hence the coordinate that makes them long."""
    asked = (1.0, (0.4, 1.5), (1, 1), Order.ADD, 0.8)
    assert attained(*asked) <= bound(1.0, of_reach(1.0, (0.4, 1.5)), *asked[2:])
    assert attained(*asked, length=0.6) > bound(1.0, of_reach(1.0, (0.4, 1.5)), *asked[2:])


def test_types_are_those_of_the_formula() -> None:
    reach, shift = (1.0, 2.2), 0.7
    found = of_reach(shift, reach)
    with mp.workdps(40):

        def least(c) -> mpf:  # E_0 min(rho, c)
            at = (mp.log(c) + mpf(shift) ** 2 / 2) / shift if c else -mp.inf
            return mp.ncdf(at - shift) + c * mp.ncdf(-at)

        c = [mpf(each) for each in shares(shift, reach)] + [mpf(0)]
        for at in range(2):
            assert found.likely[at] == pytest.approx(float(least(c[at])), rel=1e-12)
            assert found.likely[at] <= least(c[at])
            share = (least(c[at]) - least(c[at + 1])) / (c[at] - c[at + 1])
            assert found.failing[at] == pytest.approx(float(1 - share), rel=1e-9)
            assert found.density[at] == pytest.approx(float(1 / share), rel=1e-12)


@pytest.mark.parametrize("others", [9, 233, 1249, 10**6])
def test_shapes_are_used_where_their_units_are_there(others: int) -> None:
    of = of_reach(0.6, (2.0, 3.0, 4.5))
    found = weighted_shapes(of, others)
    assert sum(each.weight for each in found) >= 1 - 1e-15
    assert not any(found[0].shape)
    for at, each in enumerate(found[1:], 1):
        missed = sum(binom.cdf(need - 1, others, p) for need, p in zip(needs(each.shape), of.likely, strict=True))
        assert sum(less.weight for less in found[:at]) >= min(1.0, missed) * (1 - 1e-6) - 1e-15
        assert reveals(of, each.shape) is not None


def test_what_siblings_reveal_is_the_theorems() -> None:
    of, shape = of_reach(1.0, (1.0, 2.2)), (3, 2)
    known = reveals(of, shape)
    assert known is not None
    lost = of.failing
    assert known.failing[0] == pytest.approx(of.density[0] * (2 * lost[0] + 2 * lost[1]), rel=1e-12)
    assert known.failing[1] == pytest.approx(of.density[1] * lost[1], rel=1e-12)
    assert norm.sf(known.classes) == pytest.approx([3 * lost[0] + 2 * lost[1], 2 * lost[1]], rel=1e-9)
    kept = [(1 - b) / density for b, density in zip(known.failing, of.density, strict=True)]
    assert norm.sf([low for low, _ in known.cuts]) == pytest.approx(kept, rel=1e-9)
    assert all(low <= high for low, high in known.cuts)
    assert reveals(of, (3, 200)) is None


@pytest.mark.parametrize("order", list(Order))
def test_extremes_of_independent_variables_keep_masses_and_are_those_of_draws(order: Order) -> None:
    made = OrderLaws(order, 0.05, 1e-12)
    rng = np.random.default_rng(5)
    laws = [
        tree_laws.Above(0.5, first, rng.dirichlet(np.ones(size)), 0.0, 0.0, 0.0, 0.0)
        for first, size in ((-2, 4), (-1, 3))
    ]
    found = made.extreme(*laws)
    draw = max if order == Order.REMOVE else min
    wanted = np.zeros(found.q.size)
    for i, p in enumerate(laws[0].q):
        for j, q in enumerate(laws[1].q):
            wanted[draw(i - 2, j - 1) - found.first] += p * q
    assert found.q == pytest.approx(wanted, abs=1e-15)
    many = made.copies(laws[0], 3)
    assert many.q == pytest.approx(made.extreme(made.extreme(laws[0], laws[0]), laws[0]).q, abs=1e-15)


def test_trees_are_worth_their_time() -> None:
    """Many batches and much noise."""
    base = GaussianPair(0.5)
    look = replace(FINE, fineness=0.04, failing=(0.1, 1e-3, 1e-5), trees=((0.05, 1e-3, 1e-7),))
    found = []
    for asked in (look, replace(look, trees=())):
        nodes, remove, _ = values(base, 100, asked, 1e-9)
        found.append(float(np.interp(math.log(1.7), nodes, remove)))
    assert found[0] < 0.85 * found[1]
