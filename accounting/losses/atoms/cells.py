"""One step's outcomes cut into cells, and the two discrete laws of its privacy loss that bracket the step.

Given only the P-mass p, the Q-mass q and the range [low, high] of the loss on each cell:

- `pessimistic` sends each cell to its two ends so that p and q are kept: a pair that dominates the step.
- `optimistic` merges each cell into the one outcome with loss log(p / q): a pair that the step dominates.

Both errors are of second order in the cells' width. Domination survives composition, so the profiles of the
composed laws bracket the true one. Proofs: docs/theory/lattices.md, sections "Pessimistic law", "Optimistic law".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....mechanisms.arrays import Floats
from ...rounding import UNIT, up

NEGLIGIBLE = 1e-290
"""Masses below this are close to the subnormal range, where relative errors are lost."""

ROUNDING_OF_SUMS = 1e-12
"""Generous relative bound for numpy's pairwise sums of up to 2^24 nonnegative doubles."""


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells of the outcome space.

    p, q: masses under P and under Q, each with relative error at most `error`, plus an absolute one of NEGLIGIBLE.
    low, high: finite bounds of the privacy loss log(dP/dQ) on the cell.
    ratio, ratio_error: log(p/q) of the exact masses and a bound of its error, where it is known better than from p and
    q: mixtures whose rates are tiny have tiny losses.
    only_p, only_q: mass of the outcomes that the other distribution never shows (loss +inf and -inf).
    stray: a bound of the P-mass, and of the Q-mass, of all outcomes that are in no cell.
    """

    p: Floats
    q: Floats
    low: Floats
    high: Floats
    error: Floats
    only_p: float = 0.0
    only_q: float = 0.0
    stray: float = 0.0
    ratio: Floats | None = None
    ratio_error: Floats | None = None

    def mirrored(self) -> Cells:
        """The pair (Q, P)."""
        ratio = None if self.ratio is None else -self.ratio
        return Cells(
            self.q,
            self.p,
            -self.high,
            -self.low,
            self.error,
            self.only_q,
            self.only_p,
            self.stray,
            ratio,
            self.ratio_error,
        )

    def log_ratio(self) -> tuple[Floats, Floats]:
        """log(p/q), and a bound of its error; infinite where one of the two is negligible."""
        with np.errstate(all="ignore"):
            value, error = _log_ratio(self.p, self.q, self.error)
        if self.ratio is not None and self.ratio_error is not None:
            better = self.ratio_error < error
            value, error = np.where(better, self.ratio, value), np.where(better, self.ratio_error, error)
        usable = (self.p > 2 * NEGLIGIBLE) & (self.q > 2 * NEGLIGIBLE)
        return np.where(usable, value, 0.0), np.where(usable, error, np.inf)

    def at(self, which: NDArray[np.int64] | slice) -> Cells:
        """Those cells, in that order, and what is in no cell."""
        ratio, error = self.log_ratio()
        parts = [values[which] for values in (self.p, self.q, self.low, self.high, self.error, ratio, error)]
        p, q, low, high, errors, ratio, error = parts
        return Cells(p, q, low, high, errors, self.only_p, self.only_q, self.stray, ratio, error)

    def trimmed(self, mass: float) -> Cells:
        """Without the cells of the largest losses, as far as all of them together have at most this mass under P.

        A single large loss of no consequence would otherwise set the scale of everything. Losses above 0 only, where
        the Q-mass is the smaller one: what is left out is stray.
        """
        order = np.argsort(-self.low)
        total = np.cumsum((self.p * (1 + self.error) + 2 * NEGLIGIBLE)[order]) * (1 + ROUNDING_OF_SUMS)
        count = int(np.count_nonzero((total <= mass) & (self.low[order] > 0)))
        if count == 0 or count == order.size:
            return self
        kept = np.sort(order[count:])
        parts = self.p, self.q, self.low, self.high, self.error, *self.log_ratio()
        p, q, low, high, error, ratio, ratio_error = (values[kept] for values in parts)
        stray = up(self.stray + float(total[count - 1]))
        return Cells(p, q, low, high, error, self.only_p, self.only_q, stray, ratio, ratio_error)


@dataclass(frozen=True, slots=True)
class Atoms:
    """A law of the privacy loss under P: masses at finite losses, and the mass at +inf."""

    loss: Floats
    mass: Floats
    infinite: float


def pessimistic(cells: Cells) -> Atoms:
    """A law whose pair dominates the cells' pair: rounding is towards larger masses at larger losses."""
    kept = cells.p > 2 * NEGLIGIBLE
    infinite = float(np.sum(cells.p[~kept])) + 2 * NEGLIGIBLE * cells.p.size + cells.only_p + cells.stray
    low, high = cells.low[kept], cells.high[kept]
    share = _share_of_upper_end(cells, kept)
    mass = cells.p[kept] * (1 + cells.error[kept] + 8 * UNIT)
    below = mass * (1 - share)
    split = below > 0
    return Atoms(
        np.concatenate([low[split], high]),
        np.concatenate([below[split], mass * share]),
        infinite * (1 + ROUNDING_OF_SUMS),
    )


def _share_of_upper_end(cells: Cells, kept: NDArray[np.bool_]) -> Floats:
    """theta >= (1 - (q/p) e^low) / (1 - e^(low - high)): the least share that keeps the Q-mass at q or less."""
    low, width = cells.low[kept], cells.high[kept] - cells.low[kept]
    share = np.ones_like(low)
    ratio, slack = (values[kept] for values in cells.log_ratio())
    usable = (slack < 1.0) & (width > 0)
    above_low = np.maximum(ratio[usable] + slack[usable] - low[usable], 0.0) + 4 * UNIT * np.abs(low[usable])
    share[usable] = np.minimum(np.expm1(-above_low) / np.expm1(-width[usable]) * (1 + 64 * UNIT), 1.0)
    return share


def optimistic(cells: Cells) -> Atoms:
    """A law whose pair is dominated by the cells' pair: rounding is towards smaller masses at smaller losses."""
    kept = cells.p > 2 * NEGLIGIBLE
    ratio, slack = cells.log_ratio()
    loss = np.where(np.isfinite(slack), np.maximum(cells.low, ratio - np.minimum(slack, 1e300)), cells.low)
    mass = np.maximum(cells.p * (1 - cells.error - 8 * UNIT), 0.0)
    return Atoms(loss[kept], mass[kept], max(0.0, cells.only_p * (1 - ROUNDING_OF_SUMS) - NEGLIGIBLE))


def _log_ratio(numerator: Floats, denominator: Floats, error: Floats) -> tuple[Floats, Floats]:
    """log(numerator / denominator) and a bound of its error."""
    close = np.abs(numerator - denominator) <= 0.5 * denominator
    ratio = np.where(close, 1.0, numerator / denominator)
    near = np.log1p(np.where(close, (numerator - denominator) / denominator, 0.0))
    value = np.where(close, near, np.log(ratio))
    return value, 2.5 * error + 16 * UNIT * (1 + np.abs(value))
