"""Rare jumps: only the outcomes with a jump matter, and they are priced by their puts.

Where losses of the size of epsilon come from single rounds, no line Re t = c > 0 serves: E e^{cL} is made of losses far
above epsilon, or of the bulk that never gets there. With J the outcomes in which some round is labelled a jump
(labelled.py), for every epsilon, by put-call parity,

    E_J (1 - e^{eps-L})_+ = P(J) - e^eps Q(J) + E_J (e^{eps-L} - 1)_+,

and the last term is e^eps times the profile at -eps of J under (Q, P), whose loss -L has an end: the remove order's
puts are the add order's calls. Its moments exist at every tilt. What has no jump hardly reaches epsilon, and is
bounded. Any number of phases; proofs in docs/theory/inversion.md, section 13.

Why it is here: of 800 random settings with rare jumps (benchmarks/regimes.py; one to three phases) 24 need it. Without
it they go to the lattices, which take 60 times as long, and leave every fourth with an epsilon known to 20% at best.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from flint import arb, ctx
from scipy.special import ndtr, ndtri

from ...bracket import OutOfReach
from ...inversion.crossing import epsilon_above, epsilon_below
from ...inversion.line import Inversion, Plan, invert, log_peak
from ...pairs import Composition, SubsampledPair
from ...rounding import PARAMETER, TARGET, UNIT, float_above, widened_down, widened_up
from .alone import Alone, outcome
from .jumping import Jumps
from .labelled import Labelled
from .measure import lay, phases
from .paths import Sampled
from .pilot import rough
from .range import log_mixture

Parts = tuple[tuple[Sampled, int], ...]

_BITS = 128

_LEVELS = np.array([0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.22, 0.15, 0.1, 0.06, 0.03, 0.01])
"""Losses, in units of epsilon, tried as those from which on hardly a round goes without its label."""

_TILTS = np.array([8.0, 12.0, 17.0, 24.0, 34.0, 48.0, 68.0, 96.0])
"""Tilts tried, in units of 1/epsilon, for what has no jump."""

_LINES = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0])
"""The same for the puts."""

_SHARE = 0.01
"""Share of the tolerance that may be left out."""

_IDLE = 0.01
"""Share of what may be left out up to which a phase's jumps are left out without a label."""

_MOST, _SPARE = 20.0, 8.0
"""log of how much larger than delta the terms may be before rounding shows."""

_CELLS, _FARTHEST = 400, 12.0
_TRIES, _FURTHER, _NEAR = 5, 1.6, 1e-3
"""How often a profile is laid, how much further out where bulk matters, and when it was laid near enough."""

_STEEP = 4.0
_MOST_FREQUENCIES = 20_000
_PRICE, _DEAR, _FREE = 0.04, 0.5, 10.0
"""What e-folds by which terms are larger than delta are worth in log(period), and up to how many are cheap."""

_LARGEST = 600.0
_ROUNDING = 1e-9
"""Far above the relative error of a few hundred terms in doubles."""


def supports(composition: Composition) -> bool:
    """Gaussian rounds, and at least one that samples, in the remove order only: its losses have a lower end."""
    sampled = [pair for pair, _ in composition if isinstance(pair, SubsampledPair)]
    return bool(sampled) and all(pair.order == "remove" for pair in sampled)


@dataclass(frozen=True, slots=True)
class Profile:
    """Bounds of log delta(eps) for every eps >= 0.

    apart, under_q: P(J) - Q(J) and Q(J), each within its error. rest: a mass, and (start, c): outcomes without a jump
    have a profile of at most the mass and the least exp(start - c eps).
    """

    puts: Inversion
    apart: tuple[float, float]
    under_q: tuple[float, float]
    rest_mass: float
    rest: tuple[tuple[float, float], ...]

    @property
    def c(self) -> float:
        """About how fast log delta falls, at least."""
        return self.puts.c

    def log_delta(self, epsilon: float) -> tuple[float, float, float]:
        """(at most log delta(epsilon), at least it, about its derivative in epsilon)."""
        if epsilon > _LARGEST:  # the profile falls
            return -math.inf, *self.log_delta(_LARGEST)[1:]
        low, high, slope = self.puts.log_delta(-epsilon)
        grown, turned = math.expm1(epsilon), math.exp(epsilon)
        linear = self.apart[0] - grown * self.under_q[0]
        inexact = self.apart[1] + grown * self.under_q[1] + 8.0 * UNIT * (abs(self.apart[0]) + grown * self.under_q[0])
        least, most = turned * math.exp(min(low, _LARGEST)), turned * math.exp(min(high, _LARGEST))
        inexact += 8.0 * UNIT * (1.0 + epsilon) * most
        rest = self.rest_mass + math.exp(min(0.0, min(start - c * epsilon for start, c in self.rest)))
        below, above = linear + least - inexact, linear + most + inexact + rest * (1.0 + 1e-9)
        derivative = -turned * self.under_q[0] + most * (1.0 - slope)
        slack = 4.0 * UNIT
        least = math.log(below) if below > 0.0 else -math.inf
        most = math.log(above) if above > 0.0 else 0.0
        return least - slack * (1.0 - least), min(0.0, most + slack * (1.0 - most)), derivative / above


