"""What a certificate states of a claim: the claim and its phases, as the format has them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from ...mechanisms import PrivacyNotion
from ...mechanisms.tables.cohort import CompositionTable, SamplingTable
from ...mechanisms.tables.correlated import CorrelatedTable
from ...mechanisms.tables.fields import KindTable
from ...mechanisms.tables.noise import GaussianMeanTable, RandomizedResponseTable
from ...mechanisms.tables.norms import Norm, NormedTable
from ...mechanisms.tables.phase import Phase
from ...mechanisms.tables.scheme import Scheme
from ..claims.claim import Claim
from ..claims.judged import issued
from ..claims.observers import observer_is_the_notion_s_own
from ..claims.statement import Statement
from .checker import format
from .restated import NoCertificate, is_restated, of_group, restated_rounds

Table = dict[str, Any]

_UNSAMPLED: Table = {"scheme": "none", "population": None, "cohort": None, "sampling_rate": None}


def stated(claim: Claim) -> Table:
    """Format, issued, claim and phases. Raises NoCertificate for what the format cannot describe."""
    if not observer_is_the_notion_s_own(claim):
        raise NoCertificate("the certificate's format has no such observer, and no noise that clients know a part of")
    units = claim.statement.group or 1
    return {
        "format": format.FORMAT,
        "issued": asdict(issued(claim)),
        "claim": _claim(claim.statement, restated(claim)),
        "phases": [table for phase in _apart(of_one_unit(claim)) for table in _phase(phase, claim.statement, units)],
    }


_STAYING_COSTS_MOST = {("gaussian", Scheme.NONE), ("laplace", Scheme.NONE)}
"""Noise with which a sum that moves by 2 costs at least what two sums that move by 1 do (theory/selection.md, "Moved
gradually"; the shifts of Gaussian releases add up as squares)."""


def of_one_unit(claim: Claim) -> tuple[Phase, ...]:
    """The phases that cost one unit, or a group, the most. Raises NoCertificate where it is not plain which ones do.

    Of like phases any; of Gaussian noise for everybody those with the largest (move / noise)^2, which add up.
    """
    most = claim.statement.phases_per_unit
    plain = {(phase.mechanism.kind, phase.sampling.scheme) for phase in claim.phases}
    if most is None or most == len(claim.phases):
        return claim.phases
    if claim.may_change_phases and not plain <= _STAYING_COSTS_MOST:
        raise NoCertificate("replacing a unit's data may move it to another phase, which a certificate cannot describe")
    if len(set(claim.phases)) == 1:
        return claim.phases[:most]
    if plain == {("gaussian", Scheme.NONE)}:
        return tuple(sorted(claim.phases, key=_square, reverse=True)[:most])
    raise NoCertificate("a certificate can only describe units whose data are in every phase")


def _apart(phases: Iterable[Phase]) -> Iterator[Phase]:
    """Several releases about everybody as so many rounds of each; those about one sample stay together."""
    for phase in phases:
        if phase.sampling.scheme != Scheme.NONE or (phase.is_single and _copies(phase.tables[0]) == 1):
            yield phase
            continue
        for table in phase.tables:
            alone, rounds = _once(table), phase.steps * _copies(table)
            composition = CompositionTable(rounds=rounds)
            yield phase.model_copy(update={"mechanism": alone, "composition": composition})


def _copies(table: KindTable) -> int:
    """Releases of one bound each: coordinates that are clipped one by one count as so many."""
    return table.releases * (table.coordinates if isinstance(table, NormedTable) else 1)


def _once(table: KindTable) -> KindTable:
    """One of them."""
    apart = isinstance(table, NormedTable) and table.norm == Norm.LINF
    return table.model_copy(update={"releases": 1} | ({"norm": Norm.NUMBER} if apart else {}))


def _square(phase: Phase) -> Fraction:
    noise = Fraction(repr(phase.mechanism.model_dump()["noise_multiplier"]))
    return phase.steps * _copies(phase.mechanism) / noise**2


def _claim(statement: Statement, note: str | None) -> Table:
    coalition = statement.notion != PrivacyNotion.DP and statement.coalition_sees_participation is not False
    span = statement.epsilon_interval
    return {
        "title": statement.title,
        "source": statement.source if note is None else f"{statement.source} [certified: {note}]",
        "epsilon": repr(statement.epsilon),
        "epsilon_interval": [repr(end) for end in span] if span else None,
        "delta": repr(statement.delta),
        "notion": statement.notion,
        "unit": statement.unit,
        "neighbouring": statement.neighbouring,
        "participation": "pooled" if coalition else "hidden",
    }


def _phase(phase: Phase, statement: Statement, units: int) -> list[Table]:
    """One phase of the format, or two where it has no such mechanism."""
    if any(table.is_without_noise for table in phase.tables):
        raise NoCertificate("the certificate format cannot describe a release without noise")
    if is_restated(phase):
        rounds = restated_rounds(phase, statement.neighbouring, units, statement.delta)
        return [{"mechanism": table, "sampling": _UNSAMPLED, "rounds": n} for table, n in rounds]
    table = _described(phase)
    if units == 1:
        return [table]
    if table["sampling"]["scheme"] != "none":
        raise NoCertificate("the certificate's format has no group in rounds that units are drawn for")
    return [table | {"mechanism": of_group(table["mechanism"], units)}]


def _described(phase: Phase) -> Table:
    if phase.sampling.scheme == Scheme.RANDOM_ALLOCATION:
        raise NoCertificate("the certificate's format has no random allocation")
    if phase.sampling.scheme == Scheme.CYCLIC_POISSON:
        raise NoCertificate("the certificate's format has no cyclic Poisson cohorts")
    if phase.sampling.scheme in (Scheme.BALLS_IN_BINS, Scheme.MIN_SEPARATED):
        raise NoCertificate("the certificate's format has no rounds that are drawn under correlated noise")
    if isinstance(phase.mechanism, CorrelatedTable):
        return _one_release(phase, phase.mechanism)
    if phase.sampling.scheme == Scheme.CYCLIC or phase.sampling.drops_units:
        return {
            "mechanism": _mechanism(phase),
            "sampling": _UNSAMPLED | {"population": phase.sampling.cohort},
            "rounds": phase.rounds,
        }
    return {
        "mechanism": _mechanism(phase),
        "sampling": _sampling(phase.sampling),
        "rounds": phase.steps,
    }


def _one_release(phase: Phase, mechanism: CorrelatedTable) -> Table:
    """Correlated noise, all rounds as one Gaussian release: the sensitivity as the weight of one unit in a sum."""
    squares = mechanism.released(phase.steps).squared_sensitivity()
    least, most = (_root(Fraction(square), direction) for square, direction in zip(squares, (-1, 1), strict=True))
    sizes = {"noise_std": repr(mechanism.noise_multiplier), "clip_norm": "1", "max_weight": most, "min_weight": least}
    return {"mechanism": {"kind": "gaussian-mean", **sizes}, "sampling": _UNSAMPLED, "rounds": 1}


def _root(square: Fraction, direction: int) -> str:
    """A decimal at or beyond the root, in one direction, by about 1e-16 of it."""
    root = math.sqrt(square)
    while (Fraction(repr(root)) ** 2 - square) * direction < 0:
        root = math.nextafter(root, direction * math.inf)
    return repr(root)


def restated(claim: Claim) -> str | None:
    """What the certificate speaks of where it cannot describe the claim's own mechanism; None where it does."""
    told = []
    if any(isinstance(phase.mechanism, CorrelatedTable) for phase in claim.phases):
        told.append(
            "all rounds of correlated noise as one Gaussian release, its sensitivity (max_weight) taken as given"
        )
    if any(phase.sampling.scheme == Scheme.CYCLIC for phase in claim.phases):
        told.append("each pass of a cyclic schedule as the one round that a unit takes part in")
    if any(phase.sampling.drops_units for phase in claim.phases):
        told.append("each shuffled epoch as the one round that a unit takes part in at most")
    statement, units = claim.statement, claim.statement.group or 1
    if any(not phase.is_single and phase.sampling.scheme != Scheme.NONE for phase in claim.phases):
        told.append("several releases about one sample as one Gaussian release, rounded outwards")
    for phase in filter(is_restated, _apart(claim.phases)):
        rounds = restated_rounds(phase, statement.neighbouring, units, statement.delta)
        told.append(f"{phase.mechanism.kind} as {' and '.join(_GIVEN[table['kind']] for table, _ in rounds)}")
    if units > 1:
        told.append(f"a group of {units} as one unit that moves as far as all of them together")
    if (statement.phases_per_unit or len(claim.phases)) < len(claim.phases):
        told.append(format.OF_SEVERAL)
    return "; ".join(dict.fromkeys(told)) or None


_GIVEN = {
    "pure-dp": "any mechanism of its pure epsilon, which is taken as given",
    "gradual": "any mechanism of its pure epsilon, proportional to how far its scores move, which is taken as given",
    "zcdp": "any mechanism of its rho-zCDP, which is taken as given",
    "approximate-dp": "any mechanism of an epsilon and a delta, which are taken as given",
    "three-valued": "its losses, which are taken as given",
    "gaussian": "Gaussian noise",
    "laplace": "Laplace noise",
}
"""What a mechanism that the format has not is certified as."""


def _mechanism(phase: Phase) -> Table:
    """The mechanism table as read: whole numbers as such, other numbers as their shortest decimals."""
    if not phase.is_single or _copies(phase.mechanism) > 1:
        return _on_one_sample(phase)
    mechanism = phase.mechanism
    if isinstance(mechanism, NormedTable) and mechanism.adds_up:
        raise NoCertificate(f"the certificate's format has no {mechanism.kind} noise of several numbers and a sample")
    if isinstance(mechanism, GaussianMeanTable):
        largest, least = _weights(mechanism, phase.sampling)
        sizes = {"noise_std": repr(mechanism.noise_std), "clip_norm": repr(mechanism.clip_norm)}
        return {"kind": mechanism.kind, **sizes, "max_weight": largest, "min_weight": least}
    if isinstance(mechanism, RandomizedResponseTable):
        return {"kind": mechanism.kind, "flip_probability": str(mechanism.flip), "categories": mechanism.categories}
    if mechanism.kind not in format.FIELDS:
        raise NoCertificate(f"the certificate's format has no sampled {mechanism.kind}")
    fields = mechanism.model_dump(exclude={"kind", "releases", "norm", "dimension", "assumed_sensitivity"})
    return {"kind": mechanism.kind} | {
        name: value if isinstance(value, int) else repr(value) for name, value in fields.items()
    }


def _on_one_sample(phase: Phase) -> Table:
    """Gaussian releases about one sample as one, whose shift is the root of the sum of their shifts' squares (theory/
    dominating_pairs.md, "Several releases on one sample"): noise on a mean, of which the largest weight is as it is in
    the cohort, the noise is rounded down, and the least weight makes up for that."""
    square, sampling = Fraction(0), phase.sampling
    for table in phase.tables:
        one = _mechanism(phase.model_copy(update={"mechanism": _once(table)}))
        if one["kind"] not in ("gaussian", "gaussian-mean") or one.get("max_weight") != one.get("min_weight"):
            raise NoCertificate(f"the certificate's format has no such releases of {table.kind} about one sample")
        noise = one["noise_multiplier"] if one["kind"] == "gaussian" else one["noise_std"]
        moved = Fraction(one.get("clip_norm", "1")) * Fraction(one.get("max_weight", "1"))
        square += _copies(table) * (moved / Fraction(noise)) ** 2
    known = sampling.cohort or sampling.population
    size = _members(sampling) if known else Fraction(1)
    noise_std = _root(1 / (square * size**2), -1)
    least = _root(Fraction(noise_std) ** 2 * square, -1)
    sizes = {"noise_std": noise_std, "clip_norm": "1", "max_weight": str(1 / size), "min_weight": least}
    return {"kind": "gaussian-mean", **sizes}


def _sampling(sampling: SamplingTable) -> Table:
    """With a rate, the population says nothing more where the cohort is known: the rate is what ran. A cohort of
    everybody is not drawn."""
    rate, cohort = sampling.sampling_rate, sampling.cohort
    if sampling.max_cohort is not None and sampling.max_cohort < (sampling.population or 0):
        return {
            "scheme": "truncated-poisson",
            "population": sampling.population,
            "cohort": sampling.max_cohort,
            "sampling_rate": f"{cohort}/{sampling.population}" if rate is None else repr(rate),
        }
    if sampling.scheme == Scheme.FIXED_SIZE and not sampling.leaves_some_out:
        return _UNSAMPLED | {"population": sampling.population}
    known = rate is not None and cohort is not None
    return {
        "scheme": sampling.scheme,
        "population": None if known else sampling.population,
        "cohort": cohort,
        "sampling_rate": None if rate is None else repr(rate),
    }


def _weights(mechanism: GaussianMeanTable, sampling: SamplingTable) -> tuple[str, str]:
    """The largest and the least weight of the heaviest client in a mean that it is part of, exactly."""
    rate = Fraction(repr(sampling.sampling_rate)) if sampling.sampling_rate is not None else None
    population, cohort = sampling.population, sampling.cohort
    if mechanism.weights == "uniform":
        size = _members(sampling)
        return str(1 / size), str(1 / size)
    if isinstance(mechanism.weights, float):
        return repr(mechanism.weights), "0"
    *others, heaviest = sorted(Fraction(repr(weight)) for weight in mechanism.weights)
    if sampling.scheme.draws_units_independently:
        total = (rate if rate is not None else Fraction(cohort or 0, population or 1)) * sum([*others, heaviest])
        return str(heaviest / total), str(heaviest / total)
    companions = (cohort or len(others) + 1) - 1
    largest = heaviest / sum([heaviest, *others[:companions]])
    least = heaviest / sum([heaviest, *others[len(others) - companions :]])
    return str(largest), str(least)


def _members(sampling: SamplingTable) -> Fraction:
    """By how many a mean over the cohort divides, exactly."""
    if sampling.cohort:
        return Fraction(sampling.cohort)
    rate = 1 if sampling.sampling_rate is None else Fraction(repr(sampling.sampling_rate))
    return rate * Fraction(sampling.population or 0)
