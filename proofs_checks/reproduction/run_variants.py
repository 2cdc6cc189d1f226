"""The other runs that a description is mistaken for: the conventions about WHAT ran, not about what it costs.

Each variant names the changes that lead to it. They are the differences found between published numbers and
their descriptions: cohorts of fixed size accounted as Poisson's, replace-one neighbours with add-remove's
sensitivity, rounds rounded up or down to whole epochs, another population, delta = 1/population. The candidates for
the population behind a sampling rate are a small, named list, so that chance matches stay rare and can be counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from ...mechanisms import (
    FixedSize,
    Gaussian,
    Mechanism,
    Notion,
    Poisson,
    PrivacyNotion,
    RandomAllocation,
    RandomizedResponse,
    Relation,
    Repeat,
    Sequence,
    Shuffled,
    rounds_by_step,
)
from ...mechanisms.composition import has_step


@dataclass(frozen=True, slots=True)
class Variant:
    """A run, its target delta and its neighbours, and how it differs from what was described."""

    run: Mechanism
    delta: float
    neighbouring: Relation
    changes: tuple[str, ...] = ()
    notion: Notion = PrivacyNotion.DP

    def changed(self, change: str, **fields: object) -> Variant:
        """The same with some fields replaced and the change named."""
        return replace(self, changes=(*self.changes, change), **fields)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Reading:
    """Another run that the source means, or accounts for, by its own words; `change` says what is read otherwise."""

    change: str
    run: Mechanism
    neighbouring: Relation


@dataclass(frozen=True, slots=True)
class Simple:
    """A run that is one sampled mechanism, repeated: the sampler, what it samples, its rate and the rounds."""

    sampler: Poisson | FixedSize | Shuffled
    rate: float
    rounds: int


def simple(run: Mechanism) -> Simple | None:
    """The run as one repeated sampler (rounds of a shuffled run are its batches); None for any other run."""
    parts = rounds_by_step(run)
    part, rounds = next(iter(parts.items()))
    if len(parts) > 1 or not isinstance(part, Poisson | FixedSize | Shuffled):
        return None
    if isinstance(part, Shuffled):
        return Simple(part, 1 / part.batches, rounds * part.batches)
    return Simple(part, part.sampling_rate, rounds)


def rewritten(run: Mechanism, change: Callable[[Mechanism], Mechanism]) -> Mechanism:
    """The run with every single-round mechanism (sampler included) and every Repeat passed through `change`."""
    if isinstance(run, Sequence):
        return Sequence(tuple(rewritten(part, change) for part in run.mechanisms))
    if isinstance(run, Repeat):
        return change(Repeat(rewritten(run.mechanism, change), run.rounds))
    return change(run)


def main_variants(described: Variant) -> Iterator[Variant]:
    """As described; and, where that differs, as the usual accountants would take it: Poisson, add-remove."""
    yield described
    poisson = rewritten(described.run, _as_poisson)
    usual = described
    if poisson != described.run:
        usual = usual.changed(AS_POISSON, run=poisson)
    if described.neighbouring != Relation.ADD_REMOVE and not _only_replace_one(poisson):
        usual = usual.changed(f"add-remove instead of {described.neighbouring}", neighbouring=Relation.ADD_REMOVE)
    if described.notion != PrivacyNotion.DP:
        usual = usual.changed(f"plain DP instead of {described.notion}", notion=PrivacyNotion.DP)
    if usual != described:
        yield usual


AS_POISSON = "cohorts accounted as Poisson's"


def neighbour_variants(described: Variant) -> Iterator[Variant]:
    """The other neighbouring relations."""
    others: tuple[Relation, ...] = (Relation.ADD_REMOVE, Relation.REPLACE_ONE, Relation.ZERO_OUT)
    for other in others:
        if other != described.neighbouring:
            yield described.changed(f"{other} instead of {described.neighbouring}", neighbouring=other)


def round_variants(described: Variant) -> Iterator[Variant]:
    """Rounds one more or less, and whole epochs of floor(1/rate) or ceil(1/rate) rounds."""
    found = simple(described.run)
    if found is None or isinstance(found.sampler, Shuffled):
        return
    rate, rounds = found.rate, found.rounds
    epochs = round(rounds * rate)
    candidates = {rounds - 1: "one round less", rounds + 1: "one round more"}
    if epochs >= 1:
        candidates |= {
            math.floor(epochs / rate): f"{epochs} epochs, rounds rounded down",
            math.ceil(epochs / rate): f"{epochs} epochs, rounds rounded up",
            epochs * math.floor(1 / rate): f"{epochs} epochs of floor(1/rate) rounds",
            epochs * math.ceil(1 / rate): f"{epochs} epochs of ceil(1/rate) rounds",
        }
    for other, change in candidates.items():
        if other >= 1 and other != rounds:
            yield described.changed(f"{change} ({other})", run=Repeat(found.sampler, other))


def _as_poisson(part: Mechanism) -> Mechanism:
    if isinstance(part, FixedSize):
        return Poisson(part.mechanism, part.sampling_rate)
    if isinstance(part, Shuffled):
        return Repeat(Poisson(part.mechanism, 1 / part.batches), part.batches)
    if isinstance(part, RandomAllocation):
        return Repeat(Poisson(part.mechanism, part.participations / part.rounds), part.rounds)
    return part


def _only_replace_one(run: Mechanism) -> bool:
    return has_step(run, RandomizedResponse)


SPLITS = (Fraction(9, 10), Fraction(11, 12), Fraction(5, 6), Fraction(4, 5))
"""Shares of a data set that are usually trained on, the rest being held out: 45,000 of 50,000 for CIFAR-10;
55,000 and 50,000 of 60,000 for MNIST; four fifths. The inverse is tried too: the description counts the share,
the number was made with all."""

_MANY = 10_000
"""Populations from here on are also tried rounded to thousands."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Population and (expected) cohort as stated; None: not stated."""

    population: int | None = None
    cohort: int | None = None


