"""One block of random allocation by itself: its profile is a sum over the atoms of its law, without any composition.

An accountant of accounting/epsilon.py. Any delta will do, however small: the sums have no cancellation. Of noise that
is next to nothing the law's masses are beyond doubles; the choice of the round hides next to nothing there, and what
serves is participation/revealed.py.
"""

from __future__ import annotations

import math

import numpy as np

from ..bracket import Bracket
from ..losses.atoms.cells import ROUNDING_OF_SUMS, Atoms
from ..losses.crossing import Excess, crossing, over
from ..pairs import AllocationPair, Composition
from ..pairs.pair import dominated_parameters, dominating_parameters
from ..rounding import TARGET, End, down, up
from .block import losses_above, losses_below, supports_base
from .repeated_blocks import NARROWEST

METHOD = "allocation"

_LOST = 1e-6
"""Share of delta that tails may take."""

_TAILS = (1e-12, 1e-14, 1e-28, 1e-60, 1e-120)
"""Tails that are tried where delta is what is sought."""

_TOLD = 1e-2
"""Share of a bracket's width below which a tail is not what makes it wide."""


def supports(composition: Composition) -> bool:
    """One block, with one participation."""
    pair = _block(composition)
    return pair is not None and supports_base(pair.base)


def _block(composition: Composition) -> AllocationPair | None:
    pair, rounds = composition[0] if len(composition) == 1 else (None, 0)
    return pair if rounds == 1 and isinstance(pair, AllocationPair) and pair.participations == 1 else None


def epsilon(composition: Composition, delta: float) -> Bracket:
    """The smallest epsilon >= 0 of the block at 0 < delta < 1."""
    lower, upper = (_smallest(*each, delta) for each in _laws(composition, _LOST * delta))
    return Bracket(lower, upper, True, METHOD)


def delta(composition: Composition, epsilon: float) -> Bracket:
    """The smallest delta of the block at epsilon >= 0."""
    found = Bracket(0.0, 1.0, True, METHOD)
    for tail in _TAILS:
        lower, upper = (
            _profile(law, end, epsilon * (1 - end.value * 2 * TARGET)) for law, end in _laws(composition, tail)
        )
        found = found.intersect(Bracket(lower, upper, True, METHOD))
        if tail <= max(_LOST * lower, _TOLD * found.width) or found.width <= NARROWEST * upper:
            break
    return found


def _laws(composition: Composition, tail: float) -> tuple[tuple[Atoms, End], tuple[Atoms, End]]:
    pair = _block(composition)
    if pair is None:
        raise TypeError(f"not a block: {composition}")
    high, low = dominating_parameters(pair), dominated_parameters(pair)
    above = losses_above(high.base, high.rounds, high.order, high.fineness, tail)
    below = losses_below(low.base, low.rounds, low.order, low.fineness, tail)
    return (below, End.LOWER), (above, End.UPPER)


def _profile(law: Atoms, end: End, epsilon: float) -> float:
    """At least or at most the law's E(1 - e^{epsilon - L})_+, infinity included."""
    over = law.loss > epsilon
    finite = float(np.sum(law.mass[over] * -np.expm1(epsilon - law.loss[over]))) * (1 + end.value * ROUNDING_OF_SUMS)
    value = law.infinite + finite
    return min(1.0, up(value, 2)) if end is End.UPPER else max(0.0, down(value, 2))


def _smallest(law: Atoms, end: End, delta: float) -> float:
    """At least or at most the epsilon at which the law's profile is delta, whose double stands for a decimal."""
    target = delta * (1 - end.value * 2 * TARGET)
    if law.infinite >= target:
        return math.inf
    ends = crossing(lambda at: Excess(over(_profile(law, end, at), target)), 0.5 * float(np.max(law.loss)))
    return ends[1] if end is End.UPPER else ends[0]
