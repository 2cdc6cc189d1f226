"""Cells of several releases on one sample: every pair of cells is a cell, and cells of nearly equal losses are one."""

from __future__ import annotations

import numpy as np

from ....mechanisms.arrays import Floats
from ...rounding import UNIT, up
from .cells import Cells

_FAINT = 1e-270
"""Masses below this are left out, so that no product of masses comes near the subnormal range."""

MOST_CELLS = 1 << 21
"""Cells of two releases together, before they are merged."""


def joined(total: Cells | None, cells: Cells, count: int) -> Cells:
    """Those of all releases so far and of one more, at most about so many; total: None for none so far."""
    if total is None:
        return cells
    room = max(2, MOST_CELLS // cells.p.size)
    return merged(crossed(merged(total, room), cells), count)


def crossed(first: Cells, second: Cells) -> Cells:
    """The cells of both releases. Outcomes that one side never has stay such outcomes."""

    def outer(name: str) -> Floats:
        return np.asarray(np.outer(getattr(first, name), getattr(second, name)).ravel())

    def total(name: str) -> Floats:
        return np.asarray(np.add.outer(getattr(first, name), getattr(second, name)).ravel())

    slack = 2 * UNIT * (np.abs(total("low")) + np.abs(total("high")))
    p, q = outer("p"), outer("q")
    faint = 2 * float(p.size) * _FAINT
    return Cells(
        np.where(p < _FAINT, 0.0, p),
        np.where(q < _FAINT, 0.0, q),
        total("low") - slack,
        total("high") + slack,
        1.01 * total("error") + 4 * UNIT,
        _either(first.only_p, second.only_p),
        _either(first.only_q, second.only_q),
        up(first.stray + second.stray + faint, 4),
    )


def _either(first: float, second: float) -> float:
    """Of two independent outcomes, that at least one is so: the sum would be more than there is, which no lower end may
    have. Rounded to nearest, within what both directions allow for (cells.py)."""
    return first + second * (1.0 - first)


def merged(cells: Cells, count: int) -> Cells:
    """At most about so many cells: those whose losses lie in one of `count` equal stretches become one."""
    if cells.p.size <= count:
        return cells
    middle = 0.5 * (cells.low + cells.high)
    least, most = float(np.min(middle)), float(np.max(middle))
    place = np.minimum(((middle - least) / max(most - least, 1e-300) * count).astype(np.int64), count - 1)
    order = np.argsort(place, kind="stable")
    starts = np.flatnonzero(np.diff(place[order], prepend=-1))
    sizes = np.diff(starts, append=order.size)
    p, q = (np.add.reduceat(masses[order], starts) for masses in (cells.p, cells.q))
    low, high = np.minimum.reduceat(cells.low[order], starts), np.maximum.reduceat(cells.high[order], starts)
    error = np.maximum.reduceat(cells.error[order], starts) + (sizes + 2) * UNIT
    return Cells(p, q, low, high, error, cells.only_p, cells.only_q, cells.stray)
