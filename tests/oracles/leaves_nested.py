"""Every leaf of the table in Disjoint parts, for groups, and in the best of several runs: from one release's pairs.

What has many outcomes is put into fewer where two parts, or a search, would have too many together.
"""

from __future__ import annotations

from collections.abc import Iterator

import leaf_worlds
import nesting
from finite_worlds import Finite, largest_loss
from nested_finite import SPARSE, best_of
from nesting import CORRELATED, OTHERS
from outcomes import Pair, coarser, distinct, joint, telling
from selection_worlds import long_streams
from worlds import RELATIONS

from dpcert.mechanisms import BestOfSeveral, Cyclic, Disjoint, Group, Mechanism

FEWER, FEW = 300, 12
LEAVES: dict[str, Mechanism] = {
    name: run for name, run in (OTHERS | CORRELATED).items() if nesting.has_nested_worlds(name)
}
"""Reports and histograms have nested worlds of their own, or are refused."""


def leaf(name: str, relation: str, units: int = 1) -> list[Pair]:
    """Its pairs, with few outcomes."""
    return [coarser(one, FEWER) for one in leaf_worlds.pairs(name, relation, units)]


def parted(name: str, relation: str, units: int = 1) -> list[Pair]:
    """A unit, or group, of one of two parts; replaced, of that part still, or of the other one."""
    inside = leaf_worlds.pairs(name, relation, units)
    if relation != "replace-one":
        return inside
    leaving = leaf(name, "add-remove", units)
    if name == "sparse-vector" and units == 1:
        leaving = leaving + long_streams(SPARSE)
    losses = 24 if max(map(len, leaving)) <= FEW else 8
    worst = telling(leaving, [largest_loss(leaving) * k / losses for k in range(losses)], 1)
    both = [(one, other.swapped()) for one in worst for other in worst]
    if name.startswith("noisy-max"):  # who enters may have the opposite votes of who leaves
        both += [(one, one) for one in leaving]
    return [*inside, *distinct(map(joint, both))]


def around(name: str) -> Iterator[Finite]:
    """All that is answered about this leaf."""
    run = LEAVES[name]
    for relation in RELATIONS:
        yield Finite(Disjoint(run, run), relation, lambda r=relation: parted(name, r))
        yield Finite(Group(run, 2), relation, lambda r=relation: leaf_worlds.pairs(name, r, 2))
        yield Finite(Cyclic(Group(run, 2), 2), relation, lambda r=relation: leaf_worlds.pairs(name, r, 2))
        group = Group(run, 2)
        yield Finite(Disjoint(group, group), relation, lambda r=relation: parted(name, r, 2))
        yield Finite(BestOfSeveral(run, 0.25), relation, lambda r=relation: best_of(leaf(name, r)))
        if name not in CORRELATED or relation != "replace-one":  # two laws 7 apart have no outcomes in common
            yield Finite(BestOfSeveral(group, 0.25), relation, lambda r=relation: best_of(leaf(name, r, 2)))
