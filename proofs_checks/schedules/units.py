"""Units that come too often or too seldom, in runs or at even distances, or always beside another: few are enough.

Take rounds whose cohort is uniform given its size n, whatever came before: of N units each is in it with p = n/N, and
they are negatively associated (Joag-Dev, Proschan 1983, Ann. Statist. 11(1), Theorem 2.11).

- *unit counts*: each unit's count has a tail probability, that of Bin(rounds, mean p) beyond the mean (Hoeffding 1956,
  Theorem 4). Of N units those whose tail is at most E/N are below Bin(N, E/N) where units flip coins of their own, and
  obey its Chernoff bound else (indicators of tails are monotone). Six E on two sides, and the smallest tail times N.
- *repeats*: the round after one that a unit was in. *gaps*: rounds soon after it was last in one; or one round at a
  fixed distance after it, the mean over LAGS distances. For rounds picked by the past and s of either sign a unit's
  product of e^{s x}/(1 - p + p e^s), x = 1 where it took part, has expectation 1. The factors of a round all increase
  or all decrease in x, so that the product over any units has expectation at most 1, and so has that over all units of
  1 - a + a M, for 0 <= a <= 1 and M the unit's product. The mean over several s and a is an e-value, whose inverse is a
  p-value (Markov).
- *pairs*: of two units, rounds with both; Chernoff's bound for the most and the least of all pairs, times their number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ...mechanisms.arrays import Floats
from ..auditing.clopper_pearson import at_least, at_most
from .checks import EXPONENTS, Check, Rounds

_TILTS = np.array([0.25, 0.5, 1.0, 2.0, 4.0, 8.0])
TILTS = np.concatenate([_TILTS, -_TILTS])
"""s."""
FEW = (1.0, 3.0, 10.0)
SHARES = (0.01, 0.05, 0.2, 1.0)
"""a: as many units in all, and shares of the units."""
LAGS = 32
EXPECTED = (1e-6, 1e-3, 0.01, 0.1, 1.0, 10.0)
"""E: how many units are to be expected in a tail."""
MOST_GAPS, MOST_UNITS = 1 << 18, 20_000
"""Participations, and units, whose distances are looked at: those of the units with the smallest numbers."""
MOST_PAIRED = 2e9
"""Rounds times squared units that are looked at for pairs; likewise."""


@dataclass(frozen=True, slots=True)
class Strand:
    """Rounds in which each of `population` units, numbered from 0, is as likely to be as any other, given the size.

    coin: the rate, where each unit of each round flips a coin of its own.
    """

    rounds: Rounds
    population: int
    coin: float | None = None

    @property
    def rates(self) -> Floats:
        return np.array([len(cohort) for cohort in self.rounds], float) / self.population

    def participations(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(units, rounds), sorted by unit, then by round."""
        units = np.array([unit for cohort in self.rounds for unit in cohort], np.int64)
        rounds = np.repeat(np.arange(len(self.rounds)), [len(cohort) for cohort in self.rounds])
        order = np.lexsort((rounds, units))
        return units[order], rounds[order]


def unit_checks(strands: Sequence[Strand]) -> list[Check]:
    """All of them, on strands that are independent of each other."""
    checks = [unit_counts(strands)]
    if max(len(strand.rounds) for strand in strands) > 1:
        checks += [*distances(strands), *pairs(strands)]
    return checks


def unit_counts(strands: Sequence[Strand]) -> Check:
    """How often each unit took part."""
    tails = [_tails(strand) for strand in strands]
    often, seldom = (np.concatenate([pair[side] for pair in tails]) for side in (0, 1))
    coins = all(strand.coin is not None for strand in strands)
    found = [_few(side, expected, coins) for side in (often, seldom) for expected in EXPECTED]
    found += [min(1.0, len(side) * float(side.min())) for side in (often, seldom)]
    side = "often" if often.min() <= seldom.min() else "seldom"
    expected = float(strands[0].rates.sum())
    text = f"{np.count_nonzero(np.minimum(often, seldom) <= 1e-3)} units beyond 1 in 1,000, the furthest too {side}"
    return Check("unit counts", min(1.0, len(found) * min(found)), f"{text}; expected {expected:.6g} rounds for each")


def _tails(strand: Strand) -> tuple[Floats, Floats]:
    """For each unit: the chance of at least, and of at most, as many rounds; 1 on the other side of the mean."""
    counts = np.bincount(strand.participations()[0], minlength=strand.population)
    rounds = len(strand.rounds)
    rate = float(strand.rates.mean()) if strand.coin is None else strand.coin
    often, seldom = at_least(counts, rounds, rate), at_most(counts, rounds, rate)
    mean = rounds * rate
    return np.where(counts >= mean + 1, often, 1.0), np.where(counts <= mean - 1, seldom, 1.0)


def _few(tails: Floats, expected: float, coins: bool) -> float:
    """A bound on the chance of so many tails of at most expected/N."""
    chance = min(1.0, expected / len(tails))
    seen = int(np.count_nonzero(tails <= chance))
    if coins:
        return float(at_least(seen, len(tails), chance))
    return math.exp(_chernoff(seen, np.full(len(tails), chance))) if seen > expected else 1.0


def counts_of_coins(took: Floats, able: Floats, rate: float) -> Check:
    """How often each unit took part of the times that it flipped a coin, which the past decides."""
    log = TILTS[:, None] * took - np.log1p(rate * np.expm1(TILTS))[:, None] * able
    unit = int(np.argmax(log.max(axis=0)))
    text = f"{took[unit]:.0f} rounds with the unit that is furthest off; expected {able[unit] * rate:.6g}"
    return Check("unit counts", evidence(log), text)


