"""The privacy losses of one block of random allocation: discrete laws that dominate, and that are dominated.

Of what a round reveals only its pair (P0, Q0) with and without the unit matters, so any additive noise will do, and
anything else with a dominating pair (docs/theory/allocation.md, "One of t").
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeVar

import numpy as np

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from ..losses.atoms.cells import NEGLIGIBLE, Atoms, Cells
from ..losses.atoms.edges import Resolution
from ..losses.atoms.sampled_cells import location_cells
from ..pairs.categories import CategoriesPair
from ..pairs.lattice import LatticePair
from ..pairs.location import LocationPair
from ..pairs.order import Order
from ..pairs.pair import Pair
from ..rounding import UNIT
from .mean import Above, Below, deviation, mean_above, mean_below, spread

S = TypeVar("S", Above, Below)

_PILOT, _PILOT_TAIL = 256, 1e-8
"""Cells of the base to see its spread on."""

_DUE = 0.8
"""The grid is refined where its step is above this share of what it should be: the next level's spread is smaller."""

_NEARLY = 1e-6
"""A cell so little, in steps, outside two grid points counts as between them."""

_TAIL_LEVELS = 6.0
"""Tails are rounded down to a power of e^6, so that neighbouring targets share a law."""


def supports_base(pair: Pair) -> bool:
    """Whether the likelihood ratio of one round is known."""
    return isinstance(pair, CategoriesPair | LocationPair | LatticePair) and pair.losses() is not None


def _on_line(pair: Pair) -> LocationPair | None:
    """Continuous noise, which can be cut anywhere."""
    return pair if isinstance(pair, LocationPair) else None


def losses_above(base: Pair, rounds: int, order: Order, fineness: float, tail: float) -> Atoms:
    """A law of the loss, in this order, whose pair dominates that of one block.

    fineness: the grid's step as a share of the spread of log X, at most, at every level. tail: as in `mean_above`.
    """
    return losses_of(_above(base, rounds, fineness, _level(tail)), order)


def losses_of_many(base: Pair, rounds: int, order: Order, fineness: float, tail: float) -> Atoms:
    """`losses_above`, where many numbers of rounds are asked for: even ones are made of laws that stay."""
    return losses_of(_of_half(base, rounds, fineness, _level(tail)), order)


def losses_of(law: Above, order: Order) -> Atoms:
    if order == Order.REMOVE:
        loss, infinite, mass = law.places + law.slack, law.infinite, law.q * np.exp(law.places + law.slack)
    else:
        loss, infinite, mass = law.slack - law.places, law.zero, law.q
    grown = 1 + law.error + UNIT * (16 + 4 * np.abs(law.places))
    kept = mass > NEGLIGIBLE
    lost = float(np.sum(mass[~kept])) + NEGLIGIBLE * mass.size
    return Atoms(loss[kept], (mass * grown)[kept], (infinite + lost) * (1 + law.error + 1e-12))


def losses_below(base: Pair, rounds: int, order: Order, fineness: float, tail: float) -> Atoms:
    """A law of the loss whose pair the block's dominates: what merged outcomes reveal."""
    law = _below(base, rounds, fineness, _level(tail))
    p, q = (law.p, law.q) if order == Order.REMOVE else (law.q, law.p)
    kept = (p > NEGLIGIBLE) & (q > NEGLIGIBLE)
    log_ratio = np.log(p[kept] / q[kept])
    loss = log_ratio - 2 * law.error - UNIT * (16 + 4 * np.abs(log_ratio))
    infinite = law.infinite if order == Order.REMOVE else 0.0
    return Atoms(loss, p[kept] * (1 - law.error - 8 * UNIT), infinite * (1 - law.error - 1e-12))


def _level(tail: float) -> float:
    return math.exp(_TAIL_LEVELS * math.floor(math.log(tail) / _TAIL_LEVELS))


@lru_cache(maxsize=64)
def _above(base: Pair, rounds: int, fineness: float, tail: float) -> Above:
    step = fineness * spread_of_loss(base)
    return _mean(first_above(cells(base, step, 0.0, tail), step), mean_above, rounds, fineness, tail)


