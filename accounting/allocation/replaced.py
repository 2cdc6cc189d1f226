"""One of t rounds, a replaced unit: a law of the loss that dominates a block's, by its worst contributions.

The unit contributes u, or -u: with L = e^{sx - s^2/2} and L' = e^{-sx - s^2/2}, x normal, the block's profile is

    H_gamma = E(Z_1 + ... + Z_t)_+ / t,   Z_i independent, distributed as Z = L - gamma L'

(docs/theory/allocation.md, "Replaced"; its values: one_jump.py). Chords between a few gammas lie above the profile, and
are the profile of a discrete pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..losses.atoms.cells import Atoms
from ..pairs import allocation
from ..pairs.pair import Pair, dominated_parameters, dominating_parameters
from . import one_jump
from .profile_nodes import symmetric_law_above

_NODES_PER_SPREAD, _BULK, _RATIO = 8, 7.0, 1.15
"""Nodes in epsilon: this many in a spread of the loss, up to so many spreads, and then in this ratio."""


_STEPS = 24
"""Grid points in a standard deviation of Z (one_jump.py)."""

_LARGEST_SHIFT, _MOST_ROUNDS = 2.0, 10**6
"""Shifts and rounds up to which a grid can hold a block's jumps."""


@dataclass(frozen=True, slots=True)
class ReplacedBlock:
    """Of so many rounds of Gaussian noise one moves by `shift`, or by as much to the other side."""

    shift: float
    rounds: int


def block_of(pair: Pair) -> ReplacedBlock | None:
    """A replaced unit's block with one participation and jumps that a grid can hold; None for any other pair."""
    if not isinstance(pair, allocation.ReplacedAllocationPair) or pair.apart.participations != 1:
        return None
    noise, rounds = pair.apart.base.gaussian(), pair.apart.rounds
    held = (
        noise is not None
        and noise.coin is None
        and 1e-3 <= noise.shift <= _LARGEST_SHIFT
        and 1 < rounds <= _MOST_ROUNDS
    )
    return ReplacedBlock(noise.shift, rounds) if noise is not None and held else None


@lru_cache(maxsize=16)
def losses_of_replaced(shift: float, rounds: int, tail: float) -> Atoms:
    """A law whose pair dominates that of a block; the pair is symmetric.

    shift: 1 / noise_multiplier, at least. tail: P-mass that becomes infinite loss, about.
    """
    spread, last = one_jump.spread(shift, rounds), one_jump.farthest(shift, tail)
    nodes = list(np.arange(0, _BULK * _NODES_PER_SPREAD + 1) * (spread / _NODES_PER_SPREAD))
    while nodes[-1] < last:
        nodes.append(nodes[-1] * _RATIO)
    epsilons = np.array(nodes)
    values = one_jump.values_above(one_jump.block(shift, rounds, tail), epsilons, _STEPS)
    return symmetric_law_above(np.concatenate([-epsilons[:0:-1], epsilons]), values)


def moved_block(pair: Pair) -> tuple[float, float, int]:
    """The shift from above and from below, and the rounds, of a pair that `block_of` knows."""
    high, low = block_of(dominating_parameters(pair)), block_of(dominated_parameters(pair))
    if high is None or low is None:
        raise TypeError(f"not a block: {pair}")
    return high.shift, low.shift, high.rounds
