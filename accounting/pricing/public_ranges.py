"""The pairs of noise whose outputs stay within a public range (docs/theory/public_ranges.md)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from flint import arb, ctx

from ...mechanisms import BoundedLaplace, ClampedGaussian, TruncatedGaussian
from ..losses.crossing import Excess, crossing
from ..pairs import (
    ApproximateDpPair,
    BoundedLaplacePair,
    ClampedGaussianPair,
    Pair,
    TruncatedGaussianPair,
    WorstBoundedLaplacePair,
    WorstTruncatedGaussianPair,
)
from ..pairs.pair import largest_loss
from ..rounding import UNIT, down, float_above, widened_down, widened_up
from .stated_parameters import StatedPairs, stated_pairs

_BITS = 256

_FEW_CHORDS = 8.0
"""The largest loss for which the chords of an envelope are close."""

PublicRange = BoundedLaplace | ClampedGaussian | TruncatedGaussian
"""Mechanisms whose outputs stay within a range."""


def over_more(mechanism: PublicRange, units: int) -> PublicRange:
    """What costs one unit as much as the mechanism costs a group: in units of a sensitivity that is `units` times as
    large, or as the range is, which nobody can leave."""
    times = min(float(units), mechanism.width)
    width = max(1.0, mechanism.width / times)
    if isinstance(mechanism, BoundedLaplace):
        return BoundedLaplace(down(mechanism.scale / times), width)
    return replace(mechanism, sigma=down(mechanism.sigma / times), width=width)


@stated_pairs.register
def _clamped_gaussian(mechanism: ClampedGaussian) -> StatedPairs:
    """The worst value is at an end of the range, its neighbour nearer to the other: the clamp there is the farthest.

    Attained: that pair, which is clamped on one side at once; and two neighbours in the middle.
    """
    shift, width = 1 / mechanism.sigma, mechanism.width / mechanism.sigma
    knee = shift * (width - shift / 2)
    far = widened_up(knee, 16 * UNIT)
    inner, edge = widened_down(knee, 16 * UNIT), widened_down(shift * shift / 2, 16 * UNIT)
    middle = widened_down(shift * width / 2, 16 * UNIT)
    lower = (ClampedGaussianPair(shift, edge, inner), ClampedGaussianPair(shift, middle, middle))
    return StatedPairs(ClampedGaussianPair(shift, far, far), lower)


@stated_pairs.register
def _bounded_laplace(mechanism: BoundedLaplace) -> StatedPairs:
    """The worst value's pair, which depends on epsilon. Attained: values at the end and in the middle."""
    upper = WorstBoundedLaplacePair(mechanism.scale, mechanism.width)
    places = _values(mechanism.width, 1.0)
    return StatedPairs(upper, tuple(BoundedLaplacePair(mechanism.scale, mechanism.width, at) for at in places), upper)


@stated_pairs.register
def _truncated_gaussian(mechanism: TruncatedGaussian) -> StatedPairs:
    """The worst value's pair; in several releases with large losses a clamped pair: as private as the Gaussian, and no
    loss above that at the end of the range."""
    places = _values(mechanism.width, 0.0)
    attained = tuple(TruncatedGaussianPair(mechanism.sigma, mechanism.width, at) for at in places)
    alone = WorstTruncatedGaussianPair(mechanism.sigma, mechanism.width)
    if largest_loss(alone) <= _FEW_CHORDS:
        return StatedPairs(alone, attained, alone)
    with ctx.workprec(_BITS):
        return StatedPairs(_both(1 / mechanism.sigma, attained[0].ends()[1]), attained, alone)


def _values(width: float, end: float) -> Iterator[float]:
    """Of the smaller of two neighbours 1 apart: with one at an end of the range, 0 or the other, or in the middle."""
    most = width - 1 if (width - 1) + 1 <= width else down(width - 1)
    yield most if end else 0.0
    yield most / 2


def _both(shift: float, largest: arb) -> Pair:
    """Of all pairs that are a Gaussian's with this shift up to a knee, the one of least knee whose largest loss is at
    least `largest`: the tangent there lies above every profile below the Gaussian's that is 0 from `largest` on."""

    def missing(knee: float) -> Excess:
        return Excess(float_above(largest - ClampedGaussianPair(shift, knee, knee).ends()[1]))

    if missing(0.0).value < 0.0:
        return ApproximateDpPair(float_above(largest), 0.0)
    _, knee = crossing(missing, float_above(largest), close=1e-13)
    return ClampedGaussianPair(shift, knee, knee)
