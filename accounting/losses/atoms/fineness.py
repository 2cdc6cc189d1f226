"""How finely laws that no number of cells makes finer are cut, and how closely all are inverted.

Each pair says what that is worth (`laws.Cut`). Bounds hold for every choice: it decides how narrow a bracket is, and
how long it takes.
"""

from __future__ import annotations

import math

from ...pairs.pair import Composition
from .laws import Cut

COARSE_BLOCK = 0.1
"""Fineness of the blocks of random allocation in a quick bound: some per cent of epsilon."""

_BLOCK_FOR_RTOL = 0.12
"""Fineness squared over rtol, for blocks of random allocation: takes less than half of rtol."""


def cuts(composition: Composition) -> list[Cut]:
    """Of the pairs whose laws no number of cells makes finer."""
    known = [pair.losses() for pair, _ in composition]
    return [losses.cut for losses in known if losses is not None and losses.cut is not None]


def is_cut(composition: Composition) -> bool:
    """Whether there are blocks for which a coarse cut saves time."""
    return any(cut.fineness < math.inf for cut in cuts(composition))


def cut_for(composition: Composition, rtol: float) -> tuple[float, float]:
    """How coarsely rtol lets blocks be cut, and how closely laws are inverted: as what that leaves of it, or more
    closely where that takes little beside finding them. Laws have a finest cut: asked for less, the line finds nothing.
    """
    known = cuts(composition)
    least = max((cut.finest for cut in known), default=0.0)
    fineness = math.sqrt(_BLOCK_FOR_RTOL * max(rtol, least))
    coarsened = any(cut.fineness < fineness for cut in known)
    closest = min((cut.closest for cut in known), default=math.inf)
    return fineness, max(min(0.6 * rtol if coarsened else rtol, closest), least)
