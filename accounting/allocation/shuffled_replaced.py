"""The loss of one epoch of shuffled batches of a unit that is replaced, from above (docs/theory/shuffled.md).

Gaussian noise: Theorem S'R, in which clones stand for nothing, and hide as in an epoch with the unit and without it;
what they leave is a replaced unit's block. Other noise: clones of the other data, by Theorem S' with the pair of both.
The profile is symmetric: below gamma = 1 it is known from above it.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import ndtri

from ...mechanisms.arrays import Floats
from ..losses.atoms.cells import Atoms, Cells, pessimistic
from ..losses.atoms.sampled_cells import location_cells
from ..pairs.gaussian import GaussianPair, gaussian_masses
from ..pairs.pair import Pair
from ..rounding import UNIT, up
from . import one_jump
from .clones import groups, hidden
from .profile_nodes import heights, symmetric_law_above, symmetric_nodes
from .shuffled_epoch import FINE, Look, shares, values

_LARGEST_SHIFT = 1.7
"""Beyond, jumps of replaced blocks are too high for their grids."""

_FINE, _COARSE = Look(0.02, 16, FINE.failing, 16, 0.04), Look(0.06, 4, FINE.failing[2::2], 10, 0.06)
_STEPS = 24
"""Grid points in a standard deviation, of blocks (one_jump.py)."""

_MOST_ROUNDS = 1800
"""Rounds of blocks, about: with more clones than that, no more of the others are used."""


_LEAST_TAIL, _MOST_TAIL = 1e-15, 1e-9
_CELLS = 4000


@lru_cache(maxsize=32)
def losses_of_replaced_epoch(apart: Pair, whole: Pair, batches: int, closely: Look, tail: float) -> Atoms:
    """A law of the loss whose pair dominates every pair of epochs with a unit's data and with other data; symmetric."""
    noise = apart.gaussian()
    if noise is not None and noise.coin is None and noise.shift <= _LARGEST_SHIFT:
        lost = 2.0 ** math.floor(math.log2(min(max(tail, _LEAST_TAIL), _MOST_TAIL)))
        known = _of_gaussian(GaussianPair(noise.shift), batches, _FINE if closely is FINE else _COARSE, lost)
        return symmetric_law_above(*known)
    nodes, remove, add = values(whole, batches, closely, tail)
    return symmetric_law_above(nodes, np.minimum(remove, add))


def _of_gaussian(apart: GaussianPair, batches: int, closely: Look, tail: float) -> tuple[Floats, Floats]:
    """Symmetric nodes, and upper values from 0 on."""
    s, tried = apart.shift, shares(apart, batches, closely)
    rounds = 1 + (batches - 1) * (tried[0].share if tried else 0.0)
    step = one_jump.spread(s, rounds) / closely.nodes
    nodes = symmetric_nodes(step, closely.growth, one_jump.farthest(s, tail))
    asked = nodes[nodes >= 0]
    blocks = _Blocks(s, asked, tail)
    found = blocks.profile(1)
    for of in tried:
        total = np.zeros(asked.size)
        for group in groups(of, min(batches, int(_MOST_ROUNDS / of.share)), closely.few, tail):
            for part in hidden(group, of.failing, closely.few):
                total += part.weight * blocks.profile(part.rounds)
            total += group.weight * blocks.beyond(up(group.most * of.failing))
        found = np.minimum(found, total * (1 + 1e-12))
    return nodes, found


class _Blocks:
    """Upper values, at some epsilons >= 0, of a replaced unit's blocks of so many rounds and of what is revealed."""

    def __init__(self, shift: float, nodes: Floats, tail: float) -> None:
        self._shift, self._nodes, self._tail = shift, nodes, tail
        self._known: dict[int, Floats] = {}

    def profile(self, rounds: int) -> Floats:
        """One of so many, with move s against -s."""
        if rounds not in self._known:
            self._known[rounds] = (
                one_jump.values_above(one_jump.block(self._shift, rounds, self._tail), self._nodes, _STEPS)
                if rounds > 1
                else self._alone()
            )
        return self._known[rounds]

    def _alone(self) -> Floats:
        pair = GaussianPair(up(2 * self._shift))
        edges = np.linspace(*pair.span(self._tail, 0.0), _CELLS)
        return heights(pessimistic(location_cells(pair, edges, self._tail)), self._nodes)

    def beyond(self, mass: float) -> Floats:
        """R: the integral of (n_s - gamma n_-s)_+ over the highest outcomes, of that mass under N(0)."""
        s, largest = self._shift, self._shift + math.sqrt(-2 * math.log(self._tail))
        start = -largest if mass >= 1 else max(-largest, -float(ndtri(mass)) - 1e-9) if mass > 1e-300 else largest
        if start >= largest:
            return np.full(self._nodes.size, self._tail)
        edges = np.linspace(start, largest, _CELLS)
        (p, p_error), (q, q_error) = gaussian_masses(edges, s), gaussian_masses(edges, -s)
        loss, slack = 2 * s * edges, 8 * UNIT * np.abs(s * edges)
        cells = Cells(p, q, (loss - slack)[:-1], (loss + slack)[1:], np.maximum(p_error, q_error), stray=self._tail)
        return heights(pessimistic(cells), self._nodes)
