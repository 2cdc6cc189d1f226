"""Rare jumps: outcomes with a jump are priced by their puts, those without by their calls.

Where losses of the size of epsilon come from single rounds, no line Re t = c > 0 serves all outcomes: E e^{cL} is made
of losses far above epsilon. So each round is labelled a jump with a chance that grows from 0 to 1 about a loss of a
third of epsilon. Without a label losses are small and moments exist at every tilt: these outcomes are inverted as any.
With J the outcomes in which some round has a label (labelled.py), for every epsilon, by put-call parity,

    E_J (1 - e^{eps-L})_+ = P(J) - e^eps Q(J) + E_J (e^{eps-L} - 1)_+,

and the last term is e^eps times the profile at -eps of J under (Q, P), whose loss -L has an end: the remove order's
puts are the add order's calls. Its moments exist at every tilt, too. Any number of phases; proofs in
docs/theory/inversion.md, section 13.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from flint import arb, ctx
from scipy.special import log_ndtr, ndtr, ndtri, ndtri_exp

from ....mechanisms.arrays import Floats
from ...bracket import OutOfReach
from ...inversion.crossing import epsilon_above, epsilon_below
from ...inversion.line import Plan, invert, log_peak
from ...pairs import Composition, SubsampledPair
from ...rounding import PARAMETER, TARGET, float_above, widened_down, widened_up
from .alone import Alone, outcome
from .cut import CutPair
from .jumping import Jumps
from .labelled import Labelled
from .measure import lay, phases
from .parts import Calls, Least, Profile, Puts
from .paths import Sampled
from .pilot import rough
from .range import log_mixture
from .search import tallest

_BITS = 128

_LABELS = ((0.35, 1.5), (0.35, 0.7), (0.5, 0.7), (0.25, 1.5))
"""Losses, in units of epsilon, about which rounds are called jumps, and by how much the log of e^{c loss} may grow
within the label's blur, about, where delta is e^{-c epsilon}: one after the other until one serves."""

_NARROW = 5.0
"""In units of the tolerance, log delta within which it does."""

_STEEPEST = 10.0
"""-log delta at least for that."""

_TILTS = np.geomspace(0.5, 100.0, 36)
"""Tilts tried for the calls, in units of 1/epsilon."""

_LINES = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0])
"""Tilts tried for the puts, in units of 1/epsilon."""

_PARITY = 2.0
"""Epsilon from which on jumps are priced by calls."""

_SHARE = 0.01
"""Share of the tolerance that may be left out."""

_IDLE = 0.01
"""Share of what may be left out up to which a phase's jumps are left out, and of what each phase may lose beyond."""

_MOST, _SPARE = 20.0, 8.0
"""log of how much larger than delta the terms may be before rounding shows."""

_TRIES, _FURTHER, _NEAR = 5, 1.6, 1e-3
"""How often a profile is laid, how much further out where bulk matters, and when it was laid near enough."""

_MOST_FREQUENCIES = 20_000
_PRICE, _STEEP, _DEAR, _FREE = 0.04, 0.15, 0.5, 10.0
"""What e-folds by which terms are larger than delta are worth in log(period), and up to how many are cheap."""

_TALLEST = 600.0
"""log of terms beyond which lines are alike: none serves."""

_ROUNDING = 1e-9
"""Far above the relative error of a few hundred terms in doubles."""


def supports(composition: Composition) -> bool:
    """Gaussian rounds, and at least one that samples, in the remove order only: its losses have a lower end."""
    sampled = [pair for pair, _ in composition if isinstance(pair, SubsampledPair)]
    return bool(sampled) and all(pair.order == "remove" for pair in sampled)


def epsilon(composition: Composition, delta: float, rtol: float) -> tuple[float, float]:
    """At most, and at least, the epsilon at which the profile is delta. Raises OutOfReach as `lay_profile` does."""
    target = math.log(delta)
    low, high = widened_down(target, TARGET) - 2.0 * TARGET, widened_up(target, TARGET) + 2.0 * TARGET
    place, least, most = _start(composition, delta), 0.0, math.inf
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
        raise OutOfReach("outcomes with and without a jump do not bound epsilon")
    return least, most