def epsilon(composition: Composition, delta: float, rtol: float) -> tuple[float, float]:
    """At most, and at least, the epsilon at which the profile is delta. Raises OutOfReach as `lay_profile` does."""
    target = math.log(delta)
    low, high = widened_down(target, TARGET) - 2.0 * TARGET, widened_up(target, TARGET) + 2.0 * TARGET
    place, least, most = Alone.of(composition).epsilon(target), 0.0, math.inf
    for last in range(_TRIES):
        try:
            found = lay_profile(composition, place, target, rtol)
        except OutOfReach:
            if most < math.inf:
                break
            if last == _TRIES - 1:
                raise
            place *= _FURTHER
            continue
        most = min(most, epsilon_above(found, low, place))
        least = max(least, epsilon_below(found, high, min(most, 1e300)))
        if most - least <= rtol * most or abs(most - place) <= _NEAR * place:
            break
        place = most if most < math.inf else _FURTHER * place
    if most == math.inf:
        raise OutOfReach("jumps alone do not bound epsilon")
    return least, most


def delta(composition: Composition, epsilon: float, rtol: float) -> tuple[float, float]:
    """At most, and at least, the log of the profile at epsilon > 0. Raises OutOfReach as `lay_profile` does."""
    above, below = widened_down(epsilon, TARGET), widened_up(epsilon, TARGET)
    place, least, most = Alone.of(composition).log_delta(epsilon), -math.inf, 0.0
    for _ in range(2):
        found = lay_profile(composition, epsilon, place, rtol)
        least, most = max(least, found.log_delta(below)[0]), min(most, found.log_delta(above)[1])
        if most - least <= rtol:
            break
        place = most
    return least, most


def likely(composition: Composition, epsilon: float) -> bool:
    """Whether epsilon is probably reached by one large jump: m is far from linear there, and the bulk is small."""
    parts, bulk = phases(composition)
    steep = 0.0
    for pair, rounds in parts:
        bulk += rounds * pair.rate**2 * math.expm1(min(pair.shift**2, 4.0))
        steep = max(steep, pair.shift * float(outcome(pair, np.array([epsilon]))[0]))
    return steep > _STEEP and bulk < epsilon**2


def lay_profile(composition: Composition, epsilon: float, log_delta: float, tolerance: float) -> Profile:
    """Bounds about `tolerance` apart in log delta near epsilon, where delta is about e^log_delta.

    Raises OutOfReach where outcomes without a jump matter too, or jumps are too much likelier than delta.
    """
    parts, gaussian = phases(composition)
    left_out = log_delta + math.log(_SHARE * tolerance)
    edges, rest = _edges(parts, gaussian, epsilon, left_out)
    beyond = [rounds * _mass(pair, edge, 1.0) for (pair, rounds), edge in zip(parts, edges, strict=True)]
    jumping = [at for at, mass in enumerate(beyond) if mass > _IDLE * math.exp(left_out)]
    likelier = sum(beyond[at] for at in jumping)
    if not likelier:
        raise OutOfReach("no outcome is a jump")
    z = max(1.0, -float(ndtri(min(0.1, math.exp(min(0.0, left_out - math.log(likelier)))))))
    accuracy = 3.0 - math.log(tolerance)
    labels = []
    for at in jumping:
        pair, blur = parts[at][0], min(1.0, 1.0 / (z * parts[at][0].shift))
        labels.append((at, Labelled(pair, edges[at] - z * blur, blur, accuracy + _MOST + _SPARE)))
    calls = tuple(
        (replace(p, order="add") if isinstance(p, SubsampledPair) else p, rounds) for p, rounds in composition
    )
    rounds = [(label, parts[at][1]) for at, label in labels]
    plan = _plan(calls, rounds, epsilon, log_delta, accuracy)
    if plan.cancellation > _MOST:
        raise OutOfReach("jumps are too much likelier than delta")
    whole = lay(calls, plan.points, accuracy + plan.cancellation + 2.0)
    measure = Jumps(whole, tuple(labels))
    puts = invert(measure, measure, plan, accuracy, 0.0, _MOST_FREQUENCIES)
    unlabelled = float(ndtr(-z)) * likelier + sum(mass for at, mass in enumerate(beyond) if at not in jumping)
    return Profile(puts, *_linear(rounds), unlabelled * (1.0 + _ROUNDING), rest)


def _mass(pair: Sampled, at: float, deviation: float) -> float:
    """About the probability under P that x, with noise of that deviation, is above a place."""
    return (1.0 - pair.rate) * float(ndtr(-at / deviation)) + pair.rate * float(ndtr((pair.shift - at) / deviation))


