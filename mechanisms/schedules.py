"""Who takes part in which round: samplers that draw exactly what each scheme describes.

Every probability is the exact fraction that its double is, every choice uniform over whole numbers, from the operating
system's generator unless a seeded one is named. Units are numbered from 0.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from .base import Mechanism
from .cohorts import Cyclic, RandomAllocation, WithReplacement
from .coins import heads
from .composition import rounds_by_step
from .randomness import BitSource, SecureSource
from .sampled import FixedSize, Poisson, Shuffled, TruncatedPoisson
from .validate import InputError, count, rate

Cohort = list[int]

_SECURE = SecureSource()


def draw_schedule(run: Mechanism, population: int, source: BitSource = _SECURE) -> list[Cohort]:
    """The cohorts of all rounds of a run, in order; each sorted, with a unit once for each time that it was drawn.

    population: how many units there are; where the scheme states it, the same number. A run of several phases is drawn
    phase by phase, equal ones together. Raises InputError for a scheme that has no sampler, or does not fit.

    >>> from dpcert.mechanisms import Gaussian, Repeat
    >>> from dpcert.mechanisms.randomness import SeededTestSource
    >>> draw_schedule(Repeat(Shuffled(Gaussian(1.0), 3), 2), 6, SeededTestSource(0))
    [[3, 5], [0, 1], [2, 4], [2, 3], [4, 5], [0, 1]]
    """
    size = count("population", population)
    stated = {getattr(step, "population", size) for step in rounds_by_step(run)}
    if stated != {size}:
        raise InputError("population", population, f"the scheme's own, {max(stated)}")
    return [
        cohort
        for step, times in rounds_by_step(run).items()
        for _ in range(times)
        for cohort in _draw(step, size, source)
    ]


def draw_cyclic_poisson(
    groups: int, sampling_rate: float, rounds: int, population: int, source: BitSource = _SECURE
) -> list[Cohort]:
    """The cohorts of cyclic Poisson sampling (cyclic_poisson.py): unit u is in group u modulo `groups`, and in round i
    each unit of group i modulo `groups` takes part with probability sampling_rate.

    Raises InputError for values out of range.

    groups: number of groups that take turns, at least 1.

    >>> from dpcert.mechanisms.randomness import SeededTestSource
    >>> draw_cyclic_poisson(2, 0.5, 4, 6, SeededTestSource(0))
    [[4], [], [], [1, 3]]
    """
    parts, share = count("groups", groups), rate("sampling_rate", sampling_rate)
    units = count("population", population)
    return [
        [at % parts + parts * place for place in _poisson(share, len(range(at % parts, units, parts)), source)]
        for at in range(count("rounds", rounds))
    ]


def _draw(step: Mechanism, population: int, source: BitSource) -> list[Cohort]:
    """The rounds that one description covers: one, an epoch, a pass or a block."""
    drawers: dict[type[Mechanism], Callable[[], list[Cohort]]] = {
        Poisson: lambda: [_poisson(step.sampling_rate, population, source)],  # type: ignore[attr-defined]
        TruncatedPoisson: lambda: [_truncated(step, population, source)],  # type: ignore[arg-type]
        WithReplacement: lambda: [sorted(source.below(population) for _ in range(step.draws))],  # type: ignore[attr-defined]
        FixedSize: lambda: [sorted(_subset(population, step.cohort, source))],  # type: ignore[attr-defined]
        Shuffled: lambda: _shuffled(step, population, source),  # type: ignore[arg-type]
        Cyclic: lambda: _batches(list(range(population)), step.batches),  # type: ignore[attr-defined]
        RandomAllocation: lambda: _allocated(step, population, source),  # type: ignore[arg-type]
    }
    if type(step) not in drawers:
        raise InputError("run", step, "rounds sampled by " + ", ".join(scheme.__name__ for scheme in drawers))
    return drawers[type(step)]()


def _poisson(sampling_rate: float, population: int, source: BitSource) -> Cohort:
    return heads(Fraction(sampling_rate), population, source)


def _truncated(step: TruncatedPoisson, population: int, source: BitSource) -> Cohort:
    coins = _poisson(step.sampling_rate, population, source)
    kept = _subset(len(coins), min(step.max_cohort, len(coins)), source)
    return sorted(coins[at] for at in kept)


def _shuffled(step: Shuffled, population: int, source: BitSource) -> list[Cohort]:
    if step.full_batches == step.batches and population % step.batches:
        raise InputError("population", population, f"a multiple of {step.batches}: all batches are of one size")
    return _batches(_subset(population, population, source), step.batches)


def _allocated(step: RandomAllocation, population: int, source: BitSource) -> list[Cohort]:
    cohorts: list[Cohort] = [[] for _ in range(step.rounds)]
    for unit in range(population):
        for at in _subset(step.rounds, step.participations, source):
            cohorts[at].append(unit)
    return cohorts


def _subset(population: int, size: int, source: BitSource) -> list[int]:
    """A uniformly random sequence of `size` different numbers below population (Fisher and Yates)."""
    moved: dict[int, int] = {}
    chosen = []
    for last in range(population, population - size, -1):
        at = source.below(last)
        chosen.append(moved.get(at, at))
        moved[at] = moved.get(last - 1, last - 1)
    return chosen


def _batches(order: list[int], batches: int) -> list[Cohort]:
    """Batches of one size, but for a smaller last one."""
    size = -(-len(order) // batches)
    if (batches - 1) * size >= len(order):
        raise InputError("population", len(order), f"units for {batches} batches of one size, the last may be smaller")
    return [sorted(order[start : start + size]) for start in range(0, len(order), size)]
