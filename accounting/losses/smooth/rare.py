"""Rare jumps: far outcomes, those with a jump and those without are priced apart.

Where losses of the size of epsilon come from single rounds, no line Re t = c > 0 serves all outcomes: E e^{cL} is made
of losses far above epsilon. So each round is labelled a jump with a chance that grows from 0 to 1 about a loss of a
third of epsilon, and far with one that does so at three epsilon or more. The profile is the sum of three: of outcomes
with a far round, which is next to linear (large_losses.py); of those with a jump and nothing far, whose moments exist
at the tilts that their line asks for (labelled.py, jumping.py); and of those with neither, whose losses are small. Any
number of phases, in the remove or the replace order; proofs in docs/theory/inversion.md, section 13.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri, ndtri_exp

from ....mechanisms.arrays import Floats
from ...bracket import OutOfReach
from ...pairs import Composition, GaussianPair, Sampling
from ...rounding import TARGET, widened_down, widened_up
from ..crossing import epsilon_between
from ..line import invert, log_peak
from .densities import lay, phases
from .goal import TILTS, Goal, feasible, line
from .integrand import beyond, factors, log_mixture, valley
from .jumping import Jumps
from .labelled import Labelled
from .large_losses import FarOutcomes, Least, far_outcomes
from .parity import by_parity, serves, turned
from .parts import Calls, Profile
from .paths import Sampled, sampled
from .pilot import rough
from .rounds_alone import RoundsAlone
from .shortened import ShortenedPair

_LABELS = (
    (0.35, 1.0, 0.1),
    (0.5, 0.7, 0.1),
    (0.35, 1.5, 0.1),
    (0.25, 1.5, 0.1),
    (0.15, 0.3, 0.1),
    (0.2, 0.15, 0.1),
    (0.35, 0.7, 1e3),
)
"""Losses, in units of epsilon, about which rounds are called jumps; by how much the log of e^{c loss} may grow within
the label's blur, about, where delta is e^{-c epsilon}; and the number of far rounds, in units of the tolerance: one
after the other until one serves."""

_NARROW, _ELSEWHERE = 5.0, 0.01
"""In units of the tolerance, log delta within which it does; and in units of how far log delta is from what it was
taken for, so that the next profile will be laid elsewhere."""

_FAR, _APART = 3.0, 8.0
"""Losses from which on rounds are far, at least, in units of epsilon, and labels' distance, in units of their blur."""

_SPARE = 8.0
"""-log of the relative error of a jump's moment that terms do not see."""

_PRICE, _STEEP = 0.04, 0.15
"""What an e-fold by which terms are larger than delta is worth in log(period), with a jump and without."""

_LIFT = 5.0
"""log by which the path's ends may exceed the real integrand, about."""

_TRIES, _FURTHER, _NEAR, _NEARLY = 5, 1.6, 1e-3, 10.0
"""How often a profile is laid, how much further out where bulk matters, when it was laid near enough, and by how many
times a bracket may be too wide that a finer profile is laid for, once."""

_MOST_FREQUENCIES = 20_000
_ROUNDING = 1e-9
"""Far above the relative error of a few hundred terms in doubles."""


def supports(composition: Composition) -> bool:
    """Gaussian rounds, and at least one that samples, all in the remove order or all in the replace order."""
    orders = {part.order for part, _ in phases(composition)[0]}
    return orders in ({Sampling.REMOVE}, {Sampling.REPLACE})


def epsilon(composition: Composition, delta: float, rtol: float) -> tuple[float, float]:
    """At most, and at least, the epsilon at which the profile is delta. Raises OutOfReach as `lay_profile` does."""
    target = math.log(delta)
    targets = widened_down(target, TARGET) - 2.0 * TARGET, widened_up(target, TARGET) + 2.0 * TARGET
    place, reached, least, most, tolerance = _start(composition, delta), 0.0, 0.0, math.inf, rtol
    for _ in range(_TRIES):
        try:
            found = lay_profile(composition, place, target, tolerance)
        except (ArithmeticError, ValueError, OutOfReach):
            if most < math.inf:
                break
            place = math.sqrt(place * reached) if reached else _FURTHER * place
            continue
        least, most = epsilon_between(found, targets, place, (least, most))
        width = (most - least) / (rtol * most) if 0.0 < most < math.inf else math.inf
        laid_near = abs(most - place) <= _NEAR * place
        if most - least <= rtol * most or (laid_near and (tolerance < rtol or width > _NEARLY)):
            break
        tolerance = 0.5 * rtol / width if laid_near else rtol
        reached, place = place, most if most < math.inf else _onwards(found, target, place)
    if most == math.inf:
        raise OutOfReach("outcomes with and without a jump do not bound epsilon")
    return least, most


