"""attest(claim, subjects): a statement about files, what supports it, and an envelope around both."""

from __future__ import annotations

import json
import math
import platform
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..accounting import Bracket
from ..accounting.ledger import Ledger, LedgerError
from ..accounting.ledger.store import SqliteStore
from ..mechanisms import InputError
from ..mechanisms.paths import content
from ..proofs_checks.certificates.checker import check
from ..proofs_checks.claims.claim import Claim, parse_claim
from ..proofs_checks.schedules.logged import audited, read_log
from ..proofs_checks.verification.hazards import Evidence, hazards
from ..proofs_checks.verification.verdict import Verification
from ..proofs_checks.verification.verify import verify
from ..version import __version__
from .described import descriptions, same
from .envelope import sealed
from .predicate import (
    PREDICATE_TYPE,
    STATEMENT_TYPE,
    AuditPart,
    CertificatePart,
    ClaimPart,
    HazardPart,
    Interval,
    LedgerPart,
    MadeBy,
    Predicate,
    SchedulePart,
)
from .subjects import digests

if TYPE_CHECKING:
    from securesystemslib.signer._crypto_signer import CryptoSigner

SCHEDULE_ERROR = 1e-6
GUESSABLE = 2.0**-128
"""A schedule log that could be guessed with this probability would be told by its digest."""


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
        """One line of JSON, as in-toto bundles have it. Raises InputError where the file cannot be written."""
        try:
            path.write_text(json.dumps(self.envelope, sort_keys=True) + "\n", "utf-8")
        except OSError as problem:
            raise InputError("--out", str(path), f"a file that can be written ({problem.strerror})") from None


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
    named = digests(subjects)
    text = _read(claim, "CLAIM")
    with tempfile.TemporaryDirectory() as folder:
        parsed = parsed_claim(text, str(claim))
        found = verify(parsed, certificates=Path(folder) if certificate is None else None)
        written = sorted(Path(folder).glob("*.json")) if certificate is None else [certificate]
        certificates = tuple(_certificate(path, parsed, given=certificate is not None) for path in written)
    reason = None if certificates else _why_none(found)
    schedule = None if schedule_log is None else schedule_part(schedule_log)
    spent = None if ledger is None else ledger_part(ledger, parsed)
    attacked = tuple(audit_part(path) for path in audits)
    logged = None if spent is None else spent.sentence
    evidence = Evidence(parsed, found.findings, bool(certificates), schedule, logged, attacked)
    predicate = Predicate(
        claim=claim_part(text, parsed),
        verdict=found.verdict,
        interval=ends(found.certified),
        method=found.certified.method,
        certificates=certificates,
        no_certificate=reason,
        schedule=schedule,
        ledger=spent,
        audits=attacked,
        assumptions=found.assumptions,
        not_checked=found.not_checked,
        findings=tuple(finding.to_json() for finding in found.findings),
        hazards=tuple(HazardPart(**asdict(row)) for row in hazards(evidence)),
        made_by=MadeBy(
            dpcert=__version__,
            python=platform.python_version(),
            date=datetime.now(UTC).isoformat(timespec="seconds"),
        ),
    )
    statement = {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in named.items()],
        "predicateType": PREDICATE_TYPE,
        "predicate": predicate.model_dump(mode="json"),
    }
    return Attestation(sealed(statement, signer), predicate, named, found)


def grounds(predicate: Predicate) -> tuple[str, ...]:
    """One line for each ground on which something is said: proved, tested, logged, asserted."""
    proved = f"proved: {len(predicate.certificates)} certificate" + "s" * (len(predicate.certificates) > 1)
    tested = (
        [f"the schedule log ({'REFUTED' if predicate.schedule.refuted else 'not refuted'})"] * bool(predicate.schedule)
        if predicate.schedule
        else []
    )
    tested += [f"an audit (epsilon at least {audit.epsilon_lower:g})" for audit in predicate.audits]
    return (
        proved if predicate.certificates else f"proved: nothing ({predicate.no_certificate})",
        f"tested: {', '.join(tested) if tested else 'nothing'}",
        f"logged: {predicate.ledger.sentence if predicate.ledger else 'nothing'}",
        "asserted: that the claim describes the run that made these files, and all that is not named above",
    )


def parsed_claim(text: str, source: str) -> Claim:
    """The claim in a file's text. Raises InputError for what is none."""
    try:
        return parse_claim(tomllib.loads(text), source)
    except tomllib.TOMLDecodeError as problem:
        raise InputError("CLAIM", source, f"TOML ({problem})") from None


