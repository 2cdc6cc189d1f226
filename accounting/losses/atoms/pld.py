"""The accountant of lattices: certified brackets for any composition of this project's pairs.

Each step is replaced by a discrete law that dominates it and one that it dominates (laws.py, cells.py); the inverter
takes their transforms along a tilted line (transform.py). Where large losses come from rare jumps, far ones are priced
in closed form (linear_payoff.py): any number of steps, in any order. Theory and proofs: docs/theory/lattices.md.
Relatives: Koskela, Jaelkoe, Honkela 2020 (arXiv 1906.03049); Gopi, Lee, Wutschitz 2021 (arXiv 2106.02848);
Doroshenko et al. 2022 (arXiv 2207.04380).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ...allocation import one_block
from ...bracket import Bracket, OutOfReach
from ...pairs import Composition, Pair
from ...pairs.pair import dominating_parameters
from ...rounding import TARGET, float_above, up, widened_down, widened_up
from ..closed_form import has_profile, profile
from ..crossing import epsilon_between
from .composed_profile import ComposedProfile, Sides
from .edges import Resolution
from .fineness import COARSE_BLOCK, cut_for, cuts
from .moment_table import far_threshold, first_bound, scale, table, without
from .steps import Step, steps
from .summit import lower_at_summit, upper_at_summit

METHOD = "pld"

_NEAR_TOP = 2e-6
"""Relative distance from the largest possible loss within which epsilon is not resolved."""

PILOT_CELLS = 512
_COARSE = (*(0.3,) * 8, 0.02)
_MOST_CELLS, MOST_FREQUENCIES, _MOST_ASTRAY = 1 << 17, 1 << 18, 1 << 15
"""Frequencies, and those with many cells where the place is not known to a factor of two."""

_PROGRESS = 0.999
"""A stage that leaves more of a bracket's width is not repeated."""

_LESS_CLOSELY = 8.0
"""What is tolerated grows by this factor where more frequencies would be needed than there are."""

_AT_ATOMS = 0.02
"""Share of rtol asked for last: next to an atom of the loss smoothing widens by the root of what it may use."""

_OF_ONE_LAW_STAGES = (0.3, 0.0, 0.02)
"""Where no number of cells makes a law finer nothing is gained by coming back, but where the fine look failed."""

_SMOOTHED = 0.7
"""Share of rtol that smoothing may use; most of the rest is for the cells."""

_TAILS_RTOL = 1e-5
"""Tails are those of no larger rtol: longer ones cost next to nothing."""

_MANY_JUMPS = 100.0
"""Expected number of sampled rounds above which no jump is rare."""


def supports(composition: Composition) -> bool:
    """Every pair but those of which no distribution is known, or whose table of outcomes would be too large.

    A single block of random allocation has an accountant of its own.
    """
    alone = one_block.supports(composition)
    return bool(composition) and not alone and all(pair.losses() is not None for pair, _ in composition)


def epsilon(composition: Composition, delta: float, rtol: float = 1e-6) -> Bracket:
    """The smallest epsilon >= 0 of the composed pair at 0 < delta < 1, rtol wide, or as narrow as can be."""
    fineness, rtol = cut_for(composition, rtol)
    if _total_variation(composition) <= delta * (1 - 4 * TARGET):
        return Bracket(0.0, 0.0, True, METHOD)
    layout = LatticeLayout(composition, lost_tail(composition, delta, rtol), rtol, fineness)
    pilot = layout.laws(PILOT_CELLS, 1.0, math.inf)
    whole = Sides.of(pilot)
    if whole.infinite_lower > delta:
        return Bracket(math.inf, math.inf, True, METHOD)
    if whole.infinite_upper >= delta:
        return Bracket(0.0, math.inf, True, METHOD)
    log_finite = math.log(delta - whole.infinite_upper)
    high, slope = layout.bounded(pilot, min(whole.top, upper_at_summit(pilot, whole.infinite_upper, delta)), log_finite)
    if high <= 0:
        return Bracket(0.0, 0.0, True, METHOD)
    low = lower_at_summit(pilot, whole.infinite_lower, delta, high)
    answer, stuck = Bracket(low, high, True, METHOD), 0.0
    for cells, tolerance in layout.stages():
        if answer.width <= max(rtol, 0.5 * tolerance) * answer.upper or tolerance == stuck:
            continue
        width, at = answer.width, min(answer.upper, whole.top * (1 - _NEAR_TOP))
        window = max(answer.lower, at - 8.0 / slope, 0.0), at
        try:
            error = min(0.3, tolerance * max(slope * at, 1e-3))
            astray = cells > PILOT_CELLS and answer.lower < 0.5 * answer.upper
            most = _MOST_ASTRAY if astray else MOST_FREQUENCIES
            found = layout.within_reach(window, log_finite, slope, cells, error, most)
        except OutOfReach:
            if cells > PILOT_CELLS:  # more frequencies would be needed where less is tolerated
                break
            stuck = tolerance
            continue
        answer, slope = _crossed(found, answer, delta, slope)
        if answer.width > _PROGRESS * width:
            stuck = tolerance
    return answer


