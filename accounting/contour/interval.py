"""One rare jump's round with x kept in an interval: E[e^{tL}] - 1 over it, by Gauss's rule.

See cut.py for what it is for, and docs/theory/contour.md, section 14, for the proofs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
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
    """h(t) = integral of the density over [-left, right] times e^{tL}, less 1, for 0 <= Re t <= top, |Im t| <= highest.

    weight: of the nodes, the density included; mean: E[L] on the interval, with its error; missing: 1 - its mass;
    outside: at least the mass outside. curve: h's error per |t|^2.
    """

    pair: Sampled
    ends: tuple[float, float]
    weight: Real
    loss: Real
    mean: tuple[float, float]
    missing: float
    outside: float

    def curve(self, top: float, highest: Real) -> Real:
        """At least |error of h| / |t|^2, but for that of the mean, for |Im t| up to each of `highest`."""
        x, size = self._nodes(), np.abs(self.loss)
        lift, share = np.exp(np.minimum(top * np.maximum(self.loss, 0.0), 600.0)), -np.expm1(-self.loss)
        half = 0.5 * (self.ends[0] + self.ends[1])
        jumps = np.abs(share) + self.pair.rate / (1.0 - self.pair.rate)
        moved = 24.0 * size + self.pair.shift * jumps * (2.0 * np.abs(x - self.pair.shift) + 6.0 * (np.abs(x) + half))
        units = self.loss.size + 112.0 + 8.0 * x * x + 6.0 * np.abs(x) * (np.abs(x) + half) + moved
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

    def _nodes(self) -> Real:
        return _on(self.ends, self.loss.size)[0]

    def _gauss(self, top: float, highest: Real) -> Real:
        """Bound on the error of Gauss's rule per |t|^2: the least over several Bernstein ellipses."""
        left, right = self.ends
        half, middle, s, p = 0.5 * (left + right), 0.5 * (right - left), self.pair.shift, self.pair.rate
        sizes = _ELLIPSES[s * half * np.sinh(_ELLIPSES) <= _WIDEST_ANGLE][:, None]
        if not sizes.size:
            raise OutOfReach("no ellipse is free of the density's zeros")
        turn = np.linspace(0.0, math.pi, _ARCS + 1)
        x = middle + half * np.cosh(sizes) * np.cos(turn)
        near, far = x[:, 1:], x[:, :-1]
        high = half * np.sinh(sizes) * np.maximum(np.sin(turn[1:]), np.sin(turn[:-1]))
        high = np.where((turn[1:] >= 0.5 * math.pi) & (turn[:-1] <= 0.5 * math.pi), half * np.sinh(sizes), high)
        least = np.where(near > 0.0, near, np.where(far < 0.0, -far, 0.0))
        jump = p * np.exp(np.minimum(s * far - 0.5 * s * s, 600.0))
        angle = np.arctan2(jump * np.sin(s * high), 1.0 - p + jump * np.cos(s * high))
        logs = 0.5 * (high * high - least * least) + np.log1p(jump) + 2.0 * np.log((jump + p) / (1.0 - p))
        grown = np.maximum(top * np.log1p(jump) + highest[:, None, None] * angle, p / (1.0 - p))
        most = (logs + grown).max(axis=2) - 2.0 * self.loss.size * sizes[:, 0] - np.log(-np.expm1(-sizes[:, 0]))
        most = most.min(axis=1) + (math.log(8.0 * half / math.sqrt(8.0 * math.pi)) + 1e-3)
        result: Real = np.exp(np.minimum(most, 700.0))
        return result


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
    weight = weight * np.exp(loss - 0.5 * x * x) / math.sqrt(2.0 * math.pi)
    with ctx.workprec(160):
        s, p = arb(pair.shift), arb(pair.rate)
        left, right = (arb(end) for end in ends)
        under_p = (1 - p) * _above(right) + p * _above(right - s)
        below = (1 - p) * _above(left) + p * _above(left + s)
        apart = p * ((_above(left) - _above(left + s)) - (_above(right - s) - _above(right)))
        missing, apart_there = float(under_p + below), float(apart)
        outside = widened_up(float_above(under_p + below), 1e3 * PARAMETER)
    found = CutMoments(pair, ends, weight, loss, (0.0, 0.0), missing, outside)
    mean = float((weight * expm2((-loss).astype(np.complex128)).real).sum()) + apart_there
    error = float(found.curve(1.0, np.zeros(1))[0]) + 1e3 * UNIT * (missing + abs(apart_there))
    return CutMoments(pair, ends, weight, loss, (mean, error), missing, outside)


def _ends(pair: Sampled, log_mass: float) -> tuple[float, float]:
    """left, right: outside, the round's mass is about e^log_mass on either side."""
    left = right = math.sqrt(max(4.0, -2.0 * log_mass))

    def log_tail(x: float) -> float:
        return math.log(max(1e-300, 0.5 * math.erfc(x * math.sqrt(0.5))))

    for _ in range(4):
        left += (log_tail(left) - log_mass) / left
        jumped = max(math.log(pair.rate) + log_tail(right - pair.shift), log_tail(right))
        right += (jumped - log_mass) / max(1.0, right - pair.shift)
    return left, right + 0.1


def _above(x: arb) -> arb:
    """P(N(0, 1) > x)."""
    return (x / arb(2).sqrt()).erfc() / 2
