"""delta(eps) of rare jumps: as many times one round's delta as there are rounds, and what rounds add to one another.

With M(t) = E[e^{tL}] = 1 + h(t) for one round and delta_1 for its profile, which has a closed form, for eps > 0

    delta(eps) = rounds delta_1(eps) + (1/pi) Im of the integral of S(t) e^{-eps t} / (t (t+1)) dt,
    S = M^rounds - 1 - rounds h,

on the contour of bent.py. Where h is small S is about (rounds h)^2 / 2: nothing is left of the atom of no loss, beside
which a tiny delta would drown in rounding. Proofs: docs/theory/contour.md, section 13.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..bracket import OutOfReach
from ..pairs import GaussianPair, SubsampledPair
from ..parameters import dominated_parameters, dominating_parameters
from ..profiles import profile
from ..rounding import UNIT, float_above, float_below
from .bends import Bends
from .inversion import log1p
from .moments import expm1
from .outside import GOAL, inner, most_near, remainder, vertical
from .paths import Complex, Real, Sampled
from .ray import Far, Near, far_out
from .rotated import Fan, logarithm_of_odds, rotated

CORNER = 12
"""Octaves of the sum below `near`; farther down S / (t (t+1)) e^{-eps t} is taken as linear."""

"""An octave's terms."""

_NEGLIGIBLE = 70.0
_TRIALS = np.arange(-8.0, 10.5, 0.5)
"""Saddle points tried, in deviations past where jumps take over."""

_LEAST_CROSSING = 0.01


@dataclass(frozen=True, slots=True)
class Several:
    """S(t) dt / (pi t (t+1)) on the ray, ready for every eps >= least.

    t, terms, errors: where they are not negligible at `least`, and bounds on their errors; small: bound on the others'
    sum, at `least`. corner: value and derivative of S / (pi t (t+1)) at c, and their errors; first, near: |t - c|
    where the sum begins, and up to where the bound most_near on |S / (t (t+1))| holds around c. sides: t, and logs of
    bounds on the integral of |S / t^2|, in cells of the sector's inner side; vertical: the same, without the log, on
    its vertical side. last: |t - c| where the ray ends; remainder: bound on the integral of |S / t^2| past it.
    step: of log |t - c|.
    """

    fan: Fan
    pair: Sampled
    rounds: int
    c: float
    least: float
    t: Complex
    terms: Complex
    errors: Real
    small: float
    corner: tuple[float, float, float, float]
    first: float
    near: float
    most_near: float
    sides: tuple[Real, Real]
    vertical: float
    last: float
    remainder: float
    step: float

    def log_delta(self, epsilon: float) -> tuple[float, float, float]:
        """(at most log delta(epsilon), at least it, about its derivative in epsilon)."""
        if not epsilon >= self.least:
            return -math.inf, math.inf, -self.c
        value, slope, sizes, kernel = self._sum(epsilon)
        units = 100.0 + 40.0 * epsilon * np.abs(self.t)
        error = float((kernel * self.errors).sum()) + UNIT * float((units * sizes).sum())
        error += self.small + self._corner_error(epsilon) + 1.001 * self._missing(epsilon) / math.pi
        below, above = (value + sign * 1.001 * error for sign in (-1.0, 1.0))
        low, high = self._alone(epsilon)
        low, high = low + below - 4.0 * UNIT * (low + abs(below)), high + above + 4.0 * UNIT * (high + abs(above))
        if not math.isfinite(error):
            return -math.inf, math.inf, slope
        return (
            math.log(low) - 8.0 * UNIT * (1.0 - math.log(low)) if low > 1e-300 else -math.inf,
            math.log(high) + 8.0 * UNIT * (1.0 + abs(math.log(high))) if high > 0.0 else -math.inf,
            slope,
        )

    def estimate(self, epsilon: float) -> tuple[float, float]:
        """About log delta(epsilon) and its derivative."""
        value, slope, *_ = self._sum(epsilon)
        value += alone(self.pair, self.rounds, epsilon)[0]
        return math.log(value) if value > 0.0 else -math.inf, slope

    def _alone(self, epsilon: float) -> tuple[float, float]:
        """At most, and at least, rounds delta_1(epsilon), for all parameters within PARAMETER."""
        pair = SubsampledPair(GaussianPair(self.pair.shift), self.pair.rate, "remove")
        return (
            float_below(self.rounds * profile(dominated_parameters(pair), 1, epsilon)),
            float_above(self.rounds * profile(dominating_parameters(pair), 1, epsilon)),
        )

    def _sum(self, epsilon: float) -> tuple[float, float, Real, Real]:
        """The integral without errors, delta's logarithmic slope, the terms' moduli, and the kernel's."""
        kernel = np.exp(-epsilon * self.t)
        terms = self.terms * kernel
        corner = self._corner(epsilon)
        value = float(terms.imag.sum()) + corner
        total, slope = alone(self.pair, self.rounds, epsilon)
        total, slope = total + value, slope - float((self.t * terms).imag.sum()) - self.c * corner
        return value, min(slope / total, -1e-3 * self.c) if total > 0.0 else -self.c, np.abs(terms), np.abs(kernel)

    def _corner(self, epsilon: float) -> float:
        """The terms below `first`, where the integrand is replaced by its tangent at c."""
        at, derivative, *_ = self.corner
        linear = (self.fan.direction**2).imag * self.first**2 * self.step / math.expm1(2.0 * self.step)
        flat = self.fan.direction.imag * self.first * self.step / math.expm1(self.step)
        return (flat * at + linear * (derivative - epsilon * at)) * math.exp(-epsilon * self.c)

    def _corner_error(self, epsilon: float) -> float:
        """Of _corner as computed and of the replacement: |F - tangent| <= x^2 / (1 - x) max |F|, x = |t - c| / near."""
        at, derivative, error, derivative_error = self.corner
        share = self.first / self.near
        fine = error * self.first * (1.0 + epsilon * self.first) + derivative_error * self.first**2
        fine += 64.0 * UNIT * (1.0 + epsilon * self.c) * self.first * (abs(at) + self.first * abs(derivative))
        away = math.exp(-epsilon * (self.c - self.near))
        return fine * math.exp(-epsilon * self.c) * 1.001 + 0.12 * self.most_near * away * share**2 * self.first / (
            1.0 - share
        )

    def _missing(self, epsilon: float) -> float:
        """Bounds on the integrals past `last` and on the trapezoidal rule's error."""
        ends = [self.c + self.last * side.real for side in (self.fan.direction, self.fan.inner)]
        past, inner = (self.remainder * math.exp(-epsilon * end * (1.0 - 1e-12)) for end in ends)
        inner += self.most_near * self.near * math.exp(-epsilon * (self.c - self.near))
        inner += float(np.exp(self.sides[1] - epsilon * self.sides[0]).sum()) * 1.0001
        vertical = self.vertical * math.exp(-epsilon * self.c) * 1.0001
        return past * self.step / -math.expm1(-self.step) + (inner + vertical) / self.fan.trapezoidal(self.step)


