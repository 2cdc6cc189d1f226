"""delta(eps) of rare jumps: the inversion on a contour bent to the right, where the integrand decays exponentially.

With u = loss - log(1 - rate) >= 0 for one round, G(t) = E[e^{tu}] and e = eps - rounds log(1 - rate),

    delta(eps) = (1/pi) Im of the integral of F(t) dt from c to infinity, F(t) = G(t)^rounds e^{-et} / (t (t+1)),

along the ray arg(t - c) = 80 degrees, by the trapezoidal rule in log |t - c|. On a vertical line rare jumps leave
little decay, for the loss is nearly an atom; here e^{-et} decays. Proofs: docs/theory/contour.md, section 12.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..bracket import OutOfReach
from ..rounding import UNIT
from .crossing import Bounded
from .inversion import log1p
from .paths import Complex, Real, Sampled
from .ray import Far, Near, Side, far_out
from .rotated import ACCURACY, STEEP, Rotated, logarithm_of_odds, rotated
from .saddle import Saddle

DIRECTION, INNER = STEEP.direction, STEEP.inner

CORNER = 2.0**-12
"""Share of `near` below which F is taken as linear in the sum."""

BEYOND, BEYOND_JUMPS = 3.0, 4.0
"""On the path, whose height grows with Re Z, tilted jumps weigh up to e^{0.1 b^2} times what they do on the real line
at the saddle point b deviations past the middle; c is kept below b, the larger one where jumps matter."""

_SKEWED = 2.0
"""Skewness of the tilted loss from where jumps do not matter at c: the saddle point is where they begin to."""

_SKEWED_SHARE = 0.01
"""Of the saddle point's eps, which is then far too large, above which the eps sought is likely to be."""

GOAL = 27.0
"""-log of the accuracy aimed at, relative to delta, where the narrowest bracket is wanted."""

_SPARE, _SPARE_NODES = 7.0, 4.0
"""Above the goal: for the ray's remainder, and for the nodes."""

_MOST_OCTAVES = 60
_NEGLIGIBLE = 60.0
_NEWTON_STEPS = 12
_LEAST_SHIFT, _MOST_RATE, _LEAST_CROSSING = 0.3, 0.3, 0.01


