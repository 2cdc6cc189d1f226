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
  their sum over disjoint pairs of rounds. Batches of one epoch share none. (Drawn with replacement, they share exactly
  binomially many draws, and repeat units within a round as often as the law of occupied cells says.)
- *same place*: units that are in the same batch of two consecutive epochs; a permutation's hits are negatively
  associated, so the same bound holds. A loader that shuffles once, or never, has all of them.
- *unit counts*, *pairs*, *gaps*, *repeats*: units.py.
- *one group*: with cyclic Poisson cohorts the rounds of a unit are all the same modulo the number of groups.

Bins that are drawn once, and coins that keep a distance: separated.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ...mechanisms import (
    Cyclic,
    FixedSize,
    InputError,
    Mechanism,
    Poisson,
    RandomAllocation,
    Shuffled,
    TruncatedPoisson,
    WithReplacement,
    rounds_by_step,
)
from ...mechanisms.notebook import InNotebook
from ...mechanisms.validate import count, open_probability, rate
from .checks import (
    Check,
    Rounds,
    even_sizes,
    even_sizes_in_blocks,
    largest,
    never,
    overlaps,
    repeats,
    sum_of_binomials,
    total,
    two_sided,
)
from .units import Strand, pairs_in_blocks, unit_checks


@dataclass(frozen=True, slots=True)
class ScheduleAudit(InNotebook):
    """refuted: some check's p-value is at most its share of the error probability, so that a log of the very scheme is
    refuted with at most that probability. schedule: the log's file."""

    scheme: str
    rounds: int
    error: float
    checks: tuple[Check, ...]
    schedule: str | None = None

    @property
    def refuted(self) -> bool:
        return any(check.p_value <= self.error / len(self.checks) for check in self.checks)

    def __str__(self) -> str:
        first = f"{self.rounds} rounds against {self.scheme}, with a probability of error of at most {self.error:g}:"
        verdict = "refuted: this was not sampled so" if self.refuted else "not refuted, which proves nothing"
        lines = [f"  {check.name}: {check.text} (p at most {check.p_value:.3g})" for check in self.checks]
        return "\n".join([first, *lines, verdict])

    def to_json(self) -> dict[str, Any]:
        """Plain data, under the names of the fields."""
        named = asdict(self)
        return {"refuted": self.refuted, **{key: value for key, value in named.items() if value is not None}}


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
    if isinstance(step, WithReplacement):
        checks = _replaced(step, cohorts, size)
    else:
        checks = _checks(step, distinct(cohorts, size), size)
    return ScheduleAudit(type(step).__name__, len(cohorts), error, tuple(checks))


