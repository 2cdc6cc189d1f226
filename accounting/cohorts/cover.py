"""Finite covers of the pairs that one round can have: a box of triangles, and one kernel that bounds all of them.

A kernel holds, at losses u = -n h .. n h, at least H_{e^u}(P||Q) - (1 - e^u)_+ for every pair of its box (docs/theory/
fixed_cohorts.md, Theorem 3). Half of it is one corner's profile, the other half another's: it need not be a profile.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.arrays import Floats
from ..pairs import Order
from ..rounding import PARAMETER, widened_up
from .round_profiles import Triangle, above, remove_above

_DENSE, _RARER = 64, 0.02
"""Grid points near 0 that are all computed, and the relative distance of those beyond."""


class Box(Protocol):
    """A set of pairs of one round."""

    @property
    def right(self) -> Triangle:
        """The pair (P, Q) with the largest profile of the box at losses >= 0, per unit of noise."""
        ...

    @property
    def left(self) -> Triangle:
        """The pair, named (Q, P), with the largest profile at losses <= 0."""
        ...

    @property
    def ends(self) -> tuple[Box, ...]:
        """Of the whole range: boxes of one pair that is attained (or next to it), to judge others by."""
        ...

    @property
    def size(self) -> float:
        """The longest side, as a part of the whole range."""
        ...

    def split(self) -> tuple[Box, ...]:
        """Boxes that cover this one."""
        ...


@dataclass(frozen=True, slots=True)
class Inscribed:
    """Replace-one: triangles inscribed in the unit circle without obtuse angle (Theorem 2).

    first..last: the range of alpha, and low..high that of pi/2 - alpha - beta, in units of pi/2, dyadic, so exact;
    |g - h| = 2 cos alpha, |g' - h| = 2 cos beta. The root (0, 1, 0, 1) is all of them, and its kernel the hybrid pair.
    """

    first: float = 0.0
    last: float = 1.0
    low: float = 0.0
    high: float = 1.0

    @property
    def right(self) -> Triangle:
        return self._triangle(self.first, 1.0 - self.low - self.first)

    @property
    def left(self) -> Triangle:
        alpha = min(self.last + self.high - self.low, 1.0 - self.low)
        return self._triangle(1.0 - self.low - alpha, alpha)

    @property
    def ends(self) -> tuple[Inscribed, ...]:
        return Inscribed(0.0, 0.0, 0.0, 0.0), Inscribed(1.0, 1.0, 0.0, 0.0)

    @property
    def size(self) -> float:
        return max(self.last - self.first, self.high - self.low)

    def _triangle(self, alpha: float, beta: float) -> Triangle:
        long = 2.0 * _cosine(alpha)
        return Triangle(long * _cosine(1.0 - self.low), long * _cosine(self.low), 2.0 * _cosine(beta))

    def split(self) -> tuple[Inscribed, ...]:
        if self.last - self.first > self.high - self.low:
            middle = 0.5 * (self.first + self.last)
            halves = [(self.first, middle, self.low, self.high), (middle, self.last, self.low, self.high)]
        else:
            middle = 0.5 * (self.low + self.high)
            halves = [(self.first, self.last, self.low, middle), (self.first, self.last, middle, self.high)]
        inside = [(a, min(b, 1.0 - c), c, min(d, 1.0 - a)) for a, b, c, d in halves if a + c <= 1.0]
        return tuple(Inscribed(*box) for box in inside)


@dataclass(frozen=True, slots=True)
class Opened:
    """Zero-out, P with the data: |g| = |h| = 1, g' = 0; the angle from g to h in units of pi, in first..last.

    order: ADD names the pairs (Q, P).
    """

    first: float = 0.0
    last: float = 1.0
    order: Order = Order.REMOVE

    @property
    def right(self) -> Triangle:
        return self._filled(self.last) if self.order == Order.REMOVE else self._emptied(self.first)

    @property
    def left(self) -> Triangle:
        return self._emptied(self.first) if self.order == Order.REMOVE else self._filled(self.last)

    @property
    def ends(self) -> tuple[Opened, ...]:
        return replace(self, last=0.0), replace(self, first=1.0 - 2.0**-5)

    @property
    def size(self) -> float:
        return self.last - self.first

    @staticmethod
    def _filled(angle: float) -> Triangle:
        """a = g - h, b = 0 - h: |a| = 2 sin(angle/2), |b| = 1."""
        half = _cosine(1.0 - angle)
        return Triangle(2.0 * half * half, 2.0 * half * _cosine(angle), 1.0)

    @staticmethod
    def _emptied(angle: float) -> Triangle:
        """a = 0 - h, b = g - h."""
        return Triangle(_cosine(1.0 - angle), _cosine(angle), 2.0 * _cosine(1.0 - angle))

    def split(self) -> tuple[Opened, ...]:
        middle = 0.5 * (self.first + self.last)
        return replace(self, last=middle), replace(self, first=middle)


def _cosine(quarter: float) -> float:
    """cos(pi/2 * quarter), exact at 0 and 1."""
    return 1.0 if quarter == 0.0 else 0.0 if quarter == 1.0 else math.cos(0.5 * math.pi * quarter)


class Kernels(Protocol):
    """What one round, or a block of rounds, adds to V at most: a kernel for each box of a cover of all pairs."""

    @property
    def width(self) -> int: ...

    @property
    def root(self) -> Box: ...

    def kernel(self, box: Box) -> Floats:
        """At losses -width .. width, in steps of the grid."""
        ...

    def outside(self, tilt: float) -> tuple[float, float]:
        """Two bounds outside of these losses, for any box: kernel(u) <= the first + the second * e^{-tilt u}."""
        ...


@dataclass(frozen=True)
class Family:
    """The kernels of one kind of round. shift: the bound of a contribution in units of the noise; root: all pairs."""

    shift: float
    rate: float
    root: Box
    step: float
    width: int
    _halves: dict[Triangle, Floats] = field(default_factory=dict, repr=False)

    @cached_property
    def hybrid(self) -> Floats:
        """The root's kernel: every other one is at most that."""
        return self._kernel(self.root)

    @cached_property
    def losses(self) -> Floats:
        return np.asarray(self.step * np.arange(self.width + 1))

    @cached_property
    def _nodes(self) -> NDArray[np.int64]:
        """Where triangles' profiles are computed: everywhere near 0, and ever more rarely farther out."""
        far = np.arange(0.0, math.log(max(self.width / _DENSE, 1.0)) / _RARER + 1.0)
        return np.unique(np.minimum(np.r_[np.arange(_DENSE), (_DENSE * np.exp(_RARER * far)).astype(int)], self.width))

    def outside(self, tilt: float) -> tuple[float, float]:
        """At least the kernel beyond the grid, for any box: replace-one's largest profile falls, on both sides."""
        edge = np.array([self.step * self.width])
        return float(remove_above(edge, self._rate, 2.0 * self._shift)[0]), 0.0

    def kernel(self, box: Box) -> Floats:
        """At losses -width * step .. width * step."""
        return self.hybrid if box == self.root else np.asarray(np.minimum(self._kernel(box), self.hybrid))

    def _kernel(self, box: Box) -> Floats:
        right, left = self._half(box.right), self._half(box.left)
        both: Floats = np.concatenate([(left * np.exp(-self.losses))[:0:-1] * (1 + 1e-14), right])
        both[self.width] = min(left[0], right[0])
        return both

    def _half(self, unit: Triangle) -> Floats:
        """At most replace-one's "remove" with the largest move, which dominates every pair at losses >= 0."""
        if unit not in self._halves:
            s = self._shift
            scaled = Triangle(unit.a1 * s, unit.a2 * s, unit.b * s)
            found = above(self.losses[self._nodes], self._rate, scaled)
            if found is not None:  # H is convex in gamma: at most its chords
                odds = np.expm1(self.losses)
                found = np.interp(odds, odds[self._nodes], found) * (1 + 1e-14)
            largest = remove_above(self.losses, self._rate, 2.0 * s)
            self._halves[unit] = largest if found is None else np.minimum(found, largest)
        return self._halves[unit]

    @property
    def _shift(self) -> float:
        """A larger one dominates, as does a larger rate: both stand for any real within one rounding."""
        return widened_up(self.shift, PARAMETER)

    @property
    def _rate(self) -> float:
        return min(1.0, widened_up(self.rate, PARAMETER))