def _edges(
    parts: Parts, gaussian: float, epsilon: float, left_out: float
) -> tuple[list[float], tuple[tuple[float, float], ...]]:
    """An outcome a* for each pair, as far out as can be, such that outcomes with all x <= a* have a profile of at most
    e^left_out at epsilon; and that bound: (start, c) with exp(start - c eps).

    With g(m) = m^{1+c} - 1 - (1+c)(m - 1) >= 0, convex with its minimum at 1, and E_Q m = 1, the integral of
    phi m^{1+c} up to a* is at most 1 plus that of phi g.
    """
    tilts = _TILTS / epsilon
    total = np.outer(0.5 * gaussian * tilts * (tilts + 1.0), np.ones(_LEVELS.size))
    edges = []
    for pair, rounds in parts:
        ends = np.sort(outcome(pair, _LEVELS * epsilon))
        x = np.union1d(np.linspace(-_FARTHEST, float(ends[-1]), _CELLS), ends)
        log = log_mixture(pair, x)
        moved = np.multiply.outer(1.0 + tilts, np.expm1(log))
        grown = np.expm1(np.minimum(np.multiply.outer(1.0 + tilts, log), 600.0)) - moved
        nearest = np.where(x[:-1] > 0.0, x[:-1], np.minimum(0.0, x[1:]))
        mass = np.diff(x) * np.exp(-0.5 * nearest * nearest) / math.sqrt(2.0 * math.pi)
        excess = np.cumsum(np.maximum(grown[:, 1:], grown[:, :-1]) * mass, axis=1) * (1.0 + _ROUNDING)
        excess += 1e-30 * (1.0 + tilts[:, None]) + 1e-13 * np.cumsum(np.abs(moved[:, 1:]) * mass, axis=1)
        at = np.searchsorted(x, ends)[::-1] - 1
        total += rounds * np.log1p(excess[:, at])
        edges.append(ends[::-1])
    total += np.array([log_peak(c) for c in tilts.tolist()])[:, None] + 1e-6
    reached = np.min(total - (tilts * epsilon)[:, None], axis=0)
    fit = np.flatnonzero(reached <= left_out)
    if not fit.size:
        raise OutOfReach("outcomes without a jump matter too")
    level = int(fit[0])
    return [float(each[level]) for each in edges], tuple(zip(total[:, level].tolist(), tilts.tolist(), strict=True))


def _plan(
    calls: Composition, labels: Sequence[tuple[Labelled, int]], epsilon: float, log_delta: float, accuracy: float
) -> Plan:
    """The line for the puts with a short period and terms that are not much larger than delta."""
    points = _LINES / epsilon
    jumps = np.zeros(points.size)
    for label, count in labels:
        x = np.linspace(*label.range, 200)
        weight = np.exp(-0.5 * x * x) * ndtr((x - label.at) / label.blur) * (x[1] - x[0]) / math.sqrt(2.0 * math.pi)
        jumps += count * np.exp(-np.multiply.outer(points, log_mixture(label.pair, x))) @ weight
    heights = np.log(jumps) + rough(calls, float(points[-1])).log_profiles(points) + points * epsilon
    gain = np.maximum(heights - (log_delta - epsilon) + accuracy, 1.0)
    apart = points - points[:, None]
    needed = np.where(apart != 0.0, gain / np.maximum(np.abs(apart), 1e-300), math.inf)
    below, above = np.where(apart < 0.0, needed, math.inf), np.where(apart > 0.0, needed, math.inf)
    period = np.maximum(below.min(axis=1), above.min(axis=1))
    price = _PRICE * heights + _DEAR * np.maximum(0.0, heights - log_delta - _FREE)
    best = int((np.log(period) + price).argmin())
    sides = float(points[below[best].argmin()]), float(points[above[best].argmin()])
    cancellation = max(0.0, float(heights[best]) - log_delta)
    return Plan(float(points[best]), sides, float(period[best]), -epsilon, log_delta - epsilon, cancellation)


def _linear(labels: Sequence[tuple[Labelled, int]]) -> tuple[tuple[float, float], tuple[float, float]]:
    """P(J) - Q(J) and Q(J), each with a bound on its error, the parameters' own uncertainty included."""
    with ctx.workprec(_BITS):
        stay, more = arb(0), arb(0)
        for label, rounds in labels:
            shift, rate = (arb(value, value * PARAMETER) for value in (label.pair.shift, label.pair.rate))
            wide = (1 + arb(label.blur) ** 2).sqrt()
            none, moved = _tail(label.at / wide), _tail((label.at - shift) / wide)
            stay += rounds * (-none).log1p()
            more += rounds * (-rate * (moved - none) / (1 - none)).log1p()
        balls = -stay.exp() * more.expm1(), -stay.expm1()
        apart, under_q = ((float(ball.mid()), float_above(ball.rad() + abs(ball) * PARAMETER)) for ball in balls)
    return apart, under_q


def _tail(x: arb) -> arb:
    """1 - Phi(x)."""
    return (x / arb(2).sqrt()).erfc() / 2
