"""E[e^{tu}] of a subsampled Gaussian round, remove order, as a short exponential sum good in a whole sector of t.

u = loss - log(1 - rate) >= 0 has an analytic density, so the integral over u may be taken on a path in the upper half
plane. Where arg u >= 20 degrees on the path, e^{(t - c) u} shrinks as t leaves c in any direction between 70 and 90
degrees: one set of nodes serves all these t at once (docs/theory/contour.md, section 12).
"""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flint import arb, ctx

from ..bracket import OutOfReach
from ..rounding import UNIT
from .inversion import log1p
from .moments import expm1, short
from .paths import Complex, Real, Sampled


@dataclass(frozen=True, slots=True)
class Shape:
    """A path Z = q + i start + i climb log(1 + e^q), q real, e^Z being the jump's part of the density over the rest of
    it, in the middle of a strip |Im q| < half_width.

    Im Z is at most `edge` in the strip, and at most `centre` on the path, plus climb max(0, Re Z) each.
    """

    start: float
    half_width: float
    edge: float
    centre: float


@dataclass(frozen=True, slots=True)
class Fan:
    """A sector of t - c, half_angle to either side of the ray arg(t - c) = centre, in degrees, and paths that serve it.

    On the paths' strips 90 - (centre - half_angle) <= arg u <= 180 degrees, so that |e^{(t-c)u}| falls along every
    direction of the sector; the last one is the vertical. stretch: |dZ| is at most that times d(Re Z) along a path and
    its strip's edges. shapes: from which shift on each serves: the smaller the shift, the more the density grows along
    a high path.
    """

    centre: float
    half_angle: float
    climb: float
    stretch: float
    shapes: tuple[tuple[float, Shape], ...]

    @property
    def direction(self) -> complex:
        """Of the ray."""
        return cmath.rect(1.0, math.radians(self.centre))

    @property
    def inner(self) -> complex:
        """Of the sector's side that is not the vertical."""
        return cmath.rect(1.0, math.radians(self.centre - self.half_angle))

    def trapezoidal(self, step: float) -> float:
        """The trapezoidal rule with that step in log |t - c| errs by at most the integrals along both sides over it."""
        return math.expm1(math.radians(2.0 * math.pi * self.half_angle) / step - 1e-6)

    def steps(self, need: float) -> int:
        """An octave's terms, for an error of the trapezoidal rule that is e^-need times its bound's integrals."""
        enough = math.ceil(min(max(need, 1.0), 1e3) * math.log(2.0) / math.radians(2.0 * math.pi * self.half_angle))
        if enough > _MOST_STEPS:
            raise OutOfReach("too many terms are needed")
        return max(_LEAST_STEPS, enough)


STEEP = Fan(
    80.0,
    10.0,
    0.4,
    1.25,
    (
        (1.3, Shape(1.55, 1.1, 3.0, 1.85)),
        (0.75, Shape(1.2, 0.75, 2.3, 1.5)),
        (0.55, Shape(0.9, 0.45, 1.7, 1.2)),
        (0.0, Shape(0.7, 0.25, 1.3, 1.0)),
    ),
)
"""Its paths climb slowly: jumps may weigh much at c."""

WIDE = Fan(
    70.0,
    20.0,
    0.9,
    1.36,
    (
        (1.3, Shape(1.55, 0.65, 3.0, 2.2)),
        (0.75, Shape(1.3, 0.5, 2.6, 2.0)),
        (0.55, Shape(1.05, 0.28, 2.1, 1.75)),
        (0.0, Shape(0.92, 0.17, 1.85, 1.6)),
    ),
)
"""e^{-eps t} falls twice as fast on its ray, which takes half as many terms; jumps must not weigh much at c."""

ACCURACY = 38.0
"""-log of the error of discretisation and of the range over all rounds."""

_LEAST_STEPS, _MOST_STEPS = 8, 64
_CELLS = 160
_MOST_NODES = 6000


