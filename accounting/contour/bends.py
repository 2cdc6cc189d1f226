"""h(t) = E[e^{tL}] - 1 of one rare jump's round to full accuracy: of second order in the rate, where t is moderate.

E[e^{tu}] - 1 is rate t but for terms of second order, and h is what these leave after e^{-lambda t}. So the sums here
are of e^{tu} - 1 - tu, and the mean of u is rate + E[e^{-u} - 1 + u], since E[e^{-u}] = 1 - rate
(docs/theory/contour.md, section 13).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb, ctx

from ..rounding import UNIT
from .moments import expm1
from .paths import Complex, Real
from .ray import SERIES, SUMMED, Far, Near
from .rotated import U_ERROR, Rotated

_DISCRETE = 4.0
"""Times |t|, and the nodes' error: bound on the error of sum weight t u."""

_PIECES = 3
"""Of an octave."""

_SERIES = 0.5
_ORDERS = 16


def expm2(z: Complex) -> Complex:
    """e^z - 1 - z, small results to full relative accuracy: within 32 UNITs of |z|^2 e^{max(0, Re z)}."""
    small = np.where(np.abs(z) < _SERIES, z, 0.0)
    tail = np.ones_like(small)
    for k in range(_ORDERS, 2, -1):
        tail = 1.0 + tail * small / k
    result: Complex = np.where(np.abs(z) < _SERIES, 0.5 * small * small * tail, expm1(z) - z)
    return result


@dataclass(frozen=True, slots=True)
class Bends:
    """h on the contour. start, slope: sum weight (e^{cu} - 1 - cu), sum weight u (e^{cu} - 1), and bounds on their
    rounding; excess: E[L], with its error; steep, curved: at least |d/dt| of what the sums are at c, and its growth per
    |t - c|."""

    nodes: Rotated
    start: tuple[float, float]
    slope: tuple[complex, float]
    excess: tuple[float, float]
    steep: float
    curved: float

    @classmethod
    def of(cls, nodes: Rotated) -> Bends:
        """From a round's nodes."""
        u, weight, c = nodes.u, np.abs(nodes.weight), nodes.c
        length, lift = nodes.length, np.exp(np.maximum(0.0, c * u.real))
        units = nodes.relative + SUMMED
        start = float((nodes.weight * expm2(c * u)).real.sum())
        start_error = 1.01 * UNIT * float((weight * lift * (c * length) ** 2 * (0.5 * units + 80.0)).sum())
        turned = nodes.weight * u * expm1(c * u)
        moved = weight * lift * c * length**2
        mean = float((nodes.weight * expm2(-u)).real.sum())
        fallen = np.exp(np.maximum(0.0, -u.real))
        mean_error = 1.01 * UNIT * float((weight * fallen * length**2 * (0.5 * units + 80.0)).sum())
        with ctx.workprec(160):
            rate = arb(nodes.rate)
            less = float(rate + (-rate).log1p())
        mean_error += nodes.error * (1.0 + _DISCRETE) - 16.0 * UNIT * less
        return cls(
            nodes,
            (start, start_error),
            (complex(turned.sum()), 1.01 * UNIT * float((moved * (units + 120.0)).sum())),
            (mean + less, mean_error),
            float(moved.sum()),
            float((nodes.size * length**2).sum()),
        )

    def on_the_ray(self, polynomial: Near, far: Far, octaves: int, per_octave: int) -> tuple[Complex, Complex, Real]:
        """tau, h(c + tau) and its error, on the octaves below the polynomial's reach and from there on."""
        r = polynomial.reach * 2.0 ** (np.arange(-octaves * per_octave, 0.0) / per_octave)
        near: Complex = (polynomial.direction * r).astype(np.complex128)
        change, slack = np.zeros(r.size, dtype=np.complex128), polynomial.absolute[-1] * r
        for k in range(polynomial.coefficients.size - 2, 1, -1):
            change = (change + polynomial.coefficients[k]) * near
            slack = (slack + 1.01 * UNIT * polynomial.rounding[k]) * r
        tau = np.concatenate([near, far.tau])
        bend = np.concatenate([change * near, far.bend])
        far_errors = self._far_errors(polynomial.reach, far.tau.size, per_octave)
        sums = bend + (self.start[0] + self.slope[0] * tau)
        error = np.concatenate([slack * r, far_errors])
        error += 6.0 * UNIT * (np.abs(bend) + abs(self.start[0]) + abs(self.slope[0]) * np.abs(tau))
        return tau, *self._less(tau, sums, error)

    def at_crossing(self) -> tuple[float, float, float, float]:
        """h(c) and its error, h'(c) and its error."""
        start, c, lam = np.array([self.start[0] + 0.0j]), self.nodes.c, -math.log1p(-self.nodes.rate)
        value, error = self._less(np.zeros(1, dtype=np.complex128), start, np.zeros(1))
        less = lam * (self.start[0] + c * (self.excess[0] + lam))
        fall = math.exp(-lam * c)
        slope = fall * (self.slope[0].real + self.excess[0] - less)
        doubt = self.slope[1] + self.excess[1] + lam * (self.start[1] + c * self.excess[1])
        doubt += UNIT * (64.0 + 32.0 * lam * c) * (abs(self.slope[0]) + abs(self.excess[0]) + abs(less))
        return float(value[0].real), float(error[0]), slope, doubt

    def _far_errors(self, reach: float, count: int, per_octave: int) -> Real:
        """Of sum tilted (e^{tau u} - 1 - tau u) on the ray: in each piece of it, at its far end."""
        nodes, size, length = self.nodes, self.nodes.size, self.nodes.length
        fall = np.maximum(-(nodes.fan.direction * nodes.u).real / length, 1e-3)
        units = nodes.relative + 2.0 * U_ERROR * nodes.c * length + SUMMED
        piece = np.arange(count) * _PIECES // per_octave
        ends = reach * 2.0 ** (np.arange(1.0, piece[-1] + 2.0) / _PIECES)
        far = np.multiply.outer(ends * 1.0001, length)
        lost = np.where(far < SERIES, 64.0 * far * far, 72.0 * np.minimum(far, 1.0 / fall) + 4.0 * far)
        error = 1.01 * UNIT * ((np.minimum(2.0 + far, 0.5 * far * far) * units + lost) * size).sum(axis=1)
        result: Real = error[piece]
        return result

    def _less(self, tau: Complex, sums: Complex, error: Real) -> tuple[Complex, Real]:
        """h = e^{-w} (sums + t E[L]) + (e^{-w} (1 + w) - 1), w = lambda t, and its error."""
        lam, t = -math.log1p(-self.nodes.rate), self.nodes.c + tau
        w, away, moved = lam * t, lam * np.abs(t), np.abs(tau)
        fall = np.exp(-w)
        size, inner = np.abs(fall), sums + t * self.excess[0]
        value = fall * inner + (expm2(-w) * (1.0 + w) - w * w)
        slack = error + self.start[1] + self.slope[1] * moved + self.nodes.error * (1.0 + _DISCRETE * np.abs(t))
        slack *= size
        slack += size * np.abs(t) * (self.excess[1] + 8.0 * UNIT * abs(self.excess[0]))
        slack += UNIT * (np.abs(sums) + np.abs(inner)) * size * (16.0 * away + 16.0)
        slack += 64.0 * UNIT * away * away * (1.0 + away)
        steep = self.steep + moved * self.curved + abs(self.excess[0]) + 1.1 * lam * (np.abs(inner) + away)
        slack += 6.0 * UNIT * moved * steep
        return value, slack