def delta(composition: Composition, epsilon: float, rtol: float) -> tuple[float, float]:
    """At most, and at least, log of the profile at epsilon > 0. Raises OutOfReach as `lay_profile` does."""
    above, below = max(0.0, widened_down(epsilon, TARGET)), widened_up(epsilon, TARGET)
    least, most, place = -math.inf, 0.0, Alone.of(composition).log_delta(epsilon)
    for _ in range(_TRIES):
        found = lay_profile(composition, epsilon, place, rtol)
        least, most = max(least, found.log_delta(below)[0]), min(most, found.log_delta(above)[1])
        if most - least <= rtol or abs(most - place) <= _NEAR:
            break
        place = most
    return least, most


def _start(composition: Composition, delta: float) -> float:
    """About where the profile is delta: single rounds alone, or all rounds together, as if they were Gaussian."""
    parts, square = phases(composition)
    square += sum(rounds * pair.rate**2 * math.expm1(min(pair.shift**2, 4.0)) for pair, rounds in parts)
    return max(Alone.of(composition).epsilon(math.log(delta)), -0.85 * math.sqrt(square) * float(ndtri(delta)))


def lay_profile(composition: Composition, epsilon: float, log_delta: float, tolerance: float) -> Profile:
    """Bounds about `tolerance` apart in log delta near epsilon, where delta is about e^log_delta.

    Of the ways to label jumps the first that serves. Raises OutOfReach where in all of them either part's terms are too
    much larger than delta, or too many.
    """
    narrowest, width = None, math.inf
    for level, wide in _LABELS:
        try:
            found = _split(composition, epsilon, log_delta, tolerance, level, wide)
        except (FloatingPointError, OverflowError, OutOfReach) as failure:
            reason = str(failure)
            continue
        low, high, _ = found.log_delta(epsilon)
        if narrowest is None or high - low < width:
            narrowest, width = found, high - low
        if width <= _NARROW * tolerance:
            break
    if narrowest is None:
        raise OutOfReach(reason)
    return narrowest


def _split(
    composition: Composition, epsilon: float, log_delta: float, tolerance: float, level: float, wide: float
) -> Profile:
    """The same with jumps from a given loss on, in units of epsilon."""
    left_out, accuracy = log_delta + math.log(_SHARE * _IDLE * tolerance), 3.0 - math.log(tolerance)
    labels: list[tuple[int, Labelled]] = []
    kept, lost = [], 0.0
    for at, (pair, rounds) in enumerate(phases(composition)[0]):
        place = float(outcome(pair, np.array([level * epsilon]))[0])
        blur = min(1.0, wide / (pair.shift * level * max(_STEEPEST, -log_delta)))
        likely = rounds * _above(pair, place, math.hypot(1.0, blur))
        if math.log(max(likely, 1e-300)) > left_out:
            labels.append((at, Labelled(pair, place, blur, accuracy + _MOST + _SPARE)))
        else:
            lost += likely
        z = -float(ndtri_exp(min(-1.0, left_out - math.log(max(likely, 1e-300)))))
        lost += rounds * _above(pair, place + z * blur, 1.0) * float(ndtr(-z))
        kept.append(replace(pair, cut=place + z * blur, place=place, blur=blur))
    parts: list[Calls | Puts | Least] = [_calls(_unlabelled(composition, kept), epsilon, log_delta, accuracy)]
    if labels:
        parts.append(_jumps(composition, labels, epsilon, log_delta, accuracy))
    return Profile(tuple(parts), lost * (1.0 + _ROUNDING), 2.0 / epsilon)


def _above(pair: Sampled, at: float, deviation: float) -> float:
    """The probability under P that x, with noise of that deviation in all, is above a place."""
    return (1.0 - pair.rate) * float(ndtr(-at / deviation)) + pair.rate * float(ndtr((pair.shift - at) / deviation))


def _unlabelled(composition: Composition, parts: Sequence[Sampled]) -> Composition:
    """The composition of rounds without a label."""
    cuts = iter(parts)

    def cut(pair: SubsampledPair) -> CutPair:
        part = next(cuts)
        return CutPair(pair.base, pair.rate, pair.order, part.cut, part.place, part.blur)

    return tuple((cut(pair) if isinstance(pair, SubsampledPair) else pair, rounds) for pair, rounds in composition)