@lru_cache(maxsize=512)
def _of_half(base: Pair, rounds: int, fineness: float, tail: float) -> Above:
    if rounds % 2:
        return _above(base, rounds, fineness, tail)
    half = _of_half(base, rounds // 2, fineness, tail)
    refine = 2 if rounds > 2 and half.step > _DUE * fineness * spread(half) else 1
    return mean_above(half, half, (1, 1), refine, tail)


@lru_cache(maxsize=64)
def _below(base: Pair, rounds: int, fineness: float, tail: float) -> Below:
    step = fineness * spread_of_loss(base)
    return _mean(_first_below(cells(base, step, 0.5, tail), step), mean_below, rounds, fineness, tail)


def _mean(
    first: S, mean: Callable[[S, S, tuple[int, int], int, float], S], rounds: int, fineness: float, tail: float
) -> S:
    """Of so many rounds, level by level: each number of rounds is made of two of the level before."""
    levels, sizes = [], {rounds}
    while max(sizes) > 1:
        levels.append(sizes)
        sizes = {half for size in sizes for half in (size // 2, size - size // 2) if half}
    laws = {1: first}
    for sizes in reversed(levels):
        coarse = next(iter(laws.values()))
        refine = 2 if 1 not in sizes and coarse.step > _DUE * fineness * spread(coarse) else 1
        laws = {
            size: mean(laws[size // 2], laws[size - size // 2], (size // 2, size - size // 2), refine, tail)
            if size > 1
            else first
            for size in sizes
        }
    return laws[rounds]


def spread_of_loss(base: Pair) -> float:
    """About the standard deviation of one round's loss under Q."""
    line = _on_line(base)
    if line is not None:
        even = np.linspace(*line.span(_PILOT_TAIL, 0.0), _PILOT + 1)
        pilot = location_cells(line, np.unique(np.concatenate([even, line.outer])), _PILOT_TAIL)
    else:
        pilot = _table(base, _PILOT_TAIL)
    return deviation(0.5 * (pilot.low + pilot.high), pilot.q)


def _table(base: Pair, tail: float) -> Cells:
    known = base.losses()
    if known is None or known.cells is None:
        raise InputError("mechanism", base, "a mechanism whose rounds' likelihood ratio is known, allocated at random")
    return known.cells(Resolution(1, 1.0, tail))


def cells(base: Pair, step: float, offset: float, tail: float) -> Cells:
    """Outcomes of one round: continuous ones are cut where the loss is a multiple of the step, plus an offset."""
    line = _on_line(base)
    if line is None:
        return _table(base, tail)
    return location_cells(line, edges(line, step, offset, tail), tail)


def edges(line: LocationPair, step: float, offset: float, tail: float, forced: Sequence[float] = ()) -> Floats:
    """Where the loss is such a multiple, and where it is asked for; the loss is linear in the outcome over the span."""
    ends = np.array(line.span(tail, 0.0))
    low, high = line.log_ratio(ends)[0]
    losses = step * (np.arange(math.ceil(low / step - offset), math.floor(high / step - offset) + 1) + offset)
    inside = ends[0] + (losses - low) * ((ends[1] - ends[0]) / (high - low))
    apart = (inside > ends[0] + 1e-9 * step) & (inside < ends[1] - 1e-9 * step)
    asked = [place for place in forced if ends[0] < place < ends[1]]
    return np.unique(np.concatenate([inside[apart], asked, ends, line.outer]))


def first_above(cut: Cells, step: float) -> Above:
    """Each cell split on to two grid points around it, with its Q- and P-mass.

    Where rounding leaves a cell's losses a little outside, by `over`, both shares are enlarged by more than what the
    cell's exact mean asks for, and the positions are uncertain by as much.
    """
    kept = (cut.p > NEGLIGIBLE) & (cut.q > NEGLIGIBLE)
    p, q, low, high, error = (values[kept] for values in (cut.p, cut.q, cut.low, cut.high, cut.error))
    down = np.floor(low / step + _NEARLY)
    up = np.maximum(np.ceil(high / step - _NEARLY), down + 1)
    over = np.maximum(np.maximum(down * step - low, high - up * step), 0.0) + UNIT * (4 + np.abs(high))
    width = np.expm1(step * (up - down))
    share = np.clip((p / q * np.exp(-down * step) - 1) / width, 0.0, 1.0)
    unsure = 8 * (over + error + UNIT * (8 + np.abs(low))) * np.exp(step * (up - down)) / width
    first = int(np.min(down))
    size = int(np.max(up)) - first + 1
    masses = np.bincount((down - first).astype(int), q * np.minimum(1 - share + unsure, 1.0), size).astype(float)
    masses += np.bincount((up - first).astype(int), q * np.minimum(share + unsure, 1.0), size)
    rest = 2 * NEGLIGIBLE * cut.p.size + cut.stray
    zero, infinite = (
        (float(np.sum(mass[~kept])) + only + rest) * (1 + 1e-9)
        for mass, only in ((cut.q, cut.only_q), (cut.p, cut.only_p))
    )
    worst = float(np.max(error)) + UNIT * (2 * cut.p.size + 32)
    return Above(step, first, masses, zero, infinite, worst, float(np.max(over)))


def _first_below(cut: Cells, step: float) -> Below:
    """Cells of nearly equal losses merged."""
    kept = (cut.p > NEGLIGIBLE) & (cut.q > NEGLIGIBLE)
    p, q = cut.p[kept], cut.q[kept]
    label = np.rint(np.log(p / q) / step).astype(int)
    first, size = int(label.min()), int(label.max() - label.min()) + 1
    error = float(np.max(cut.error[kept])) + UNIT * (2 * cut.p.size + 32)
    of_q, of_p = (np.bincount(label - first, mass, size).astype(float) for mass in (q, p))
    return Below(step, first, of_q, of_p, cut.only_p * (1 - 1e-12), error)
