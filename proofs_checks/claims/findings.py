"""What a reader of a claim should be told beyond its verdict: warnings about what ran and what is claimed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Literal

from ...accounting import Bracket
from ...mechanisms import Gaussian, PrivacyNotion, Relation, sensitivity
from ...mechanisms.tables.correlated import CorrelatedTable
from ...mechanisms.tables.fields import KindTable, listed
from ...mechanisms.tables.noise import GaussianMeanTable, PerClientGaussianTable
from ...mechanisms.tables.norms import NormedTable
from ...mechanisms.tables.phase import Phase
from ...mechanisms.tables.scheme import Scheme
from .claim import Claim, divides_by_who_is_there


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that matters about a claim. severity: "info", "warning" or "error"."""

    id: str
    severity: Literal["info", "warning", "error"]
    text: str

    def __str__(self) -> str:
        return f"{'note' if self.severity == 'info' else self.severity} {self.id}: {self.text}"

    def to_json(self) -> dict[str, str]:
        """Plain data, under the names of the fields."""
        return asdict(self)


def delta_is_large(claim: Claim) -> bool:
    """delta at or above 1 / population, up to the rounding of a printed delta (1%)."""
    return claim.population is not None and (claim.statement.delta or 0.0) * claim.population >= 0.99


def findings(claim: Claim, bracket: Bracket, verdict: str, reproduced_by: tuple[str, ...]) -> tuple[Finding, ...]:
    """What to tell about this claim, the most severe first."""
    told: dict[str, Finding] = {}
    for phase in claim.phases_and_searched_runs:
        noise = (finding for table in phase.tables for finding in _noise_findings(claim, table, phase))
        for finding in (*_sampling_findings(claim, phase), *noise):
            told.setdefault(finding.id, finding)
    for finding in _verdict_findings(claim, bracket, verdict, reproduced_by):
        told.setdefault(finding.id, finding)
    order = ("error", "warning", "info")
    return tuple(sorted(told.values(), key=lambda finding: order.index(finding.severity)))


def _sampling_findings(claim: Claim, phase: Phase) -> Iterator[Finding]:
    sampling, statement = phase.sampling, claim.statement
    coalition = statement.notion != PrivacyNotion.DP and statement.participation is None
    coalition = coalition and statement.observer in (None, "coalition") and statement.coalition_size is None
    if sampling.scheme == Scheme.FIXED_SIZE and sampling.rate < 1 and coalition:
        yield Finding(
            "no-amplification-against-coalition",
            "error",
            "Sampling does not help here: cohorts have exactly "
            f"{sampling.cohort} of {sampling.population} members, so the other clients together know who took part.",
        )
    if sampling.scheme == Scheme.SHUFFLE:
        yield Finding(
            "shuffled-not-poisson",
            "warning",
            "Batches are shuffled, not Poisson-sampled: an epsilon for Poisson sampling is not valid for this run.",
        )
    if sampling.scheme == Scheme.CYCLIC:
        yield Finding(
            "cyclic-not-sampled",
            "warning",
            "Batches follow a fixed schedule and nothing is sampled: an epsilon for sampled batches is not valid for "
            "this run.",
        )


def _without_noise(table: KindTable) -> Iterator[Finding]:
    """A noise of 0 is no slip of the reader's: the claim is judged, and this is said."""
    if table.is_without_noise:
        text = "There is no noise: the release reveals exactly what each unit that takes part contributed."
        yield Finding("no-noise", "error", f"{text} No epsilon holds at a delta below the probability of taking part.")


def _noise_findings(claim: Claim, table: KindTable, phase: Phase) -> Iterator[Finding]:
    sampling = phase.sampling
    nothing = tuple(_without_noise(table))
    yield from nothing
    if isinstance(table, GaussianMeanTable) and claim.statement.neighbouring == Relation.ADD_REMOVE:
        yield from _divisor_findings(claim, phase)
    if claim.statement.neighbouring == Relation.REPLACE_ONE and table.kind != "randomized-response":
        yield Finding(
            "replace-one-sensitivity",
            "info",
            "Replacing a unit's data changes a clipped sum by up to twice the clipping bound; adding or removing the "
            "unit changes it by the clipping bound at most.",
        )
    yield from unstated(table, phase)
    if isinstance(table, GaussianMeanTable) and table.weights != "uniform":
        base = table.ran(sampling).upper
        if isinstance(base, Gaussian):
            factor = table.noise_std * sampling.divisor() / (table.clip_norm * base.noise_multiplier)
            factor /= math.sqrt(table.coordinates)
            yield Finding(
                "weighted-mean",
                "warning",
                f"The heaviest client's weight is up to {factor:.3g} times an equal share, so its noise multiplier is "
                "smaller by that factor.",
            )
    if isinstance(table, PerClientGaussianTable) and not nothing:
        yield from _per_client_findings(claim, table, sampling.divisor())


def unstated(table: KindTable, phase: Phase) -> Iterator[Finding]:
    """What is assumed of the noise since nothing is stated, and what is stated and changes nothing: of a claim, and on
    the command line."""
    if table.is_without_noise:
        return
    if isinstance(table, NormedTable) and table.asks_norm() and table.norm is None and table.dimension is None:
        yield _norm_not_stated(table.kind)
    if isinstance(table, CorrelatedTable):
        scheme = phase.sampling.scheme
        if scheme == Scheme.NONE and phase.steps > 1 and not table.states_participations:
            yield _participations_not_stated(phase)
        idle = [key for key in _SAID_BY_SCHEME.get(scheme, ()) if key in table.model_fields_set]
        if idle:
            yield _without_effect(idle, scheme)


