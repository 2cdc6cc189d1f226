"""The hazards that NIST SP 800-226 tells evaluators to look for, and what is known of each for one claim.

Cited are the sections of the initial public draft (December 2023), the edition that was read. The final edition (March
2025) has the same chapters: 2 is about the guarantee, 3 about algorithms, 4 about deployments. Two hazards are not in
that list and are marked as added. What nobody covers names its row of KNOWN_LIMITS.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ..claims.claim import Claim
from ..claims.findings import Finding, delta_is_large

Basis = Literal["proved", "tested", "logged", "asserted", "not covered"]
"""On what ground something is said.

proved: by a certificate, which a checker proves again. tested: data were compared with it, and could have refuted it.
logged: by a chain of records. asserted: by whoever signs. not covered: by nobody.
"""


class ScheduleTest(Protocol):
    """What the test of a schedule log found."""

    @property
    def scheme(self) -> str: ...
    @property
    def rounds(self) -> int: ...
    @property
    def error(self) -> float: ...
    @property
    def refuted(self) -> bool: ...


class AuditBound(Protocol):
    """What an audit found."""

    @property
    def epsilon_lower(self) -> float: ...
    @property
    def refuted(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Hazard:
    """One hazard, and on what ground a claim answers it. section: of the publication, or ADDED."""

    section: str
    hazard: str
    basis: Basis
    how: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What supports a claim. proved: certificates prove the verdict. logged: what a ledger says, as a sentence."""

    claim: Claim
    findings: tuple[Finding, ...]
    proved: bool
    schedule: ScheduleTest | None = None
    logged: str | None = None
    audits: Sequence[AuditBound] = ()

    def warned(self, *ids: str) -> str:
        """The texts of the claim's findings of these ids, after a blank; "" where it has none."""
        return "".join(f" {finding.text}" for finding in self.findings if finding.id in ids)


Answer = Callable[[Evidence], tuple[Basis, str]]


def hazards(evidence: Evidence) -> tuple[Hazard, ...]:
    """A row for each hazard, in the publication's order."""
    return tuple(Hazard(section, hazard, *answer(evidence)) for section, hazard, answer in HAZARDS)


def _parameters(evidence: Evidence) -> tuple[Basis, str]:
    if evidence.proved:
        return "proved", "The verdict follows from what certificates prove, each of which can be proved again."
    return "asserted", "The verdict follows from the interval of dpcert's accountants; no certificate proves it."


def _delta(evidence: Evidence) -> tuple[Basis, str]:
    if delta_is_large(evidence.claim):
        return "proved", "delta is at least 1 over the population: it permits to publish one random unit's data."
    if evidence.claim.population is None:
        return "asserted", "The claim names no population, so delta cannot be compared with it."
    return "proved", "delta is below 1 over the population that the claim names."


def _composition(evidence: Evidence) -> tuple[Basis, str]:
    if evidence.logged is not None:
        return "logged", evidence.logged
    return "asserted", "All releases about the same units are said to be in the claim; no ledger was attached."


def _sampling(evidence: Evidence) -> tuple[Basis, str]:
    log = evidence.schedule
    if log is None:
        warned = evidence.warned("shuffled-not-poisson", "cyclic-not-sampled", "no-amplification-against-coalition")
        return (
            "asserted",
            f"The cohorts are said to be drawn as the claim has it; no schedule log is there.{warned}",
        )
    verdict = "contradicts" if log.refuted else "does not contradict"
    ran = sum(phase.steps for phase in evidence.claim.phases_of_all_days)
    part = f", of the {ran} that the claim is about," if log.rounds < ran else ""
    return "tested", f"A log of {log.rounds} rounds{part} {verdict} {log.scheme} (error probability {log.error:g})."


def _clipping(evidence: Evidence) -> tuple[Basis, str]:
    if evidence.audits:
        return "tested", "An audit attacked the implementation, clipping included."
    warned = evidence.warned("noise-before-averaging", "weighted-mean", "norm-not-stated")
    return "asserted", f"Every contribution is said to be clipped to the stated bound before it is summed.{warned}"


def _audited(evidence: Evidence) -> tuple[Basis, str]:
    if not evidence.audits:
        return "asserted", "Nobody attacked the implementation."
    strongest = max(audit.epsilon_lower for audit in evidence.audits)
    refuted = any(audit.refuted for audit in evidence.audits)
    return "tested", f"Audits found epsilon to be at least {strongest:g}" + (": they refute it." if refuted else ".")


def _asserted(how: str) -> Answer:
    """how: with the names of the claim's fields in braces."""
    return lambda evidence: ("asserted", how.format(claim=evidence.claim.statement))


def _not_covered(limit: str, how: str) -> Answer:
    """limit: the row of KNOWN_LIMITS.md that says more."""
    return lambda evidence: ("not covered", f"{how} (Known limits: {limit}.)")


ADDED = "added by dpcert"

HAZARDS: tuple[tuple[str, str, Answer], ...] = (
    ("section 2.2", "strength of epsilon", _parameters),
    ("section 2.3", "size of delta", _delta),
    (
        "sections 2.4 and 3.7",
        "unit of privacy",
        _asserted(
            "The claim protects one {claim.unit}. Whether each person is one {claim.unit} is for the signer to say."
        ),
    ),
    (
        "section 2.4",
        "neighbouring relation",
        _asserted("Neighbouring data sets differ by {claim.neighbouring}, and all numbers here are for that relation."),
    ),
    (
        "section 2.5",
        "comparing guarantees",
        _asserted(
            "These numbers are for {claim.currency.name}, one {claim.unit} and {claim.neighbouring}: "
            "guarantees with another delta, unit or relation cannot be compared with them directly."
        ),
    ),
    ("sections 2.1.2 and 4.1", "composition of releases", _composition),
    (
        "section 2.6",
        "other releases of the same data",
        _not_covered(
            "One claim at a time", "Releases without noise, and claims that are judged elsewhere, add to what is known."
        ),
    ),
    ("sections 3.1 and 3.4", "sensitivity, clipping and bounded contributions", _clipping),
    (ADDED, "sampling and amplification", _sampling),
    (
        "section 3.4",
        "choices made by looking at the data (bins, bounds, hyper-parameters, early stopping)",
        _not_covered(
            "Choices made by looking at the data",
            "Account for them as releases of their own, or make them on public data.",
        ),
    ),
    (
        "sections 3.2 and 3.3",
        "accuracy and bias",
        _not_covered("Accuracy and bias", "dpcert says nothing about how useful or how fair the release is."),
    ),
    (
        "section 4.2",
        "threat model: who sees what",
        _asserted("The attacker is the one of notion {claim.notion!r}; who else sees more is not covered."),
    ),
    ("sections 3 and 4.3", "errors of the implementation", _audited),
    (
        "section 4.3",
        "floating-point noise",
        _not_covered(
            "Floating-point noise",
            "The mechanism is described over the reals; low-order bits of floating-point noise leak.",
        ),
    ),
    (
        ADDED,
        "randomness",
        _not_covered("Randomness", "The generator is said to be unpredictable, and its seed to be unknown."),
    ),
    (
        "section 4.3",
        "timing, error messages and other side channels",
        _not_covered("Participation logs", "Traffic, timing, error messages and logs may show what is hidden."),
    ),
    (
        "section 4.4",
        "security of the data and access to it",
        _not_covered("Security of the data", "Raw data and personal models need protection of their own."),
    ),
    (
        "section 4.5",
        "exposure while data are collected",
        _not_covered("Security of the data", "Whoever collects the data may see them before noise is added."),
    ),
)