def alone(pair: Sampled, rounds: int, epsilon: float) -> tuple[float, float]:
    """About rounds times one round's delta at epsilon > 0, and its derivative."""
    odds = math.exp(min(epsilon, 700.0))
    x = math.log(math.expm1(min(epsilon, 700.0)) / pair.rate + 1.0) / pair.shift + 0.5 * pair.shift
    still, moved = (0.5 * math.erfc(z * math.sqrt(0.5)) for z in (x, x - pair.shift))
    return max(0.0, rounds * (pair.rate * (moved - still) - (odds - 1.0) * still)), -rounds * odds * still


def invert_several(pair: Sampled, rounds: int, epsilon: float, log_delta: float, fan: Fan) -> Several:
    """The inversion near epsilon, where delta is about e^log_delta. Raises OutOfReach where it takes too many nodes."""
    c, least, floor = crossing(pair, rounds, epsilon, fan), 0.6 * epsilon, math.log1p(-pair.rate)
    if not (c > _LEAST_CROSSING and least > 0.0):
        raise OutOfReach("the jumps are too large for the bent contour")
    past = (1.0 + c) * pair.shift - logarithm_of_odds(pair.rate)[0] / pair.shift - 0.5 * pair.shift
    reach = min(0.25 * c, 1.0 / pair.shift / (1.0 + max(0.0, past)))
    nodes = rotated(pair, c, max(1.0, c + 2.0 * reach), math.ceil(rounds * max(1.0, 1.0 / least)), fan)
    start = nodes.growth(c)
    if not (start[0] > 0.0 and start[1] < 0.01):
        raise OutOfReach("rounding outweighs the moments")
    polynomial = Near.of(nodes, reach)
    near, side = polynomial.reach, vertical(c, rounds, floor, start)
    last, past_it = remainder(nodes, near, rounds, floor, least, log_delta)
    octaves, per_octave = round(math.log2(last / near)), fan.steps(math.log(side) - epsilon * c - log_delta + GOAL)
    far, step = far_out(nodes, polynomial, *start, octaves, per_octave), math.log(2.0) / per_octave
    bends = Bends.of(nodes)
    t, terms, errors = _terms(bends, polynomial, far, rounds, (per_octave, step))
    sizes = np.log(np.maximum(np.abs(terms) + errors, 1e-300)) - least * t.real
    heavy = sizes > sizes.max() - _NEGLIGIBLE
    return Several(
        fan=fan,
        pair=pair,
        rounds=rounds,
        c=c,
        least=least,
        t=t[heavy],
        terms=terms[heavy],
        errors=errors[heavy],
        small=float(np.exp(sizes[~heavy]).sum()) * 1.001,
        corner=_at_crossing(bends, rounds, near),
        first=near * 2.0**-CORNER,
        near=near,
        most_near=most_near(nodes, polynomial, rounds, floor, start),
        sides=inner(far.side, rounds, floor, nodes.log_largest),
        vertical=side,
        last=last,
        remainder=past_it,
        step=step,
    )


