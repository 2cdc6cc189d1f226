"""Pairs whose parameters are moved to the far side of their uncertainty: a double stands for a decimal or a quotient.

A larger shift, rate or epsilon, a smaller scale or flip, give a pair that dominates (docs/theory/pld.md, section
"Parameters"), so the moved pairs bracket the stated one. A discrete Gaussian is left as it is: its users carry the
uncertainty of sigma themselves. A stated delta is taken as the double that it is.
"""

from __future__ import annotations

from dataclasses import replace

from .pairs import (
    AllocationPair,
    ApproximateDpPair,
    DiscreteLaplacePair,
    GaussianPair,
    LaplacePair,
    MixturePair,
    OpposedPair,
    Pair,
    RandomizedResponsePair,
    SubsampledPair,
    ZeroedPair,
)
from .rounding import PARAMETER, UNIT

_MOVE = 2 * PARAMETER


def dominating_parameters(pair: Pair) -> Pair:
    """A pair that dominates the given one for all parameters within PARAMETER of the given ones."""
    return _moved(pair, 1 + _MOVE)


def dominated_parameters(pair: Pair) -> Pair:
    """A pair that the given one dominates for all parameters within PARAMETER of the given ones."""
    return _moved(pair, 1 - _MOVE)


def _moved(pair: Pair, factor: float) -> Pair:
    if isinstance(pair, GaussianPair | LaplacePair):
        return replace(pair, shift=pair.shift * factor)
    if isinstance(pair, DiscreteLaplacePair):
        return replace(pair, scale=pair.scale / factor)
    if isinstance(pair, RandomizedResponsePair):
        return replace(pair, flip=min(pair.flip / factor, 1 - 1 / pair.categories))
    if isinstance(pair, ApproximateDpPair):
        return replace(pair, epsilon=pair.epsilon * factor)
    if isinstance(pair, OpposedPair | ZeroedPair):
        return replace(pair, shift=pair.shift * factor, rate=min(pair.rate * factor, 1 - UNIT))
    if isinstance(pair, MixturePair):
        return MixturePair(tuple((weight, _moved(part, factor)) for weight, part in pair.parts))
    if isinstance(pair, AllocationPair):
        return replace(pair, base=_moved(pair.base, factor))
    if isinstance(pair, SubsampledPair):
        return replace(pair, base=_moved(pair.base, factor), rate=min(pair.rate * factor, 1 - UNIT))
    return pair
