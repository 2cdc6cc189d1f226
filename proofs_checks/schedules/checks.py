"""What a schedule's log can be compared by: counts whose law under a scheme is known, with p-values for every log.

No asymptotics: tails of binomials, Chernoff's bound for sums, and a test martingale. audit.py says which scheme is
compared by which of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from ..auditing.clopper_pearson import at_least, at_most

Rounds = list[frozenset[int]]

_BAND = 0.5
"""Half-width of the band of even sizes, in standard deviations: it holds about 38% of them."""

EXPONENTS = np.geomspace(1e-4, 30.0, 400)


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison: p_value bounds the probability that the scheme gives something at least as far off; 0: never."""

    name: str
    p_value: float
    text: str


def never(name: str, found: int, text: str) -> Check:
    return Check(name, 0.0 if found else 1.0, f"{found} {text}")


def two_sided(name: str, found: int, trials: int, probability: float, text: str) -> Check:
    tails = float(at_most(found, trials, probability)), float(at_least(found, trials, probability))
    return Check(name, min(1.0, 2 * min(tails)), f"{found} {text}; expected {trials * probability:.6g}")


def total(rate: float, rounds: Rounds, population: int) -> Check:
    return two_sided("total", sum(map(len, rounds)), population * len(rounds), rate, "participations")


def even_sizes(rate: float, rounds: Rounds, population: int) -> Check:
    """Sizes are independent Bin(population, rate)."""
    low, high, share = _band(population, rate)
    inside = sum(low <= len(cohort) <= high for cohort in rounds)
    return two_sided("even sizes", inside, len(rounds), share, f"rounds of {low} to {high} units")


def _band(population: int, rate: float) -> tuple[int, int, float]:
    """Sizes near the mean of Bin(population, rate), and their probability."""
    mean, deviation = population * rate, math.sqrt(population * rate * (1 - rate))
    low, high = math.ceil(mean - _BAND * deviation), math.floor(mean + _BAND * deviation)
    share = float(special.bdtr(high, population, rate) - special.bdtr(low - 1, population, rate))
    return low, high, min(max(share, 0.0), 1.0)


def largest(rate: float, rounds: Rounds, population: int) -> Check:
    """The largest of independent sizes: it is at most m with probability P[Bin(population, rate) <= m]^rounds."""
    most = max(map(len, rounds))
    below = float(at_most(most, population, rate)) ** len(rounds) * (1 + 1e-9)
    above = min(1.0, len(rounds) * float(at_least(most, population, rate)))
    text = f"{most} units in the largest round; expected about {population * rate:.6g} in each"
    return Check("largest", min(1.0, 2 * min(below, above)), text)


def even_sizes_in_blocks(blocks: list[Rounds], population: int) -> Check:
    """One round each: sizes follow Bin(units left, 1/rounds left), given those before them in the block."""
    sizes = []
    for block in blocks:
        left = population
        for at, cohort in enumerate(block[:-1]):
            if left == 0:
                break
            sizes.append((len(cohort), left, 1 / (len(block) - at)))
            left -= len(cohort)
    return even_sizes_given_the_past(sizes)


def even_sizes_given_the_past(sizes: list[tuple[int, int, float]]) -> Check:
    """Each size follows Bin(units, rate), given those before it."""
    bands = [(size, *_band(units, rate)) for size, units, rate in sizes]
    inside = [(int(low <= size <= high), 1, share) for size, low, high, share in bands]
    return given_the_past("even sizes", inside, "rounds of a size near the mean")


def given_the_past(name: str, parts: list[tuple[int, int, float]], text: str) -> Check:
    """Counts that follow Bin(trials, probability), given those before them, which both may depend on.

    For every s the product of e^{s count} / (1 - p + p e^s)^trials has expectation 1, and so has its mean over several
    s: by Markov's inequality its inverse is a p-value.
    """
    exponents = np.concatenate([EXPONENTS, -EXPONENTS])
    logs = np.zeros(exponents.size)
    for found, trials, probability in parts:
        logs += exponents * found - trials * np.log1p(probability * np.expm1(exponents))
    value = float(special.logsumexp(logs)) - math.log(logs.size)
    counted, expected = sum(found for found, _, _ in parts), sum(trials * share for _, trials, share in parts)
    told = f"{counted} {text}; expected {expected:.6g}"
    return Check(name, min(1.0, math.exp(min(0.0, -value)) * (1 + 1e-9)), told)


def overlaps(pairs: Iterable[tuple[frozenset[int], frozenset[int]]], population: int) -> list[Check]:
    """Of disjoint pairs of independent rounds, each uniform given its size."""
    kept = list(pairs)
    sizes = [(len(one), len(other) / population) for one, other in kept]
    shared = sum(len(one & other) for one, other in kept)
    return [sum_of_binomials("overlaps", shared, sizes, "units in both of two consecutive rounds")] if kept else []


def sum_of_binomials(name: str, found: int, parts: list[tuple[int, float]], text: str) -> Check:
    """Chernoff on both sides: E e^{sX} <= prod (1 - p + p e^s)^n, for s of either sign."""
    trials, chances = np.array([n for n, _ in parts], float), np.array([p for _, p in parts])
    mean = float(trials @ chances)
    sign = 1.0 if found > mean else -1.0
    with np.errstate(over="ignore"):
        log_moments = np.log1p(np.outer(np.expm1(sign * EXPONENTS), chances)) @ trials
    exponent = float(np.min(log_moments - sign * EXPONENTS * found))
    p_value = min(1.0, 2 * math.exp(min(0.0, exponent * (1 - 1e-9))) * (1 + 1e-9))
    return Check(name, p_value, f"{found} {text}; expected {mean:.6g}")


def repeats(rounds: Sequence[tuple[int, ...]], draws: int, population: int) -> Check:
    """Draws of a unit that its round had already: Chernoff by the exact law of how many different units come up."""
    different = np.zeros(draws + 1)
    different[0] = 1.0
    share = np.arange(draws + 1) / population
    for _ in range(draws):
        different[1:] = different[1:] * share[1:] + different[:-1] * np.maximum(1 - share[:-1], 0.0)
        different[0] = 0.0
    again = draws - np.arange(draws + 1)
    found, mean = sum(draws - len(set(cohort)) for cohort in rounds), len(rounds) * float(different @ again)
    sign = 1.0 if found > mean else -1.0
    with np.errstate(divide="ignore"):
        logs = special.logsumexp(np.log(different) + sign * np.outer(EXPONENTS, again), axis=1)
    exponent = float(np.min(len(rounds) * logs - sign * EXPONENTS * found))
    p_value = min(1.0, 2 * math.exp(min(0.0, exponent * (1 - 1e-9))) * (1 + 1e-9))
    return Check("repeats", p_value, f"{found} draws of a unit that its round had already; expected {mean:.6g}")
