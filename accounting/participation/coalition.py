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
from ..losses.crossing import Excess, crossing, over
from ..pairs import Composition, Sampling
from ..rounding import TARGET, widened_down, widened_up
from .gaussian_mixture import Spread, binomial, certain, mixture_delta, plus

METHOD = "participation"
MOST_PHASES = 6
"""Sampled phases with different pairs beyond which the merged atoms become too wide to be of use."""

_LIGHTEST = 1e-290
"""Masses below this (relative to the mode's) would lose their relative accuracy to underflow."""


def supports(composition: Composition) -> bool:
    """Gaussian rounds only, at least one phase of them with visible sampling and at most MOST_PHASES."""
    coins = [None if (noise := pair.gaussian()) is None else (noise.coin,) for pair, _ in composition]
    seen = coins.count((Sampling.VISIBLE,))
    return 1 <= seen <= MOST_PHASES and seen + coins.count((None,)) == len(coins)


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
    known = [(noise, rounds) for pair, rounds in composition if (noise := pair.gaussian()) is not None]
    fixed = math.fsum(rounds * noise.shift**2 for noise, rounds in known if noise.coin is None)
    phases = [
        binomial(rounds, noise.rate, noise.shift**2, smallest) for noise, rounds in known if noise.coin is not None
    ]
    return reduce(plus, phases, certain(fixed)) if fixed > 0 else reduce(plus, phases)


def invert(law: Spread, delta: float) -> tuple[float, float]:
    """(at most, at least) the smallest epsilon >= 0 with E[delta_Gauss(epsilon; mu)] <= delta.

    Postcondition: the profile is certainly at most every delta within TARGET of the given one at the second value
    (or that is infinite), and certainly above all of them at the first one (or that is 0). The profile decreases.
    """
    if delta == 0.0:  # with some probability there is a Gaussian release, whose losses have no end
        return math.inf, math.inf
    least, most = widened_down(delta, TARGET), widened_up(delta, TARGET)
    if least <= 0.0:
        return 0.0, math.inf
    _, upper = crossing(lambda at: Excess(over(mixture_delta(law, at)[1], least)), 1.0)
    if upper == math.inf:
        return 0.0, upper
    lower, _ = crossing(lambda at: Excess(over(mixture_delta(law, at)[0], most)), upper)
    return lower, upper