@dataclass(frozen=True, slots=True)
class Rotated:
    """E[e^{tu}] = 1 + sum weight (e^{tu} - 1) within `error` for real t, 0 < t <= top, and for t = c + tau, c < top,
    with arg tau in the fan; tilted: weight e^{cu}.

    length, size: moduli of u and tilted. relative: bound on the relative error of weight and, after c |u| more, of
    tilted, in UNITs; that of u is below U_ERROR. log_largest: at least log of |E e^{tu}| for all these t.
    """

    fan: Fan
    rate: float
    c: float
    u: Complex
    weight: Complex
    tilted: Complex
    length: Real
    size: Real
    relative: Real
    error: float
    log_largest: float

    def growth(self, t: float) -> tuple[float, float]:
        """(E[e^{tu}] - 1, bound on its error) at a real t, 0 < t <= top."""
        z = t * self.u
        near = z.real < 1.0
        grown = self.tilted if t == self.c else self.weight * np.exp(z)
        change = np.where(near, self.weight * expm1(np.where(near, z, 0.0)), grown - self.weight)
        weight = np.abs(self.weight)
        size = np.where(near, np.abs(change), np.abs(grown) + weight)
        moved = np.abs(z) * np.where(near, weight * np.exp(np.maximum(z.real, 0.0)), size)
        slack = float((size * (self.relative + 24.0)).sum()) + (U_ERROR + 8.0) * float(moved.sum())
        return math.fsum(change.real.tolist()), self.error + 1.01 * UNIT * slack


U_ERROR = 32.0
"""Bound, in UNITs, on the relative error of u."""


def rotated(pair: Sampled, c: float, top: float, rounds: int, fan: Fan = STEEP, accuracy: float = ACCURACY) -> Rotated:
    """Nodes whose error is about e^-accuracy / rounds. Raises OutOfReach where too many are needed."""
    shift, (logit, rest) = pair.shift, logarithm_of_odds(pair.rate)
    middle, goal = logit / shift + 0.5 * shift, accuracy + math.log(rounds)
    shape = next(shape for least, shape in fan.shapes if shift >= least)
    ends, edge, centre, growth = _cells(pair, shape, fan.climb, (middle, top, goal))
    log_edge = _log_sum(_log_masses(ends, edge, 0.0))
    strip = goal + math.log(4.0 * fan.stretch) + log_edge
    step = short(2.0 * math.pi * shape.half_width / max(strip, 4.0))
    first, last, outside = _range(ends, centre + math.log(fan.stretch), step / shift, goal)
    first, last = math.floor(shift * (first - middle) / step), math.ceil(shift * (last - middle) / step)
    if last - first > _MOST_NODES or step > shift:
        raise OutOfReach(f"the loss's path needs {last - first} nodes")
    u, log_weight, relative = _nodes(pair, (shape.start, fan.climb), step * np.arange(first, last + 1.0), (logit, rest))
    log_weight += math.log(step / (shift * math.sqrt(2.0 * math.pi)))
    discretisation = math.exp(math.log(4.0 * fan.stretch) + log_edge) / math.expm1(
        2.0 * math.pi * shape.half_width / step
    )
    largest = math.log(fan.stretch) + _log_sum(_log_masses(ends, centre - (top - c) * growth, 0.0)) + 1e-6
    tilted = np.exp(log_weight + c * u)
    return Rotated(
        fan,
        pair.rate,
        c,
        u,
        np.exp(log_weight),
        tilted,
        np.abs(u),
        np.abs(tilted),
        relative,
        2.002 * (discretisation + outside),  # twice, as a real sum's imaginary part is dropped
        largest,
    )


@lru_cache(maxsize=64)
def logarithm_of_odds(rate: float) -> tuple[float, float]:
    """log((1 - rate) / rate) as a double and what is missing from it."""
    with ctx.workprec(160):
        exact = arb(rate)
        odds = (1 - exact).log() - exact.log()
        near = float(odds)
        return near, float(odds - near)