NOT_STATED = Sizes()


def scheme_variants(described: Variant, sizes: Sizes) -> Iterator[Variant]:
    """The same noise under the other sampling schemes, and under none."""
    bare = rewritten(described.run, _unsampled)
    if bare != described.run:
        yield described.changed("no amplification by sampling", run=bare)
        if described.notion == PrivacyNotion.DP and described.neighbouring != Relation.ADD_REMOVE:
            yield described.changed("participation visible to the others", notion=PrivacyNotion.BILLBOARD)
    found = simple(described.run)
    if found is None:
        return
    base = found.sampler.mechanism
    if not isinstance(found.sampler, Poisson):
        yield described.changed(AS_POISSON, run=Repeat(Poisson(base, found.rate), found.rounds))
    if not isinstance(found.sampler, FixedSize):
        yield from _as_fixed_size(described, found, sizes)
    yield from _once_an_epoch(described, found)


def _as_fixed_size(described: Variant, found: Simple, sizes: Sizes) -> Iterator[Variant]:
    """Cohorts of a fixed size; with replace-one too, which is the relation that they are usually accounted under."""
    counted = _population_and_cohort(found.rate, sizes)
    if counted is None:
        return
    run = Repeat(FixedSize(found.sampler.mechanism, *counted), found.rounds)
    fixed = described.changed("cohorts accounted as of fixed size", run=run)
    yield fixed
    if described.neighbouring == Relation.ADD_REMOVE:
        yield fixed.changed("replace-one instead of add-remove", neighbouring=Relation.REPLACE_ONE)


def _population_and_cohort(rate: float, sizes: Sizes) -> tuple[int, int] | None:
    """As stated, or the least numbers with that rate (only the rate matters to the accountants)."""
    if sizes.population and sizes.cohort and math.isclose(sizes.cohort / sizes.population, rate, rel_tol=1e-9):
        return sizes.population, sizes.cohort
    share = Fraction(rate).limit_denominator(1_000_000)
    return (share.denominator, share.numerator) if math.isclose(share, rate, rel_tol=1e-9) else None


