"""The steps of a composition, each by a law that dominates it and one that it dominates.

Only the pairs' parameters are rounded here (up for the upper law, down for the lower one: a larger shift or rate
dominates, docs/theory/lattices.md, section "Parameters").
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...allocation.replaced_blocks import losses_of_one, serves
from ...pairs import Composition, GaussianPair, Pair
from ...pairs.pair import dominated_parameters, dominating_parameters
from ...rounding import End
from .edges import Resolution
from .transform import AtomLaw, Law

_FINE_CELLS = 2048
"""Cells of other pairs' outcomes from which on a replaced unit's block is cut finely, too."""


@dataclass(frozen=True, slots=True)
class Step:
    """`rounds` rounds of a pair, by a law that dominates it and one that it dominates.

    sampled: whether a coin decides about taking part, which is what makes large losses rare.
    """

    upper: Law
    lower: Law
    rounds: int
    sampled: bool


def steps(composition: Composition, resolution: Resolution) -> list[Step]:
    """The laws of every step; all Gaussian rounds are one Gaussian step. Raises TypeError for a pair without laws."""
    squares, rest = [], []
    for pair, rounds in composition:
        noise = pair.gaussian()
        if noise is not None and noise.coin is None:
            squares.append(rounds * noise.shift**2)
        else:
            rest.append((pair, rounds))
    merged: list[tuple[Pair, int]] = [(GaussianPair(math.sqrt(math.fsum(squares))), 1)] if squares else []
    return [_step(pair, rounds, resolution) for pair, rounds in [*merged, *rest]]


def _step(pair: Pair, rounds: int, resolution: Resolution) -> Step:
    """A replaced unit's block has both laws from the same values where a grid holds its jumps. Of an envelope only
    the upper end is used, so that its parameters are rounded once, and laws that take long found once."""
    upper = dominating_parameters(pair)
    lower = upper if pair.envelope else dominated_parameters(pair)
    if serves(upper) and serves(lower):
        above, below = losses_of_one(upper, lower, resolution.tail, quickly=resolution.cells < _FINE_CELLS)
        return Step(AtomLaw(above), AtomLaw(below), rounds, False)
    most, least = upper.losses(), lower.losses()
    if most is None or least is None:
        raise TypeError(f"no laws of {pair}")
    return Step(most.law(End.UPPER, resolution), least.law(End.LOWER, resolution), rounds, most.rate > 0.0)
