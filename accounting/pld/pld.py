"""The two-sided privacy-loss-distribution accountant: certified brackets for any composition of this project's pairs.

Each step is replaced by a discrete law that dominates it and one that it dominates (laws.py, cells.py);
their transforms along a tilted line give the composed profiles from above and from below, with aliasing,
truncation and rounding inside the bounds (transform.py, inversion.py). The resolution grows until the
bracket is narrow, or the largest size is reached; the width is reported as it is.
Theory and proofs: docs/theory/pld.md. Relatives: Koskela, Jaelkoe, Honkela 2020 (arXiv 1906.03049); Gopi, Lee,
Wutschitz 2021 (arXiv 2106.02848); Doroshenko et al. 2022 (arXiv 2207.04380).
"""

from __future__ import annotations

import math

from ..allocation import one_block
from ..allocation.laws import NARROWEST
from ..bracket import Bracket, OutOfReach
from ..pairs import AllocationPair, Composition
from ..parameters import dominating_parameters
from ..profiles import has_profile, profile
from ..rounding import TARGET, float_above, up
from .inversion import log_peak
from .laws import Resolution, Step, steps, supports_pair
from .measure import Measure
from .profile import METHOD, Profile
from .search import ALIASES, best_tilt, chernoff, saddle
from .sides import Sides, Threshold, may_have_rare_jumps, rare_jump_bound, split_for, threshold_for
from .summit import lower_at_summit, upper_at_summit

_NEAR_TOP = 2e-6
"""Relative distance from the largest possible loss within which epsilon is not resolved."""

_LEVELS = (
    (1 << 13, 1 << 12, 1e-5),
    (1 << 15, 1 << 14, 1e-5),
    (1 << 17, 1 << 16, 8e-5),
    (1 << 19, 1 << 17, 9e-5),
)
"""(frequencies, cells, relative width at which refinement stops): the last levels take seconds, and the others stop
where their gain would not be worth them."""

_EPSILON_LEVELS = (*_LEVELS, (1 << 21, 1 << 17, 0.0))
"""One more, for the rare epsilon that is wider than 1e-4 without; a delta that small is seldom wanted as exactly."""

_HOPELESS = 1e-2
"""Relative width from which the last level, four times as many frequencies, would not come to 1e-4."""

_STALLED = 0.8
"""Part of the width that is left where it does not shrink any more."""

_MANY = 1 << 17
"""Frequencies from which on two lines are worth their time."""

_PILOT_CELLS = 512


def supports(composition: Composition) -> bool:
    """Every pair but those of which no distribution is known, or whose table of outcomes would be too large.

    A single block of random allocation has an accountant of its own.
    """
    alone = one_block.supports(composition)
    return bool(composition) and not alone and all(supports_pair(pair) for pair, _ in composition)


def epsilon(composition: Composition, delta: float) -> Bracket:
    """The smallest epsilon >= 0 of the composed pair at 0 < delta < 1."""
    if _total_variation(composition) <= delta * (1 - 4 * TARGET):
        return Bracket(0.0, 0.0, True, METHOD)
    log_delta, tail = math.log(delta), _tail(composition, delta)
    pilot = steps(composition, Resolution(_PILOT_CELLS, 1.0, tail))
    whole = Sides.of(pilot)
    if whole.infinite_lower > delta:
        return Bracket(math.inf, math.inf, True, METHOD)
    if whole.infinite_upper >= delta:
        return Bracket(0.0, math.inf, True, METHOD)
    log_finite = math.log(delta - whole.infinite_upper)
    high, tilt = chernoff(whole.parts[0].upper, log_finite)
    high = min(high, whole.top, upper_at_summit(pilot, whole.infinite_upper, delta))
    rare = may_have_rare_jumps(composition)
    if rare:
        high = rare_jump_bound(steps(composition, Resolution(_PILOT_CELLS, tilt, tail)), high, log_finite)
    if high <= 0:
        return Bracket(0.0, 0.0, True, METHOD)
    low = lower_at_summit(pilot, whole.infinite_lower, delta, high)
    answer, reach = Bracket(low, high, True, METHOD), 8.0
    allocated = _allocated(composition)
    if answer.width <= _LEVELS[0][2] * answer.upper:
        return answer
    for count, cells, enough in _EPSILON_LEVELS:
        pilot = steps(composition, Resolution(_PILOT_CELLS, tilt, tail))
        threshold = _threshold(pilot, answer, log_delta, count) if rare else None
        guide = Sides.of(pilot, threshold)
        window = _window(guide, answer, reach)
        tilts = [_tilt(part.upper, window, log_delta) for part in guide.parts]
        tilt = tilts[0]
        sides, before = Sides.of(steps(composition, Resolution(cells, tilt, tail)), threshold), answer.width
        try:
            answer = answer.intersect(Profile.on(sides, tilts, window, log_delta, count).epsilon(delta, answer))
        except OutOfReach:
            continue
        if answer.width <= enough * answer.upper or (
            count == _LEVELS[-1][0] and answer.width > _HOPELESS * answer.upper
        ):
            break
        if allocated and (answer.width <= NARROWEST * answer.upper or answer.width > _STALLED * before):
            break
        reach *= 8 if answer.lower <= window[0] else 1
    return answer


