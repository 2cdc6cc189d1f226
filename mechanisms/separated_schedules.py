"""Samplers that keep a unit's rounds apart: balls in bins and b-min-sep sampling (simulation/losses.py).

Exact, as those of schedules.py.
"""

from __future__ import annotations

from fractions import Fraction

from .randomness import BitSource, SecureSource
from .schedules import Cohort
from .validate import count, rate

_SECURE = SecureSource()


def draw_balls_in_bins(bins: int, rounds: int, population: int, source: BitSource = _SECURE) -> list[Cohort]:
    """Every unit draws one of `bins` places, once, and takes part in the rounds that are that modulo `bins`.

    (Choquette-Choo, Ganesh, Haque, Steinke, Thakurta 2024, arXiv 2410.06266; jax-privacy's BallsInBinsSampling;
    what it costs: docs/theory/correlated_noise.md, "Sampled rounds".)

    >>> from dpcert.mechanisms.randomness import SeededTestSource
    >>> draw_balls_in_bins(2, 4, 4, SeededTestSource(0))
    [[2], [0, 1, 3], [2], [0, 1, 3]]
    """
    places = count("bins", bins)
    drawn = [source.below(places) for _ in range(count("population", population))]
    cohorts = [[unit for unit, place in enumerate(drawn) if place == at] for at in range(places)]
    return [cohorts[at % places] for at in range(count("rounds", rounds))]


def draw_min_separated(
    min_separation: int, sampling_rate: float, rounds: int, population: int, source: BitSource = _SECURE
) -> list[Cohort]:
    """In each round every unit that took part in none of the last min_separation - 1 flips a coin.

    The run starts in the middle of such rounds, so that all cohorts have one expected size: a unit has
    1, ..., min_separation - 1 rounds to wait, or none, with weights sampling_rate each, and 1 (arXiv 2602.09338).

    >>> from dpcert.mechanisms.randomness import SeededTestSource
    >>> draw_min_separated(2, 1.0, 4, 3, SeededTestSource(0))
    [[2], [0, 1], [2], [0, 1]]
    """
    between, share = count("min_separation", min_separation) - 1, Fraction(rate("sampling_rate", sampling_rate))
    units = range(count("population", population))
    weight = share.denominator + between * share.numerator
    waits = [max(0, source.below(weight) - share.denominator + share.numerator) // share.numerator for _ in units]
    cohorts = []
    for _ in range(count("rounds", rounds)):
        cohort = [unit for unit in units if not waits[unit] and source.below(share.denominator) < share.numerator]
        waits = [max(0, wait - 1) for wait in waits]
        for unit in cohort:
            waits[unit] = between
        cohorts.append(cohort)
    return cohorts