def audit_cyclic_poisson(
    groups: int, sampling_rate: float, cohorts: Sequence[Sequence[int]], population: int, error: float = 1e-6
) -> ScheduleAudit:
    """The same for cyclic Poisson cohorts: in round i the units of group i modulo `groups` each flip a coin.

    The groups are of one size; which unit is in which is read off the log. Raises InputError as audit_schedule does.
    """
    size, open_rate = count("population", population), rate("sampling_rate", sampling_rate)
    open_probability("error", error)
    if size % count("groups", groups):
        raise InputError("groups", groups, f"a divisor of the population, {size}: groups of one size")
    rounds = distinct(cohorts, size)
    if not rounds:
        raise InputError("cohorts", 0, "at least one round")
    groups_of: dict[int, set[int]] = {}
    for at, cohort in enumerate(rounds):
        for unit in cohort:
            groups_of.setdefault(unit, set()).add(at % groups)
    astray = sum(len(found) > 1 for found in groups_of.values())
    again = [
        (rounds[at], rounds[at + groups])
        for start in range(0, len(rounds), 2 * groups)
        for at in range(start, min(start + groups, len(rounds) - groups))
    ]
    checks = [
        never("one group", astray, "units in the rounds of several groups"),
        *_coins(open_rate, rounds, size // groups),
        *overlaps(again, size // groups),
    ]
    if not astray:
        checks += unit_checks(_groups(rounds, groups, size // groups, open_rate))
    return ScheduleAudit("CyclicPoisson", len(rounds), error, tuple(checks))


def _groups(rounds: Rounds, groups: int, size: int, coin: float) -> list[Strand]:
    """The rounds of each group, its units numbered from 0 in the order of their own numbers."""
    found = []
    for start in range(min(groups, len(rounds))):
        own = rounds[start::groups]
        names = {unit: number for number, unit in enumerate(sorted(frozenset().union(*own)))}
        found.append(Strand([frozenset(names[unit] for unit in cohort) for cohort in own], max(size, len(names)), coin))
    return found


def distinct(cohorts: Sequence[Sequence[int]], population: int) -> Rounds:
    """The cohorts as sets. Raises InputError for a unit that is there twice, or not of the population."""
    rounds = []
    for at, cohort in enumerate(cohorts):
        units = frozenset(count(f"cohorts[{at}]", unit, least=0) for unit in cohort)
        if len(units) != len(cohort) or any(unit >= population for unit in units):
            expected = f"different units, numbered from 0 to {population - 1}"
            raise InputError(f"cohorts[{at}]", list(cohort)[:5], expected)
        rounds.append(units)
    return rounds


def _consecutive(rounds: Rounds) -> Iterable[tuple[frozenset[int], frozenset[int]]]:
    return zip(rounds[::2], rounds[1::2], strict=False)


def _coins(sampling_rate: float, rounds: Rounds, population: int) -> list[Check]:
    """Rounds for which `population` units flip a coin each."""
    return [
        total(sampling_rate, rounds, population),
        even_sizes(sampling_rate, rounds, population),
        largest(sampling_rate, rounds, population),
    ]


def _replaced(step: WithReplacement, cohorts: Sequence[Sequence[int]], population: int) -> list[Check]:
    rounds = [tuple(count(f"cohorts[{at}]", unit, least=0) for unit in cohort) for at, cohort in enumerate(cohorts)]
    for at, units in enumerate(rounds):
        if any(unit >= population for unit in units):
            raise InputError(f"cohorts[{at}]", list(units)[:5], f"units, numbered from 0 to {population - 1}")
    wrong = sum(len(units) != step.draws for units in rounds)
    checks = [never("size", wrong, f"rounds without exactly {step.draws} draws, repeated ones counted")]
    if wrong:
        return checks
    pairs = [(frozenset(one), other) for one, other in zip(rounds[::2], rounds[1::2], strict=False)]
    hits = sum(unit in one for one, other in pairs for unit in other)
    parts = [(step.draws, len(one) / population) for one, _ in pairs]
    if pairs:
        checks.append(sum_of_binomials("overlaps", hits, parts, "draws of units of the round before"))
    checks.append(repeats(rounds, step.draws, population))
    return [*checks, *unit_checks([Strand([frozenset(units) for units in rounds], population)])]


def _checks(step: Mechanism, rounds: Rounds, population: int) -> list[Check]:
    if isinstance(step, Poisson):
        checks = _coins(step.sampling_rate, rounds, population)
        strand = Strand(rounds, population, step.sampling_rate)
        return [*checks, *overlaps(_consecutive(rounds), population), *unit_checks([strand])]
    if isinstance(step, TruncatedPoisson):
        over = sum(len(cohort) > step.max_cohort for cohort in rounds)
        return [
            never("too large", over, f"rounds of more than {step.max_cohort} units"),
            *overlaps(_consecutive(rounds), population),
            *unit_checks([Strand(rounds, population)]),
        ]
    if isinstance(step, FixedSize):
        wrong = sum(len(cohort) != step.cohort for cohort in rounds)
        return [
            never("size", wrong, f"rounds without exactly {step.cohort} units"),
            *overlaps(_consecutive(rounds), population),
            *unit_checks([Strand(rounds, population)]),
        ]
    if isinstance(step, Shuffled | Cyclic):
        return _epochs(step, rounds, population)
    if isinstance(step, RandomAllocation):
        return _blocks(step, rounds, population)
    expected = (
        "rounds sampled by Poisson, TruncatedPoisson, FixedSize, WithReplacement, Shuffled, Cyclic or RandomAllocation"
    )
    raise InputError("run", step, expected)


def _epochs(step: Shuffled | Cyclic, rounds: Rounds, population: int) -> list[Check]:
    epochs = [rounds[start : start + step.batches] for start in range(0, len(rounds), step.batches)]
    size = len(rounds[0])
    uneven = sum(
        len(batch) > size or (len(batch) < size and place + 1 < len(epoch))
        for epoch in epochs
        for place, batch in enumerate(epoch)
    )
    missing = sum(len(frozenset().union(*epoch)) != population for epoch in epochs)
    checks = [
        never("size", uneven, f"batches without exactly {size} units, but for smaller last ones"),
        never("once an epoch", missing, "epochs in which some unit is missing"),
    ]
    if isinstance(step, Cyclic):
        return [*checks, never("same order", sum(epoch != epochs[0] for epoch in epochs), "passes in another order")]
    pairs = list(zip(epochs[::2], epochs[1::2], strict=False))
    hits = sum(len(one & other) for first, second in pairs for one, other in zip(first, second, strict=True))
    places = Counter(len(batch) for first, _ in pairs for batch in first)
    parts = [(of_size * units, units / population) for units, of_size in places.items()]
    if pairs:
        checks.append(sum_of_binomials("same place", hits, parts, "units in the same batch again"))
    return checks if missing or uneven else [*checks, *pairs_in_blocks(epochs, population)]


def _blocks(step: RandomAllocation, rounds: Rounds, population: int) -> list[Check]:
    blocks = [rounds[start : start + step.rounds] for start in range(0, len(rounds), step.rounds)]
    wrong = 0
    for block in blocks:
        times = np.bincount([unit for cohort in block for unit in cohort], minlength=population)
        wrong += int(np.any(times != step.participations))
    rate = step.participations / step.rounds
    checks = [never("once a block", wrong, f"blocks in which not every unit is in {step.participations} rounds")]
    if step.participations == 1 and step.rounds > 1 and not wrong:
        checks.append(even_sizes_in_blocks(blocks, population))
    elif step.participations < step.rounds:
        checks.append(even_sizes(rate, [block[0] for block in blocks], population))
    pairs = list(zip(blocks[::2], blocks[1::2], strict=False))
    if pairs and step.participations == 1:
        hits = sum(len(one & other) for first, second in pairs for one, other in zip(first, second, strict=True))
        checks.append(two_sided("same place", hits, population * len(pairs), rate, "units in the same round again"))
    if step.participations == 1 and not wrong:
        checks += pairs_in_blocks(blocks, population)
    return checks
