"""Was a run sampled as it is accounted? The cohorts that it logged against the scheme, with a stated error probability.

The most common error in print is to account shuffled batches as Poisson cohorts. Checks of two kinds: what the scheme
never does (a batch too many, a unit twice in an epoch) refutes by itself; what it rarely does refutes with a p-value
that is a bound for every finite log, no asymptotics. Checks are fixed beforehand, and share the error probability.

- *total*: with N units and R rounds, participations are Bin(N R, rate) under Poisson cohorts.
- *even sizes*: how many rounds have a size within a band around the mean that the scheme fills with probability b:
  Bin(R, b) for independent sizes. Shuffled, cyclic and fixed-size cohorts fill it always.
- *largest*: sizes that never exceed a cut, or exceed what coins give.
- *overlaps*: given their sizes a and b, independent cohorts of consecutive rounds share Hypergeometric(N, a, b) units.
  That is below Bin(a, b/N) in the convex order (Hoeffding 1963, Theorem 4), so Chernoff's bound for binomials holds for
  their sum over disjoint pairs of rounds. Batches of one epoch share none.
- *same place*: units that are in the same batch of two consecutive epochs; a permutation's hits are negatively
  associated, so the same bound holds. A loader that shuffles once, or never, has all of them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from ...mechanisms import (
    Cyclic,
    FixedSize,
    InputError,
    Mechanism,
    Poisson,
    RandomAllocation,
    Shuffled,
    TruncatedPoisson,
    rounds_by_step,
)
from ...mechanisms.validate import count, open_probability
from .clopper_pearson import at_least, at_most

_BAND = 0.5
"""Half-width of the band of even sizes, in standard deviations: it holds about 38% of them."""

_EXPONENTS = np.geomspace(1e-4, 30.0, 400)


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison: p_value bounds the probability that the scheme gives something at least as far off; 0: never."""

    name: str
    p_value: float
    text: str


@dataclass(frozen=True, slots=True)
class ScheduleAudit:
    """refuted: some check's p-value is at most its share of the error probability, so that a log of the very scheme is
    refuted with at most that probability."""

    scheme: str
    rounds: int
    error: float
    checks: tuple[Check, ...]

    @property
    def refuted(self) -> bool:
        return any(check.p_value <= self.error / len(self.checks) for check in self.checks)


def audit_schedule(
    run: Mechanism, cohorts: Sequence[Sequence[int]], population: int, error: float = 1e-6
) -> ScheduleAudit:
    """Compare logged cohorts, one a round, of units numbered from 0, with the one scheme of the run.

    error: the probability with which a log that the scheme did draw is refuted, at most. Raises InputError for a log
    that is not one, and for runs of several schemes.
    """
    steps = list(rounds_by_step(run).items())
    if len(steps) != 1:
        raise InputError("run", run, "one sampling scheme throughout")
    step, times = steps[0]
    size = count("population", population)
    open_probability("error", error)
    together = step.batches if isinstance(step, Shuffled | Cyclic) else getattr(step, "rounds", 1)
    if len(cohorts) != times * together:
        raise InputError("cohorts", len(cohorts), f"one for each of the {times * together} rounds of the run")
    member = [_members(cohort, size, at) for at, cohort in enumerate(cohorts)]
    checks = _checks(step, member, size)
    return ScheduleAudit(type(step).__name__, len(cohorts), error, tuple(checks))


def _members(cohort: Sequence[int], population: int, at: int) -> frozenset[int]:
    units = frozenset(count(f"cohorts[{at}]", unit, least=0) for unit in cohort)
    if len(units) != len(cohort) or any(unit >= population for unit in units):
        raise InputError(f"cohorts[{at}]", list(cohort)[:5], f"different units, numbered from 0 to {population - 1}")
    return units


