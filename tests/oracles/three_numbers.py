"""The inequality of three numbers in docs/theory/fixed_cohorts.md, section 8, in ball arithmetic.

For 0 <= M = theta P <= P and 0 < v <= 1, at t = 1/20,

    Phi = log(n1/n2) + (2 + t) log(B/A) - (1 - t) log(X/Y) >= 0,
    X, Y = 1 + v e^{+-P},  B, A = 1 + v e^{+-M},
    n1 = theta e^P + e^{-M} + (1 + theta) v e^{P-M},  n2 = theta e^{-P} + e^M + (1 + theta) v e^{M-P}.

A box of (P, theta, v) is proved where Phi > 0 on all of it (by its value in the middle and its slopes), or where Phi
grows with v from v = 0 on, where Phi is log(n1/n2) >= 0 (sinh x / x grows); near P = 0, where all is 0, where that
slope grows with P. Other boxes are halved. What is beyond these boxes (v > 1, P > 20) is done by hand in that section.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from flint import arb, arb_series, ctx

PRECISION = 64
HALVINGS = 80
"""So many halvings of one box in a row: it is not going to be proved."""

NEAR_ZERO = 2.0**-4
FAR = 20.0
"""P up to which the slopes near 0 are looked at, and all boxes."""

_FIRST = 2.0**-6
"""Widest range of P of a box that is looked at near 0."""


class NotProved(Exception):
    """A point at which Phi is not positive, or a box that became too small."""


class Box(NamedTuple):
    """Ends of P, theta and log2 u, u = v e^P: dyadic numbers, exactly. The lowest u may be 0, its logarithm -inf."""

    p: tuple[float, float]
    theta: tuple[float, float]
    w: tuple[float, float]


def ball(low: float, high: float) -> arb:
    return arb(low).union(arb(high))


def power(w: arb) -> arb:
    """2^w."""
    return (w * arb(2).log()).exp()


class Terms:
    """What Phi and its slopes are made of, on a box or at a point."""

    def __init__(self, p: arb, theta: arb, u: arb, t: arb) -> None:
        m = theta * p
        self.t, self.p, self.theta, self.u, self.m = t, p, theta, u, m
        self.far, self.near = (-2 * p).exp(), (-p).exp()
        self.down, self.up = (-m).exp(), m.exp()
        self.x, self.y = 1 + u, 1 + u * self.far
        self.gap, self.sum = (m - p).exp(), (-m - p).exp()
        self.b, self.a = 1 + u * self.gap, 1 + u * self.sum
        self.n1 = theta / self.near + self.down * (1 + (1 + theta) * u)
        self.n2 = theta * self.near + self.up * (1 + (1 + theta) * u * self.far)

    def phi(self) -> arb:
        return (
            (self.n1 / self.n2).log() + (2 + self.t) * (self.b / self.a).log() - (1 - self.t) * (self.x / self.y).log()
        )

    def slope_u(self) -> arb:
        """dPhi/du at fixed P and theta."""
        more = (1 + self.theta) * (self.down / self.n1 - self.up * self.far / self.n2)
        lost = (1 - self.t) * (1 / self.x - self.far / self.y)
        return more + (2 + self.t) * (self.gap / self.b - self.sum / self.a) - lost

    def slope_theta(self) -> arb:
        """dPhi/dtheta at fixed P and u."""
        one = 1 / self.near + self.down * (self.u - self.p * (1 + (1 + self.theta) * self.u))
        two = self.near + self.up * (self.u * self.far + self.p * (1 + (1 + self.theta) * self.u * self.far))
        cut = self.p * self.u * (self.gap / self.b + self.sum / self.a)
        return one / self.n1 - two / self.n2 + (2 + self.t) * cut

    def slope_p(self) -> arb:
        """dPhi/dP at fixed theta and u."""
        one = self.theta / self.near - self.theta * self.down * (1 + (1 + self.theta) * self.u)
        bulk = self.theta + (self.theta - 2) * (1 + self.theta) * self.u * self.far
        two = -self.theta * self.near + self.up * bulk
        cut = self.u * ((self.theta - 1) * self.gap / self.b + (1 + self.theta) * self.sum / self.a)
        return one / self.n1 - two / self.n2 + (2 + self.t) * cut - (1 - self.t) * 2 * self.u * self.far / self.y


def proved(box: Box, t: arb) -> int | None:
    """None where all of the box is proved, else the axis along which to halve it."""
    (p1, p2), (th1, th2), (w1, w2) = box
    u2 = power(arb(w2))
    from_none = Terms(ball(p1, p2), ball(th1, th2), u2.union(arb(0)), t).slope_u()
    if from_none > 0:
        return None
    p_radius, theta_radius = (p2 - p1) / 2, (th2 - th1) / 2
    centre = arb((p1 + p2) / 2), arb((th1 + th2) / 2)
    if w1 == -math.inf:
        every, value = Terms(ball(p1, p2), ball(th1, th2), arb(0), t), Terms(*centre, arb(0), t).phi()
        in_u = from_none * u2
    else:
        every = Terms(ball(p1, p2), ball(th1, th2), power(ball(w1, w2)), t)
        value = Terms(*centre, power(arb((w1 + w2) / 2)), t).phi()
        in_u = every.slope_u() * every.u * arb(2).log() * (w2 - w1) / 2
    if value < 0:
        raise NotProved(f"Phi is negative at P, theta = {centre} and log2 u from {w1} to {w2}")
    slopes = every.slope_p() * p_radius, every.slope_theta() * theta_radius, in_u
    moves = [slope.abs_upper() for slope in slopes]
    if value - sum(moves, arb(0)) > 0:
        return None
    if not all(move.is_finite() for move in moves):
        widths = [8 * (p2 - p1), 8 * (th2 - th1), w2 - w1 if w1 > -math.inf else 0.0]
        return widths.index(max(widths))
    if Terms(*centre, u2.union(arb(0)), t).slope_u() > 0:  # it grows in the middle: see what hides that elsewhere
        along = Terms(ball(p1, p2), centre[1], u2, t), Terms(centre[0], ball(th1, th2), u2, t)
        hidden = [float(terms.slope_u().rad()) for terms in (*along, Terms(*centre, u2.union(arb(0)), t))]
        if w1 == -math.inf or hidden[2] < max(hidden):
            return hidden.index(max(hidden))
    sizes = [float(move.upper()) for move in moves]
    return sizes.index(max(sizes))


def halves(box: Box, axis: int) -> tuple[Box, Box]:
    low, high = box[axis]
    middle = high - 1.0 if low == -math.inf else (low + high) / 2
    one, other = list(box), list(box)
    one[axis], other[axis] = (low, middle), (middle, high)
    return Box(*one), Box(*other)


def prove(p: tuple[float, float], t: str = "1/20") -> int:
    """The number of boxes that prove it for P in this range, above 0, theta in [0, 1] and 0 < v <= 1.

    Raises NotProved.
    """
    numerator, denominator = t.split("/")
    top = math.ceil(p[1] * 1.4427) + 1.0
    with ctx.workprec(PRECISION):
        share = arb(int(numerator)) / int(denominator)
        open_boxes = [(Box(p, (0.0, 1.0), (-math.inf, -4.0)), 0), (Box(p, (0.0, 1.0), (-4.0, top)), 0)]
        count = 0
        while open_boxes:
            box, depth = open_boxes.pop()
            count += 1
            axis = proved(box, share)
            if axis is None:
                continue
            if depth > HALVINGS:
                raise NotProved(f"too small: {box}")
            open_boxes += [(half, depth + 1) for half in halves(box, axis)]
    return count


def growth(p: arb, theta: arb, v: arb, t: arb) -> arb:
    """d^2 Phi / dP dv at fixed theta."""
    at = arb_series([p, 1], 2)
    up, down = at.exp(), (-at).exp()
    wide, narrow = (at * theta).exp(), (-at * theta).exp()
    n1 = theta * up + narrow + (1 + theta) * v * up * narrow
    n2 = theta * down + wide + (1 + theta) * v * down * wide
    slope = (1 + theta) * (up * narrow / n1 - down * wide / n2) - (1 - t) * (up / (1 + v * up) - down / (1 + v * down))
    return (slope + (2 + t) * (wide / (1 + v * wide) - narrow / (1 + v * narrow)))[1]


def prove_near_zero(most: float, t: str = "1/20") -> int:
    """The number of boxes that prove it for 0 <= P <= most, theta in [0, 1] and 0 < v <= 1."""
    numerator, denominator = t.split("/")
    with ctx.workprec(PRECISION):
        share = arb(int(numerator)) / int(denominator)
        open_boxes, count = [((0.0, most), (0.0, 1.0), (0.0, 1.0))], 0
        while open_boxes:
            box = open_boxes.pop()
            count += 1
            if box[0][1] - box[0][0] <= _FIRST and growth(*(ball(*ends) for ends in box), share) > 0:
                continue
            sizes = [weight * (high - low) for weight, (low, high) in zip((2, 1, 1), box, strict=True)]
            axis = sizes.index(max(sizes))
            if sizes[axis] < 2.0**-HALVINGS:
                raise NotProved(f"too small: {box}")
            open_boxes += list(halves(Box(*box), axis))
    return count


def strips(start: float, end: float) -> list[tuple[float, float]]:
    """Ranges of P from start to end, wide where boxes are few."""
    found = []
    while start < end:
        width = 2.0**-6 if start < 0.125 else 2.0**-5 if start < 0.5 else 2.0**-3
        found.append((start, start + width))
        start += width
    return found