_SAID_BY_SCHEME = {
    Scheme.CYCLIC_POISSON: ("max_participations",),
    Scheme.MIN_SEPARATED: ("max_participations",),
    Scheme.BALLS_IN_BINS: ("min_separation", "max_participations"),
}
"""Limits of participation that follow from how the units are sampled, whatever [mechanism] states."""


def _without_effect(keys: list[str], scheme: Scheme) -> Finding:
    changes = "changes" if len(keys) == 1 else "change"
    return Finding(
        "key-without-effect",
        "warning",
        f"{listed(keys)} of [mechanism] {changes} nothing: how often a unit takes part follows from scheme = "
        f"'{scheme}'. If units take part otherwise, describe how they are sampled.",
    )


def _participations_not_stated(phase: Phase) -> Finding:
    return Finding(
        "participations-not-stated",
        "warning",
        f"It is not stated in how many of the {phase.steps} rounds a unit takes part. The result assumes one; the true "
        "epsilon is larger if it takes part more often. State max_participations and min_separation in [mechanism] "
        "(on the command line: --set).",
    )


def _norm_not_stated(kind: str) -> Finding:
    ranged = kind in ("staircase", "truncated-laplace", "bounded-laplace")
    l1 = "one number, or several numbers whose absolute values add up to at most the bound (l1)"
    taken = "one number" if ranged else l1
    several = (
        "up to sqrt(d) times as large for d numbers whose Euclidean norm was clipped (l2), and up to d times as large "
        "if each number was clipped separately (linf)"
    )
    costs = "d times as large for d numbers" if kind == "staircase" else several
    return Finding(
        "norm-not-stated",
        "warning",
        f"It is not stated which norm the clipping bound limits. The result assumes {taken}; the true epsilon is "
        f"{costs}. State norm and dimension in [mechanism] (on the command line: --set).",
    )


def _divisor_findings(claim: Claim, phase: Phase) -> Iterator[Finding]:
    """Of a mean over everybody, under add-remove: by what the source must divide for the verdict to be about it."""
    if phase.sampling.scheme.draws_units_independently and phase.sampling.rate == 1:
        yield Finding(
            "divisor-is-constant",
            "warning",
            f"The verdict assumes that the mean divides by the constant {phase.sampling.divisor():.10g}, even when a "
            "unit leaves. If it divides by the number of units present, a unit that leaves changes the mean by up to "
            "twice as much. Then state scheme = 'none' with the population.",
        )
    elif divides_by_who_is_there(claim.statement, (phase,)):
        yield Finding(
            "divisor-is-who-is-there",
            "info",
            "A mean over the units present divides by one less when a unit leaves, so that unit changes it by up to "
            "2 clip_norm / population. If the divisor is a constant, the true epsilon is the lower end of the "
            "interval. Then state the noise on the sum (kind = 'gaussian').",
        )


def _per_client_findings(claim: Claim, table: PerClientGaussianTable, cohort: float) -> Iterator[Finding]:
    alone = table.noise_std / table.clip_norm
    yield Finding(
        "noise-before-averaging",
        "warning",
        f"The average of all clients' noise has the noise multiplier {alone * math.sqrt(cohort):.4g}, and this verdict "
        "is for attackers who see the average only. An attacker who sees one client's upload, such as the server, "
        f"faces a noise multiplier of {alone:.4g} without amplification by sampling.",
    )
    if table.assumed_sensitivity is None:
        return
    actual = sensitivity(claim.statement.neighbouring) * table.clip_norm / cohort
    if table.assumed_sensitivity < actual * (1 - 1e-9):
        yield Finding(
            "sensitivity-too-small",
            "error",
            f"The source scales its noise to a sensitivity of {table.assumed_sensitivity:.6g}, but one unit can change "
            f"the average by {actual:.6g}, {actual / table.assumed_sensitivity:.4g} times as much.",
        )


def _verdict_findings(
    claim: Claim, bracket: Bracket, verdict: str, reproduced_by: tuple[str, ...]
) -> Iterator[Finding]:
    if delta_is_large(claim):
        yield Finding(
            "delta-not-small",
            "warning",
            f"delta = {claim.statement.delta:g} is about 1/population (1/{claim.population}) or above: a release that "
            f"publishes the data of one random {claim.statement.unit} would satisfy it.",
        )
    if verdict == "refuted" and any("clt" in name.lower() for name in reproduced_by):
        yield Finding(
            "clt-is-no-bound",
            "error",
            "The printed number is a central-limit estimate, and the true epsilon is above it.",
        )
    currency = claim.statement.currency
    stated = claim.statement.epsilon if claim.statement.epsilon is not None else currency.threshold
    if verdict == "holds" and bracket.upper < 0.8 * stated:
        yield Finding(
            "claim-is-loose",
            "info",
            f"The claim could be smaller: {currency.words} is at most {_rounded_up(bracket.upper)}.",
        )


def _rounded_up(value: float) -> str:
    """Four significant digits, rounded up: still a valid upper bound."""
    if value == 0:
        return "0"
    step = 10.0 ** (math.floor(math.log10(value)) - 3)
    return f"{math.ceil(value / step) * step:.4g}"