def _onwards(found: Profile, target: float, place: float) -> float:
    """By Newton's method, from a place at which log delta is above the target."""
    _, value, slope = found.log_delta(place)
    return min(_FURTHER * place, place + (value - target) / max(-slope, 0.1 * found.c))


def delta(composition: Composition, epsilon: float, rtol: float) -> tuple[float, float]:
    """At most, and at least, log of the profile at epsilon > 0. Raises OutOfReach as `lay_profile` does."""
    above, below = max(0.0, widened_down(epsilon, TARGET)), widened_up(epsilon, TARGET)
    least, most, place = -math.inf, 0.0, RoundsAlone.of(composition).log_delta(epsilon)
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
    return max(RoundsAlone.of(composition).epsilon(math.log(delta)), -0.85 * math.sqrt(square) * float(ndtri(delta)))


def lay_profile(composition: Composition, epsilon: float, log_delta: float, tolerance: float) -> Profile:
    """Bounds about `tolerance` apart in log delta near epsilon, where delta is about e^log_delta.

    Of the ways to label jumps the first that serves. Raises OutOfReach where in all of them either part's terms are too
    much larger than delta, or too many.
    """
    narrowest, width, goal = None, math.inf, Goal(epsilon, log_delta, tolerance)
    other = turned(composition)
    reverse = _reverse(other, goal) if other else None
    ways = [partial(_split, composition, goal, reverse, *way) for way in _LABELS]
    if other and serves(goal):
        ways.insert(0, partial(by_parity, other, goal))
    for way in ways:
        try:
            found = way()
        except (ArithmeticError, ValueError, OutOfReach) as failure:
            reason = str(failure)
            continue
        low, high, _ = found.log_delta(epsilon)
        if narrowest is None or high - low < width:
            narrowest, width = found, high - low
        if width <= max(_NARROW * tolerance, _ELSEWHERE * abs(high - log_delta)):
            break
    if narrowest is None:
        raise OutOfReach(reason)
    return narrowest


def _split(
    composition: Composition, goal: Goal, reverse: Least | None, level: float, wide: float, share: float
) -> Profile:
    """The same with jumps from a given loss on, in units of epsilon."""
    unlikely = goal.log_delta - math.log(max(1e-300, reverse.delta(goal.epsilon)[1])) if reverse else 0.0
    unlikely += math.log(share * goal.tolerance)
    without, near, lost, close, loss = [], [], 0.0, 0.0, math.inf
    labels: list[tuple[int, float]] = []
    for at, (pair, rounds) in enumerate(phases(composition)[0]):
        place, blur = goal.place(pair, level), goal.blur(pair, level, wide)
        likely = rounds * _above(pair, place, math.hypot(1.0, blur))
        kept, beyond_kept = _labelled(pair, rounds, place, blur, goal.left_out)
        without.append(kept)
        lost += beyond_kept
        if math.log(max(likely, 1e-300)) > goal.left_out:
            most = max(goal.place(pair, _FAR), beyond(pair, unlikely - math.log(rounds)))
            z = max(most * blur, _between(most, goal.left_out - math.log(rounds)), (place - most) / blur + _APART)
            kept, beyond_kept = _labelled(pair, rounds, most + z * blur, blur, goal.left_out)
            labels.append((at, place))
            loss = min(loss, float(log_mixture(pair, np.array([most]))[0]) * (1.0 - _ROUNDING))
            close += rounds * float(ndtr(-math.hypot(most, z)))
            lost += beyond_kept
        else:
            lost += likely
        near.append(kept)
    jumps: list[Calls | FarOutcomes] = []
    if labels:  # they say first that no line serves
        jumps.append(_jumps(_unlabelled(composition, near), labels, goal))
        beyond_all = [(near[at], phases(composition)[0][at][1]) for at, _ in labels]
        jumps.append(far_outcomes(beyond_all, loss, close * (1.0 + _ROUNDING), reverse))
    parts = _calls(_unlabelled(composition, without), goal), *jumps
    return Profile(parts, lost * (1.0 + _ROUNDING), 2.0 / goal.epsilon)


def _labelled(pair: Sampled, rounds: int, place: float, blur: float, left_out: float) -> tuple[Sampled, float]:
    """The outcomes without a label at a place, up to a cut, and at least the probability of those above the cut less
    the blur: where jumps end, midway between two nodes."""
    log_likely = math.log(max(rounds * _above(pair, place, math.hypot(1.0, blur)), 1e-300))
    z = -float(ndtri_exp(min(-1.0, left_out - log_likely)))
    beyond_it = rounds * _above(pair, place + z * blur, 1.0) * float(ndtr(-z))
    return replace(pair, cut=place + (z + 1.0) * blur, place=place, blur=blur), beyond_it


