"""The other runs that a description is mistaken for: the conventions about WHAT ran, not about what it costs.

Each variant names the changes that lead to it. They are the differences found between published numbers and
their descriptions: cohorts of fixed size accounted as Poisson's, replace-one neighbours with add-remove's
sensitivity, rounds rounded up or down to whole epochs, a population off by one, delta = 1/population.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ...mechanisms import (
    FixedSize,
    Gaussian,
    Mechanism,
    Neighbouring,
    Poisson,
    RandomizedResponse,
    Repeat,
    Sequence,
    Shuffled,
    Zcdp,
    rounds_by_step,
)
from .printed import significant_digits


@dataclass(frozen=True, slots=True)
class Variant:
    """A run, its target delta and its neighbours, and how it differs from what was described."""

    run: Mechanism
    delta: float
    neighbouring: Neighbouring
    changes: tuple[str, ...] = ()
    notion: str = "dp"

    def changed(self, change: str, **fields: object) -> Variant:
        """The same with some fields replaced and the change named."""
        return replace(self, changes=(*self.changes, change), **fields)  # type: ignore[arg-type]


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
        usual = usual.changed("cohorts accounted as Poisson's", run=poisson)
    if described.neighbouring != "add-remove" and not _only_replace_one(poisson):
        usual = usual.changed(f"add-remove instead of {described.neighbouring}", neighbouring="add-remove")
    if described.notion != "dp":
        usual = usual.changed(f"plain DP instead of {described.notion}", notion="dp")
    if usual != described:
        yield usual


def more_variants(described: Variant) -> Iterator[Variant]:
    """Further single changes to a variant: neighbours, sampling, whole epochs, population, delta."""
    yield from _other_neighbours(described)
    bare = rewritten(described.run, _unsampled)
    if bare != described.run:
        yield described.changed("no amplification by sampling", run=bare)
        if described.notion == "dp" and described.neighbouring != "add-remove":
            yield described.changed("participation visible to the others", notion="billboard")
    yield from _other_rounds(described)
    yield from _other_populations(described)


def parameter_ends(run: Mechanism) -> tuple[str, Mechanism, Mechanism] | None:
    """The run at both ends of what its rounded noise parameter (3 or 4 digits) may stand for; None if not rounded.

    Returns the parameter's name and the runs with the cheaper and the dearer end.
    """
    found: list[str] = []

    def end(sign: int) -> Callable[[Mechanism], Mechanism]:
        def change(part: Mechanism) -> Mechanism:
            if isinstance(part, Poisson | FixedSize):
                return replace(part, mechanism=change(part.mechanism))
            for kind, name, cheaper in ((Gaussian, "noise_multiplier", 1), (Zcdp, "rho", -1)):
                if isinstance(part, kind) and 3 <= significant_digits(getattr(part, name)) <= 4:
                    found.append(name)
                    value = getattr(part, name)
                    return replace(part, **{name: value + sign * cheaper * _half_unit(value)})
            return part

        return change

    cheap, dear = rewritten(run, end(1)), rewritten(run, end(-1))
    return (found[0], cheap, dear) if found else None


def _half_unit(value: float) -> float:
    return 0.5 * 10.0 ** (math.floor(math.log10(value)) + 1 - significant_digits(value))


def _as_poisson(part: Mechanism) -> Mechanism:
    if isinstance(part, FixedSize):
        return Poisson(part.mechanism, part.sampling_rate)
    if isinstance(part, Shuffled):
        return Repeat(Poisson(part.mechanism, 1 / part.batches), part.batches)
    return part


def _unsampled(part: Mechanism) -> Mechanism:
    return part.mechanism if isinstance(part, Poisson | FixedSize) else part


def _only_replace_one(run: Mechanism) -> bool:
    return any(isinstance(part, RandomizedResponse) for part in rounds_by_step(run))


def _other_neighbours(described: Variant) -> Iterator[Variant]:
    others: tuple[Neighbouring, ...] = ("add-remove", "replace-one", "zero-out")
    for other in others:
        if other != described.neighbouring:
            yield described.changed(f"{other} instead of {described.neighbouring}", neighbouring=other)


def _sampler(run: Mechanism) -> tuple[Repeat, Poisson | FixedSize] | None:
    """The one repeated, sampled mechanism of a simple run."""
    if isinstance(run, Repeat) and isinstance(run.mechanism, Poisson | FixedSize):
        return run, run.mechanism
    return None


def _other_rounds(described: Variant) -> Iterator[Variant]:
    """Rounds one more or less, and whole epochs of floor(1/rate) or ceil(1/rate) rounds."""
    simple = _sampler(described.run)
    if simple is None:
        return
    repeat, sampled = simple
    rate, rounds = sampled.sampling_rate, repeat.rounds
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
            yield described.changed(f"{change} ({other})", run=Repeat(sampled, other))


def _other_populations(described: Variant) -> Iterator[Variant]:
    """A population off by one, and delta = 1/population, where the population is known."""
    simple = _sampler(described.run)
    if simple is None:
        return
    repeat, sampled = simple
    if not isinstance(sampled, FixedSize):
        return
    for other in (sampled.population - 1, sampled.population + 1):
        if other >= sampled.cohort:
            changed = Repeat(FixedSize(sampled.mechanism, other, sampled.cohort), repeat.rounds)
            yield described.changed(f"population {other} instead of {sampled.population}", run=changed)
    target = 1 / sampled.population
    if not math.isclose(target, described.delta, rel_tol=1e-3):
        yield described.changed("delta = 1/population", delta=target)
