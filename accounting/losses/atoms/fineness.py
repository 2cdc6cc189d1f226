"""How finely the laws of random allocation and of shuffled epochs are cut, and how closely all are inverted.

Bounds hold for every choice: it decides how narrow a bracket is, and how long it takes.
"""

from __future__ import annotations

import math
from dataclasses import replace

from ...pairs import AllocationPair, Composition, ReplacedShuffledPair, ScoredBlockPair, ShuffledPair

CUT_ALIKE = AllocationPair | ShuffledPair | ReplacedShuffledPair
"""Pairs that say how finely their laws are cut."""

_FINEST = {AllocationPair: 1e-6, ScoredBlockPair: 1e-5, ShuffledPair: 1e-4, ReplacedShuffledPair: 1e-4}
"""Relative widths below which inverting laws more finely is of no use."""

_INVERTED = {ScoredBlockPair: 1e-3, ShuffledPair: 1e-2, ReplacedShuffledPair: 1e-2}
"""Relative widths above which inverting laws less finely saves nothing: finding them takes the time."""

COARSE_BLOCK = 0.1
"""Fineness of the blocks of random allocation in a quick bound: some per cent of epsilon."""

_BLOCK_FOR_RTOL = 0.12
"""Fineness squared over rtol, for blocks of random allocation: takes less than half of rtol."""


def cut_for(composition: Composition, rtol: float) -> tuple[Composition, float]:
    """Laws cut as coarsely as rtol lets them be, and how closely they are inverted: as what they leave of it, or more
    closely where that takes little beside finding them. Laws have a finest cut: asked for less, the line finds nothing.
    """
    least = max((_FINEST.get(type(pair), 0.0) for pair, _ in composition), default=0.0)
    cut = coarser(composition, math.sqrt(_BLOCK_FOR_RTOL * max(rtol, least)))
    coarsened = any(isinstance(pair, AllocationPair) for pair, _ in composition) and cut != composition
    closest = min(_INVERTED.get(type(pair), math.inf) for pair, _ in composition)
    return cut, max(min(0.6 * rtol if coarsened else rtol, closest), least)


def coarser(composition: Composition, fineness: float) -> Composition:
    """With blocks of random allocation and shuffled epochs cut no more finely than that."""
    return tuple(
        (replace(pair, fineness=max(fineness, pair.fineness)) if isinstance(pair, CUT_ALIKE) else pair, rounds)
        for pair, rounds in composition
    )
