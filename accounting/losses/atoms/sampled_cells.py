"""Subsampling applied to cells: from the cells of a base pair (P0, Q0) to those of its subsampled pairs.

Orders are as in pairs.SubsampledPair. Where the base cells are kept in place and order a list of them is called
its sheets, so that the importance of a cell can be summed over what becomes of it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ....mechanisms.arrays import Floats
from ...pairs.order import Sampling
from ...rounding import UNIT
from .cells import ROUNDING_OF_SUMS, Cells

if TYPE_CHECKING:
    from ...pairs.lattice import LatticePair
    from ...pairs.location import LocationPair


def location_cells(base: LocationPair, edges: Floats, tail: float) -> Cells:
    """The cells of (N(shift), N(0)) between consecutive edges."""
    (p, p_error), (q, q_error) = base.masses(edges, base.shift), base.masses(edges, 0.0)
    loss, slack = base.log_ratio(edges)
    return Cells(p, q, (loss - slack)[:-1], (loss + slack)[1:], np.maximum(p_error, q_error), stray=2 * tail)


def sheets(base: Cells, order: Sampling, rate: float) -> list[Cells]:
    """The cells of the "remove", "add" or "hybrid" pair of the base."""
    removed = _removed(base, rate)
    if order == Sampling.REMOVE:
        return [removed]
    if order == Sampling.ADD:
        return [removed.mirrored()]
    if order == Sampling.HYBRID:
        return _hybrid(removed)
    raise ValueError(f"no sheets for the order {order!r}")


def _removed(base: Cells, rate: float) -> Cells:
    """P = (1 - rate) Q0 + rate P0 against Q0; the loss is log(1 - rate + rate e^l0).

    Outcomes that only Q0 shows have loss log(1 - rate), those that only P0 shows stay infinite.
    """
    low, low_slack = mixed_loss(base.low, rate)
    high, high_slack = mixed_loss(base.high, rate)
    p, q = (1 - rate) * base.q + rate * base.p, base.q
    ratio, ratio_error = mixed_ratio(*base.log_ratio(), rate)
    low, high, error = low - low_slack, high + high_slack, base.error + 4 * UNIT
    if base.only_q > 0:
        floor, slack = mixed_loss(np.array([-np.inf]), rate)
        p, q = np.append(p, (1 - rate) * base.only_q), np.append(q, base.only_q)
        low, high, error = (
            np.append(low, floor - slack),
            np.append(high, floor + slack),
            np.append(error, np.max(error)),
        )
        ratio, ratio_error = np.append(ratio, 0.0), np.append(ratio_error, np.inf)
    return Cells(p, q, low, high, error, rate * base.only_p, 0.0, base.stray, ratio, ratio_error)


def mixed_ratio(ratio: Floats, error: Floats, rate: float) -> tuple[Floats, Floats]:
    """log(1 - rate + rate e^ratio), and a bound of its error: the jump's share of the base ratio's, and rounding."""
    known = np.minimum(error, 1.0)
    value, slack = mixed_loss(ratio, rate)
    share = np.exp(np.minimum(math.log(rate) + ratio + known - value, 0.0))
    return value, np.where(error < 1.0, 1.01 * share * error + slack, np.inf)


def mixed_loss(loss: Floats, rate: float) -> tuple[Floats, Floats]:
    """log(1 - rate + rate e^loss), and a bound of its rounding error."""
    large = loss > 600
    small = rate * np.expm1(np.where(large, 0.0, loss))
    with np.errstate(divide="ignore"):
        near = np.log1p(small)
        near_slack = 8 * UNIT * (np.abs(small) / (1 + small) + np.abs(near))
    # e^l overflows: l + log(rate + (1 - rate) e^-l)
    far_sum = rate + (1 - rate) * np.exp(-np.where(large, loss, np.inf))
    far = np.where(large, loss, 0.0) + np.log(far_sum)
    far_slack = 8 * UNIT * (np.abs(np.where(large, loss, 0.0)) + np.abs(np.log(far_sum)) + 1)
    return np.where(large, far, near), np.where(large, far_slack, near_slack)


def _hybrid(removed: Cells) -> list[Cells]:
    """The symmetric pair that agrees with `removed` on positive losses (dominating_pairs.md, "Hybrid pairs").

    P has removed's P-law on losses above 0, its Q-law mirrored below 0, and the rest of its mass at loss 0.
    """
    positive = removed.low + removed.high > 0
    p, q = np.where(positive, removed.p, 0.0), np.where(positive, removed.q, 0.0)
    low = np.where(positive, np.maximum(removed.low, 0.0), removed.low)
    ratio = removed.log_ratio()
    above = Cells(p, q, low, removed.high, removed.error, removed.only_p, removed.only_p, removed.stray, *ratio)
    rest = 1 - float(np.sum(p)) - float(np.sum(q)) - removed.only_p
    unsure = float(np.sum((p + q) * removed.error)) + 2 * removed.stray + 0.01 * ROUNDING_OF_SUMS
    most = max(rest, 0.0) + unsure
    middle = np.array([most])
    zero = np.zeros(1)
    at_zero = Cells(middle, middle, zero, zero, np.array([min(2 * unsure / most, 1.0)]))
    below = above.mirrored()
    return [above, replace(below, only_p=0.0, only_q=0.0), at_zero]


def sampled_cells(base: LocationPair, order: Sampling, rate: float, edges: Floats, tail: float) -> list[Cells]:
    """The cells of a sampled round of continuous noise between these edges, a list for each part of its mixture."""
    if order == Sampling.REPLACE:
        return [replace_continuous(base, rate, edges, tail)]
    return sheets(location_cells(base, edges, tail), order, rate)


def replace_continuous(base: LocationPair, rate: float, edges: Floats, tail: float) -> Cells:
    """P = (1 - rate) N(0) + rate N(s) against Q = (1 - rate) N(0) + rate N(-s), between consecutive edges."""
    masses = [base.masses(edges, centre) for centre in (base.shift, 0.0, -base.shift)]
    loss, slack = _replace_loss(*base.log_ratio(edges), *base.log_ratio(-edges), rate)
    return _replace(masses, (loss - slack)[:-1], (loss + slack)[1:], rate, tail)


def replace_lattice(base: LatticePair, rate: float, tail: float) -> Cells:
    """The same for integer noise."""
    points = base.points(tail, -base.shift)
    masses = [base.masses(points, centre) for centre in (base.shift, 0, -base.shift)]
    loss, slack = _replace_loss(*base.log_ratio(points), *base.log_ratio(-points), rate)
    return _replace(masses, loss - slack, loss + slack, rate, tail)


def _replace_loss(
    ahead: Floats, ahead_slack: Floats, behind: Floats, behind_slack: Floats, rate: float
) -> tuple[Floats, Floats]:
    """log((1-rate) + rate dN(s)/dN(0)) - log((1-rate) + rate dN(-s)/dN(0)); mixing contracts the base's errors."""
    (first, first_slack), (second, second_slack) = mixed_loss(ahead, rate), mixed_loss(behind, rate)
    slack = ahead_slack + behind_slack + first_slack + second_slack + 2 * UNIT * np.abs(first - second)
    return first - second, slack


def _replace(masses: list[tuple[Floats, Floats]], low: Floats, high: Floats, rate: float, tail: float) -> Cells:
    (ahead, e1), (none, e2), (behind, e3) = masses
    error = np.maximum(np.maximum(e1, e2), e3) + 4 * UNIT
    first, second = (mixed_ratio(*Cells(moved, none, low, high, error).log_ratio(), rate) for moved in (ahead, behind))
    ratio, ratio_error = first[0] - second[0], first[1] + second[1] + UNIT * np.abs(first[0] - second[0])
    p, q = (1 - rate) * none + rate * ahead, (1 - rate) * none + rate * behind
    return Cells(p, q, low, high, error, stray=2 * tail, ratio=ratio, ratio_error=ratio_error)


def joined(parts: list[Cells]) -> Cells:
    """All cells in one list."""
    p, q, low, high, error = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("p", "q", "low", "high", "error")
    )
    only_p, only_q, stray = (sum(getattr(part, name) for part in parts) for name in ("only_p", "only_q", "stray"))
    ratio, ratio_error = (np.concatenate(values) for values in zip(*(part.log_ratio() for part in parts), strict=True))
    return Cells(p, q, low, high, error, only_p, only_q, stray, ratio, ratio_error)