@dataclass(frozen=True, slots=True)
class BentInversion:
    """log(F(t) dt / pi) on the ray, ready for every eps.

    t, logs, errors: where F is not negligible, the logs at eps = 0, relative to log_base, and bounds on their absolute
    errors; log_base: log G(c)^rounds e^{-ec} at eps = 0, with error base_error. away, small: t - c's real part and at
    least log |F dt / pi| for the other t. floor: rounds log(1 - rate). first, near, last: |t - c| where the sum
    begins, up to where the polynomial serves, and where the ray ends; drift: d(log F)/dt at c, at eps = 0, with error
    drift_error; near_logs: log of bounds on F at c - near and c + near, relative to log_base. step: of log |t - c|.
    """

    c: float
    rounds: int
    t: Complex
    logs: Complex
    errors: Real
    away: Real
    small: Real
    log_base: float
    base_error: float
    floor: float
    first: float
    near: float
    last: float
    drift: float
    drift_error: float
    near_logs: tuple[float, float]
    side: Side
    log_largest: float
    step: float

    def log_delta(self, epsilon: float) -> tuple[float, float, float]:
        """(at most log delta(epsilon), at least it, about its derivative in epsilon)."""
        value, slope, sizes = self._sum(epsilon)
        error = float((sizes * np.expm1(np.minimum(self.errors + 24.0 * UNIT * epsilon * np.abs(self.t), 700.0))).sum())
        error += 64.0 * UNIT * float(sizes.sum()) + float(
            np.exp(np.minimum(self.small - epsilon * self.away, 600.0)).sum()
        )
        error += self._corner_error(epsilon) + 1.001 * self._missing(epsilon) / math.pi
        if not math.isfinite(value + error):
            return -math.inf, math.inf, -self.c
        base = self.log_base - self.c * epsilon
        slack = 16.0 * UNIT * (abs(self.log_base) + self.c * epsilon + 40.0)
        return (
            base + (math.log(value - error) if value > error else -math.inf) - slack,
            base + (math.log(value + error) if value > -error else -math.inf) + slack,
            slope,
        )

    def estimate(self, epsilon: float) -> tuple[float, float]:
        """About log delta(epsilon) and its derivative."""
        value, slope, _ = self._sum(epsilon)
        return (math.log(value) if value > 0.0 else -math.inf) + self.log_base - self.c * epsilon, slope

    def _sum(self, epsilon: float) -> tuple[float, float, Real]:
        """delta(epsilon) over e^{log_base - c epsilon} without errors, its logarithm's slope, the terms' moduli."""
        terms = np.exp(self.logs - epsilon * (self.t - self.c))
        corner = self._corner(epsilon)
        value = float(terms.imag.sum()) + corner
        slope = -(float((self.t * terms).imag.sum()) + self.c * corner) / value if value > 0.0 else -self.c
        return value, slope if slope < 0.0 else -self.c, np.abs(terms)

    def _corner(self, epsilon: float) -> float:
        """The terms below `first`, where F is replaced by F(c) (1 + (drift - epsilon) (t - c))."""
        flat = DIRECTION.imag * self.step * self.first / math.expm1(self.step)
        square = (DIRECTION * DIRECTION).imag * self.step * self.first**2 / math.expm1(2.0 * self.step)
        return (flat + (self.drift - epsilon) * square) / (math.pi * self.c * (self.c + 1.0))

    def _corner_error(self, epsilon: float) -> float:
        """Of _corner as computed and of the replacement: |F - linear| <= x^2 / (1 - x) max |F|, x = |t - c| / near."""
        share = self.first / self.near
        size = (self.first + (abs(self.drift) + epsilon) * self.first**2) / (math.pi * self.c * (self.c + 1.0))
        error = size * math.expm1(min(700.0, self.base_error + 64.0 * UNIT))
        error += self.drift_error * self.first**2 / (math.pi * self.c * (self.c + 1.0))
        return error + 0.12 * self._most_near(epsilon) * share**2 * self.first / (1.0 - share)

    def _most_near(self, epsilon: float) -> float:
        """At least |F(t)| for |t - c| <= near, over e^{log_base - c epsilon}: log |F| is convex on the real line."""
        return math.exp(
            min(700.0, max(self.near_logs[0] + epsilon * self.near, self.near_logs[1] - epsilon * self.near))
        )

    def _missing(self, epsilon: float) -> float:
        """Bounds on the integrals past `last` and on the trapezoidal rule's error, over e^{log_base - c epsilon}."""
        inner = self._most_near(epsilon) * self.near + self._inner(epsilon) + self._beyond(epsilon, INNER.real)
        vertical = 0.5 * math.pi / self.c
        past = self._beyond(epsilon, DIRECTION.real) * self.step / -math.expm1(-self.step)
        return past + (inner + vertical) / STEEP.trapezoidal(self.step)

    def _beyond(self, epsilon: float, cosine: float) -> float:
        """Bound on the integral of |F| over |t - c| >= last along a ray, by |G| <= e^log_largest."""
        log = self.rounds * self.log_largest - cosine * self.last * (epsilon - self.floor) * (1.0 - 1e-12)
        return math.exp(min(700.0, log + self.floor * self.c - self.log_base + 1e-9)) / self.last

    def _inner(self, epsilon: float) -> float:
        """Bound on the integral of |F| along the sector's inner side, from `near` to `last`."""
        side, e = self.side, epsilon - self.floor
        logs = self.rounds * side.log_size + side.grown(self.rounds, e * side.move.real) + side.log_length
        logs += self.c * epsilon - e * side.t.real - self.log_base
        slack = 1e-9 + 64.0 * UNIT * (self.rounds * np.abs(side.log_size) + e * np.abs(side.t) + abs(self.log_base))
        return float(np.exp(np.minimum(logs + slack, 650.0)).sum())


def serves(pair: Sampled) -> bool:
    """Whether the path suits the pair: a jump of some size that is rare."""
    return pair.order == "remove" and pair.shift >= _LEAST_SHIFT and pair.rate <= _MOST_RATE


class Approached(Bounded, Protocol):
    """An inversion that also has a quick estimate."""

    def estimate(self, epsilon: float) -> tuple[float, float]:
        """About log delta(epsilon) and its derivative."""


def approach(inversion: Approached, epsilon: float, log_delta: float) -> float:
    """The eps where delta is about e^log_delta, by Newton's method from epsilon."""
    for _ in range(_NEWTON_STEPS):
        value, slope = inversion.estimate(epsilon)
        step = (log_delta - value) / slope if math.isfinite(value) else 0.5 * epsilon
        epsilon = max(0.0, epsilon + max(step, -0.9 * epsilon))
        if abs(step) <= 1e-8 * epsilon:  # the next one would be about its square
            break
    return epsilon


