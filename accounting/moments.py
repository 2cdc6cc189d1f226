"""E[e^{tL}] of a subsampled Gaussian pair for complex t, with a bound on every error.

`quadrature` lays the nodes for all Re t in [0, top]; `Quadrature.tilted(c)` gives the moments on the line
Re t = c. Proofs of the bounds: docs/theory/contour.md, sections 3 to 6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .bracket import OutOfReach
from .contour_paths import Complex, Path, Real, Sampled, corner, line
from .contour_range import reach
from .rounding import UNIT

MOST_NODES = 20_000
"""Beyond it (enormous shifts) another accountant is the better choice."""

_TALLEST = 1.2
"""Highest path: the weights on it are e^{height^2/2} times larger than on the real line."""

_WIDEST_ANGLE = 1.4
"""shift * height stays below it, so that twice as high the mixture is still free of zeros (angle pi)."""


@dataclass(frozen=True, slots=True)
class Quadrature:
    """Nodes of one pair, good for 0 <= Re t <= top and any Im t >= 0.

    height: of the path; strip_log: log of e^{2 pi b/step} - 1, b the half-width of the strip of analyticity used;
    tail: bound on what the nodes left out would add to the sum; corner_tail: the same, per unit of |t|.
    """

    pair: Sampled
    paths: tuple[Path, ...]
    top: float
    height: float
    strip_log: float
    tail: float
    corner_tail: float

    def alias(self, c: float) -> float:
        """Bound on the trapezoidal rule's error, relative to the sum of the real moments of the integrand's parts."""
        vertical = 2.0 * self.height if self.pair.order == "hybrid" else 0.0
        upper_edge = math.exp(self.pair.lift(c, 2.0 * self.height))
        return (1.0 + (1.0 + vertical) * upper_edge) * math.exp(-self.strip_log) * (1.0 + 2.0**-40)

    def cumulants(self, c: float) -> tuple[float, float, float]:
        """About K(c) = log E[e^{cL}], K'(c) and K''(c): no bounds."""
        exponents = [path.log_weight + (-c if path.mirrored else c) * path.loss for path in self.paths]
        scale = max(float(np.max(exponent.real)) for exponent in exponents)
        mass, first, second = math.exp(-scale) * self.pair.atom, 0.0, 0.0
        for path, exponent in zip(self.paths, exponents, strict=True):
            weight = np.exp(exponent - scale)
            moved = weight * path.loss
            mass += float(np.sum(weight.real))
            first += (-1.0 if path.mirrored else 1.0) * float(np.sum(moved.real))
            second += float(np.sum((moved * path.loss).real))
        mean = first / mass
        return scale + math.log(mass), mean, second / mass - mean * mean

    def log_moments_above(self, points: Real) -> Real:
        """At least log E[e^{cL}] at every c of points, all in [0, top]: accurate, but not to the last digits."""
        values = np.zeros(points.shape) + self.pair.atom
        slack = np.full(points.shape, self.tail) + self.corner_tail * points
        exponents = []
        for path in self.paths:
            exponents.append(path.log_weight + np.multiply.outer(-points if path.mirrored else points, path.loss))
        scale = np.maximum(0.0, np.max([np.max(exponent.real, axis=1) for exponent in exponents], axis=0))
        values, slack = values * np.exp(-scale), slack * np.exp(-scale)
        for path, exponent in zip(self.paths, exponents, strict=True):
            weight = np.exp(exponent - scale[:, None])
            size = np.abs(weight)
            count = path.loss.size
            values += np.sum(weight.real, axis=1)
            slack += UNIT * (size @ (path.log_error + count + 40.0) + points * (size @ path.loss_error))
        alias = np.array([self.alias(c) for c in points])
        result: Real = scale + np.log((values + slack) / (1.0 - alias)) + 8.0 * UNIT * (1.0 + np.abs(scale))
        return result

    def tilted(self, c: float) -> Tilted:
        """The moments on the line Re t = c, 0 < c <= top."""
        scale = self.cumulants(c)[0]
        scale = scale if scale > 1.0 else 0.0
        floor = math.exp(-scale)
        growth, error = 0.0, self.tail * floor + self.corner_tail * c * floor
        branches, slope = [], 0.0
        for path in self.paths:
            count = path.loss.size
            signed = (-c if path.mirrored else c) * path.loss
            weight, base = np.exp(path.log_weight + signed - scale), np.exp(path.log_weight)
            size, base_size = np.abs(weight), np.abs(base)
            if scale == 0.0:
                near = signed.real < 1.0
                gained = np.where(near, base * expm1(np.where(near, signed, 0.0)), weight - base)
                growth += float(np.sum(gained.real))
                spread = np.abs(path.loss) * (path.log_error + count + 40.0) + path.loss_error
                error += UNIT * c * float(np.sum(np.maximum(size, base_size) * spread))
            else:
                growth += float(np.sum(weight.real)) - floor * float(np.sum(base.real))
                error += UNIT * float(np.sum(size * (path.log_error + c * path.loss_error + count + 40.0)))
                error += UNIT * floor * float(np.sum(base_size * (path.log_error + count + 40.0)))
            branches.append(Branch(weight, path.loss, path.mirrored))
            spread = np.abs(path.loss) * (path.log_error + c * path.loss_error + 3.0 * count + 60.0)
            slope += UNIT * float(np.sum(size * (spread + path.loss_error)))
        alias, moment = self.alias(c), floor + growth
        error = 1.01 * (error + alias * (moment + floor)) / (1.0 - alias)
        fixed = 2.02 * alias * (moment + error) + 2.0 * self.tail * floor
        log_moment = math.log1p(growth) if scale == 0.0 else scale + math.log(moment)
        slope = 1.01 * slope + self.corner_tail * floor
        return Tilted(c, scale, moment, log_moment, error, tuple(branches), fixed, slope)


