"""Pairs whose outcomes are countable, as exact cells: one cell an outcome, or a run of outcomes of equal loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from flint import arb, ctx

from ...rounding import UNIT, float_above, float_below
from .cells import Cells

if TYPE_CHECKING:
    from ...pairs.categories import CategoriesPair
    from ...pairs.finite import FinitePair
    from ...pairs.lattice import LatticePair
    from ...pairs.losses import LossesPair

_BITS = 128

MOST_OUTCOMES = 1 << 22
"""Outcomes of one pair beyond which its table would take more than about a second and 200 MB."""


def lattice_cells(base: LatticePair, tail: float) -> Cells:
    """The cells of (N(shift), N(0))."""
    points = base.points(tail, 0)
    (p, p_error), (q, q_error) = base.masses(points, base.shift), base.masses(points, 0)
    loss, slack = base.log_ratio(points)
    return Cells(p, q, loss - slack, loss + slack, np.maximum(p_error, q_error), stray=2 * tail)


def finite_cells(pair: CategoriesPair) -> Cells:
    """The cells of a pair on two or three losses."""
    masses, odds, only = pair.doubles()
    p = np.array(masses)
    q = p[[1, 0, 2]]
    loss = np.array([odds, -odds, 0.0])
    slack = np.array([1.0, 1.0, 0.0]) * (8 * UNIT * (1 + odds) if odds > 0 else 0.0)
    error = np.full(3, 16 * UNIT)
    kept = p > 0
    return Cells(p[kept], q[kept], (loss - slack)[kept], (loss + slack)[kept], error[kept], only, only)


def outcome_cells(pair: FinitePair) -> Cells:
    """The cells of a pair that states its outcomes, with the errors that its balls have."""
    with ctx.workprec(_BITS):
        outcomes = pair.outcomes()
        losses = [(p / q).log() for p, q in outcomes if not (p.is_zero() or q.is_zero())]
        masses = [(p, q) for p, q in outcomes if not (p.is_zero() or q.is_zero())]
        p, q = (np.array([float(mass.mid()) for mass in side]) for side in zip(*masses, strict=True))
        error = np.array([max(float((mass.rad() / mass.mid()).upper()) for mass in both) + 4 * UNIT for both in masses])
        low = np.array([0.0 if loss.is_zero() else float_below(loss) for loss in losses])
        high = np.array([0.0 if loss.is_zero() else float_above(loss) for loss in losses])
        only_p = sum((p for p, q in outcomes if q.is_zero()), arb(0))
        only_q = sum((q for p, q in outcomes if p.is_zero()), arb(0))
        alone_p, alone_q = (0.0 if mass.is_zero() else float_above(mass) for mass in (only_p, only_q))
    return Cells(p, q, low, high, error, alone_p, alone_q)


def stated_cells(pair: LossesPair) -> Cells:
    """The cells of a pair whose losses are stated: each is exact, and what one side has alone is in no cell."""
    loss, p, error = pair.table()
    return Cells(p, p * np.exp(-loss), loss, loss, np.full(p.size, error), pair.infinite, pair.only_q)