def _once_an_epoch(described: Variant, found: Simple) -> Iterator[Variant]:
    """Shuffled or fixed batches: every unit takes part once an epoch. Without the shuffle that amplifies nothing."""
    base, epochs = found.sampler.mechanism, math.ceil(round(found.rounds * found.rate, 9))
    if epochs < found.rounds:
        change = f"one participation in each of {epochs} epochs, as with shuffled batches"
        yield described.changed(change, run=Repeat(base, epochs))
    if isinstance(base, Gaussian) and not isinstance(found.sampler, Shuffled):
        shuffled = described.changed("batches shuffled", run=Repeat(Shuffled(base, round(1 / found.rate)), epochs))
        if described.neighbouring == Relation.ADD_REMOVE:
            shuffled = shuffled.changed("zero-out instead of add-remove", neighbouring=Relation.ZERO_OUT)
        yield shuffled


def population_variants(described: Variant, sizes: Sizes) -> Iterator[Variant]:
    """Another population behind the sampling rate, a rounded rate, and delta = 1/population."""
    found = simple(described.run)
    if found is None or isinstance(found.sampler, Shuffled):
        return
    if isinstance(found.sampler, FixedSize):
        yield from _fixed_populations(described, found, found.sampler)
    else:
        yield from _poisson_populations(described, found, sizes)
    population = sizes.population or getattr(found.sampler, "population", None)
    if population and not math.isclose(1 / population, described.delta, rel_tol=1e-3) and population > 1:
        yield described.changed("delta = 1/population", delta=1 / population)


def _fixed_populations(described: Variant, found: Simple, sampler: FixedSize) -> Iterator[Variant]:
    for other, why in _populations(sampler.population, sampler.cohort, described.delta).items():
        changed = Repeat(FixedSize(sampler.mechanism, other, sampler.cohort), found.rounds)
        yield described.changed(f"population {other} instead of {sampler.population} ({why})", run=changed)


def _poisson_populations(described: Variant, found: Simple, sizes: Sizes) -> Iterator[Variant]:
    """Rates: of the other populations where one is stated, else of the usual shares of an unknown one."""
    rate, rates = found.rate, dict[float, str]()
    if sizes.population:
        cohort = sizes.cohort or rate * sizes.population
        for other, why in _populations(sizes.population, cohort, described.delta).items():
            rates.setdefault(cohort / other, f"population {other} instead of {sizes.population} ({why})")
    else:
        for share in (*SPLITS, *(1 / split for split in SPLITS)):
            rates.setdefault(rate / float(share), f"{share} of the population behind the rate")
        for batches, why in {math.floor(1 / rate + 1e-9): "floor", math.ceil(1 / rate - 1e-9): "ceil"}.items():
            rates.setdefault(1 / batches, f"{why}(1/rate) = {batches} batches an epoch")
    for digits in (1, 2, 3):
        rounded = float(f"{rate:.{digits}g}")
        rates.setdefault(rounded, f"sampling rate rounded to {rounded:g}")
    for other_rate, change in rates.items():
        if other_rate <= 1 and not math.isclose(other_rate, rate, rel_tol=1e-9):
            run: Mechanism = Repeat(Poisson(found.sampler.mechanism, other_rate), found.rounds)
            yield described.changed(change, run=run)


def _populations(stated: int, cohort: float, delta: float) -> dict[int, str]:
    """The candidates, each with the reason for trying it."""
    candidates = {stated - 1: "one less", stated + 1: "one more"}
    for share in (*SPLITS, *(1 / split for split in SPLITS)):
        candidates.setdefault(round(stated * share), f"{share} of it")
    if stated >= _MANY:
        candidates.setdefault(round(stated, -3), "rounded to thousands")
    candidates.setdefault(math.floor(stated / cohort) * math.floor(cohort), "floor(population / cohort) whole batches")
    candidates.setdefault(math.ceil(stated / cohort) * math.ceil(cohort), "ceil(population / cohort) whole batches")
    candidates.setdefault(round(1 / delta), "1/delta")
    return {other: why for other, why in candidates.items() if other != stated and other >= max(cohort, 1)}


def _unsampled(part: Mechanism) -> Mechanism:
    return part.mechanism if isinstance(part, Poisson | FixedSize) else part
