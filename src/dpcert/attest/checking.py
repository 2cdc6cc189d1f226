"""check_attestation(file): every sentence of an attestation, checked by whoever holds what it is about."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ..mechanisms import InputError
from ..mechanisms.paths import content
from ..proofs_checks.certificates.checker import check
from ..proofs_checks.claims.assumptions import assumptions
from ..proofs_checks.claims.claim import Claim
from ..proofs_checks.schedules.logged import other_sampling, read_log
from ..proofs_checks.verification.hazards import Basis, Evidence, hazards
from ..proofs_checks.verification.verdict import Verdict, judge
from . import parts
from .envelope import opened, signed_by
from .predicate import PREDICATE_TYPE, PREDICATES, STATEMENT_TYPE, Interval, Predicate, Statement

if TYPE_CHECKING:
    from securesystemslib.signer._key import SSlibKey


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. ok: None where it was not, because what it needs was not given."""

    what: str
    ok: bool | None
    sentence: str
    basis: Basis

    def __str__(self) -> str:
        word = {True: self.basis if self.basis != "asserted" else "ok", False: "WRONG", None: "not checked"}[self.ok]
        return f"{word}: {self.sentence}"


@dataclass(frozen=True, slots=True)
class CheckedAttestation:
    """All of them, with what is said and stays unchecked.

    assumptions: what the claim takes for granted, found anew: the predicate's are the signer's words.
    """

    file: str
    predicate: Predicate
    checks: tuple[Check, ...]
    assumptions: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Nothing is wrong, and the verdict is proved."""
        verdict = next(check for check in self.checks if check.what == "verdict")
        return bool(verdict.ok) and all(check.ok is not False for check in self.checks)

    def __str__(self) -> str:
        said = f"{self.predicate.verdict}: {self.predicate.claim.title}"
        if any(check.ok is False for check in self.checks):
            first = f'Do not rely on this attestation. Something is wrong with it; what it says is "{said}".'
        else:
            first = said if self.ok else f'The verdict of this attestation is not proved; what it says is "{said}".'
        return "\n  ".join([first, *map(str, self.checks)])

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "file": self.file,
            "ok": self.ok,
            "verdict": self.predicate.verdict,
            "checks": [asdict(each) for each in self.checks],
            "assumptions": list(self.assumptions),
            "predicate": self.predicate.model_dump(mode="json"),
        }


def check_attestation(
    path: Path,
    subjects: Sequence[Path] = (),
    *,
    key: SSlibKey | None = None,
    schedule_log: Path | None = None,
    ledger: Path | None = None,
) -> CheckedAttestation:
    """Signature, digests, claim, certificates (proved again), and the log and ledger for whoever holds them.

    Raises InputError for what is no attestation, or one of another version.
    """
    document, payload = opened(path)
    statement = _statement(path, payload)
    predicate = statement.predicate
    claim = parts.parsed_claim(predicate.claim.toml, f"{path}, claim")
    checks = [
        _signature(document, key),
        *_digests(statement, subjects),
        _claim(predicate, claim),
        *_certificates(predicate, claim),
        _schedule(predicate, claim, schedule_log),
        _ledger(predicate, claim, ledger),
        *_audits(predicate, claim),
    ]
    return CheckedAttestation(str(path), predicate, tuple(checks), assumptions(claim))


def _statement(path: Path, payload: dict[str, Any]) -> Statement:
    kind = payload.get("predicateType")
    if payload.get("_type") != STATEMENT_TYPE:
        raise InputError("attestation", str(path), f"an in-toto statement ({STATEMENT_TYPE})")
    if kind != PREDICATE_TYPE:
        ours = isinstance(kind, str) and kind.startswith(PREDICATES)
        expected = (
            f"version 1; this is {str(kind)[:80]}: a newer dpcert reads it" if ours else "a statement about privacy"
        )
        raise InputError("attestation", str(path), expected)
    try:
        return Statement.model_validate_json(json.dumps(payload))
    except (ValidationError, RecursionError) as problem:
        where = ".".join(map(str, problem.errors()[0]["loc"])) if isinstance(problem, ValidationError) else "nesting"
        raise InputError("attestation", str(path), f"a predicate of version 1 (another {where} is there)") from None


def _signature(document: dict[str, Any], key: SSlibKey | None) -> Check:
    if not document["signatures"]:
        said = "The attestation is not signed: anybody could have written it."
        return Check("signature", None if key is None else False, said, "asserted")
    if key is None:
        said = "The attestation is signed, but by whom was not checked: give the signer's public key with --key."
        return Check("signature", None, said, "asserted")
    ok = signed_by(document, key)
    said = "that of the given key" if ok else "not that of the given key, or the attestation was changed"
    return Check("signature", ok, f"The signature is {said}.", "tested")


def _digests(statement: Statement, subjects: Sequence[Path]) -> Iterator[Check]:
    attested = {subject.name: subject.digest.get("sha256") for subject in statement.subject}
    if not subjects:
        said = f"The files were not compared: give them with --subject ({', '.join(attested)})."
        yield Check("subjects", None, said, "tested")
        return
    given = parts.digests(subjects)
    for name, digest in given.items():
        known = digest in attested.values() and attested.get(name, digest) == digest
        said = "is a file that was attested" if known else "is not a file that was attested: its SHA-256 is another one"
        if not known and digest in attested.values():
            said = "was attested under another name, and another file under this one"
        yield Check("subjects", known, f"{name} {said}.", "tested")
    if left := [name for name, digest in attested.items() if digest not in given.values()]:
        yield Check("subjects", None, f"Files that were attested and not compared: {', '.join(left)}.", "tested")


def _claim(predicate: Predicate, claim: Claim) -> Check:
    """What is said of the claim, and the verdict, must follow from its text and the interval."""
    if parts.claim_part(predicate.claim.toml, claim) != predicate.claim:
        return Check("claim", False, "What is said of the claim is not what its text says.", "tested")
    follows = judge(parts.bracket_of(predicate.interval, predicate.method), claim.statement.threshold)
    audited = predicate.verdict == "refuted" and follows == "undecided"  # an audit or simulated draws may refute it
    if follows != predicate.verdict and not audited:
        return Check("claim", False, f"From the interval the claim is {follows}, not {predicate.verdict}.", "tested")
    return Check("claim", True, "The verdict follows from the claim and the stated interval.", "tested")


def _certificates(predicate: Predicate, claim: Claim) -> Iterator[Check]:
    """Each certificate, proved again; then whether they prove the verdict, and the table says no more than that."""
    described, proved = parts.descriptions(claim) if predicate.certificates else [], []
    in_epsilon = claim.statement.currency.name == "epsilon"
    for part in predicate.certificates:
        again = False
        if not any(parts.same(part.document, each) for each in described):
            said = "is one of another claim"
        elif not (result := check(part.document)).ok:
            said = f"does not support the attestation: {result.reason}"
        elif part.verdict != part.document["verdict"]:
            said = f"says {part.document['verdict']}, not {part.verdict}, as the attestation states"
        elif in_epsilon and _apart(predicate.interval, part.document["interval"]):
            said = f"proves another interval than the attestation states: {result.reason}"
        else:
            said, again = f"was proved again: {result.reason}", True
            proved.append(part.document)
        yield Check("certificate", again, f"The certificate {said}.", "proved")
    if not predicate.certificates:
        yield Check("certificate", None, f"Nothing is proved: {predicate.no_certificate}", "asserted")
    known = parts.verdict_of(proved, described) if proved else None
    yield _verdict(predicate, known)
    yield _hazards(predicate, claim, known == predicate.verdict)


def _apart(stated: Interval, proved: dict[str, str]) -> bool:
    """Whether no number is in both intervals, each of which is said to hold the true epsilon."""
    low, high = Fraction(proved["epsilon_lower"]), proved["epsilon_upper"]  # which may be beyond all floats
    above = stated.upper is not None and low > stated.upper
    return above or (high != "inf" and Fraction(high) < stated.lower)


def _verdict(predicate: Predicate, known: Verdict | None) -> Check:
    """known: what certificates that were proved again say; None: there are none."""
    if known == predicate.verdict:
        return Check("verdict", True, f"The certificates prove the verdict, {known}.", "proved")
    if known in ("holds", "refuted"):
        said = f"The certificates prove that the claim is {known}, and the attestation says {predicate.verdict}."
        return Check("verdict", False, said, "proved")
    if predicate.verdict_basis == "proved":
        return Check("verdict", False, "The verdict is said to be proved, and no certificate proves it.", "proved")
    return Check("verdict", None, f"That the verdict is {predicate.verdict} is asserted, not proved.", "asserted")


def _hazards(predicate: Predicate, claim: Claim, proved: bool) -> Check:
    """No hazard is left out, or has a stronger ground than what is in the attestation gives it."""
    logged = None if predicate.ledger is None else predicate.ledger.sentence
    evidence = Evidence(claim, (), proved, predicate.schedule, logged, predicate.audits)
    supported = {(row.hazard, row.basis) for row in hazards(evidence)}
    wrong = [row.hazard for row in predicate.hazards if (row.hazard, row.basis) not in supported]
    told = {row.hazard for row in predicate.hazards}
    if left := [hazard for hazard, _ in sorted(supported) if hazard not in told]:
        said = f"The table of hazards leaves out: {', '.join(left)}."
        return Check("hazards", False, said, "tested")
    if wrong:
        said = f"The table of hazards states grounds that the attestation does not support, for: {', '.join(wrong)}."
        return Check("hazards", False, said, "tested")
    return Check("hazards", True, "The table of hazards has the grounds that the attestation supports.", "tested")


def _unattested(what: str, given: Path | None, said: str, name: str = "") -> Check:
    """Nothing of the kind was attested, so that a file that is given for it supports nothing."""
    if given is not None:
        said = f"No {name or what} was attested, so the given one supports nothing."
    return Check(what, None if given is None else False, said, "asserted")


def _schedule(predicate: Predicate, claim: Claim, log: Path | None) -> Check:
    part = predicate.schedule
    if part is None:
        said = "Who took part in which round is asserted: no log was attested."
        return _unattested("schedule", log, said, "schedule log")
    verdict = "contradicts" if part.refuted else "did not contradict"
    said = f"A log of {part.rounds} rounds {verdict} {part.scheme} when it was attested"
    if log is None:
        return Check("schedule", False if part.refuted else None, f"{said}; the log itself was not given.", "tested")
    if sha256(content("--schedule-log", log)).hexdigest() != part.sha256:
        return Check("schedule", False, "The schedule log is not the one that was attested.", "tested")
    if expected := other_sampling(read_log(log), claim.phases_of_all_days):
        return Check("schedule", False, f"The schedule log supports another claim. Expected {expected}.", "tested")
    again = parts.schedule_part(log, claim)
    if again != part:
        said = "The attestation describes the test of this log differently from what was found now."
        return Check("schedule", False, said, "tested")
    word = "contradicts" if again.refuted else "does not contradict"
    said = f"The schedule log is the attested one, and {word} {again.scheme} (error probability {again.error:g})."
    return Check("schedule", not again.refuted, said, "tested")


def _ledger(predicate: Predicate, claim: Claim, path: Path | None) -> Check:
    part = predicate.ledger
    if part is None:
        return _unattested("ledger", path, "That nothing else was released is asserted: no ledger was attested.")
    if why := parts.no_ledger_for(claim):
        return Check("ledger", False, f"A ledger says nothing of this claim; it takes {why}.", "logged")
    upper, most = math.inf if part.epsilon.upper is None else part.epsilon.upper, claim.statement.threshold
    if part.agrees != (upper <= most):
        said = "What is said of the ledger does not follow from what its events are said to cost."
        return Check("ledger", False, said, "logged")
    told = parts.ledger_sentence(part.events, upper, part.agrees, claim)  # in dpcert's words: the signer may have any
    if path is None:
        return Check("ledger", None if part.agrees else False, f"{told} The ledger was not given.", "logged")
    ledger = parts.opened_ledger(path)
    heads = [event.hash for event in ledger.events()]
    if part.head not in heads:
        return Check("ledger", False, "The ledger is not the one that was attested.", "logged")
    later = len(heads) - 1 - heads.index(part.head)
    if later:
        said = f"The ledger has {later} event{'s' * (later > 1)} more than were attested: what was attested is not all."
        return Check("ledger", False, said, "logged")
    again = parts.ledger_part(path, claim)
    cost = parts.bracket_of(again.epsilon)
    other = (again.events, again.agrees) != (part.events, part.agrees)
    if other or cost.lower > upper or part.epsilon.lower > cost.upper:
        return Check("ledger", False, f"The attestation describes this ledger differently. {again.sentence}", "logged")
    return Check("ledger", again.agrees, f"The ledger ends where it was attested. {again.sentence}", "logged")


def _audits(predicate: Predicate, claim: Claim) -> Iterator[Check]:
    for part in predicate.audits:
        refuted = part.refuted or parts.above(claim, part.epsilon_lower, part.delta)
        above = "" if refuted == part.refuted else "; that is above the claim"
        said = f"It was attested that there was {part}; it was not repeated here{above}."
        yield Check("audit", False if refuted else None, said, "tested")
