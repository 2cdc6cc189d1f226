"""The same as audit.py for schemes that keep a unit's rounds apart: balls in bins, and b-min-sep sampling.

- *same bin*: every pass has the cohorts of the first one; *one bin*: in a pass each unit is in one of them.
- *even sizes*, *largest*: of independent places. Sizes of bins are negatively associated, so that the bounds for
  independent ones hold; those of coins follow Bin(units that may flip one, rate), given the rounds before.
- *too close*: a unit again before its distance is over; *at once*: units that come again as soon as they may, which
  follow Bin(cohort, rate) given the rounds before; *start*: no unit is twice in as many rounds, and it is in each of
  them with one probability, so that how many are in one of them is binomial.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...mechanisms.validate import InputError, count, open_probability, rate
from .audit import ScheduleAudit, distinct
from .checks import (
    Rounds,
    even_sizes_given_the_past,
    even_sizes_in_blocks,
    given_the_past,
    largest,
    never,
    two_sided,
)
from .units import counts_of_coins


def audit_balls_in_bins(
    bins: int, cohorts: Sequence[Sequence[int]], population: int, error: float = 1e-6
) -> ScheduleAudit:
    """Whether every unit may have drawn one of the bins by itself, once. Raises InputError as audit_schedule does."""
    rounds = _rounds(cohorts, population, error)
    places = count("bins", bins)
    if places > len(rounds):
        raise InputError("bins", places, f"at most the {len(rounds)} rounds")
    first = rounds[:places]
    moved = sum(cohort != first[at % places] for at, cohort in enumerate(rounds))
    wrong = population - len(frozenset().union(*first)) + sum(map(len, first)) - len(frozenset().union(*first))
    checks = [
        never("same bin", moved, "rounds whose cohort is not that of the first pass"),
        never("one bin", wrong, "units that are in none of a pass's rounds, or again in one"),
    ]
    if not wrong and places > 1:
        checks += [even_sizes_in_blocks([first], population), largest(1 / places, first, population)]
    return ScheduleAudit("BallsInBins", len(rounds), error, tuple(checks))


def audit_min_separated(
    min_separation: int,
    sampling_rate: float,
    cohorts: Sequence[Sequence[int]],
    population: int,
    error: float = 1e-6,
) -> ScheduleAudit:
    """Whether in each round the units that were in none of the last min_separation - 1 may have flipped coins.

    Raises InputError as audit_schedule does.
    """
    rounds = _rounds(cohorts, population, error)
    apart, coin = count("min_separation", min_separation), rate("sampling_rate", sampling_rate)
    close, sizes, returns = 0, [], []
    able, took = np.zeros(population), np.zeros(population)
    for at, cohort in enumerate(rounds):
        resting = frozenset().union(*rounds[max(0, at - apart + 1) : at])
        close += len(cohort & resting)
        if at >= apart - 1:  # before, who may flip a coin is not in the log
            sizes.append((len(cohort), population - len(resting), coin))
            able += 1
            able[list(resting)] -= 1
            took[list(cohort - resting)] += 1
        if at >= apart:
            again = rounds[at - apart] - resting
            returns.append((len(cohort & again), len(again), coin))
    started = min(apart, len(rounds))
    some = len(frozenset().union(*rounds[:started]))
    share = min(1.0, started * coin / (1 + (apart - 1) * coin))
    checks = [
        never("too close", close, f"units in two rounds less than {apart} apart"),
        two_sided("start", some, population, share, f"units in the first {started} rounds"),
    ]
    if sizes:
        counted = "participations of units that may flip a coin"
        checks += [given_the_past("total", sizes, counted), even_sizes_given_the_past(sizes)]
        checks.append(counts_of_coins(took, able, coin))
    if returns:
        checks.append(given_the_past("at once", returns, f"units again after exactly {apart} rounds"))
    return ScheduleAudit("MinSeparated", len(rounds), error, tuple(checks))


def _rounds(cohorts: Sequence[Sequence[int]], population: int, error: float) -> Rounds:
    open_probability("error", error)
    rounds = distinct(cohorts, count("population", population))
    if not rounds:
        raise InputError("cohorts", 0, "at least one round")
    return rounds