def delta(composition: Composition, epsilon: float) -> Bracket:
    """The smallest delta of the composed pair at epsilon >= 0."""
    below, above = epsilon * (1 - 2 * TARGET), epsilon * (1 + 4 * TARGET)
    rare = may_have_rare_jumps(composition) and epsilon > 0
    tail, threshold, log_delta, tilt = 1e-40, None, 0.0, 1.0
    for _ in range(4 if rare else 2):
        pilot = steps(composition, Resolution(_PILOT_CELLS, tilt, tail))
        guide = Sides.of(pilot, threshold)
        if below >= guide.top:
            return Bracket(guide.infinite_lower, guide.infinite_upper, True, METHOD)
        measure = guide.parts[0].upper
        tilt = saddle(measure, epsilon)
        log_delta = max(min(log_peak(tilt) + measure.log_moment(tilt) - tilt * epsilon, 0.0) - 3, -600.0)
        tail = min(tail, _tail(composition, math.exp(log_delta)))
        threshold = threshold_for(pilot, below, log_delta) if rare else None
    guide = Sides.of(pilot, threshold)
    tilt = best_tilt(guide.parts[0].upper, (epsilon, epsilon), log_delta)
    answer = Bracket(0.0, 1.0, True, METHOD)
    for count, cells, enough in _LEVELS:
        sides, before = Sides.of(steps(composition, Resolution(cells, tilt, tail)), threshold), answer.width
        try:
            line = Profile.on(sides, [tilt], (epsilon, epsilon), log_delta, count)
        except OutOfReach:
            continue
        answer = answer.intersect(Bracket(line.lower(above), line.upper(below), True, METHOD))
        if answer.width <= enough * answer.upper or (_allocated(composition) and answer.width > _STALLED * before):
            break
    return answer


def _allocated(composition: Composition) -> bool:
    """Whether some laws have a width of their own, which more frequencies do not change: those of blocks."""
    return any(isinstance(pair, AllocationPair) for pair, _ in composition)


def _total_variation(composition: Composition) -> float:
    """A bound of delta(0): the sum of the rounds' own, where they have a formula."""
    if not all(has_profile(pair, 1) for pair, _ in composition):
        return math.inf
    parts = (rounds * float_above(profile(dominating_parameters(pair), 1, 0.0)) for pair, rounds in composition)
    return up(sum(parts), len(composition) + 1)


def _tilt(measure: Measure, window: tuple[float, float], log_delta: float) -> float:
    """The best tilt for where the measure by itself may still be about delta."""
    reached, _ = chernoff(measure, log_delta)
    return best_tilt(measure, (window[0], min(window[1], max(window[0], reached))), log_delta)


def _window(guide: Sides, answer: Bracket, reach: float) -> tuple[float, float]:
    """Where to look for the crossing: about `reach` e-folds of the profile below the known upper bound.

    Near the largest loss of a bounded one nothing is resolved: the bracket is narrow enough a little below it.
    """
    high = min(answer.upper, guide.top * (1 - _NEAR_TOP))
    return min(max(answer.lower, high - reach / saddle(guide.parts[0].upper, high), 0.0), high), high


def _threshold(pilot: list[Step], answer: Bracket, log_delta: float, count: int) -> Threshold | None:
    """A threshold good from the lower end on, or, where there is none, from further right; at last a split."""
    low = max(answer.lower, 0.8 * answer.upper)
    places = (low + share * (answer.upper - low) for share in (0.0, 0.5, 0.9))
    found = next(filter(None, (threshold_for(pilot, place, log_delta) for place in places)), None)
    return split_for(pilot, low, log_delta) if found is None and count >= _MANY else found


def _tail(composition: Composition, delta: float) -> float:
    """Mass of a tail that may be lost in one round: far below delta even after all rounds."""
    return max(1e-285, ALIASES * delta / sum(rounds for _, rounds in composition))
