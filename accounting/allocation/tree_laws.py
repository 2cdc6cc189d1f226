"""Trees of clones: the law that dominates one epoch's likelihood ratio, Theorem T of docs/theory/shuffled.md.

Laws are measures of X under Q, above in the convex order (mean.Above): of a mean by `mean_above`, of a largest or a
least one of independent variables by sums over grid points, all terms of which are nonnegative: errors are relative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache, reduce

import numpy as np
from flint import arb, ctx

from ...mechanisms.arrays import Floats
from ..losses.atoms.cells import Atoms, Cells
from ..losses.atoms.sampled_cells import location_cells
from ..pairs.gaussian import GaussianPair
from ..pairs.order import Order
from ..pairs.tails import binomial_tail
from ..rounding import UNIT, float_above
from .block import edges, first_above, losses_of, spread_of_loss
from .mean import Above, mean_above, spread
from .tree_shapes import Reveals, Shape, Types, reveals

_BITS = 160

_DUE = 0.8
"""The grid is refined where its step is above this share of what the next level's spread asks for."""

_COUNTED, _RARE = 2, 1e-13
"""Failing siblings of one node are counted one by one up to so many, and while more of them are not this rare."""


@dataclass(frozen=True, slots=True)
class OrderLaws:
    """How laws of one order are made."""

    order: Order
    fineness: float
    tail: float

    @property
    def sign(self) -> float:
        """1 where large ratios are unlikely outcomes on the right."""
        return 1.0 if self.order == Order.REMOVE else -1.0

    def mean(self, one: Above, other: Above, weights: tuple[int, int], refine: int) -> Above:
        """`mean_above`, what it cuts off kept. Outcomes with a 0 among them count as 0 (order "add")."""
        (left, p), (right, q) = ((law, float(law.q.sum()) + law.zero) for law in (one, other))
        alone = replace(left, zero=0.0)
        found = mean_above(alone, alone if one is other else replace(right, zero=0.0), weights, refine, self.tail)
        zero = found.zero + (one.zero * q + other.zero * p) * (1 + 1e-9)
        return self.kept(replace(found, zero=zero, infinite=found.infinite * (1 + 1e-9)))

    def kept(self, law: Above) -> Above:
        """With the Q-mass of what is beyond its largest place: there, in the order "add"; else, as that at 0, at the
        least place."""
        beyond = law.infinite * math.exp(-float(law.places[-1])) * (1 + 1e-9)
        q = law.q.copy()
        if self.order == Order.REMOVE:
            q[0] += law.zero + beyond
            return replace(law, q=q, zero=0.0)
        q[-1] += beyond
        return replace(law, q=q, infinite=0.0)

    def extreme(self, one: Above, other: Above) -> Above:
        """The larger of two independent ones; in the order "add" the smaller."""
        (first, q), (_, p) = (one.first, one.q), (other.first, other.q)
        start = min(first, other.first)
        size = max(first + q.size, other.first + p.size) - start
        left, right = np.zeros(size), np.zeros(size)
        left[first - start : first - start + q.size] = q
        right[other.first - start : other.first - start + p.size] = p
        whole = float(p.sum()) + other.zero
        if self.order == Order.REMOVE:
            both = left * (other.zero + np.cumsum(right)) + right * (one.zero + np.cumsum(left) - left)
            zero = one.zero * other.zero
        else:
            both = left * np.cumsum(right[::-1])[::-1] + right * (np.cumsum(left[::-1])[::-1] - left)
            zero = one.zero * whole + float(q.sum()) * other.zero
        infinite = one.infinite * whole + other.infinite * (float(q.sum()) + one.zero)
        error = one.error + other.error + UNIT * (4 * size + 64)
        return Above(one.step, start, both, zero, infinite * (1 + 1e-9), error, max(one.slack, other.slack))

    def extremes(self, *laws: Above) -> Above:
        """The larger (or smaller) of several independent ones."""
        step = min(law.step for law in laws)
        return reduce(self.extreme, (finer(law, step) for law in laws))

    def copies(self, law: Above, count: int) -> Above:
        """The larger (or smaller) of so many independent ones of one law."""
        if count == 1:
            return law
        half = self.copies(law, count // 2)
        return self.extreme(self.extreme(half, half), law) if count % 2 else self.extreme(half, half)


def finer(law: Above, step: float) -> Above:
    """The same law on a grid that is finer by a power of 2."""
    times = round(law.step / step)
    if times == 1:
        return law
    q = np.zeros((law.q.size - 1) * times + 1)
    q[::times] = law.q
    return replace(law, step=step, first=law.first * times, q=q)


def scaled(law: Above, factor: float) -> Above:
    """The measure times a factor, at least."""
    return replace(
        law,
        q=law.q * factor,
        zero=law.zero * factor,
        infinite=law.infinite * factor * (1 + 1e-12),
        error=law.error + 4 * UNIT,
    )


def total(laws: list[Above]) -> Above:
    """The sum of the measures, at least, on the finest of their grids."""
    step = min(law.step for law in laws)
    laws = [finer(law, step) for law in laws]
    first = min(law.first for law in laws)
    q = np.zeros(max(law.first + law.q.size for law in laws) - first)
    for law in laws:
        q[law.first - first : law.first - first + law.q.size] += law.q
    zero, infinite = (
        math.fsum(values) * (1 + 1e-12) for values in ([x.zero for x in laws], [x.infinite for x in laws])
    )
    error = max(law.error for law in laws) + UNIT * (len(laws) + 4)
    return Above(step, first, q, zero, infinite, error, max(law.slack for law in laws))


@dataclass(frozen=True, slots=True)
class Places:
    """A holder's place: measures of its likelihood ratio on parts of the line, on a grid."""

    base: GaussianPair
    laws: OrderLaws
    of: Types
    known: Reveals

    def part(self, step: float, role: int, low: float, high: float) -> Above:
        """Of a holder in this role, between two places."""
        ends, cells = _cells(self.base, step, self._cuts(), self.laws.tail)
        ends, sign = self.laws.sign * ends, self.laws.sign
        left, right = np.minimum(ends[:-1], ends[1:]), np.maximum(ends[:-1], ends[1:])
        inside = np.flatnonzero((left >= low) & (right <= high))
        density = self.of.density[role - 1] if role <= len(self.known.cuts) else 1.0
        if inside.size:
            return self.laws.kept(scaled(first_above(cells.at(inside), step), density))
        rest = 2 * self.laws.tail * density  # all of it is beyond the cells
        at = math.ceil(float(cells.high[-1]) / step) if sign > 0 else math.floor(float(cells.low[0]) / step)
        return Above(step, at, np.full(1, rest), rest, rest, 0.0, 0.0)

    def last(self, step: float, role: int) -> Above:
        """The one of which a holder that failed may be thought, for certain."""
        place = self.laws.sign * min(max(self.known.cuts[role - 1][1], -40.0), 40.0)
        exact = self.base.shift * (place - 0.5 * self.base.shift) / step
        at = math.ceil(exact + 1e-6) if self.laws.sign > 0 else math.floor(exact - 1e-6)
        return Above(step, at, np.ones(1), 0.0, 0.0, 0.0, 0.0)

    def _cuts(self) -> tuple[float, ...]:
        """Outcomes at which a cell must end: a role's or a class's part of the line does."""
        places = [*(low for low, _ in self.known.cuts), *self.known.classes]
        return tuple(sorted({self.laws.sign * place for place in places if math.isfinite(place)}))


@lru_cache(maxsize=32)
def _cells(base: GaussianPair, step: float, cuts: tuple[float, ...], tail: float) -> tuple[Floats, Cells]:
    """The outcomes at which cells end, and the cells between them."""
    ends = edges(base, step, 0.0, tail, cuts)
    return ends, location_cells(base, ends, tail)


@dataclass(frozen=True, slots=True)
class Fan:
    """A node's siblings: what its head's X becomes with theirs.

    sibling: X of one that has not failed. star: X* of one that has.
    """

    laws: OrderLaws
    siblings: int
    failing: float
    sibling: Above
    star: Above
    known: dict[int, Above]

    def of(self, head: Above) -> Above:
        """The mean of those that have not failed, or the largest of it and of those that have: summed over how many."""
        if not self.siblings:
            return head
        parts, failed = [], 0
        while failed == 0 or (failed <= _COUNTED and self.at_least(failed) > _RARE):
            x = self._mean(head, 1 + self.siblings - failed)
            x = self.laws.extremes(x, self.laws.copies(self.star, failed)) if failed else x
            parts.append(scaled(x, self._exactly(failed)))
            failed += 1
            if failed > self.siblings:
                break
        rest = self.at_least(failed)
        if rest > 0.0:
            largest = self.laws.extremes(head, self.sibling, self.laws.copies(self.star, self.siblings))
            parts.append(scaled(largest, rest))
        return total(parts)

    def other(self) -> Above:
        """More than what a head of a place of this class, or a higher one, is compared with: one sibling, and all that
        have failed."""
        failed = self.at_least(1)
        if failed == 0.0:
            return self.sibling
        both = self.laws.extremes(self.sibling, self.laws.copies(self.star, self.siblings))
        return total([scaled(self.sibling, self._exactly(0)), scaled(both, failed)])

    def _mean(self, head: Above, count: int) -> Above:
        """Of the head and count - 1 siblings, by halves: grids of both are about as fine."""
        if count == 1:
            return head
        half = count // 2
        return self._of_both(self._mean(head, half), self._siblings(count - half), (half, count - half))

    def _siblings(self, count: int) -> Above:
        if count not in self.known:
            half, rest = count // 2, count - count // 2
            found = self._of_both(self._siblings(half), self._siblings(rest), (half, rest)) if half else self.sibling
            self.known[count] = found
        return self.known[count]

    def _of_both(self, one: Above, other: Above, weights: tuple[int, int]) -> Above:
        step = min(one.step, other.step)
        refine = 2 if step > _DUE * self.laws.fineness * spread(other) else 1
        if one is other:
            return self.laws.mean(one, one, weights, refine)
        return self.laws.mean(finer(one, step), finer(other, step), weights, refine)

    def _exactly(self, failed: int) -> float:
        """At least P(so many fail)."""
        with ctx.workprec(_BITS):
            b = arb(self.failing)
            ways = math.comb(self.siblings, failed)
            return float_above(ways * b**failed * (1 - b) ** (self.siblings - failed))

    def at_least(self, failed: int) -> float:
        """At least P(so many fail, or more)."""
        if failed > self.siblings or self.failing == 0.0:
            return 0.0
        with ctx.workprec(_BITS):
            return float_above(binomial_tail(self.siblings, arb(self.failing), failed))


@lru_cache(maxsize=512)
def losses_of_tree(base: GaussianPair, of: Types, shape: Shape, order: Order, fineness: float, tail: float) -> Atoms:
    """A law of the loss, in this order, whose pair dominates that of a tree of this shape.

    Raises ValueError for a shape whose siblings reveal more than the theorem allows.
    """
    known = reveals(of, shape)
    if known is None:
        raise ValueError(f"not a shape for these types: {shape}")
    laws = OrderLaws(order, fineness, tail)
    places, levels = Places(base, laws, of, known), len(shape)
    step = fineness * spread_of_loss(base)
    classes = [*known.classes, math.inf]
    heads = {role: places.part(step, role, known.cuts[role - 1][0], classes[0]) for role in range(2, levels + 1)}
    heads |= {
        1: places.part(step, 1, known.cuts[0][0], math.inf),
        levels + 1: places.part(step, levels + 1, -math.inf, classes[0]),
    }
    stars = {role: places.last(step, role) for role in range(1, levels + 1)}
    compared: list[Above] = []
    for level in range(1, levels + 1):
        failing = known.failing[level - 1]
        sibling = scaled(heads.pop(level), 1 / (1 - failing) * (1 + 4 * UNIT))
        fan = Fan(laws, shape[level - 1], failing, sibling, stars.pop(level), {})
        compared += [fan.other()] if fan.siblings else []
        for role, head in heads.items():
            found = fan.of(head)
            low, high = classes[level - 1], classes[level] if role > level + 1 else math.inf
            top = [places.part(found.step, role, low, high)] if low < high else []
            heads[role] = total([found, *(laws.extremes(each, *compared) for each in top)])
        stars = {role: fan.of(star) for role, star in stars.items()}
    return losses_of(heads[levels + 1], order)