def delta(composition: Composition, epsilon: float, rtol: float = 1e-6) -> Bracket:
    """The smallest delta of the composed pair at epsilon >= 0, rtol wide, relatively, or as narrow as can be."""
    fineness, rtol = cut_for(composition, rtol)
    layout = LatticeLayout(composition, 1e-40, rtol, fineness)
    log_delta, slope, answer = 0.0, 1.0, Bracket(0.0, 1.0, True, METHOD)
    for _ in range(3):
        pilot = layout.laws(PILOT_CELLS, slope, epsilon or math.inf)
        whole = Sides.of(pilot)
        if _just_below(epsilon) >= whole.top:
            return Bracket(min(whole.infinite_lower, 1.0), min(whole.infinite_upper, 1.0), True, METHOD)
        place = epsilon if layout.rare and epsilon else scale(pilot, epsilon)
        moments = table(pilot, place)
        log_delta = max(min(moments.at(epsilon), 0.0) - 3.0, -600.0)
        slope = moments.line(epsilon)
        layout = replace(layout, tail=min(layout.tail, lost_tail(composition, math.exp(log_delta), rtol)))
    stuck = 0.0
    for cells, tolerance in layout.stages():
        if answer.width <= max(rtol, 0.5 * tolerance) * answer.upper or tolerance == stuck:
            continue
        width = answer.width
        try:
            found = layout.within_reach((epsilon, epsilon), log_delta, slope, cells, tolerance, MOST_FREQUENCIES)
        except OutOfReach:
            if cells > PILOT_CELLS:  # more frequencies would be needed where less is tolerated
                break
            stuck = tolerance
            continue
        answer = answer.intersect(delta_between(found, epsilon))
        slope = _slope(found, epsilon, slope)
        if answer.lower > 0.0:
            log_delta = max(math.log(answer.upper), -600.0)
        if answer.width > _PROGRESS * width:
            stuck = tolerance
    return answer


def delta_between(found: ComposedProfile, epsilon: float) -> Bracket:
    """Of delta at epsilon, by what a profile says just above and just below it."""
    low = found.log_delta(widened_up(epsilon, 4 * TARGET) if epsilon else 0.0)[0]
    high = found.log_delta(_just_below(epsilon))[1]
    return Bracket(
        max(0.0, widened_down(math.exp(low), 1e-13)), min(1.0, widened_up(math.exp(high), 1e-13)), True, METHOD
    )


def _just_below(epsilon: float) -> float:
    return max(0.0, widened_down(epsilon, 2 * TARGET))


def at_most(composition: Composition, epsilon: float, delta: float) -> bool:
    """Whether delta certainly suffices at epsilon, by Chernoff and with blocks cut coarsely: a fraction of the work.

    True: the composed pair's profile at epsilon is at most delta (within TARGET). False says nothing.
    """
    if not (0.0 < delta < 1.0 and math.isfinite(epsilon)):
        return epsilon == math.inf or delta == 1.0
    layout = LatticeLayout(composition, lost_tail(composition, delta, 1.0), 1.0, COARSE_BLOCK)
    pilot = layout.laws(PILOT_CELLS, 1.0, math.inf)
    finite = widened_down(delta, 4 * TARGET) - Sides.of(pilot).infinite_upper
    return finite > 0.0 and first_bound(pilot, math.log(finite)) <= epsilon


