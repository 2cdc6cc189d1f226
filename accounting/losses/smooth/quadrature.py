"""E[e^{tL}] of a subsampled Gaussian pair for complex t, with a bound on every error.

`quadrature` lays the nodes for all Re t in [0, top]; `Quadrature.tilted(c)` gives the moments on the line
Re t = c. Proofs of the bounds: docs/theory/inversion.md, sections 3 to 6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ....mechanisms.arrays import Complex, Floats
from ...bracket import OutOfReach
from ...pairs.order import Sampling
from ...rounding import UNIT
from .complex_functions import expm1, rotation_minus_one
from .integrand import SMALLER, kept_range, log_growth, valley
from .paths import Path, Sampled, corner, line

BLOCK = 32
"""The number of nodes is a multiple of it."""

_SMALL = 2000
"""Frequencies in one matrix product: with BLOCK nodes few enough for BLAS to stay on one thread, whose time is less
than what several threads spend waiting for each other."""

MOST_NODES = 60_000
"""Beyond it (enormous shifts) another accountant is the better choice."""

_APART = 1e-12
"""Far above the relative error of a label's probability."""

_TALLEST = 1.2
"""Highest path: the weights on it are e^{height^2/2} times larger than on the real line."""

_WIDEST_ANGLE = 1.4
"""shift * height stays below it, so that twice as high the mixture is still free of zeros (angle pi)."""


@dataclass(frozen=True, slots=True)
class Quadrature:
    """Nodes of one pair, good for a few values of Re t and any Im t >= 0.

    grid: (step, first, last) of the path's parameter; height: of the path; strip_log: at most 2 pi b/step, b being
    the half-width of the strip of analyticity used; tail: bound on what the nodes left out would add to the sum,
    relative to the moment; corner_tail: the same for those next to the corner, absolute, per unit of |t|.
    """

    pair: Sampled
    paths: tuple[Path, ...]
    grid: tuple[float, int, int]
    height: float
    strip_log: float
    range: tuple[float, float]
    range_log: float
    tail: float
    corner_tail: float

    def relative_error(self, c: float) -> float:
        """Bound on the error of discretisation and of the range, relative to the real moments of all parts."""
        vertical = 2.0 * self.height if self.pair.order == Sampling.HYBRID else 0.0
        upper_edge = math.exp(self.pair.lift(c, 2.0 * self.height))
        strip = (1.0 + (1.0 + vertical) * upper_edge) * math.exp(-self.strip_log)
        return (self.tail + strip) * (1.0 + 2.0 * SMALLER)

    def log_moments_above(self, points: Floats) -> Floats:
        """At least log E[e^{cL}] at every c of points: accurate, but not to the last digits."""
        exponents = [
            path.log_weight + np.multiply.outer(-points if path.mirrored else points, path.loss) for path in self.paths
        ]
        scale = np.maximum(0.0, np.max([np.max(exponent.real, axis=1) for exponent in exponents], axis=0))
        floor = np.exp(-scale)
        values, slack = floor.copy(), self.corner_tail * points * floor
        for path, exponent in zip(self.paths, exponents, strict=True):
            weight, base = np.exp(exponent - scale[:, None]), path.weight
            size, base_size = np.abs(weight), np.abs(base)
            unit = path.log_error + path.loss.size + 40.0
            values += np.sum(weight.real, axis=1) - floor * float(np.sum(base.real))
            slack += UNIT * (size @ unit + points * (size @ path.loss_error) + floor * float(base_size @ unit))
        relative = np.array([2.0 * self.relative_error(c) for c in points])
        if not np.max(relative) < 0.5:
            raise OutOfReach("what is left out outweighs the moment")
        result: Floats = scale + np.log((values + slack) / (1.0 - relative)) + 8.0 * UNIT * (1.0 + np.abs(scale))
        return result

    def tilted(self, c: float) -> Tilted:
        """The moments on the line Re t = c > 0, one of those that the nodes were laid for."""
        signed = [(-c if path.mirrored else c) * path.loss for path in self.paths]
        exponents = [path.log_weight + each for path, each in zip(self.paths, signed, strict=True)]
        scale = max(float(exponent.real.max()) for exponent in exponents)
        scale = scale if scale > 1.0 else 0.0
        floor = math.exp(-scale)
        weights, bases = [np.exp(exponent - scale) for exponent in exponents], [path.weight for path in self.paths]
        small = scale == 0.0 and sum(float(weight.real.sum()) for weight in weights) < 2.5
        growth = 0.0
        error, slope = self.corner_tail * c * floor, 0.0
        sums = 6.0 * (BLOCK + self.paths[0].loss.size / BLOCK) + 24.0
        sizes = [np.abs(weight) for weight in weights]
        for path, z, weight, size, base in zip(self.paths, signed, weights, sizes, bases, strict=True):
            base_size, size_of_loss = np.abs(base), np.abs(path.loss)
            unit = path.log_error + 48.0
            if small:
                near = z.real < 1.0
                gained = np.where(near, base * expm1(np.where(near, z, 0.0)), weight - base)
                growth += _sum(gained)
                error += UNIT * c * float((np.maximum(size, base_size) * (size_of_loss * unit + path.loss_error)).sum())
            else:
                growth += _sum(weight) - floor * _sum(base)
                error += UNIT * float((size * (unit + c * path.loss_error) + floor * base_size * unit).sum())
            spread = size_of_loss * (unit + c * path.loss_error + sums) + path.loss_error
            slope += UNIT * float((size * spread).sum())
        growth -= self.pair.apart * floor
        error += _APART * self.pair.apart * floor
        relative, moment = self.relative_error(c), floor + growth
        if not (relative < 0.25 and moment > 0.0):
            raise OutOfReach("what is left out outweighs the moment")
        error = 1.01 * (error + relative * (moment + floor)) / (1.0 - relative)
        fixed = 2.02 * relative * (moment + error)
        log_moment = math.log1p(growth) if small else scale + math.log(moment)
        slope = 1.01 * slope + self.corner_tail * floor
        branches = tuple(
            Branch(weight, size, path.loss, path.mirrored)
            for path, weight, size in zip(self.paths, weights, sizes, strict=True)
        )
        return Tilted(c, scale, moment, log_moment, error, branches, fixed, slope)


