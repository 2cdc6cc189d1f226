"""What a certificate states of a claim: the claim and its phases, as the format has them."""

from __future__ import annotations

import math
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from ...accounting.currencies.pure_dp import pure_epsilon
from ...mechanisms import Neighbouring
from ...mechanisms.tables.cohort import SamplingTable
from ...mechanisms.tables.correlated import CorrelatedTable
from ...mechanisms.tables.noise import GaussianMeanTable
from ...mechanisms.tables.phase import Phase
from ..claims.claim import Claim
from ..claims.judged import issued
from ..claims.observers import observer_is_the_notion_s_own
from ..claims.statement import Statement
from .checker import format

Table = dict[str, Any]

_UNSAMPLED: Table = {"scheme": "none", "population": None, "cohort": None, "sampling_rate": None}


class NoCertificate(Exception):
    """The checker could prove nothing of this claim; the message says why."""


def stated(claim: Claim) -> Table:
    """Format, issued, claim and phases. Raises NoCertificate for what the format cannot describe."""
    if not observer_is_the_notion_s_own(claim):
        raise NoCertificate("the certificate's format has no such observer, and no noise that clients know a part of")
    refuse_groups(claim.statement)
    return {
        "format": format.FORMAT,
        "issued": asdict(issued(claim)),
        "claim": _claim(claim.statement, restated(claim)),
        "phases": [_phase(phase, claim.statement.neighbouring) for phase in claim.phases],
    }


def refuse_groups(statement: Statement) -> None:
    """Of claims about more units than one, or units that are in some phases only: a certificate would not say so."""
    if (statement.group or 1) > 1 or statement.phases_per_unit is not None:
        raise NoCertificate("the certificate's format is about single units, whose data are in every phase")


def _claim(statement: Statement, note: str | None) -> Table:
    coalition = statement.notion != "dp" and statement.coalition_sees_participation is not False
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


def _phase(phase: Phase, relation: Neighbouring) -> Table:
    if phase.sampling.scheme == "random-allocation":
        raise NoCertificate("the certificate's format has no random allocation")
    if phase.sampling.scheme == "cyclic-poisson":
        raise NoCertificate("the certificate's format has no cyclic Poisson cohorts")
    if phase.sampling.scheme in ("balls-in-bins", "min-separated"):
        raise NoCertificate("the certificate's format has no rounds that are drawn under correlated noise")
    if isinstance(phase.mechanism, CorrelatedTable):
        return _one_release(phase, phase.mechanism)
    if phase.sampling.scheme == "cyclic":
        return {"mechanism": _mechanism(phase), "sampling": _UNSAMPLED, "rounds": phase.rounds}
    if _is_restated_as_pure(phase):
        return {"mechanism": _pure(phase, relation), "sampling": _UNSAMPLED, "rounds": phase.steps}
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


def _is_restated_as_pure(phase: Phase) -> bool:
    """Whether the format has no such mechanism, but one that is private with the same largest loss."""
    return phase.mechanism.kind not in format.FIELDS and phase.sampling.scheme == "none"


def _pure(phase: Phase, relation: Neighbouring) -> Table:
    """Any mechanism with this one's largest loss: what it proves from above holds, and nothing from below."""
    found = pure_epsilon(phase.described().upper, relation)
    if not math.isfinite(found.upper):
        raise NoCertificate(f"the certificate's format has no {phase.mechanism.kind}")
    return {"kind": "pure-dp", "epsilon": repr(found.upper)}


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
    if any(phase.sampling.scheme == "cyclic" for phase in claim.phases):
        told.append("each pass of a cyclic schedule as the one round that a unit takes part in")
    if any(not isinstance(p.mechanism, CorrelatedTable) and _is_restated_as_pure(p) for p in claim.phases):
        told.append("mechanisms that the format has not as any of their pure epsilon, which is taken as given")
    return "; ".join(told) or None


def _mechanism(phase: Phase) -> Table:
    """The mechanism table as read: whole numbers as such, other numbers as their shortest decimals."""
    mechanism = phase.mechanism
    if isinstance(mechanism, GaussianMeanTable):
        largest, least = _weights(mechanism, phase.sampling)
        sizes = {"noise_std": repr(mechanism.noise_std), "clip_norm": repr(mechanism.clip_norm)}
        return {"kind": mechanism.kind, **sizes, "max_weight": largest, "min_weight": least}
    fields = mechanism.model_dump(exclude={"kind", "assumed_sensitivity"})
    return {"kind": mechanism.kind} | {
        name: value if isinstance(value, int) else repr(value) for name, value in fields.items()
    }


def _sampling(sampling: SamplingTable) -> Table:
    """With a rate, the population says nothing more where the cohort is known: the rate is what ran."""
    rate, cohort = sampling.sampling_rate, sampling.cohort
    if sampling.max_cohort is not None and sampling.max_cohort < (sampling.population or 0):
        return {
            "scheme": "truncated-poisson",
            "population": sampling.population,
            "cohort": sampling.max_cohort,
            "sampling_rate": f"{cohort}/{sampling.population}" if rate is None else repr(rate),
        }
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
        size = Fraction(cohort) if cohort else (rate if rate is not None else 1) * Fraction(population or 0)
        return str(1 / size), str(1 / size)
    if isinstance(mechanism.weights, float):
        return repr(mechanism.weights), "0"
    *others, heaviest = sorted(Fraction(repr(weight)) for weight in mechanism.weights)
    if sampling.scheme == "poisson":
        total = (rate if rate is not None else Fraction(cohort or 0, population or 1)) * sum([*others, heaviest])
        return str(heaviest / total), str(heaviest / total)
    companions = (cohort or len(others) + 1) - 1
    largest = heaviest / sum([heaviest, *others[:companions]])
    least = heaviest / sum([heaviest, *others[len(others) - companions :]])
    return str(largest), str(least)