def _between(x: float, log_mass: float) -> float:
    """The z with log Phi(-hypot(x, z)) = log_mass, or 0."""
    return math.sqrt(max(0.0, float(ndtri_exp(min(-1.0, log_mass))) ** 2 - x * x))


def _above(pair: Sampled, at: float, deviation: float) -> float:
    """The probability under P that x, with noise of that deviation in all, is above a place."""
    return (1.0 - pair.rate) * float(ndtr(-at / deviation)) + pair.rate * float(ndtr((pair.shift - at) / deviation))


def _unlabelled(composition: Composition, parts: Sequence[Sampled]) -> Composition:
    """The composition of rounds without a label."""
    cuts = iter(parts)

    def cut(part: Sampled) -> ShortenedPair:
        return ShortenedPair(GaussianPair(part.shift), part.rate, part.order, part.cut, part.place, part.blur)

    return tuple((cut(next(cuts)) if sampled(pair) else pair, rounds) for pair, rounds in composition)


def _reverse(other: Composition, goal: Goal) -> Least:
    """The profile of the pair the other way round, near epsilon."""
    points = TILTS / goal.epsilon
    best = int(np.argmin(rough(other, float(points[-1])).log_profiles(points) - points * goal.epsilon))
    return _least(other, float(points[best]), goal.accuracy)


def _least(composition: Composition, c: float, accuracy: float) -> Least:
    (moment,) = lay(composition, (c,), accuracy).log_moments(np.array([c]))
    return Least(c, float(moment) + log_peak(c) + 1e-9)


def _calls(without: Composition, goal: Goal) -> Calls | Least:
    """Of the outcomes without a label: a bound where it is far below delta, else an inversion."""
    accuracy, points = goal.accuracy, feasible(without, goal.epsilon)
    heights = rough(without, float(points[-1])).log_profiles(points) - points * goal.epsilon
    best = int(np.argmin(heights))
    if heights[best] <= goal.log_delta - accuracy:
        found = _least(without, float(points[best]), accuracy)
        if found.start - found.c * goal.epsilon > goal.log_delta - accuracy + 1.0:
            raise OutOfReach("outcomes without a jump are not as unlikely as they seemed")
        return found
    chosen = line(points, heights, goal, _STEEP)
    measure = lay(without, chosen.points, accuracy + chosen.cancellation + 2.0)
    square = math.exp(-accuracy) / (chosen.c * (1.0 + chosen.c))
    return Calls(invert(measure, measure, chosen, accuracy, square, _MOST_FREQUENCIES))


def _jumps(near: Composition, labels: Sequence[tuple[int, float]], goal: Goal) -> Calls:
    """Of the outcomes with a jump at their places, but none far out."""
    accuracy, points, sampled = goal.accuracy, feasible(near, goal.epsilon, goal.log_delta), phases(near)[0]
    heights = rough(near, float(points[-1])).log_profiles(points) - points * goal.epsilon
    heights += _log_jumps([(Labelled(sampled[at][0], place, accuracy), sampled[at][1]) for at, place in labels], points)
    chosen = line(points, heights, goal, _PRICE)
    budget, top = accuracy + chosen.cancellation + 2.0, max(chosen.points)
    deep = budget - min(0.0, goal.log_delta + chosen.c * goal.epsilon)
    cuts = [replace(pair, cut=valley(pair, top, deep + math.log(rounds) + _LIFT)) for pair, rounds in sampled]
    whole = lay(_unlabelled(near, cuts), chosen.points, budget)
    laid = tuple((at, Labelled(whole.sampled[at][0].pair, place, budget + _SPARE)) for at, place in labels)
    measure = Jumps(whole, laid)
    return Calls(invert(measure, measure, chosen, accuracy, 0.0, _MOST_FREQUENCIES))


def _log_jumps(labels: Sequence[tuple[Labelled, int]], points: Floats) -> Floats:
    """About log of the sum of the jumps' moments at every c of points."""
    total = np.full(points.shape, -math.inf)
    for label, rounds in labels:
        pair, x = label.pair, np.linspace(label.left, label.pair.cut, 400)
        log = log_ndtr((x - label.at) / pair.blur) + pair.log_unlabelled(x) - 0.5 * x * x
        log = log + math.log(rounds * (x[1] - x[0]) / 2.5)
        for sign, power in factors(pair.order, points[:, None])[0]:
            log = log + power * log_mixture(pair, sign * x)
        total = np.logaddexp(total, np.logaddexp.reduce(log, axis=1))
    return total