def claim_part(text: str, claim: Claim) -> ClaimPart:
    """What the attestation says of a claim: its text, and of what it says the most important."""
    stated = claim.statement
    return ClaimPart(
        toml=text,
        sha256=sha256(text.encode()).hexdigest(),
        title=stated.title,
        currency=stated.currency.name,
        claimed=json.loads(json.dumps(stated.currency.claimed())),
        unit=stated.unit,
        neighbouring=stated.neighbouring,
        notion=stated.notion,
    )


def ends(bracket: Bracket) -> Interval:
    """A bracket's ends; JSON has no infinity."""
    return Interval(lower=bracket.lower, upper=bracket.upper if math.isfinite(bracket.upper) else None)


def schedule_part(path: Path) -> SchedulePart:
    """A log's digest and test. Raises InputError for a log that can be guessed: its digest would tell who took part."""
    log = read_log(path)
    found = audited(path, SCHEDULE_ERROR)
    places = sum(_bits(log["population"], len(cohort)) for cohort in log["rounds"])
    if 2.0**-places > GUESSABLE:
        expected = "a log of more rounds or units: who took part in this one could be found by trying all logs"
        raise InputError("--schedule-log", str(path), expected)
    digest = sha256(path.read_bytes()).hexdigest()
    return SchedulePart(
        sha256=digest, scheme=found.scheme, rounds=found.rounds, error=found.error, refuted=found.refuted
    )


def _bits(population: int, cohort: int) -> float:
    """log2 of the number of cohorts of this size."""
    ways = math.lgamma(population + 1) - math.lgamma(cohort + 1) - math.lgamma(population - cohort + 1)
    return min(ways / math.log(2), 1000.0)


def ledger_part(path: Path, claim: Claim) -> LedgerPart:
    """A ledger's head and cost beside the claim. Raises InputError for what is no ledger, and for an empty one."""
    ledger, stated = opened_ledger(path), claim.statement
    if not len(ledger):
        raise InputError("--ledger", str(path), "a ledger with events")
    if stated.delta is None:
        raise InputError("--ledger", str(path), f"a claim in epsilon beside it, not in {stated.currency.name}")
    cost = ledger.epsilon(stated.delta, stated.neighbouring, notion=stated.notion)
    agrees = cost.at_most(stated.threshold)
    word = "at most" if agrees else "not shown to be at most"
    sentence = (
        f"The ledger's {len(ledger)} events cost an epsilon of {cost.upper:.6g} at most, at delta {stated.delta:g}: "
        f"{word} the claimed {stated.threshold:g}."
    )
    return LedgerPart(head=ledger.head, events=len(ledger), epsilon=ends(cost), agrees=agrees, sentence=sentence)


def opened_ledger(path: Path) -> Ledger:
    """The ledger in a file, which must be there. Raises InputError for anything else."""
    if not path.is_file():
        raise InputError("--ledger", str(path), "a ledger file that exists")
    try:
        ledger = Ledger(SqliteStore(path))
        len(ledger)
    except LedgerError as problem:
        raise InputError("--ledger", str(path), f"a whole ledger ({problem})") from None
    return ledger


def audit_part(path: Path) -> AuditPart:
    """What `dpcert audit --json` (or audit-training) found. Raises InputError for anything else."""
    text = _read(path, "--audit")
    try:
        told = json.loads(text)
        lower, refuted = told["epsilon_lower"], told["refuted"]
        error = told.get("alpha")
        number = math.inf if lower == "inf" else float(lower)
        return AuditPart(
            sha256=sha256(text.encode()).hexdigest(),
            epsilon_lower=min(number, 1e308),
            error=None if error is None else float(error),
            refuted=bool(refuted),
        )
    except (ValueError, TypeError, LookupError, RecursionError):
        raise InputError("--audit", str(path), "what `dpcert audit … --json` prints") from None


def _certificate(path: Path, claim: Claim, *, given: bool) -> CertificatePart:
    try:
        document = json.loads(_read(path, "--certificate"))
    except (ValueError, RecursionError):
        raise InputError("--certificate", str(path), "a certificate in JSON") from None
    if given:
        if not any(same(document, each) for each in descriptions(claim)):
            raise InputError("--certificate", str(path), "a certificate of this claim; it is one of another")
        if not (checked := check(document)).ok:
            raise InputError("--certificate", str(path), f"a certificate that proves something ({checked.reason})")
    return CertificatePart(verdict=document["verdict"], document=document)


def _why_none(found: Verification) -> str:
    told = [finding.text for finding in found.findings if finding.id == "no-certificate"]
    return told[0] if told else "No certificate was written."


def _read(path: Path, field: str) -> str:
    try:
        return content(field, path).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(field, str(path), "a text file in UTF-8") from None
