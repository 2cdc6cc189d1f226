"""One round with x kept in an interval: E[e^{tL}] - 1 over it, by Gauss's rule. The add order is not served.

See cut.py for what it is for, and docs/theory/contour.md, section 14, for the proofs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from flint import arb, ctx

from ..bracket import OutOfReach
from ..rounding import PARAMETER, UNIT, float_above, widened_up
from .bends import expm2
from .paths import Complex, Real, Sampled
from .range import log_mixture

_NODES = ((0.4, 128), (0.55, 192), (0.8, 288), (math.inf, 448))
"""Up to which shift so many nodes serve: the density's zeros are pi / shift away."""

_ELLIPSES = np.linspace(0.06, 0.6, 10)
"""log of the sum of the semi-axes, over the foci's distance to the middle, of the Bernstein ellipses tried."""

_ARCS = 192
_WIDEST_ANGLE = 1.5
"""shift times the imaginary part stays below it: the density is in the right half-plane."""


@dataclass(frozen=True, slots=True)
class CutMoments:
    """h(t) = the integral of the density over x in [-left, right] times e^{tL}, less 1, for Re t > 0.

    Of the hybrid pair x is in [shift/2, right], the branch whose losses are negative follows the other one, and h has
    the atom added. x, weight: of the nodes, the density included; size: at least |L|, and what L is the difference of;
    mean: E[L] on the interval, with its error; missing: 1 - its mass, the atom included; outside: at least the mass
    outside. curve: h's error per |t|^2.
    """

    pair: Sampled
    ends: tuple[float, float]
    x: Real
    weight: Real
    loss: Real
    size: Real
    mean: tuple[float, float]
    missing: float
    outside: float

    def curve(self, top: float, highest: Real) -> Real:
        """At least |error of h| / |t|^2, but for that of the mean, for |Im t| up to each of `highest`."""
        x, size, s, p = np.abs(self.x), np.abs(self.loss), self.pair.shift, self.pair.rate
        lift, share = np.exp(np.minimum(np.maximum(top * self.loss, -self.loss), 600.0)), -np.expm1(-self.loss)
        half, logs = 0.5 * (self.ends[0] + self.ends[1]), 2.0 if self.pair.order == "replace" else 1.0
        jumps = np.abs(share) + logs * p / (1.0 - p)
        moved = 24.0 * self.size + s * jumps * (2.0 * (x + s) + 6.0 * (x + half))
        units = self.loss.size + 112.0 + 8.0 * x * x + 6.0 * x * (x + half) + moved
        units = 0.5 * size * units + 40.0 * size + moved
        rounding = 1.01 * UNIT * float((self.weight * lift * size * units).sum())
        result: Real = rounding + self._gauss(top, highest)
        return result

    def values(self, t: Complex) -> Complex:
        """h at each t."""
        turned: Complex = t[:, None] * self.loss
        # A matrix product of this size would start BLAS threads.
        result: Complex = (expm2(turned) * self.weight).sum(axis=1) + t * self.mean[0] - self.missing
        return result

    def log_moment_above(self, c: float) -> float:
        """At least log(1 + h(c)). Raises OutOfReach where Gauss's rule is too coarse."""
        error = float(self.curve(c, np.zeros(1))[0]) * c * c + c * self.mean[1]
        h = float(self.values(np.array([c + 0.0j]))[0].real)
        error += 16.0 * UNIT * (abs(h) + c * abs(self.mean[0]) + self.missing)
        if not (error < 0.1 and h > -0.5):
            raise OutOfReach("Gauss's rule is too coarse")
        return math.log1p(h + error) + 4.0 * UNIT * (abs(h) + error)

    def _gauss(self, top: float, highest: Real) -> Real:
        """Bound on the error of Gauss's rule per |t|^2: the least over several Bernstein ellipses."""
        left, right = self.ends
        half, middle, s = 0.5 * (left + right), 0.5 * (right - left), self.pair.shift
        sizes = _ELLIPSES[s * half * np.sinh(_ELLIPSES) <= _WIDEST_ANGLE][:, None]
        if not sizes.size:
            raise OutOfReach("no ellipse is free of the density's zeros")
        turn = np.linspace(0.0, math.pi, _ARCS + 1)
        x = middle + half * np.cosh(sizes) * np.cos(turn)
        near, far = x[:, 1:], x[:, :-1]
        high = half * np.sinh(sizes) * np.maximum(np.sin(turn[1:]), np.sin(turn[:-1]))
        high = np.where((turn[1:] >= 0.5 * math.pi) & (turn[:-1] <= 0.5 * math.pi), half * np.sinh(sizes), high)
        arcs = Arcs.of(self.pair, near, far, high)
        grown = np.maximum(top * arcs.most + highest[:, None, None] * arcs.angle, arcs.least)
        branches = 2 if self.pair.order == "hybrid" else 1
        most = (arcs.log_weight + 2.0 * np.log(arcs.size) + grown).max(axis=2)
        most += -2.0 * (self.loss.size // branches) * sizes[:, 0] - np.log(-np.expm1(-sizes[:, 0]))
        most = most.min(axis=1) + (math.log(8.0 * branches * half / math.sqrt(8.0 * math.pi)) + 1e-3)
        result: Real = np.exp(np.minimum(most, 700.0))
        return result


@dataclass(frozen=True, slots=True)
class Arcs:
    """Bounds over pieces of the complex plane, of all branches: on log of the density over phi's largest value on the
    real line; on |L|, Re L, -Re L and |Im L|, the latter three not below 0."""

    log_weight: Real
    size: Real
    most: Real
    least: Real
    angle: Real

    @classmethod
    def of(cls, pair: Sampled, near: Real, far: Real, high: Real) -> Arcs:
        """For near <= Re x <= far and |Im x| <= high."""
        nearest = np.where(near > 0.0, near, np.where(far < 0.0, -far, 0.0))
        plain = 0.5 * (high * high - nearest * nearest)
        growth, fall, angle, size = _log_mixture_over(pair, near, far, high)
        if pair.order == "remove":
            return cls(plain + growth, size, growth, fall, angle)
        if pair.order == "hybrid":
            either = np.maximum(growth, fall)
            return cls(plain + growth, size, either, either, angle)
        other_growth, other_fall, other_angle, other_size = _log_mixture_over(pair, -far, -near, high)
        return cls(plain + growth, size + other_size, growth + other_fall, fall + other_growth, angle + other_angle)


def _log_mixture_over(pair: Sampled, near: Real, far: Real, high: Real) -> tuple[Real, Real, Real, Real]:
    """At least Re l, -Re l, |Im l| and |l|, the first two not below 0, for l = log m over such pieces."""
    s, p = pair.shift, pair.rate
    jump, least = (p * np.exp(np.minimum(s * x - 0.5 * s * s, 600.0)) for x in (far, near))
    cosine = np.cos(s * high)
    angle = np.arctan2(jump * np.sin(s * high), 1.0 - p + jump * cosine)
    fall = np.maximum(0.0, -np.log(1.0 - p + least * cosine))
    return np.log1p(jump), fall, angle, (jump + p) / (1.0 - p)


@cache
def _gauss_legendre(count: int) -> tuple[Real, Real]:
    """Nodes and weights on [-1, 1], each within a few UNITs of itself."""
    with ctx.workprec(120):
        found = [arb.legendre_p_root(count, k, weight=True) for k in range(count)]
    return np.array([float(root) for root, _ in found]), np.array([float(weight) for _, weight in found])


def _on(ends: tuple[float, float], count: int) -> tuple[Real, Real]:
    nodes, weights = _gauss_legendre(count)
    half = 0.5 * (ends[0] + ends[1])
    return 0.5 * (ends[1] - ends[0]) + half * nodes, half * weights


def cut_moments(pair: Sampled, rounds: int, log_left_out: float) -> CutMoments:
    """An interval that leaves out about e^log_left_out in all rounds together."""
    ends = _ends(pair, log_left_out - math.log(2.0 * rounds))
    x, weight = _on(ends, next(count for most, count in _NODES if pair.shift < most))
    loss = log_mixture(pair, x)
    size, plain = np.abs(loss), weight * np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
    weight = plain * np.exp(loss)
    if pair.order == "hybrid":
        x, weight = np.concatenate([x, x]), np.concatenate([weight, plain])
        loss, size = np.concatenate([loss, -loss]), np.concatenate([size, size])
    if pair.order == "replace":
        other = log_mixture(pair, -x)
        loss, size = loss - other, size + np.abs(other)
    outside, apart = _masses(pair, ends)
    found = CutMoments(pair, ends, x, weight, loss, size, (0.0, 0.0), float(outside.mid()), 0.0)
    mean = float((weight * expm2((-loss).astype(np.complex128)).real).sum()) + apart
    error = float(found.curve(1.0, np.zeros(1))[0]) + 1e3 * UNIT * (found.missing + abs(apart))
    return replace(found, mean=(mean, error), outside=widened_up(float_above(outside), 1e3 * PARAMETER))


def _masses(pair: Sampled, ends: tuple[float, float]) -> tuple[arb, float]:
    """P's mass outside, in balls, and P's mass less Q's inside: 0 where mirroring exchanges the two."""
    with ctx.workprec(160):
        s, p = arb(pair.shift), arb(pair.rate)
        left, right = (arb(end) for end in ends)
        under_p = (1 - p) * _above(right) + p * _above(right - s)
        if pair.order == "hybrid":
            return under_p + _above(right), 0.0
        below = (1 - p) * _above(left) + p * _above(left + s)
        apart = p * ((_above(left) - _above(left + s)) - (_above(right - s) - _above(right)))
        return under_p + below, 0.0 if pair.order == "replace" else float(apart)


def _ends(pair: Sampled, log_mass: float) -> tuple[float, float]:
    """left, right: outside, the round's mass is about e^log_mass on either side, or up to twice that.

    As far to the left as to the right for replace; -left is where the loss of the hybrid pair is 0."""
    left = right = math.sqrt(max(4.0, -2.0 * log_mass))

    def log_tail(x: float) -> float:
        return math.log(max(1e-300, 0.5 * math.erfc(x * math.sqrt(0.5))))

    for _ in range(4):
        left += (log_tail(left) - log_mass) / left
        jumped = max(math.log(pair.rate) + log_tail(right - pair.shift), log_tail(right))
        right += (jumped - log_mass) / max(1.0, right - pair.shift)
    right += 0.1
    return {"hybrid": -0.5 * pair.shift, "replace": right}.get(pair.order, left), right


def _above(x: arb) -> arb:
    """P(N(0, 1) > x)."""
    return (x / arb(2).sqrt()).erfc() / 2