def _nodes(
    pair: Sampled, path: tuple[float, float], q: Real, logit: tuple[float, float]
) -> tuple[Complex, Complex, Real]:
    """u, log of the weight over the step, and the bound on the weight's relative error, at the path's parameters q.

    path: a shape's start, and the climb.
    """
    start, rise = path
    fall = np.exp(-np.abs(q))
    climb = np.maximum(q, 0.0) + np.log1p(fall)
    angle = start + rise * climb
    big_z = q + 1j * angle
    turn = np.where(q > 0.0, -angle, angle)
    u: Complex = log1p((fall * (np.cos(turn) + 1j * np.sin(turn))).astype(np.complex128)) + np.where(
        q > 0.0, big_z, 0.0
    )
    x = ((logit[0] + q) + logit[1] + 1j * angle) / pair.shift + 0.5 * pair.shift
    share = np.where(q > 0.0, 1.0, fall) / (1.0 + fall)
    log_weight = -0.5 * x * x + math.log1p(-pair.rate) + u + log1p((1j * rise * share).astype(np.complex128))
    size, height = np.abs(x), big_z.imag
    moved = 6.0 * size + 4.0 * pair.shift + (6.0 + 4.0 * height) / pair.shift
    return u, log_weight.astype(np.complex128), size * (moved + 2.0 * size) + 1.5 * U_ERROR * np.abs(u) + 48.0


def _cells(
    pair: Sampled, shape: Shape, climb: float, tilt: tuple[float, float, float]
) -> tuple[Real, Real, Real, Real]:
    """Ends of cells of real x, at each the log of the integrand's bound on the strip's edges and on its middle, and
    log(1 + e^X).

    The bound: phi(x) m(x) (1 + e^X)^top e^{(Im Z / shift)^2 / 2}, X = Re Z = shift (x - middle). Its logarithm f
    has f'' >= -1; before the first end f' >= 1, past the last one f' <= -1. tilt: where Z = 0, top, and -log of
    what may be left out.
    """
    (middle, top, goal), shift = tilt, pair.shift
    left = math.sqrt(2.0 * (goal + 24.0) + (shape.edge / shift) ** 2) + 1.0
    steepest = 1.0 + (1.0 + top) * shift + climb * shape.edge / shift
    narrow = 1.0 - climb**2
    right = max(steepest / narrow, 0.5 * shift) + math.sqrt(2.0 * (goal + 24.0) / narrow)
    ends = np.linspace(-left, right, _CELLS + 1)
    x = shift * (ends - middle)
    above = np.maximum(x, 0.0)
    growth = above + np.log1p(np.exp(-np.abs(x)))
    plain = -0.5 * ends * ends + (1.0 + top) * growth + (math.log1p(-pair.rate) - 0.5 * math.log(2.0 * math.pi))
    edge, centre = (plain + 0.5 * ((far + climb * above) / shift) ** 2 for far in (shape.edge, shape.centre))
    return ends, edge, centre, growth


def _log_masses(ends: Real, logs: Real, spacing: float) -> Real:
    """At least the logs of e^f integrated left of, in, and right of the cells; of sums over nodes `spacing` apart too.

    f exceeds the larger of its values at the ends of a cell of width w by at most w^2 / 8.
    """
    width = float(ends[1] - ends[0])
    cells = np.maximum(logs[1:], logs[:-1]) + 0.125 * width**2 + math.log(1.0001 * (width + spacing))
    beyond = math.log(1.0001 * (1.0 + spacing))
    return np.concatenate([[logs[0] + beyond], cells, [logs[-1] + beyond]])


def _log_sum(logs: Real) -> float:
    largest = float(logs.max())
    return largest + math.log(float(np.exp(logs - largest).sum()) * 1.0001)


def _range(ends: Real, centre: Real, spacing: float, goal: float) -> tuple[float, float, float]:
    """first, last x of the nodes, and a bound on what the others would add to a sum."""
    masses = 2.0 * np.exp(np.minimum(_log_masses(ends, centre, spacing), 600.0))
    limit = 0.25 * math.exp(-goal)
    below, above = np.cumsum(masses), np.cumsum(masses[::-1])
    low, high = int(np.searchsorted(below, limit)), int(np.searchsorted(above, limit))
    if low == 0 or high == 0 or low + high >= masses.size:
        raise OutOfReach("the integrand does not fall within the cells")
    return float(ends[low - 1]), float(ends[ends.size - high]), float(below[low - 1] + above[high - 1])
