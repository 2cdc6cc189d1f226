"""Accountant of Gaussian rounds whose participation is visible: the exact coalition profile.

Given the public coins, the rounds in which the unit took part are a plain Gaussian composition, so

    delta(eps) = E[delta_Gauss(eps; sqrt(mu0^2 + sum_i K_i s_i^2))],   K_i ~ Bin(T_i, p_i) independent,

with s_i the shift of phase i and mu0^2 the squared shifts of the rounds in which everybody takes part
(docs/theory/billboard.md, section "Visible participation"; the coins have the same law under both neighbours,
so this is the profile of coins and outputs together). Both ends are bounds, for every pair within
rounding.PARAMETER and target within rounding.TARGET of those given; one phase costs one pass over the
likely participation counts, whatever the number of rounds.
"""

from __future__ import annotations

import math
from functools import reduce

from ..bracket import Bracket
from ..pairs import Composition, GaussianPair, Sampling, SubsampledPair
from ..rounding import TARGET, widened_down, widened_up
from .gaussian_mixture import Spread, binomial, certain, mixture_delta, plus

METHOD = "participation"
MOST_PHASES = 6
"""Sampled phases with different pairs beyond which the merged atoms become too wide to be of use."""

_LIGHTEST = 1e-290
"""Masses below this (relative to the mode's) would lose their relative accuracy to underflow."""


def supports(composition: Composition) -> bool:
    """Gaussian rounds only, at least one phase of them with visible sampling and at most MOST_PHASES."""
    sampled = [pair for pair, _ in composition if isinstance(pair, SubsampledPair)]
    if not 1 <= len(sampled) <= MOST_PHASES:
        return False
    return all(
        isinstance(pair, GaussianPair)
        or (isinstance(pair, SubsampledPair) and pair.order == Sampling.VISIBLE and isinstance(pair.base, GaussianPair))
        for pair, _ in composition
    )


def delta(composition: Composition, epsilon: float) -> Bracket:
    """The smallest delta of the composed pair at epsilon >= 0."""
    law = spread(composition, _LIGHTEST)
    low = mixture_delta(law, widened_up(epsilon, TARGET) if epsilon else 0.0)[0]
    high = mixture_delta(law, max(0.0, widened_down(epsilon, TARGET)))[1]
    return Bracket(low, high, True, METHOD)


def epsilon(composition: Composition, delta: float) -> Bracket:
    """The smallest epsilon >= 0 of the composed pair at 0 < delta < 1."""
    law = spread(composition, max(_LIGHTEST, 1e-18 * delta))
    low, high = invert(law, delta)
    return Bracket(low, high, True, METHOD)


def spread(composition: Composition, smallest: float) -> Spread:
    """The law of mu^2 over the coins; atoms lighter than `smallest` times the heaviest are left out of a phase."""
    fixed = math.fsum(rounds * pair.shift**2 for pair, rounds in composition if isinstance(pair, GaussianPair))
    phases = [
        binomial(rounds, pair.rate, pair.base.shift**2, smallest)
        for pair, rounds in composition
        if isinstance(pair, SubsampledPair) and isinstance(pair.base, GaussianPair)
    ]
    return reduce(plus, phases, certain(fixed)) if fixed > 0 else reduce(plus, phases)


def invert(law: Spread, delta: float) -> tuple[float, float]:
    """(at most, at least) the smallest epsilon >= 0 with E[delta_Gauss(epsilon; mu)] <= delta.

    Postcondition: the profile is certainly at most every delta within TARGET of the given one at the second value
    (or that is infinite), and certainly above all of them at the first one (or that is 0). The profile decreases.
    """
    least, most = widened_down(delta, TARGET), widened_up(delta, TARGET)
    if mixture_delta(law, 0.0)[1] <= least:
        return 0.0, 0.0
    low, high = 0.0, 1.0
    while mixture_delta(law, high)[1] > least:
        low, high = high, 2.0 * high
        if high > 1e300:
            return 0.0, math.inf
    centre = _crossing(law, delta, low, high)
    return _step_down(law, most, centre), _step_up(law, least, centre)


def _crossing(law: Spread, delta: float, low: float, high: float) -> float:
    """About where the profile falls to delta; nothing is claimed of it."""
    from scipy.optimize import brentq  # here, since it doubles the time that importing the accountants takes

    def excess(epsilon: float) -> float:
        return math.log(max(sum(mixture_delta(law, epsilon)) / 2.0, 1e-300) / delta)

    if excess(low) <= 0.0:
        return low
    if excess(high) >= 0.0:
        return high
    return float(brentq(excess, low, high, xtol=1e-300, rtol=1e-14))


def _step_up(law: Spread, delta: float, start: float) -> float:
    """The first of start + growing steps where the profile is certainly at most delta."""
    step = 2.0**-48 * start + 1e-300
    while mixture_delta(law, start)[1] > delta:
        start, step = start + step, 2.0 * step
    return start


def _step_down(law: Spread, delta: float, start: float) -> float:
    """The first of start - growing steps where the profile is certainly above delta, or 0."""
    step = 2.0**-48 * start + 1e-300
    while start > 0.0 and mixture_delta(law, start)[0] <= delta:
        start, step = max(0.0, start - step), 2.0 * step
    return start