def crossing(pair: Sampled, rounds: int, epsilon: float, fan: Fan) -> float:
    """The c where the sum's rounding, relative to what it is in absolute terms, is about least."""
    logit = logarithm_of_odds(pair.rate)[0]
    middle, square = logit / pair.shift + 0.5 * pair.shift, pair.shift**2
    c = (middle + _TRIALS) / pair.shift - 1.0
    c = c[c > _LEAST_CROSSING]
    if not c.size:
        return 0.0
    high = np.maximum(0.0, (1.0 + c) * pair.shift - middle + 1.5 * fan.climb / pair.shift)
    jumps = np.minimum(0.5 * square * c * (c + 1.0) + (c + 1.0) * math.log(pair.rate), 300.0)
    bulk = 0.5 * (pair.rate * c) ** 2 * math.expm1(min(square, 4.0))
    most = pair.rate * c + np.exp(np.minimum(jumps + 0.5 * fan.climb**2 / (1.0 - fan.climb**2) * high**2, 300.0))
    grown = rounds * (bulk + np.exp(jumps))
    cost = np.log(most) + np.log(np.maximum(grown, 1e-300)) + grown - epsilon * c - np.log(c)
    return float(c[int(cost.argmin())])


def spread(pair: Sampled, rounds: int) -> float:
    """About the standard deviation of all rounds' loss."""
    return pair.rate * math.sqrt(rounds * math.expm1(min(pair.shift**2, 4.0)))


def _terms(
    bends: Bends, polynomial: Near, far: Far, rounds: int, steps: tuple[int, float]
) -> tuple[Complex, Complex, Real]:
    """All t of the sum, S(t) dt / (pi t (t+1)) there, and bounds on its errors.

    steps: an octave's number of terms, and their distance in log |t - c|.
    """
    tau, change, error = bends.on_the_ray(polynomial, far, CORNER, steps[0])
    t = bends.nodes.c + tau
    value, slack = _beyond_one(change, error, rounds)
    dt = tau / (t * (t + 1.0)) * (steps[1] / math.pi)
    return t, value * dt, slack * np.abs(dt)


def _beyond_one(change: Complex, slack: Real, rounds: int) -> tuple[Complex, Real]:
    """S = (1 + h)^rounds - 1 - rounds h from h, which is known to within slack, and a bound on its error."""
    logs = rounds * log1p(change)
    grown = expm1(logs)
    value = grown - rounds * change
    modulus, most = np.maximum(np.abs(1.0 + change), 1e-300), np.exp(np.minimum(logs.real, 700.0))
    steepness = (np.abs(grown) + np.abs(change)) / modulus * 1.0001
    steepness += most / modulus * np.expm1(np.minimum(1.01 * rounds * slack / modulus, 700.0))
    steepness = np.minimum(steepness, 1.0 + (modulus + slack) ** (rounds - 1)) + 64.0 * UNIT * (1.0 + most) / modulus
    total = rounds * slack * steepness
    total += UNIT * (40.0 * np.abs(logs) * (1.0 + most) + 4.0 * rounds * np.abs(change))
    return value, total


def _at_crossing(bends: Bends, rounds: int, near: float) -> tuple[float, float, float, float]:
    """S / (pi t (t+1)) at c, its derivative, and bounds on their errors."""
    c = bends.nodes.c
    change, error, slope, slope_error = bends.at_crossing()
    value, slack = (float(x[0].real) for x in _beyond_one(np.array([change + 0.0j]), np.array([error]), rounds))
    power = math.expm1((rounds - 1.0) * math.log1p(change))
    inverse, divisor = 1.0 / c + 1.0 / (c + 1.0), math.pi * c * (c + 1.0)
    slope_error += 8.0 * bends.nodes.error * (1.0 + c) * math.exp(4.0 * near) / near  # Cauchy's, for the nodes' error
    doubt = rounds * (
        slope_error * (1e-9 + abs(power)) + abs(slope) * (2.0 * rounds * error * (1.0 + abs(power)) + 1e-9)
    )
    doubt += slack * inverse + 64.0 * UNIT * abs(value) * inverse
    return (
        value / divisor,
        (rounds * slope * power - value * inverse) / divisor,
        1.01 * slack / divisor,
        doubt / divisor,
    )
