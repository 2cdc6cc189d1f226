"""The score that looks at the lowest set bit of an output: what rounding and grids leave."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mechanisms.arrays import Floats
from .interval import Interval
from .layout import Layout
from .outputs import Outputs
from .scores import Scorer


@dataclass(frozen=True, slots=True)
class LowBits:
    """The exponent of the lowest set bit, the smallest over the columns.

    x = k 2^e with k odd has score e. A sum that is rounded at one magnitude cannot have lower bits than noise that
    is drawn at another: the attack of Mironov 2012 (CCS) on textbook Laplace, without its table of reachable
    values; it also finds the grids that rounding leaves.
    """

    learns: bool = False

    @property
    def name(self) -> str:
        return "exponent of the output's lowest set bit"

    def fit(self, dataset: Outputs, neighbour: Outputs, seed: int) -> Scorer:
        return _OfLowBits()


@dataclass(frozen=True, slots=True)
class _OfLowBits:
    def __call__(self, outputs: Outputs) -> Floats:
        return _lowest_bit(outputs.rows)

    def says(self, interval: Interval, layout: Layout) -> str:
        """A float is a whole number times 2^e; the largest such e says on which grid it lies."""
        return interval.told("the exponent e of the output's lowest set bit (it is an odd number times 2^e)")


def _lowest_bit(rows: Floats) -> Floats:
    """min over the columns of the exponent of the lowest set bit; 1100 for 0, NaN and infinities."""
    bits = np.ascontiguousarray(rows).view(np.int64)
    exponent = (bits >> 52) & 0x7FF
    mantissa = (bits & ((1 << 52) - 1)) | np.where(exponent > 0, 1 << 52, 0)
    lowest = (mantissa & -mantissa).astype(np.float64)
    place = np.log2(np.maximum(lowest, 1.0)) + np.maximum(exponent, 1) - 1075
    return np.asarray(np.where((exponent == 0x7FF) | (mantissa == 0), 1100.0, place).min(axis=1, initial=1100.0), float)
