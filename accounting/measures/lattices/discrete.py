"""Pairs whose outcomes are countable, as exact cells: one cell an outcome, or a run of outcomes of equal loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from flint import arb, ctx

from ....mechanisms.arrays import Floats
from ...pairs import (
    ApproximateDpPair,
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    FinitePair,
    Pair,
    RandomizedResponsePair,
)
from ...rounding import PARAMETER, UNIT, float_above, float_below
from .cells import Cells

_BITS = 128

MOST_OUTCOMES = 1 << 22
"""Outcomes of one pair beyond which its table would take more than about a second and 200 MB."""


class LatticeBase(Protocol):
    """Integer noise N about 0 and about `shift`; log_ratio is log dN(shift)/dN(0), monotone."""

    @property
    def shift(self) -> int: ...

    def points(self, tail: float, lowest: int) -> Floats:
        """Outcomes for centres between `lowest` and `shift`; all but 2 * tail of each centre's mass is on them."""
        ...

    def masses(self, points: Floats, centre: int) -> tuple[Floats, Floats]:
        """Masses of N(centre), and their relative errors."""
        ...

    def log_ratio(self, points: Floats) -> tuple[Floats, Floats]:
        """Losses, and their absolute errors."""
        ...


@dataclass(frozen=True, slots=True)
class DiscreteGaussianBase:
    """P[x] = exp(-x^2 / (2 sigma^2)) / Z, with Z = sum over the integers."""

    sigma: float
    shift: int

    def points(self, tail: float, lowest: int) -> Floats:
        """P[X >= m] <= Phi(-(m-1)/sigma) <= exp(-((m-1)/sigma)^2 / 2), since Z >= sqrt(2 pi) sigma (Poisson sum)."""
        reach = math.ceil(self.sigma * math.sqrt(-2 * math.log(tail))) + 2
        return np.arange(lowest - reach, self.shift + reach + 1, dtype=float)

    def masses(self, points: Floats, centre: int) -> tuple[Floats, Floats]:
        squares = ((points - centre) / self.sigma) ** 2
        reach = math.ceil(40 * self.sigma) + 1
        half = np.exp(-0.5 * (np.arange(1, reach + 1) / self.sigma) ** 2)
        total = 1 + 2 * float(np.sum(half))
        return np.exp(-0.5 * squares) / total, (4 * UNIT + 2 * PARAMETER) * (squares + 16)

    def log_ratio(self, points: Floats) -> tuple[Floats, Floats]:
        # sigma itself is uncertain by PARAMETER, here and in the masses
        value = self.shift * (2 * points - self.shift) / (2 * self.sigma**2)
        return value, (6 * UNIT + 2 * PARAMETER) * np.abs(value)


@dataclass(frozen=True, slots=True)
class DiscreteLaplaceBase:
    """P[x] = (1-a)/(1+a) a^|x|, a = exp(-1/scale); outcomes beyond the centres have equal losses and are one point."""

    scale: float
    shift: int

    def points(self, tail: float, lowest: int) -> Floats:
        return np.arange(lowest, self.shift + 1, dtype=float)

    def masses(self, points: Floats, centre: int) -> tuple[Floats, Floats]:
        away = np.abs(points - centre) / self.scale
        ends = (points == points[0]) | (points == points[-1])
        one_minus_a, one_plus_a = -math.expm1(-1 / self.scale), 1 + math.exp(-1 / self.scale)
        mass = np.exp(-away) * np.where(ends, 1.0, one_minus_a) / one_plus_a
        return mass, 4 * UNIT * (away + 16)

    def log_ratio(self, points: Floats) -> tuple[Floats, Floats]:
        value = (2 * np.clip(points, 0, self.shift) - self.shift) / self.scale
        return value, 4 * UNIT * np.abs(value)


def lattice_base(pair: Pair) -> LatticeBase | None:
    """The integer noise of a pair, or None where there is none (or too much of it for a table)."""
    if isinstance(pair, DiscreteGaussianPair) and 100 * pair.sigma + 3 * pair.shift < MOST_OUTCOMES:
        return DiscreteGaussianBase(pair.sigma, pair.shift)
    if isinstance(pair, DiscreteLaplacePair) and 2 * pair.shift < MOST_OUTCOMES:
        return DiscreteLaplaceBase(pair.scale, pair.shift)
    return None


def lattice_cells(base: LatticeBase, tail: float) -> Cells:
    """The cells of (N(shift), N(0))."""
    points = base.points(tail, 0)
    (p, p_error), (q, q_error) = base.masses(points, base.shift), base.masses(points, 0)
    loss, slack = base.log_ratio(points)
    return Cells(p, q, loss - slack, loss + slack, np.maximum(p_error, q_error), stray=2 * tail)


def finite_cells(pair: RandomizedResponsePair | ApproximateDpPair) -> Cells:
    """The cells of a pair on two or three losses."""
    if isinstance(pair, RandomizedResponsePair):
        truth, other = 1 - pair.flip, pair.flip / (pair.categories - 1)
        odds = math.log(truth / other)
        masses, only = [truth, other, other * (pair.categories - 2)], 0.0
    else:
        odds, only = pair.epsilon, pair.delta
        rest = (1 - pair.delta) / (1 + math.exp(-odds))
        masses = [rest, rest * math.exp(-odds), 0.0]
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
        only_p, only_q = (float_above(sum(side, arb(0))) if side else 0.0 for side in _alone(outcomes))
    return Cells(p, q, low, high, error, only_p, only_q)


def _alone(outcomes: list[tuple[arb, arb]]) -> tuple[list[arb], list[arb]]:
    """The masses of outcomes that only one side has."""
    return [p for p, q in outcomes if q.is_zero()], [q for p, q in outcomes if p.is_zero()]