@dataclass(frozen=True, slots=True)
class Branch:
    """Nodes of one branch, weighted by e^{c loss}."""

    weight: Complex
    loss: Complex
    mirrored: bool


@dataclass(frozen=True, slots=True)
class Tilted:
    """E[e^{tL}] on the line Re t = c, in units of e^scale.

    moment: E[e^{cL}], with absolute error at most `error`; log_moment: its logarithm K(c), scale included.
    A change E[e^{tL}] - E[e^{cL}] has absolute error at most change_error + change_slope * |Im t|.
    """

    c: float
    scale: float
    moment: float
    log_moment: float
    error: float
    branches: tuple[Branch, ...]
    change_error: float
    change_slope: float

    def log_moment_above(self) -> float:
        """At least K(c)."""
        if self.error >= 0.5 * self.moment:
            return math.inf
        return self.log_moment - math.log1p(-self.error / self.moment) + 8.0 * UNIT * abs(self.log_moment)

    def changes(self, step: float, count: int) -> Complex:
        """E[e^{tL}] - E[e^{cL}] at t = c + i k step, k = 0 .. count - 1, in units of e^scale.

        With k = q inner + j, e^{ixk} - 1 = A B + A + B for A = e^{ix q inner} - 1 and B = e^{ixj} - 1: a matrix
        product instead of count exponentials a node, and small differences keep their relative accuracy.
        """
        inner = max(1, math.isqrt(count))
        outer = -(-count // inner)
        fine = np.arange(inner, dtype=np.float64) * step
        coarse = np.arange(outer, dtype=np.float64) * (inner * step)
        total = np.zeros((outer, inner), dtype=np.complex128)
        for branch in self.branches:
            a = rotation_minus_one(coarse[:, None], branch.loss[None, :]) * branch.weight[None, :]
            b = rotation_minus_one(branch.loss[:, None], fine[None, :])
            part = a @ b + np.sum(a, axis=1)[:, None] + (branch.weight @ b)[None, :]
            total += np.conj(part) if branch.mirrored else part
        return total.reshape(-1)[:count]


def expm1(z: Complex) -> Complex:
    """e^z - 1, small results to full relative accuracy."""
    growth, half = np.expm1(z.real), np.sin(0.5 * z.imag)
    result = np.empty(z.shape, dtype=np.complex128)
    result.real = growth - 2.0 * half * half * (growth + 1.0)
    result.imag = np.sin(z.imag) * (growth + 1.0)
    return result


def rotation_minus_one(left: Real | Complex, right: Real | Complex) -> Complex:
    """e^{i left right} - 1 for the outer product of frequencies and complex losses."""
    product = left * right
    return expm1(np.asarray(1j * product, dtype=np.complex128))


def quadrature(pair: Sampled, top: float, budget: float) -> Quadrature:
    """Nodes whose discretisation error is about e^-budget relative to the moment at Re t <= top."""
    height = _height(pair, top, budget)
    lift, edge = pair.lift(top, height), pair.lift(top, 2.0 * height)
    left, right = reach(pair, top, budget + lift)
    if pair.order == "hybrid":
        step = short(math.pi**2 / (budget + edge + math.log1p(2.0 * height)))
        paths, corner_tail = corner_nodes(pair, height, step, right, budget + lift, lift)
        strip = math.pi**2 / step
    else:
        step = short(2.0 * math.pi * height / (budget + edge))
        if (right - left) / step > MOST_NODES:
            raise OutOfReach(f"more than {MOST_NODES} quadrature nodes are needed")
        paths, corner_tail = line(pair, height, step, math.floor(left / step), math.ceil(right / step)), 0.0
        strip = 2.0 * math.pi * height / step
    return Quadrature(pair, paths, top, height, strip, 4.0 * math.exp(-budget), corner_tail)


def corner_nodes(
    pair: Sampled, height: float, step: float, right: float, budget: float, lift: float
) -> tuple[tuple[Path, ...], float]:
    """The hybrid pair's nodes, and a bound, per unit of |t|, on what those left out next to the corner would add.

    Next to the corner |dz/dw| <= (2 height/pi) e^{w/2}, so |z| <= length = (4 height/pi) e^{w/2}, and
    |loss| <= 2 shift rate |z|; the weights are at most e^lift times those on the real line.
    """
    first = math.floor(-budget / step)
    last = math.ceil((0.5 * math.pi * (right - 0.5 * pair.shift) / height + 1.0) / step)
    if last - first > MOST_NODES:
        raise OutOfReach(f"more than {MOST_NODES} quadrature nodes are needed")
    length = 4.0 * height / math.pi * math.exp(0.5 * first * step)
    paths = corner(pair, height, step, first, max(last, first + 8))
    return paths, 4.0 * pair.shift * pair.rate * length**2 * math.exp(lift)


def _height(pair: Sampled, top: float, budget: float) -> float:
    """The height with the widest step, among those that keep the weights' growth, hence rounding, in check."""
    best, widest = 0.0, -1.0
    tallest = min(_TALLEST, _WIDEST_ANGLE / pair.shift)
    for part in range(1, 17):
        height = tallest * part / 16.0
        cost, growth = budget + pair.lift(top, 2.0 * height), pair.lift(top, height)
        if height / cost > widest and (growth < 1.0 or part == 1):
            best, widest = height, height / cost
    return best


def short(value: float) -> float:
    """value rounded down to ten significant bits, so that its multiples by integers below 2^43 are exact."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(math.floor(mantissa * 1024.0) / 1024.0, exponent)
