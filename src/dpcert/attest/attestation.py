"""attest(claim, subjects): a statement about files, what supports it, and an envelope around both."""

from __future__ import annotations

import json
import platform
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..mechanisms import InputError
from ..proofs_checks.certificates.checker import check
from ..proofs_checks.claims.claim import Claim
from ..proofs_checks.verification.hazards import Evidence, hazards
from ..proofs_checks.verification.verdict import Verification
from ..proofs_checks.verification.verify import verify
from ..version import __version__
from . import parts
from .envelope import envelope_around
from .predicate import PREDICATE_TYPE, STATEMENT_TYPE, CertificatePart, HazardPart, MadeBy, Predicate, VerdictBasis

if TYPE_CHECKING:
    from securesystemslib.signer._crypto_signer import CryptoSigner


@dataclass(frozen=True, slots=True)
class Attestation:
    """The envelope as JSON data, what it says, and the verification that it rests on."""

    envelope: dict[str, Any]
    predicate: Predicate
    subjects: dict[str, str]
    verification: Verification

    @property
    def signed(self) -> bool:
        return bool(self.envelope["signatures"])

    def __str__(self) -> str:
        claim, interval = self.predicate.claim, self.predicate.interval
        upper = "unbounded" if interval.upper is None else f"{interval.upper:.6g}"
        lines = [
            f"{self.predicate.verdict}: {claim.title}",
            f"certified {claim.currency} in [{interval.lower:.6g}, {upper}]",
            f"about {len(self.subjects)} file{'s' * (len(self.subjects) > 1)}: {', '.join(self.subjects)}",
            *grounds(self.predicate),
            "signed" if self.signed else "NOT SIGNED: anybody could have written this (sign with --key KEY.pem)",
        ]
        return "\n  ".join(lines)

    def to_json(self) -> dict[str, Any]:
        """What the file holds, decoded."""
        told = self.predicate.model_dump(mode="json")
        return {"subjects": self.subjects, "signed": self.signed, "predicate": told}

    def write(self, path: Path) -> None:
        """One line of JSON, as in-toto bundles have it."""
        path.write_text(json.dumps(self.envelope, sort_keys=True) + "\n", "utf-8")


def attest(
    claim: Path,
    subjects: Sequence[Path],
    *,
    certificate: Path | None = None,
    schedule_log: Path | None = None,
    ledger: Path | None = None,
    audits: Sequence[Path] = (),
    signer: CryptoSigner | None = None,
) -> Attestation:
    """The attestation of these files: the claim's verdict, a certificate (the given one, or one that is made here), a
    schedule log's digest and test, a ledger's head and cost, audits' lower bounds.

    A refuted or undecided claim is attested as that. Raises InputError for files that cannot be read, for a certificate
    of another claim or one that proves nothing, and for a schedule log so short that its digest would tell it.
    """
    named = parts.digests(subjects)
    text = parts.text_of(claim, "CLAIM")
    parsed = parts.parsed_claim(text, str(claim))
    found, certificates, basis = _certified(parsed, certificate)
    schedule = None if schedule_log is None else parts.schedule_part(schedule_log, parsed)
    spent = None if ledger is None else parts.ledger_part(ledger, parsed)
    attacked = tuple(parts.audit_part(path, parsed) for path in audits)
    logged = None if spent is None else spent.sentence
    evidence = Evidence(parsed, found.findings, basis == "proved", schedule, logged, attacked)
    predicate = Predicate(
        claim=parts.claim_part(text, parsed),
        verdict=found.verdict,
        verdict_basis=basis,
        interval=parts.ends(found.certified),
        method=found.certified.method,
        certificates=certificates,
        no_certificate=None if certificates else _why_none(found),
        schedule=schedule,
        ledger=spent,
        audits=attacked,
        assumptions=found.assumptions,
        not_checked=found.not_checked,
        findings=tuple(finding.to_json() for finding in found.findings),
        hazards=tuple(HazardPart(**asdict(row)) for row in hazards(evidence)),
        made_by=_made_now(),
    )
    return Attestation(envelope_around(_statement(named, predicate), signer), predicate, named, found)


def _certified(claim: Claim, given: Path | None) -> tuple[Verification, tuple[CertificatePart, ...], VerdictBasis]:
    """The verdict, its certificates (the given one, or those that are made here), and whether they prove it."""
    with tempfile.TemporaryDirectory() as folder:
        found = verify(claim, certificates=Path(folder) if given is None else None)
        written = sorted(Path(folder).glob("*.json")) if given is None else [given]
        certificates = tuple(_certificate(path) for path in written)
    documents = [part.document for part in certificates]
    about = documents if given is None else _of_this_claim(given, documents, claim)
    proved = documents and parts.verdict_of(documents, about) == found.verdict
    return found, certificates, "proved" if proved else "asserted"


def _made_now() -> MadeBy:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return MadeBy(dpcert=__version__, python=platform.python_version(), date=now)


def _statement(subjects: dict[str, str], predicate: Predicate) -> dict[str, Any]:
    """The in-toto statement of subjects, by name with their digests."""
    return {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in subjects.items()],
        "predicateType": PREDICATE_TYPE,
        "predicate": predicate.model_dump(mode="json"),
    }


def grounds(predicate: Predicate) -> tuple[str, ...]:
    """One line for each ground on which something is said: proved, tested, logged, asserted."""
    schedule, number = predicate.schedule, len(predicate.certificates)
    many = f"{number} certificate" + "s" * (number > 1)
    proved = f"the verdict, by {many}"
    if predicate.verdict_basis != "proved":
        proved = f"less than the verdict, by {many}" if number else f"nothing ({predicate.no_certificate})"
    tested = [] if schedule is None else [f"the schedule log ({'REFUTED' if schedule.refuted else 'not refuted'})"]
    tested += [str(audit) for audit in predicate.audits]
    return (
        f"proved: {proved}",
        f"tested: {', '.join(tested) if tested else 'nothing'}",
        f"logged: {predicate.ledger.sentence if predicate.ledger else 'nothing'}",
        "asserted: that the claim describes the run that made these files, and all that is not named above",
    )


def _certificate(path: Path) -> CertificatePart:
    try:
        document = json.loads(parts.text_of(path, "--certificate"))
        return CertificatePart(verdict=document["verdict"], document=document)
    except (ValueError, LookupError, TypeError, RecursionError):
        raise InputError("--certificate", str(path), "a certificate in JSON") from None


def _of_this_claim(path: Path, documents: Sequence[dict[str, Any]], claim: Claim) -> list[dict[str, Any]]:
    """The descriptions of the claim's certificates, of which the given one must be one, and must prove something."""
    described = parts.descriptions(claim)
    for document in documents:
        if not any(parts.same(document, each) for each in described):
            raise InputError("--certificate", str(path), "a certificate of this claim; it is one of another")
        if not (checked := check(document)).ok:
            raise InputError("--certificate", str(path), f"a certificate that proves something ({checked.reason})")
    return described


def _why_none(found: Verification) -> str:
    told = [finding.text for finding in found.findings if finding.id == "no-certificate"]
    return told[0] if told else "No certificate was written."
