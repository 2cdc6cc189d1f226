"""The loss of one epoch of shuffled batches, from above: Theorems S' and T of docs/theory/shuffled.md, several times.

Each share c of clones bounds the profile, each tree of clones does (Gaussian noise), and so does the pair without
amplification; so does, below gamma = 1, the other order. The profile is convex: the largest convex function under the
least of them, at some epsilons, is a law.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from flint import arb, ctx

from ...mechanisms.arrays import Floats
from ..losses.atoms.cells import Atoms, Cells, pessimistic
from ..losses.atoms.product_cells import merged
from ..losses.crossing import Excess, crossing, over
from ..pairs.gaussian import GaussianPair
from ..pairs.order import Order
from ..pairs.pair import Pair, largest_loss
from .block import cells, losses_of_many, spread_of_loss
from .clones import Clones, Group, clones, groups, hidden, profile_of, revealed, scaled
from .profile_nodes import heights, law_above, mirrored, symmetric_nodes
from .tree_laws import losses_of_tree
from .tree_shapes import types, weighted_shapes

_MOST_CELLS = 4096
"""Of one round."""

_USEFUL = 1.5
"""P-mass of a bound that counts too many failing clones to say how wide the loss is."""

_APART = 1.001
"""By how much thresholds of different shares differ."""

_MOST_BATCHES, _LEAST_SHIFT = 10_000, 0.05
"""Of what trees are tried for: they take time."""

_COARSER = 3.0
"""Trees' laws are cut more coarsely: there are fewer of them, each has more parts."""

_LEAST_THRESHOLD, _LARGEST_LOSS = 1e-9, 700.0
"""Clones that need more are none."""


@dataclass(frozen=True, slots=True)
class Look:
    """How closely an epoch is looked at.

    fineness: of blocks. few: how many numbers of rounds (clones.known_rounds). failing: of the shares that are tried,
    the expected number of others that fail as clones. nodes: in a spread of the loss; growth: of the distance between
    nodes further out. trees: by level, the lowest first, the same of each tree's shares.
    """

    fineness: float
    few: int
    failing: tuple[float, ...]
    nodes: int
    growth: float
    trees: tuple[tuple[float, ...], ...] = ()


_TREES = ((0.1, 1e-5), (0.36, 0.017, 1.3e-4), (0.05, 1e-3, 1e-7))
FINE = Look(0.02, 32, tuple(10.0 ** (-k / 3) for k in range(2, 31)), 40, 0.01, _TREES)
COARSE = Look(0.06, 16, tuple(10.0 ** (-k / 2) for k in range(2, 17)), 12, 0.03, _TREES[1:])
_FINEST = 0.03
"""Fineness from which on a coarse look serves."""


def look(fineness: float) -> Look:
    """How finely a pair of this fineness is looked at."""
    return FINE if fineness < _FINEST else COARSE


@lru_cache(maxsize=32)
def losses_of_epoch(base: Pair, batches: int, order: Order, closely: Look, tail: float) -> Atoms:
    """A law of the loss, in this order, whose pair dominates every pair of epochs with the unit and without it."""
    nodes, remove, add = values(base, batches, closely, tail)
    first, second = (remove, add) if order == Order.REMOVE else (add, remove)
    return law_above(nodes, np.minimum(first, mirrored(nodes, second)))


@lru_cache(maxsize=16)
def values(base: Pair, batches: int, closely: Look, tail: float) -> tuple[Floats, Floats, Floats]:
    """Nodes, and at them upper values of the profile in both orders."""
    laws = [list(_bounds(base, batches, order, closely, tail)) for order in Order]
    spread = min(_spread(law) for law in laws[0] if float(np.sum(law.mass)) < _USEFUL)
    last = max(float(np.max(law.loss)) for law in (*laws[0], *laws[1]))
    nodes = symmetric_nodes(spread / closely.nodes, closely.growth, last)
    remove, add = (np.min([heights(law, nodes) for law in order], axis=0) for order in laws)
    return nodes, remove, add


