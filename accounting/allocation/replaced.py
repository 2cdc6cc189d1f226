"""One of t rounds, a replaced unit: a law of the loss that dominates a block's, by its worst contributions.

The unit contributes u, or -u: with L = e^{sx - s^2/2} and L' = e^{-sx - s^2/2}, x normal, the block's profile is

    H_gamma = E(Z_1 + ... + Z_t)_+ / t,   Z_i independent, distributed as Z = L - gamma L'

(docs/theory/allocation.md, "Replaced"; its values: one_jump.py). Chords between a few gammas lie above the profile, and
are the profile of a discrete pair.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...mechanisms.arrays import Floats
from ..losses.atoms.cells import Atoms
from ..pairs import allocation
from ..pairs.pair import Pair
from ..pairs.parameters import dominated_parameters, dominating_parameters
from ..rounding import UNIT
from . import one_jump

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
    variance = 2 * math.expm1(shift**2) - 2 * math.expm1(-(shift**2))
    spread = math.sqrt(variance / rounds)
    last = 2 * shift * (shift + math.sqrt(-2 * math.log(tail)))
    nodes = list(np.arange(0, _BULK * _NODES_PER_SPREAD + 1) * (spread / _NODES_PER_SPREAD))
    while nodes[-1] < last:
        nodes.append(nodes[-1] * _RATIO)
    values = []
    of = one_jump.block(shift, rounds, tail)
    for node in nodes:
        values.append(one_jump.profile_above(of, node, _STEPS))
        if values[-1] < 2 * tail:
            break
    return _atoms(np.array(nodes[: len(values)]), np.array(values))


def _atoms(nodes: Floats, values: Floats) -> Atoms:
    """The symmetric pair whose profile is the largest convex function below the values, which are those at gamma >= 1.

    A convex function below the values at the nodes is below the chords between vertices of that one.
    """
    gammas = np.exp(nodes)
    mirrored = 1 - 1 / gammas[1:] + values[1:] / gammas[1:]
    at = np.concatenate([[0.0], 1 / gammas[:0:-1], gammas])
    height = np.concatenate([[1.0], mirrored[::-1], values])
    kept = minorant(at, height)
    at, height = at[kept], height[kept]
    slopes = np.append(np.diff(height) / np.diff(at), 0.0)
    q = np.maximum(np.diff(slopes), 0.0)
    gamma = at[1:]
    p, loss = q * gamma, np.log(gamma)
    found = np.array([float(p @ np.maximum(1 - x / gamma, 0.0)) for x in at])
    infinite = max(0.0, float(np.max(height - found))) + 1e-13
    return Atoms(loss + UNIT * (16 + 4 * np.abs(loss)), p, infinite)


def minorant(at: Floats, height: Floats) -> list[int]:
    """Vertices of the largest convex function below the points (Andrew's chain)."""
    chain: list[int] = []
    for here in range(at.size):
        while len(chain) > 1:
            one, other = chain[-2], chain[-1]
            rise, run = height[other] - height[one], at[other] - at[one]
            if rise * (at[here] - at[one]) < (height[here] - height[one]) * run:
                break
            chain.pop()
        chain.append(here)
    return chain


def moved_block(pair: Pair) -> tuple[float, float, int]:
    """The shift from above and from below, and the rounds, of a pair that `block_of` knows."""
    high, low = block_of(dominating_parameters(pair)), block_of(dominated_parameters(pair))
    if high is None or low is None:
        raise TypeError(f"not a block: {pair}")
    return high.shift, low.shift, high.rounds
