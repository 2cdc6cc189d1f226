"""What an attestation says of each file that it is made of: the claim, a schedule log, a ledger, an audit."""

from __future__ import annotations

import json
import math
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..accounting import Bracket
from ..accounting.ledger import Ledger
from ..accounting.ledger.contents import opened
from ..mechanisms import InputError
from ..mechanisms.paths import content
from ..proofs_checks.claims.claim import Claim, parse_claim
from ..proofs_checks.schedules.logged import audited, read_log
from .predicate import AuditPart, ClaimPart, Interval, LedgerPart, SchedulePart

SCHEDULE_ERROR = 1e-6
GUESSABLE = 2.0**-128
"""A schedule log that could be guessed with this probability would be told by its digest."""


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
        raise InputError("--ledger", str(path), f"a claim that states epsilon; this one states {stated.currency.name}")
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
    try:
        return opened(path)
    except InputError as problem:
        raise problem.renamed("--ledger") from None


def audit_part(path: Path, claim: Claim) -> AuditPart:
    """What `dpcert audit --json` (or audit-training) found, beside the claim. Raises InputError for anything else."""
    text = text_of(path, "--audit")
    try:
        told = json.loads(text)
        lower, refuted = told["epsilon_lower"], told["refuted"]
        error = told.get("alpha")
        delta = _delta_of(told)
        number = math.inf if lower == "inf" else float(lower)
        return AuditPart(
            sha256=sha256(text.encode()).hexdigest(),
            epsilon_lower=min(number, 1e308),
            delta=delta,
            error=None if error is None else float(error),
            refuted=bool(refuted) or _above(claim, number, delta, told.get("neighbouring")),
        )
    except (ValueError, TypeError, LookupError, RecursionError):
        raise InputError("--audit", str(path), "what `dpcert audit … --json` prints") from None


def _delta_of(told: dict[str, Any]) -> float | None:
    """The delta of an audit's lower bound: audit-training says it, audit with each of its bounds."""
    if "delta" in told:
        return float(told["delta"])
    at = [
        float(bound["delta"])
        for bound in told.get("bounds", ())
        if bound["quantity"] == "epsilon" and bound["value"] == told["epsilon_lower"] and bound["assumes"] is None
    ]
    return min(at, default=None)


def _above(claim: Claim, lower: float, delta: float | None, relation: str | None) -> bool:
    """Whether a lower bound contradicts the claim. Epsilon falls with delta: a bound at a smaller delta may not."""
    stated = claim.statement
    if delta is None or stated.delta is None or relation not in (None, stated.neighbouring):
        return False
    return delta >= stated.delta and lower > stated.threshold


def text_of(path: Path, field: str) -> str:
    """A text file's contents. Raises InputError, under the field's name, for what cannot be read."""
    try:
        return content(field, path).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(field, str(path), "a text file in UTF-8") from None