def distances(strands: Sequence[Strand]) -> list[Check]:
    """Repeats and gaps."""
    parts = [_after(strand) for strand in strands]
    last = np.concatenate([log[:1] for _, log in parts], axis=2)[0]
    seen = sum(int(hits[0]) for hits, _ in parts)
    repeats = Check("repeats", evidence(last), f"{seen} times a unit in two rounds on end")
    middle = max(1, min(LAGS, math.ceil(0.5 / max(1e-9, float(np.mean(np.concatenate([s.rates for s in strands])))))))
    soon = np.concatenate([log[:middle].sum(axis=0) for _, log in parts], axis=1)
    even = np.concatenate([special.logsumexp(log, axis=0) - math.log(LAGS) for _, log in parts], axis=1)
    p_value = min(1.0, 2 * min(evidence(soon), evidence(even)))
    near = sum(int(hits[:middle].sum()) for hits, _ in parts)
    return [repeats, Check("gaps", p_value, f"{near} times a unit again within {middle} rounds")]


def _after(strand: Strand) -> tuple[NDArray[np.int64], Floats]:
    """By distance: how often units came again after it; and the logarithms of their products, (LAGS, tilts, units)."""
    looked = _units_for_gaps(strand)
    units, rounds = strand.participations()
    units, rounds = units[units < looked], rounds[units < looked]
    again = np.append(units[1:] == units[:-1], False)
    gaps = np.where(again, np.append(rounds[1:], 0) - rounds, len(strand.rounds))
    hits, logs = np.zeros(LAGS, np.int64), np.zeros((LAGS, len(TILTS), looked))
    spent = _spent(strand.rates)
    for lag in range(1, LAGS + 1):
        waiting = (gaps >= lag) & (rounds + lag < len(strand.rounds))
        came = gaps[waiting] == lag
        hits[lag - 1] = came.sum()
        for number, tilt in enumerate(TILTS):
            gained = tilt * came - spent[number, rounds[waiting] + lag]
            logs[lag - 1, number] = np.bincount(units[waiting], gained, looked)
    return hits, logs


def _units_for_gaps(strand: Strand) -> int:
    """How many, by the sizes of the rounds alone: a choice by who took part would have a say in what is found."""
    return max(1, min(strand.population, MOST_UNITS, int(MOST_GAPS / max(1e-9, float(strand.rates.sum())))))


def _spent(rates: Floats) -> Floats:
    """log(1 - p + p e^s), a row for each tilt."""
    return np.asarray(np.log1p(np.expm1(TILTS)[:, None] * rates), float)


def evidence(logs: Floats) -> float:
    """A p-value from the logarithms of the units' products, (tilts, units)."""
    units = logs.shape[1]
    shares = sorted({min(1.0, few / units) for few in FEW} | set(SHARES))
    with np.errstate(divide="ignore"):
        totals = [np.logaddexp(np.log1p(-share), math.log(share) + logs).sum(axis=1) for share in shares]
    value = float(special.logsumexp(totals)) - math.log(len(shares) * len(logs))
    return min(1.0, math.exp(min(0.0, -value)) * (1 + 1e-9))


def pairs(strands: Sequence[Strand]) -> list[Check]:
    """Two units that come together more or less often than any two should."""
    sizes = [[np.array([len(cohort)]) for cohort in strand.rounds] for strand in strands]
    together = [
        (strand, np.array([_both(size, strand.population) for size in of]))
        for strand, of in zip(strands, sizes, strict=True)
    ]
    return paired(together)


def pairs_in_blocks(blocks: Sequence[Rounds], population: int) -> list[Check]:
    """The same where each unit is in one round of every block: together at most once a block."""
    rounds = [cohort for block in blocks for cohort in block]
    chances = [_both(np.array([len(cohort) for cohort in block]), population) for block in blocks]
    return paired([(Strand(rounds, population), np.array(chances))])


def _both(sizes: NDArray[np.int64], population: int) -> float:
    """The chance that two given units are in the same of disjoint cohorts of these sizes."""
    return float((sizes * (sizes - 1.0)).sum()) / max(1.0, population * (population - 1.0))


def paired(strands: Sequence[tuple[Strand, Floats]]) -> list[Check]:
    """chances: of two units being together, for each time that they may be, independently of each other."""
    number = sum(min(_looked_at(strand), strand.population) for strand, _ in strands)
    if number < 2:
        return []
    worst, text, many = math.inf, "", 0.0
    for strand, chances in strands:
        looked = _looked_at(strand)
        if looked < 2:
            continue
        seen = np.zeros((len(strand.rounds), looked), np.float32)
        for at, cohort in enumerate(strand.rounds):
            seen[at, [unit for unit in cohort if unit < looked]] = 1.0
        counted = (seen.T @ seen)[np.triu_indices(looked, 1)]
        many += len(counted)
        for found in (float(counted.max()), float(counted.min())):
            bound = _chernoff(found, chances)
            if bound < worst:
                worst, text = bound, f"{found:.0f} rounds with both units of the pair that is furthest off"
                text += f"; expected {chances.sum():.6g}"
    p_value = min(1.0, 2 * many * math.exp(min(0.0, worst)) * (1 + 1e-9))
    return [Check("pairs", p_value, text or "no pair is further off than chance")]


def _looked_at(strand: Strand) -> int:
    return min(strand.population, int(math.sqrt(MOST_PAIRED / len(strand.rounds))))


def _chernoff(found: float, chances: Floats) -> float:
    """The logarithm of a bound on the chance of a count at least as far off, to its side of the mean."""
    sign = 1.0 if found > float(chances.sum()) else -1.0
    log_moments = np.log1p(np.outer(np.expm1(sign * EXPONENTS), chances)).sum(axis=1)
    return min(0.0, float(np.min(log_moments - sign * EXPONENTS * found)) * (1 - 1e-9))
