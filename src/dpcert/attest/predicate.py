"""The predicate of an attestation: what is said of the subjects, and on what ground (docs/attestation.md).

An in-toto statement (version 1 of the in-toto attestation framework) binds a predicate to files by their digests.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from ..proofs_checks.verification.hazards import Basis

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATES = "https://github.com/dpcert/dpcert/attestations/privacy/"
PREDICATE_TYPE = f"{PREDICATES}v1"
"""Identifies the format; nothing is fetched from there."""

SHA256 = Field(pattern="^[0-9a-f]{64}$")


def _printable(text: str) -> str:
    """The text itself. Refused are control characters, which change what a terminal shows, and line breaks, after
    which a text would look like lines of dpcert's own."""
    if not text.isprintable():
        raise ValueError("printable characters, on one line")
    return text


Line = Annotated[str, AfterValidator(_printable)]

VerdictBasis = Literal["proved", "asserted"]
"""proved: the certificates prove it. asserted: dpcert's accountants found it, and the certificates prove less."""


class Part(BaseModel):
    """A part of the predicate: other keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ClaimPart(Part):
    """The claim, as the text of its file; the other fields are taken from it."""

    toml: str
    sha256: str = SHA256
    title: Line
    currency: Line
    claimed: dict[str, Any]
    unit: Line
    neighbouring: Line
    notion: Line


class Interval(Part):
    """Ends of the certified interval that holds the true value; null: no upper end is known, or it is infinite."""

    lower: float
    upper: float | None

    @model_validator(mode="after")
    def _in_order(self) -> Interval:
        if not 0.0 <= self.lower <= (math.inf if self.upper is None else self.upper):
            raise ValueError("an interval from its lower to its upper end")
        return self


class CertificatePart(Part):
    """The certificate's file as JSON data, whose own digest the checker compares."""

    verdict: Line
    document: dict[str, Any]


class SchedulePart(Part):
    """A log of who took part: its digest and its test, never the log."""

    sha256: str = SHA256
    scheme: Line
    rounds: int
    error: float
    refuted: bool


class LedgerPart(Part):
    """A ledger's last hash, number of events, and what they cost at the claim's delta."""

    head: str = SHA256
    events: int
    epsilon: Interval
    agrees: bool
    sentence: Line


class AuditPart(Part):
    """An attack on the implementation: the lower bound on epsilon that it found, at its delta.

    refuted: the audit refuted what it was asked about, or its lower bound is above the attested claim.
    """

    sha256: str = SHA256
    epsilon_lower: float
    delta: float | None
    error: float | None
    refuted: bool

    def __str__(self) -> str:
        delta = "" if self.delta is None else f" at delta {self.delta:g}"
        return f"an audit (epsilon at least {self.epsilon_lower:g}{delta}" + (": REFUTED)" if self.refuted else ")")


class HazardPart(Part):
    """One of the hazards of NIST SP 800-226, and on what ground this claim answers it."""

    section: Line
    hazard: Line
    basis: Basis
    how: Line


class MadeBy(Part):
    """Who made the attestation, and when."""

    dpcert: Line
    python: Line
    date: Line


class Predicate(Part):
    """What is said of the subjects."""

    claim: ClaimPart
    verdict: Literal["holds", "refuted", "undecided"]
    verdict_basis: VerdictBasis
    interval: Interval
    method: Line
    certificates: tuple[CertificatePart, ...]
    no_certificate: Line | None
    schedule: SchedulePart | None
    ledger: LedgerPart | None
    audits: tuple[AuditPart, ...]
    assumptions: tuple[Line, ...]
    not_checked: tuple[Line, ...]
    findings: tuple[dict[str, Line], ...]
    hazards: tuple[HazardPart, ...]
    made_by: MadeBy


class Subject(Part):
    """A file, by its name and digest."""

    name: Line
    digest: dict[str, str]


class Statement(Part):
    """The signed payload."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)

    type: Literal["https://in-toto.io/Statement/v1"] = Field(alias="_type")
    subject: tuple[Subject, ...] = Field(min_length=1)
    predicateType: Literal["https://github.com/dpcert/dpcert/attestations/privacy/v1"]
    predicate: Predicate


def schema() -> dict[str, Any]:
    """The JSON Schema of the statement; src/dpcert/attestation.schema.json is this."""
    return Statement.model_json_schema(by_alias=True)
