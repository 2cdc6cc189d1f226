"""The other runs that a description is mistaken for: the conventions about WHAT ran, not about what it costs.

Each variant names the changes that lead to it. They are the differences found between published numbers and
their descriptions: cohorts of fixed size accounted as Poisson's, replace-one neighbours with add-remove's
sensitivity, rounds rounded up or down to whole epochs, another population, delta = 1/population. Who takes part
(sampling schemes, populations) has a file of its own, cohort_variants.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ...mechanisms import (
    FixedSize,
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
    return any(isinstance(part, RandomizedResponse) for part in rounds_by_step(run))