@dataclass(frozen=True, slots=True)
class LatticeLayout:
    """How a composition's profile is laid out: mass of a tail that may be lost in a round, what is asked for, and how
    coarsely blocks may be cut for that."""

    composition: Composition
    tail: float
    rtol: float
    fineness: float

    @property
    def log_share(self) -> float:
        """log of the share of delta that may be left out."""
        return math.log(0.02 * self.rtol)

    @property
    def rare(self) -> bool:
        """Whether looking for a threshold is worth its time."""
        return 0.0 < sum(rounds * _rate(pair) for pair, rounds in self.composition) <= _MANY_JUMPS

    @property
    def of_one_law(self) -> bool:
        """Whether more cells make no pair's laws finer."""
        return len(cuts(self.composition)) == len(self.composition)

    @property
    def fine(self) -> int:
        """Cells with which a bracket is rtol wide."""
        return min(_MOST_CELLS, 1 << math.ceil(math.log2(8.0 / math.sqrt(self.rtol))))

    def stages(self) -> list[tuple[int, float]]:
        """(cells, tolerance): to find the place, to be narrow there, and again with more cells if need be."""
        if self.of_one_law:
            return [(PILOT_CELLS, max(self.rtol, tolerance)) for tolerance in _OF_ONE_LAW_STAGES]
        fine = self.fine
        coarse = [(PILOT_CELLS, max(self.rtol, tolerance)) for tolerance in _COARSE]
        finer = min(4 * fine, _MOST_CELLS)
        near = fine, max(self.rtol, _COARSE[-1])  # where a few cells do not find the place
        return [*coarse, near, (fine, self.rtol), (finer, 0.5 * self.rtol), (finer, _AT_ATOMS * self.rtol)]

    def laws(self, cells: int, slope: float, epsilon: float) -> list[Step]:
        """Cut for eps about epsilon, where delta falls like e^{-slope eps}."""
        return steps(self.composition, Resolution(cells, slope, self.tail, epsilon, self.fineness))

    def bounded(self, pilot: list[Step], high: float, log_delta: float) -> tuple[float, float]:
        """At least epsilon, by Chernoff, and about minus the slope of log delta there."""
        place = high = min(high, first_bound(pilot, log_delta))
        slope, rounds = 1.0, sum(rounds for _, rounds in self.composition)
        for _ in range(4):
            if not high > 0:
                break
            moments = table(pilot, place)
            found = moments.least(log_delta, rounds)
            high = min(high, found)
            slope = moments.line(high)
            if found > 0.1 * place:
                break
            place = max(high, 1e-300)
        return high, slope

    def within_reach(
        self, window: tuple[float, float], log_delta: float, slope: float, cells: int, tolerance: float, most: int
    ) -> ComposedProfile:
        """The profile, as closely as the frequencies allow: after the pilot, what is tolerated grows until they do.

        Raises OutOfReach where even what the pilot tolerates last takes more frequencies than `most`.
        """
        while True:
            try:
                return self.profile(window, log_delta, slope, cells, tolerance, most)
            except OutOfReach:
                tolerance *= _LESS_CLOSELY
                if cells == PILOT_CELLS or tolerance > _COARSE[-1]:
                    raise

    def profile(
        self, window: tuple[float, float], log_delta: float, slope: float, cells: int, tolerance: float, most: int
    ) -> ComposedProfile:
        """Bounds about `tolerance` apart in log delta for eps in the window, where delta is e^log_delta at the end.

        Raises OutOfReach where that takes more frequencies than `most`.
        """
        rare = self.rare and window[1] > 0.0
        pilot = self.laws(PILOT_CELLS, slope, window[1] or math.inf)
        epsilon = window[1] if rare else scale(pilot, window[1])
        far = far_threshold(pilot, epsilon, log_delta + self.log_share) if rare else math.inf
        laws = pilot if cells == PILOT_CELLS else self.laws(cells, slope, window[1] or math.inf)
        accuracy = 3.0 - math.log(tolerance)
        plan = table(without(pilot, far), epsilon).plan(window, log_delta, accuracy)
        square = _SMOOTHED * tolerance / (slope * (slope + 1.0))
        return ComposedProfile.on(Sides.of(laws, (far, epsilon)), plan, accuracy, square, most)


def _crossed(found: ComposedProfile, known: Bracket, delta: float, slope: float) -> tuple[Bracket, float]:
    """The bracket of the eps where the profile crosses delta, and minus its slope there, in logarithms."""
    low, high = math.log(widened_down(delta, 4 * TARGET)), math.log(widened_up(delta, 4 * TARGET))
    targets = widened_down(low, TARGET), widened_up(high, TARGET)
    lower, upper = epsilon_between(found, targets, known.upper, (known.lower, known.upper))
    return Bracket(min(lower, upper), upper, True, METHOD), _slope(found, upper, slope)


def _slope(found: ComposedProfile, epsilon: float, known: float) -> float:
    low, high, slope = found.log_delta(epsilon)
    return -slope if high - low < 1.0 and -math.inf < slope < 0.0 else known


def _rate(pair: Pair) -> float:
    """The probability with which a coin lets the unit take part; 0 where no coin decides."""
    known = pair.losses()
    return 0.0 if known is None else known.rate


def _total_variation(composition: Composition) -> float:
    """A bound of delta(0): the sum of the rounds' own, where they have a formula."""
    if not all(has_profile(pair, 1) for pair, _ in composition):
        return math.inf
    parts = (rounds * float_above(profile(dominating_parameters(pair), 1, 0.0)) for pair, rounds in composition)
    return up(sum(parts), len(composition) + 1)


def lost_tail(composition: Composition, delta: float, rtol: float) -> float:
    """Mass of a tail that may be lost in one round: far below delta even after all rounds, and where blocks of random
    allocation lose hundreds of times as much."""
    return max(1e-285, 0.02 * min(rtol, _TAILS_RTOL) * delta / sum(rounds for _, rounds in composition))
