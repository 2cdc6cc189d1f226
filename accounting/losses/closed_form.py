"""Accountant of what has a formula: one round of any pair, and any number of rounds of a two-valued loss.

One round is the pair's own profile, delta(eps) = E_P[(1 - e^{eps-L})_+], many of a two-valued loss are a binomial sum:
in ball arithmetic, parameters taken as the exact doubles they are, then rounded outwards, so that brackets are a few
units in the last place wide.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from flint import arb, ctx

from ..bracket import Bracket
from ..pairs import Composition, Pair
from ..pairs.categories import two_valued
from ..pairs.pair import dominated_parameters, dominating_parameters, largest_loss
from ..pairs.tails import positive
from ..rounding import TARGET, float_above, float_below, up, widened_down, widened_up
from .crossing import Excess, crossing, over

_BITS = 256
_MOST_ROUNDS = 20_000


def has_profile(pair: Pair, rounds: int) -> bool:
    """Whether `profile` knows the pair for this many rounds."""
    if two_valued(pair) is not None:
        return rounds <= _MOST_ROUNDS
    return rounds == 1 and _has_formula(pair)


@lru_cache(maxsize=1024)
def _has_formula(pair: Pair) -> bool:
    with ctx.workprec(_BITS):
        return pair.profile(arb(1)) is not None


def infinite_mass(pair: Pair, rounds: int) -> arb:
    """A ball that holds P(L = inf) over all rounds of an unsampled pair."""
    with ctx.workprec(_BITS):
        return 1 - (1 - pair.failure()[0]) ** rounds


def profile(pair: Pair, rounds: int, epsilon: float) -> arb:
    """A ball that holds delta(epsilon), epsilon >= 0, of a pair that has_profile."""
    with ctx.workprec(_BITS):
        found = _binomial(pair, rounds, arb(epsilon)) if rounds > 1 else pair.profile(arb(epsilon))
    if found is None:
        raise TypeError(f"no formula for {pair}")
    return found


def _binomial(pair: Pair, rounds: int, epsilon: arb) -> arb:
    """Losses +-c with odds e^c: sum over j of C(T, j) (p^j r^(T-j) - e^eps r^j p^(T-j))_+ with p + r = 1.

    j counts the rounds with loss c, and terms are positive where (2j - T) c > eps.
    """
    losses = two_valued(pair)
    if losses is None:
        raise TypeError(f"no formula for {pair}")
    ratio, finite = losses[0], losses[1] ** rounds
    if not ratio < 1:
        return 1 - finite
    p, odds = 1 / (1 + ratio), epsilon.exp()
    r = ratio * p
    first = max(0, math.floor(float((epsilon / -ratio.log() + rounds).mid()) / 2) - 1)
    if first > rounds:
        return 1 - finite
    count = arb(math.comb(rounds, first)) if rounds < 64 else arb.bin_uiui(rounds, first)
    likely, unlikely = count * p**first * r ** (rounds - first), count * r**first * p ** (rounds - first)
    total, largest = arb(0), arb(0)
    for j in range(first, rounds + 1):
        total += positive(likely - odds * unlikely)
        largest = largest.max(likely)
        step = arb(rounds - j) / (j + 1)
        up_ratio = step / ratio
        likely, unlikely = likely * up_ratio, unlikely * step * ratio
        if up_ratio < 0.9 and likely < largest * arb(2) ** -100:
            total += arb(0).union(likely / (1 - up_ratio))
            break
    return 1 - finite + finite * total


METHOD = "closed-form"

_HIGHEST = 1e6
"""Epsilons above this are reported as infinite from above."""


def supports(composition: Composition) -> bool:
    """A single pair with a formula for its number of rounds."""
    return len(composition) == 1 and has_profile(*composition[0])


def delta(composition: Composition, epsilon: float) -> Bracket:
    """The smallest delta of the composed pair at epsilon >= 0."""
    (pair, rounds), *_ = composition
    low = profile(dominated_parameters(pair), rounds, widened_up(epsilon, TARGET) if epsilon else 0.0)
    high = profile(dominating_parameters(pair), rounds, max(0.0, widened_down(epsilon, TARGET)))
    return Bracket(_at_least_zero(low), _at_most_one(high), True, METHOD)


def epsilon(composition: Composition, delta: float) -> Bracket:
    """The smallest epsilon >= 0 of the composed pair at 0 < delta < 1."""
    (pair, rounds), *_ = composition
    low_target, high_target = widened_up(delta, TARGET), widened_down(delta, TARGET)
    least, most = dominated_parameters(pair), dominating_parameters(pair)
    lower, _ = _where_met(least, rounds, low_target, _at_least_zero)
    if lower >= _HIGHEST and infinite_mass(least, rounds) > arb(low_target):
        lower = math.inf
    _, upper = _where_met(most, rounds, high_target, _at_most_one)
    return Bracket(lower, min(upper, _largest_loss(most, rounds, delta)), True, METHOD)


def _largest_loss(pair: Pair, rounds: int, delta: float) -> float:
    """The largest finite losses' sum, where the rounds' failures alone do not exceed delta (as the double given).

    A mechanism known to be (epsilon, 1e-5)-DP has that epsilon at 1e-5, exactly where its profile jumps.
    """
    finite = pair.failure()[1]
    if finite is None or not infinite_mass(pair, rounds) <= arb(delta):
        return math.inf
    return up(rounds * largest_loss(finite), 2)


def _at_least_zero(ball: arb) -> float:
    return max(0.0, float_below(ball))


def _at_most_one(ball: arb) -> float:
    return min(1.0, float_above(ball))


def _where_met(pair: Pair, rounds: int, target: float, bound: Callable[[arb], float]) -> tuple[float, float]:
    """Two neighbouring epsilons: the profile's bound is above the target at the first (or it is 0), and at most that
    at the second (or it is infinite)."""

    def excess(epsilon: float) -> Excess:
        return Excess(over(bound(profile(pair, rounds, epsilon)), target))

    return crossing(excess, 1.0, farthest=_HIGHEST)