def _calls(without: Composition, epsilon: float, log_delta: float, accuracy: float) -> Calls | Least:
    """Of the outcomes without a label: a bound where it is far below delta, else an inversion."""
    most = tallest(without)
    points = _TILTS[most * epsilon >= _TILTS] / epsilon
    if points.size < 3:
        raise OutOfReach("no tilt serves outcomes without a jump")
    heights = rough(without, float(points[-1])).log_profiles(points) - points * epsilon
    best = int(np.argmin(heights))
    if heights[best] <= log_delta - accuracy:
        c = float(points[best])
        (moment,) = lay(without, (c,), accuracy).log_moments(np.array([c]))
        found = Least(c, float(moment) + log_peak(c) + 1e-9)
        if found.start - c * epsilon > log_delta - accuracy + 1.0:
            raise OutOfReach("outcomes without a jump are not as unlikely as they seemed")
        return found
    chosen = _line(points, heights, epsilon, log_delta, accuracy, _STEEP)
    if chosen.cancellation > _MOST:
        raise OutOfReach("outcomes without a jump are too much likelier than delta")
    measure = lay(without, chosen.points, accuracy + chosen.cancellation + 2.0)
    square = math.exp(-accuracy) / (chosen.c * (1.0 + chosen.c))
    return Calls(invert(measure, measure, chosen, accuracy, square, _MOST_FREQUENCIES))


def _jumps(
    composition: Composition, labels: list[tuple[int, Labelled]], epsilon: float, log_delta: float, accuracy: float
) -> Calls | Puts:
    """Of the outcomes with a label: puts, whose factor e^epsilon is an error's too, or calls where epsilon is large."""
    puts = epsilon < _PARITY
    turned = tuple(
        (replace(pair, order="add") if puts and isinstance(pair, SubsampledPair) else pair, rounds)
        for pair, rounds in composition
    )
    points = (_LINES if puts else _TILTS) / epsilon
    sampled = phases(turned)[0]
    labels = [(at, replace(label, pair=sampled[at][0], top=float(points[-1]))) for at, label in labels]
    rounds = [(label, sampled[at][1]) for at, label in labels]
    at, target = (-epsilon, log_delta - epsilon) if puts else (epsilon, log_delta)
    heights = rough(turned, float(points[-1])).log_profiles(points) - points * at + _log_jumps(rounds, points)
    chosen = _line(points, heights, at, target, accuracy, _PRICE)
    if chosen.cancellation > _MOST:
        raise OutOfReach("jumps are too much likelier than delta")
    labels = [(at, replace(label, top=max(chosen.points))) for at, label in labels]
    measure = Jumps(lay(turned, chosen.points, accuracy + chosen.cancellation + 2.0), tuple(labels))
    found = invert(measure, measure, chosen, accuracy, 0.0, _MOST_FREQUENCIES)
    return Puts(found, *_linear(rounds)) if puts else Calls(found)


def _log_jumps(labels: Sequence[tuple[Labelled, int]], points: Floats) -> Floats:
    """About log of the sum of the jumps' moments at every c of points."""
    total = np.full(points.shape, -math.inf)
    for label, rounds in labels:
        x = np.linspace(*label.range, 300)
        log = log_ndtr((x - label.at) / label.blur) - 0.5 * x * x + math.log(rounds * (x[1] - x[0]) / 2.5)
        moments = log + np.multiply.outer(np.array([label.power(float(c)) for c in points]), log_mixture(label.pair, x))
        total = np.logaddexp(total, np.logaddexp.reduce(moments, axis=1))
    return total


def _line(points: Floats, heights: Floats, epsilon: float, log_delta: float, accuracy: float, price: float) -> Plan:
    """heights: about the log of the terms at eps = epsilon."""
    heights = np.minimum(heights, _TALLEST)
    gain = np.maximum(heights - log_delta + accuracy, 1.0)
    apart = points - points[:, None]
    needed = np.where(apart != 0.0, gain / np.maximum(np.abs(apart), 1e-300), math.inf)
    below, above = np.where(apart < 0.0, needed, math.inf), np.where(apart > 0.0, needed, math.inf)
    period = np.maximum(below.min(axis=1), above.min(axis=1))
    cost = price * heights + _DEAR * np.maximum(0.0, heights - log_delta - _FREE)
    best = int((np.log(period) + cost).argmin())
    sides = float(points[below[best].argmin()]), float(points[above[best].argmin()])
    cancellation = max(0.0, float(heights[best]) - log_delta)
    return Plan(float(points[best]), sides, float(period[best]), epsilon, log_delta, cancellation)


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
