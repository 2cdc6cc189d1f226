"""An upper bound for sampled Gaussian rounds of any size: the adversary is told who took part.

The hidden coins are a postprocessing of the public ones, so the profile is at most that of visible participation, which
coalition.py has exactly (docs/theory/dominating_pairs.md, section "Revealing the coin"). Next to nothing is lost
where the noise is so small that the output reveals the coin anyway, where every other accountant ends: of 100 Poisson
rounds at rate .01 and a noise multiplier of .002 epsilon is at most 877,521 at delta 1e-5, and 1,097,820 without
this file.
"""

from __future__ import annotations

import math
from dataclasses import replace
from types import ModuleType

from ..bracket import Bracket
from ..losses import gaussian_rounds as gaussian
from ..pairs import (
    AllocationPair,
    Composition,
    GaussianPair,
    OpposedPair,
    Pair,
    ReplacedAllocationPair,
    Sampling,
    SubsampledPair,
    ZeroedPair,
)
from ..rounding import UNIT, widened_up
from . import coalition as participation

METHOD = "revealed-coins"


def supports(composition: Composition) -> bool:
    """Gaussian rounds, at least one phase of them sampled or allocated in secret."""
    return _hidden(composition) and _accountant(_revealed(composition)).supports(_revealed(composition))


def epsilon(composition: Composition, delta: float) -> Bracket:
    """[0, certified upper bound] for the composed pair's epsilon at delta."""
    return Bracket(0.0, _accountant(_revealed(composition)).epsilon(_revealed(composition), delta).upper, True, METHOD)


def delta(composition: Composition, epsilon: float) -> Bracket:
    """[0, certified upper bound] for the composed pair's delta at epsilon."""
    return Bracket(0.0, _accountant(_revealed(composition)).delta(_revealed(composition), epsilon).upper, True, METHOD)


def _accountant(revealed: Composition) -> ModuleType:
    """Where all rounds are allocated ones, what is revealed are plain Gaussian rounds."""
    return gaussian if gaussian.supports(revealed) else participation


def _hidden(composition: Composition) -> bool:
    always = AllocationPair | ReplacedAllocationPair | OpposedPair | ZeroedPair
    return any(
        isinstance(pair, always) or (isinstance(pair, SubsampledPair) and pair.order != Sampling.VISIBLE)
        for pair, _ in composition
    )


def _revealed(composition: Composition) -> Composition:
    """The same rounds with visible coins; equal pairs are merged."""
    counts: dict[Pair, int] = {}
    for pair, rounds in composition:
        seen = _visible(pair)
        counts[seen] = counts.get(seen, 0) + rounds
    return tuple(counts.items())


def _visible(pair: Pair) -> Pair:
    if isinstance(pair, SubsampledPair):
        return _seen_coin(pair)
    if isinstance(pair, OpposedPair | ZeroedPair):
        return SubsampledPair(GaussianPair(pair.shift), pair.rate, Sampling.VISIBLE)
    if isinstance(pair, ReplacedAllocationPair):
        return _seen_rounds(pair.apart, 2.0)
    return _seen_rounds(pair, 1.0) if isinstance(pair, AllocationPair) else pair


def _seen_rounds(pair: AllocationPair, moves: float) -> Pair:
    """A Gaussian round for each participation; a replaced unit is shown the same rounds with both of its values."""
    if not isinstance(pair.base, GaussianPair):
        return pair
    return GaussianPair(widened_up(moves * pair.base.shift * math.sqrt(pair.participations), 4 * UNIT))


def _seen_coin(pair: SubsampledPair) -> SubsampledPair:
    """Of the replace order both distributions move, by the base's shift each, in opposite directions."""
    base = pair.base
    if pair.order == Sampling.REPLACE and isinstance(base, GaussianPair):
        base = GaussianPair(2.0 * base.shift)
    return replace(pair, base=base, order=Sampling.VISIBLE)