@dataclass(frozen=True, slots=True)
class Branch:
    """Nodes of one branch, weighted by e^{c loss}, and the weights' moduli."""

    weight: Complex
    size: Floats
    loss: Complex
    mirrored: bool


@dataclass(frozen=True, slots=True)
class Tilted:
    """E[e^{tL}] on the line Re t = c, in units of e^scale.

    moment: E[e^{cL}], with absolute error at most `error` before the sum's last rounding; log_moment: its logarithm
    K(c), scale included, without that rounding (where the moment is near 1, its distance from 1 is what is summed).
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

    def log_moment_below(self) -> float:
        """At most K(c)."""
        if self.error >= 0.5 * self.moment:
            return -math.inf
        return self.log_moment + math.log1p(-self.error / self.moment) - 8.0 * UNIT * abs(self.log_moment)

    def inexact(self, s: Floats) -> Floats:
        """At least the absolute error of moment + change, each sum's last rounding apart."""
        return self.error + self.change_error + self.change_slope * s

    def changes(self, s: Floats) -> Complex:
        """E[e^{tL}] - E[e^{cL}] at t = c + i s, in units of e^scale; s are the first multiples of a step, exactly.

        With k = q inner + j, e^{ixk} - 1 = A B + A + B for A = e^{ix q inner} - 1 and B = e^{ixj} - 1: a matrix
        product instead of count exponentials a node, and small differences keep their relative accuracy. The sums
        over nodes are products of BLOCK nodes each, added up: their rounding grows with BLOCK and with the number of
        blocks, not with the number of nodes. Row 0 and column 0 are A = 0 and B = 0: their place is used for the
        sums of B and of A.
        """
        inner = max(1, math.isqrt(s.size))
        fine, coarse = s[1:inner], s[inner::inner]
        total = np.zeros((coarse.size + 1, inner), dtype=np.complex128)
        for branch in self.branches:
            weight, loss = branch.weight.reshape(-1, 1, BLOCK), branch.loss.reshape(-1, 1, BLOCK)
            a = np.concatenate([weight, rotation_minus_one(coarse[:, None], loss) * weight], axis=1)
            b = np.ones((weight.shape[0], BLOCK, inner), dtype=np.complex128)
            b[:, :, 1:] = rotation_minus_one(fine, loss.reshape(-1, BLOCK, 1))
            rows = max(1, _SMALL // inner)
            part = np.concatenate([(a[:, k : k + rows] @ b).sum(axis=0) for k in range(0, a.shape[1], rows)])
            part[1:, 1:] += part[1:, :1] + part[:1, 1:]
            part[0, 0] = 0.0
            total += np.conj(part) if branch.mirrored else part
        return total.reshape(-1)[: s.size]


def _sum(weights: Complex) -> float:
    """The real part of the sum, correctly rounded."""
    return math.fsum(weights.real.tolist())


def quadrature(pair: Sampled, points: tuple[float, ...], budget: float) -> Quadrature:
    """Nodes whose discretisation error is about e^-budget relative to the moment at each Re t in points."""
    top, side = max(points), 0.0
    height = _height(pair, top, budget)
    lift, edge = pair.lift(top, height), pair.lift(top, 2.0 * height)
    if pair.cut < math.inf:
        pair = replace(pair, cut=valley(pair, top, budget + edge))
    left, right = kept_range(pair, points, budget + lift)
    if pair.order == Sampling.HYBRID:
        strip = budget + edge + math.log1p(2.0 * height)
        step = short(math.pi**2 / strip)
        first = math.floor(-(budget + lift) / step)
        last = math.ceil((0.5 * math.pi * (right - left) / height + 1.0) / step)
    else:
        strip = budget + edge
        step = short(2.0 * math.pi * height / strip)
        first, last = math.floor(left / step), math.ceil(right / step - 0.5)
    if pair.cut < math.inf:  # midway between two nodes
        right = (last + 0.5) * step
        pair, log_side = replace(pair, cut=right), log_growth(pair, top, right) - 0.5 * right * right
        side = 4.0 * height * math.exp(min(log_side + edge, 600.0))
        first -= -(last + 1 - first) % BLOCK
    last += -(last + 1 - first) % BLOCK
    if last - first > MOST_NODES:
        raise OutOfReach(f"more than {MOST_NODES} quadrature nodes are needed")
    lay = corner if pair.order == Sampling.HYBRID else line
    paths, corner_tail = lay(pair, height, step, first, last), _corner_tail(pair, height, step * first, lift)
    return Quadrature(
        pair,
        paths,
        (step, first, last),
        height,
        strip,
        (left, right),
        budget + lift,
        4.0 * math.exp(-budget) + side,
        corner_tail,
    )


def _corner_tail(pair: Sampled, height: float, w: float, lift: float) -> float:
    """Bound, per unit of |t|, on what the hybrid pair's nodes below w, next to the corner, would add.

    There |dz/dw| <= (2 height/pi) e^{w/2}, so |z| <= length = (4 height/pi) e^{w/2}, and |loss| <= 2 shift rate |z|;
    the weights are at most e^lift times those on the real line.
    """
    if pair.order != Sampling.HYBRID:
        return 0.0
    length = 4.0 * height / math.pi * math.exp(0.5 * w)
    return 4.0 * pair.shift * pair.rate * length**2 * math.exp(lift)


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