def invert_bent(pair: Sampled, rounds: int, saddle: Saddle, goal: float = GOAL) -> BentInversion:
    """The inversion from c near the saddle point, to about e^-goal of delta. Raises OutOfReach where it takes too many
    nodes."""
    skewed = saddle.skewness > _SKEWED
    c = crossing(pair, saddle)
    most_near, floor = min(0.25 * c, 1.0 / pair.shift), rounds * math.log1p(-pair.rate)
    least = (_SKEWED_SHARE if skewed else 0.5) * saddle.epsilon
    likely = least if skewed else saddle.epsilon
    larger = max(0.0, saddle.rounds.cumulants(c)[0] - c * likely - saddle.log_delta - math.log(c))  # terms than delta
    accuracy = min(ACCURACY, goal + larger + _SPARE_NODES)
    nodes, per_octave = rotated(pair, c, c + most_near, rounds, STEEP, accuracy), STEEP.steps(goal + larger)
    start, start_error = nodes.growth(c)
    if not (start > -0.5 and start_error < 0.01):
        raise OutOfReach("rounding outweighs the moments")
    polynomial = Near.of(nodes, most_near)
    near, log_start = polynomial.reach, math.log1p(start)
    known = min(0.0, saddle.log_delta + c * (saddle.epsilon - floor))
    need = rounds * (nodes.log_largest - log_start) + goal + _SPARE - known
    octaves = _octaves(need / ((least - floor) * DIRECTION.real * near))
    far = far_out(nodes, polynomial, start, start_error, octaves, per_octave)
    terms = _terms(nodes, polynomial, far, rounds, floor, (start, start_error))
    many = terms.heavy(least)
    heavy, light = slice(0, many), slice(many, None)
    steep = start_error / near + UNIT * float(polynomial.rounding[1])
    floor_error = _floor_error(pair.rate, floor)
    return BentInversion(
        c=c,
        rounds=rounds,
        t=terms.t[heavy],
        logs=terms.logs[heavy],
        errors=terms.errors[heavy],
        away=terms.t[light].real - c,
        small=terms.logs[light].real + terms.errors[light],
        log_base=rounds * log_start + floor * c,
        base_error=rounds * math.log1p(start_error / (1.0 + start)) + floor_error * c,
        floor=floor,
        first=near * CORNER,
        near=near,
        last=near * 2.0**octaves,
        drift=rounds * float(polynomial.coefficients[1].real) / (1.0 + start) + floor - 1.0 / c - 1.0 / (c + 1.0),
        drift_error=1.1 * rounds * steep + floor_error + 64.0 * UNIT * (rounds * float(polynomial.absolute[1]) - floor),
        near_logs=_near_logs(nodes, polynomial, rounds, floor, (start, start_error)),
        side=far.side,
        log_largest=nodes.log_largest,
        step=math.log(2.0) / per_octave,
    )


def _octaves(length: float) -> int:
    """Of a ray that ends at that many times its beginning."""
    octaves = max(1, math.ceil(math.log2(max(2.0, length))))
    if octaves > _MOST_OCTAVES:
        raise OutOfReach("the ray is too long")
    return octaves


def crossing(pair: Sampled, saddle: Saddle) -> float:
    """Where the contour leaves the real line: at the saddle point, or short of where jumps would take over."""
    middle = logarithm_of_odds(pair.rate)[0] / pair.shift + 0.5 * pair.shift
    beyond = BEYOND if saddle.skewness > _SKEWED else BEYOND_JUMPS
    c = min(saddle.c, (middle + beyond) / pair.shift - 1.0)
    if not c > _LEAST_CROSSING:
        raise OutOfReach("the jumps are too large for the bent contour")
    return c


def _floor_error(rate: float, floor: float) -> float:
    return 8.0 * UNIT / (1.0 - rate) * -floor


@dataclass(frozen=True, slots=True)
class _Terms:
    """All t of the sum, and the logs and errors of BentInversion there."""

    c: float
    t: Complex
    logs: Complex
    errors: Real

    def heavy(self, epsilon: float) -> int:
        """How many come before the first from which on all are negligible at that eps and above."""
        sizes = self.logs.real - epsilon * (self.t.real - self.c)
        return int(np.flatnonzero(sizes > sizes.max() - _NEGLIGIBLE)[-1]) + 1


def _terms(nodes: Rotated, polynomial: Near, far: Far, rounds: int, floor: float, start: tuple[float, float]) -> _Terms:
    """start: G(c) - 1 and its error."""
    tau, growth, error = polynomial.values(-round(math.log2(CORNER)), *start, far.per_octave)
    tau, growth = np.concatenate([tau, far.tau]), np.concatenate([growth, far.growth])
    t, log_growth, modulus = nodes.c + tau, log1p(growth), np.maximum(np.abs(1.0 + growth), 1e-300)
    errors = rounds * np.log1p(np.concatenate([error, far.error]) / modulus)
    errors += 16.0 * UNIT * (rounds * (np.abs(log_growth) + abs(start[0])) - floor * np.abs(t) + 4.0)
    errors += 6.0 * UNIT * (rounds * polynomial.absolute[1] / modulus - floor) * np.abs(tau)
    errors += _floor_error(nodes.rate, floor) * np.abs(t)
    logs = rounds * (log_growth - math.log1p(start[0])) + floor * tau
    return _Terms(nodes.c, t, logs + np.log(tau / (t * (t + 1.0)) * (math.log(2.0) / far.per_octave / math.pi)), errors)


def _near_logs(
    nodes: Rotated, polynomial: Near, rounds: int, floor: float, start: tuple[float, float]
) -> tuple[float, float]:
    """At least log |F| at c - near and c + near, at eps = 0 and relative to log G(c)^rounds e^{floor c}; the divisor
    t (t + 1) at its least. start: G(c) - 1 and its error."""
    near, farthest = polynomial.reach, 1.001 * float(nodes.length.max())
    least = math.log((nodes.c - near) * (nodes.c - near + 1.0)) - 1e-6
    below, above = (
        rounds * (math.log1p(polynomial.growth_above(move, start[0], 2.0 * start[1], farthest)) - math.log1p(start[0]))
        for move in (-near, near)
    )
    return below - floor * near - least, above + floor * near - least