def _spread(law: Atoms) -> float:
    """About the loss's standard deviation, whatever its tails: half of what lies between two quantiles; of a loss that
    is nearly always the same, the standard deviation.
    """
    order = np.argsort(law.loss)
    below = np.cumsum(law.mass[order])
    low, high = (float(law.loss[order][np.searchsorted(below, share * below[-1])]) for share in (0.16, 0.84))
    if low < high:
        return 0.5 * (high - low)
    middle = np.average(law.loss, weights=law.mass)
    return math.sqrt(float(np.average((law.loss - middle) ** 2, weights=law.mass)))


def _bounds(base: Pair, batches: int, order: Order, closely: Look, tail: float) -> Iterator[Atoms]:
    cut = merged(cells(base, closely.fineness * spread_of_loss(base), 0.0, tail), _MOST_CELLS)
    cut = cut if order == Order.REMOVE else cut.mirrored()
    cut = cut.at(np.argsort(-cut.low))  # the largest losses first
    yield pessimistic(cut)
    if isinstance(base, GaussianPair) and batches <= _MOST_BATCHES and base.shift >= _LEAST_SHIFT:
        yield from _by_trees(base, batches, order, closely, tail)
    for of in shares(base, batches, closely):
        yield _by_clones(base, of, groups(of, batches, closely.few, tail), order, cut, closely, tail)


def _by_clones(
    base: Pair, of: Clones, counts: tuple[Group, ...], order: Order, cut: Cells, closely: Look, tail: float
) -> Atoms:
    """Theorem S' for one share of clones, in this order."""
    laws = [revealed(cut, order, group, of.failing) for group in counts]
    for group in counts:
        laws += [
            scaled(losses_of_many(base, part.rounds, order, closely.fineness, tail), part.weight)
            for part in hidden(group, of.failing, closely.few)
        ]
    return together(laws)


def _by_trees(base: GaussianPair, batches: int, order: Order, closely: Look, tail: float) -> Iterator[Atoms]:
    """Theorem T for each choice of shares, in this order."""
    for failing in closely.trees:
        thresholds = tuple(_threshold(base, target / batches, _LARGEST_LOSS) for target in failing)
        if all(later > _APART * each > 0.0 for each, later in pairwise(thresholds)) and thresholds[-1] < _LARGEST_LOSS:
            of = types(base, thresholds)
            known = (
                (each.weight, losses_of_tree(base, of, each.shape, order, _COARSER * closely.fineness, tail))
                for each in weighted_shapes(of, batches - 1)
            )
            yield together([scaled(law, weight) for weight, law in known])


def together(laws: list[Atoms]) -> Atoms:
    """The sum of measures."""
    return Atoms(
        np.concatenate([law.loss for law in laws]),
        np.concatenate([law.mass for law in laws]),
        math.fsum(law.infinite for law in laws) * (1 + 1e-12),
    )


def shares(base: Pair, batches: int, closely: Look) -> list[Clones]:
    """Those that are tried, from larger to smaller ones; any choice is valid."""
    largest = largest_loss(base)
    found = [_threshold(base, target / batches, min(largest, _LARGEST_LOSS)) for target in closely.failing]
    found = [each for each in found if each < _LARGEST_LOSS] + ([largest] if largest < _LARGEST_LOSS else [])
    apart = [each for each, following in zip(found, [*found[1:], math.inf], strict=True) if following > _APART * each]
    return [clones(base, threshold) for threshold in apart]


def _threshold(base: Pair, target: float, largest: float) -> float:
    """About the loss at which the profile is the target, above 0; any choice is valid."""
    with ctx.workprec(64):

        def excess(loss: float) -> Excess:
            return Excess(over(float(profile_of(base, arb(loss)).mid()), target))

        found = crossing(excess, 1.0, close=2.0**-40, farthest=largest)[1]
    return min(max(found, _LEAST_THRESHOLD), largest)
