"""Exact privacy profiles delta(eps) = E_P[(1 - e^{eps-L})_+] in ball arithmetic, where there are formulas.

One round: the pair's own. Many rounds of a two-valued loss: a binomial sum. Parameters are taken as the exact doubles
they are.
"""

from __future__ import annotations

import math
from functools import lru_cache

from flint import arb, ctx

from ..pairs import Pair
from ..pairs.categories import two_valued
from ..pairs.tails import positive

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
