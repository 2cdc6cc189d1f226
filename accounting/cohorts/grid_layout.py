"""Where to look: a run's tilt, grid and windows, from about what its epsilon is. No bound depends on it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...mechanisms import Relation
from ...mechanisms.arrays import Floats
from .round_profiles import remove_above

_COARSE = 400
_RARE = -math.log(1e-7)
"""What of delta may get lost in all at the edges of windows and kernels (-log)."""

_FAR = 5.5
"""How far, in standard deviations, paths to epsilon may stray."""


Progress = Callable[[float], None]
"""Told the share of the work that is done."""


@dataclass(frozen=True, slots=True)
class Effort:
    """step: in standard deviations of a round's loss; excess: of the covers, relative to epsilon; boxes: at most so
    many; block: rounds at most in a block."""

    step: float
    excess: float
    boxes: int
    block: int


@dataclass(frozen=True, slots=True)
class Window:
    """The losses first * step .. last * step, 0 among them; step has few enough bits for its multiples to be exact."""

    step: float
    first: int
    last: int

    @property
    def losses(self) -> Floats:
        return np.asarray(self.step * np.arange(self.first, self.last + 1))


@dataclass(frozen=True, slots=True)
class Phase:
    """Rounds of one kind, one after the other: the bound of a contribution in units of the noise, rate, number."""

    shift: float
    rate: float
    rounds: int


class Moments:
    """log E[e^{cL}] of a round of "remove" with the largest move, about, for c >= 0, by its profile on a grid."""

    def __init__(self, phase: Phase, moves: float) -> None:
        move = moves * phase.shift
        top = math.log1p(phase.rate * math.expm1(min(move * (move / 2 + 9.0), 600.0))) + 1e-6
        self._losses = np.geomspace(1e-3, 1.0, _COARSE) * top
        self._gaps = np.gradient(self._losses)
        right = remove_above(self._losses, phase.rate, move)
        self._right, self._left = right, right * np.exp(-self._losses)  # the other side's is about as large

    def __call__(self, c: float) -> float:
        forth, back = np.exp(np.minimum(c * self._losses, 600.0)), np.exp(-c * self._losses)
        return math.log1p(c * (c + 1.0) * float(self._gaps @ (forth * self._right + back * self._left)))


@dataclass(frozen=True)
class Layout:
    """Answers for one run: `at` is where (delta at about epsilon) the result is wanted."""

    phases: tuple[Phase, ...]
    moments: tuple[Moments, ...]
    epsilon: float
    delta: float

    @classmethod
    def of(cls, phases: Sequence[Phase], relation: Relation, epsilon: float, delta: float) -> Layout:
        moves = 2.0 if relation == Relation.REPLACE_ONE else 1.3
        made: dict[tuple[float, float], Moments] = {}
        for phase in phases:
            made.setdefault((phase.shift, phase.rate), Moments(phase, moves))
        return cls(tuple(phases), tuple(made[p.shift, p.rate] for p in phases), max(epsilon, 1e-3), delta)

    @property
    def rounds(self) -> int:
        return sum(phase.rounds for phase in self.phases)

    def total(self, c: float) -> float:
        return math.fsum(phase.rounds * moment(c) for phase, moment in zip(self.phases, self.moments, strict=True))

    @cached_property
    def tilt(self) -> float:
        """About the saddle point: where the composed loss has mean epsilon."""
        tilts = np.geomspace(0.02, 60.0, 120)
        values = [self.total(c) - c * self.epsilon for c in tilts]
        return float(tilts[int(np.argmin(values))])

    @cached_property
    def variance(self) -> float:
        """About the variance of the whole loss, tilted."""
        return sum(self._variances)

    @cached_property
    def shares(self) -> tuple[float, ...]:
        """Each phase's part of the variance."""
        return tuple(value / self.variance for value in self._variances)

    @cached_property
    def _variances(self) -> tuple[float, ...]:
        middle = self.tilt + 0.005
        half = min(0.05 * self.tilt + 0.005, middle)
        return tuple(
            phase.rounds * max((moment(middle + half) - 2 * moment(middle) + moment(middle - half)) / half**2, 1e-16)
            for phase, moment in zip(self.phases, self.moments, strict=True)
        )

    def window(self, step: float) -> Window:
        """The losses of the whole run: where paths to epsilon stray, and beyond it where delta's tail is."""
        share = np.linspace(0.0, 1.0, 201)
        spread = _FAR * np.sqrt(self.variance * share * (1.0 - share))
        drift = self.tilt * self.variance
        beyond = math.sqrt(drift * drift + 24.0 * self.variance) - drift
        low = float(np.min(self.epsilon * share - spread))
        high = max(float(np.max(self.epsilon * share + spread)), self.epsilon + beyond)
        return Window(step, math.floor(low / step) - 20, math.ceil(high / step) + 20)

    def rare_loss(self, which: int, rounds: int) -> float:
        """About the loss that `rounds` rounds exceed with next to no probability."""
        wanted = _RARE - math.log(self.delta) + math.log(self.rounds / rounds)
        orders: list[float] = np.geomspace(0.05, 400.0, 80).tolist()
        return min((rounds * self.moments[which](c) + wanted) / c for c in orders)


def finer(step: float) -> float:
    """At most the step, with 20 significant bits: multiples up to 2^33 are exact."""
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.floor(mantissa * 2**20), exponent - 20)


def back_to(share: float, epsilon: float, variance: float) -> float:
    """How far below 0 paths to epsilon stray in the first `share` of the variance."""
    done = np.linspace(0.0, share, 101)
    return -float(np.min(epsilon * done - _FAR * np.sqrt(variance * done)))