def _checks(step: Mechanism, rounds: list[frozenset[int]], population: int) -> list[Check]:
    if isinstance(step, Poisson):
        return [
            _total(step.sampling_rate, rounds, population),
            _even(step.sampling_rate, rounds, population),
            _largest(step.sampling_rate, rounds, population),
            *_overlaps(rounds, population),
        ]
    if isinstance(step, TruncatedPoisson):
        over = sum(len(cohort) > step.max_cohort for cohort in rounds)
        return [
            _never("too large", over, f"rounds of more than {step.max_cohort} units"),
            *_overlaps(rounds, population),
        ]
    if isinstance(step, FixedSize):
        wrong = sum(len(cohort) != step.cohort for cohort in rounds)
        return [_never("size", wrong, f"rounds without exactly {step.cohort} units"), *_overlaps(rounds, population)]
    if isinstance(step, Shuffled | Cyclic):
        return _epochs(step, rounds, population)
    if isinstance(step, RandomAllocation):
        return _blocks(step, rounds, population)
    raise InputError(
        "run", step, "rounds sampled by Poisson, TruncatedPoisson, FixedSize, Shuffled, Cyclic or RandomAllocation"
    )


def _never(name: str, found: int, text: str) -> Check:
    return Check(name, 0.0 if found else 1.0, f"{found} {text}")


def _two_sided(name: str, found: int, trials: int, probability: float, text: str) -> Check:
    tails = float(at_most(found, trials, probability)), float(at_least(found, trials, probability))
    return Check(name, min(1.0, 2 * min(tails)), f"{found} {text}; expected {trials * probability:.6g}")


def _total(rate: float, rounds: list[frozenset[int]], population: int) -> Check:
    return _two_sided("total", sum(map(len, rounds)), population * len(rounds), rate, "participations")


def _even(rate: float, rounds: list[frozenset[int]], population: int) -> Check:
    """Sizes are independent Bin(population, rate)."""
    low, high, share = _band(population, rate)
    inside = sum(low <= len(cohort) <= high for cohort in rounds)
    return _two_sided("even sizes", inside, len(rounds), share, f"rounds of {low} to {high} units")


def _band(population: int, rate: float) -> tuple[int, int, float]:
    """Sizes near the mean of Bin(population, rate), and their probability."""
    mean, deviation = population * rate, math.sqrt(population * rate * (1 - rate))
    low, high = math.ceil(mean - _BAND * deviation), math.floor(mean + _BAND * deviation)
    share = float(special.bdtr(high, population, rate) - special.bdtr(low - 1, population, rate))
    return low, high, min(max(share, 0.0), 1.0)


def _largest(rate: float, rounds: list[frozenset[int]], population: int) -> Check:
    """The largest of independent sizes: it is at most m with probability P[Bin(population, rate) <= m]^rounds."""
    largest = max(map(len, rounds))
    below = float(at_most(largest, population, rate)) ** len(rounds) * (1 + 1e-9)
    above = min(1.0, len(rounds) * float(at_least(largest, population, rate)))
    text = f"{largest} units in the largest round; expected about {population * rate:.6g} in each"
    return Check("largest", min(1.0, 2 * min(below, above)), text)


def _even_in_blocks(blocks: list[list[frozenset[int]]], population: int) -> Check:
    """One round each: sizes follow Bin(units left, 1/rounds left), given those before them in the block.

    For every s the product of e^{s inside} / (1 - b + b e^s), b the band's probability given the past, has expectation
    1, and so has its mean over several s: by Markov's inequality its inverse is a p-value.
    """
    logs = np.zeros(2 * _EXPONENTS.size)
    exponents = np.concatenate([_EXPONENTS, -_EXPONENTS])
    inside, expected = 0, 0.0
    for block in blocks:
        left = population
        for at, cohort in enumerate(block[:-1]):
            if left == 0:
                break
            low, high, share = _band(left, 1 / (len(block) - at))
            hit = low <= len(cohort) <= high
            logs += exponents * hit - np.log1p(share * np.expm1(exponents))
            inside, expected, left = inside + hit, expected + share, left - len(cohort)
    value = float(special.logsumexp(logs)) - math.log(logs.size)
    text = f"{inside} rounds of a size near the mean; expected {expected:.6g}"
    return Check("even sizes", min(1.0, math.exp(min(0.0, -value)) * (1 + 1e-9)), text)


