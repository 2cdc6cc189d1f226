"""Cells of the envelope of bounded range: densities like e^x and e^-x on [0, epsilon], loss 2 x - epsilon."""

from __future__ import annotations

import math

import numpy as np

from ...pairs import BoundedRangePair
from ...rounding import UNIT
from .cells import Cells


def range_cells(pair: BoundedRangePair, count: int) -> Cells:
    """Cells of equal width. P has e^(a - epsilon) (e^w - 1) / (1 - e^-epsilon) from a to a + w, Q the mirror image."""
    most = pair.epsilon
    edges = np.linspace(0.0, most, count + 1)
    left, right = edges[:-1], edges[1:]
    p = np.exp(left - most) * np.expm1(right - left) / -math.expm1(-most)
    q = np.exp(-right) * np.expm1(right - left) / -math.expm1(-most)
    error = np.full(p.size, UNIT * (40 + 4 * most + 4 * count))  # widths are differences of edges
    slack = 4 * UNIT * most
    return Cells(p, q, 2 * left - most - slack, 2 * right - most + slack, error)