def _overlaps(rounds: list[frozenset[int]], population: int) -> list[Check]:
    pairs = list(zip(rounds[::2], rounds[1::2], strict=False))
    sizes = [(len(one), len(other) / population) for one, other in pairs]
    shared = sum(len(one & other) for one, other in pairs)
    return [_sum_of_binomials("overlaps", shared, sizes, "units in both of two consecutive rounds")] if pairs else []


def _sum_of_binomials(name: str, found: int, parts: list[tuple[int, float]], text: str) -> Check:
    """Chernoff on both sides: E e^{sX} <= prod (1 - p + p e^s)^n, for s of either sign."""
    trials, chances = np.array([n for n, _ in parts], float), np.array([p for _, p in parts])
    mean = float(trials @ chances)
    sign = 1.0 if found > mean else -1.0
    with np.errstate(over="ignore"):
        log_moments = np.log1p(np.outer(np.expm1(sign * _EXPONENTS), chances)) @ trials
    exponent = float(np.min(log_moments - sign * _EXPONENTS * found))
    p_value = min(1.0, 2 * math.exp(min(0.0, exponent * (1 - 1e-9))) * (1 + 1e-9))
    return Check(name, p_value, f"{found} {text}; expected {mean:.6g}")


def _epochs(step: Shuffled | Cyclic, rounds: list[frozenset[int]], population: int) -> list[Check]:
    epochs = [rounds[start : start + step.batches] for start in range(0, len(rounds), step.batches)]
    size = len(rounds[0])
    uneven = sum(
        len(batch) > size or (len(batch) < size and place + 1 < len(epoch))
        for epoch in epochs
        for place, batch in enumerate(epoch)
    )
    missing = sum(len(frozenset().union(*epoch)) != population for epoch in epochs)
    checks = [
        _never("size", uneven, f"batches without exactly {size} units, but for smaller last ones"),
        _never("once an epoch", missing, "epochs in which some unit is missing"),
    ]
    if isinstance(step, Cyclic):
        return [*checks, _never("same order", sum(epoch != epochs[0] for epoch in epochs), "passes in another order")]
    pairs = list(zip(epochs[::2], epochs[1::2], strict=False))
    hits = sum(len(one & other) for first, second in pairs for one, other in zip(first, second, strict=True))
    places = Counter(len(batch) for first, _ in pairs for batch in first)
    parts = [(of_size * units, units / population) for units, of_size in places.items()]
    return [*checks, _sum_of_binomials("same place", hits, parts, "units in the same batch again")] if pairs else checks


def _blocks(step: RandomAllocation, rounds: list[frozenset[int]], population: int) -> list[Check]:
    blocks = [rounds[start : start + step.rounds] for start in range(0, len(rounds), step.rounds)]
    wrong = 0
    for block in blocks:
        times = np.bincount([unit for cohort in block for unit in cohort], minlength=population)
        wrong += int(np.any(times != step.participations))
    rate = step.participations / step.rounds
    checks = [_never("once a block", wrong, f"blocks in which not every unit is in {step.participations} rounds")]
    if step.participations == 1 and step.rounds > 1 and not wrong:
        checks.append(_even_in_blocks(blocks, population))
    elif step.participations < step.rounds:
        checks.append(_even(rate, [block[0] for block in blocks], population))
    pairs = list(zip(blocks[::2], blocks[1::2], strict=False))
    if pairs and step.participations == 1:
        hits = sum(len(one & other) for first, second in pairs for one, other in zip(first, second, strict=True))
        checks.append(_two_sided("same place", hits, population * len(pairs), rate, "units in the same round again"))
    return checks
