"""What an attestation says of each file: its subjects, the claim, certificates, a schedule log, a ledger, an audit."""

from __future__ import annotations

import json
import math
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from ..accounting import Bracket, epsilon
from ..accounting.ledger import Ledger
from ..accounting.ledger.contents import opened
from ..mechanisms import Group, InputError
from ..mechanisms.paths import content
from ..proofs_checks.certificates.points import points
from ..proofs_checks.certificates.restated import NoCertificate
from ..proofs_checks.certificates.stated import stated as described
from ..proofs_checks.claims.claim import Claim, parse_claim
from ..proofs_checks.claims.observers import against, observer_is_the_notion_s_own
from ..proofs_checks.schedules.logged import audited, other_sampling, read_log
from ..proofs_checks.verification.verdict import Verdict
from ..proofs_checks.verification.verify import verify
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
    """A bracket's ends; JSON has no infinity, and a lower end is true of every smaller number."""
    return Interval(
        lower=min(bracket.lower, sys.float_info.max), upper=bracket.upper if math.isfinite(bracket.upper) else None
    )


def bracket_of(stated: Interval, method: str = "as attested") -> Bracket:
    """The interval as a bracket."""
    return Bracket(stated.lower, math.inf if stated.upper is None else stated.upper, True, method)


def schedule_part(path: Path, claim: Claim) -> SchedulePart:
    """A log's digest and test. Raises InputError for a log of another sampling, which does not support the claim, and
    for one that can be guessed: its digest would tell who took part."""
    log = read_log(path)
    if expected := other_sampling(log, claim.phases_of_all_days):
        raise InputError("--schedule-log", str(path), expected)
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
    """A ledger's head and cost beside the claim, of as many units as the claim is about. Raises InputError for what is
    no ledger, for an empty one, and for claims about a named observer, whom a ledger says nothing of."""
    ledger, stated = opened_ledger(path), claim.statement
    if not len(ledger):
        raise InputError("--ledger", str(path), "a ledger with events")
    if why := no_ledger_for(claim):
        raise InputError("--ledger", str(path), why)
    run = ledger.run()
    assert run is not None  # there are events
    assert stated.delta is not None  # an epsilon is claimed
    about = run if stated.group is None else Group(run, stated.group)
    cost = epsilon(about, stated.delta, stated.neighbouring, notion=stated.notion)
    agrees = cost.at_most(stated.threshold)
    sentence = ledger_sentence(len(ledger), cost.upper, agrees, claim)
    return LedgerPart(head=ledger.head, events=len(ledger), epsilon=ends(cost), agrees=agrees, sentence=sentence)


def no_ledger_for(claim: Claim) -> str:
    """Which claim a ledger can say something of, where it is not this one; else empty."""
    if claim.statement.delta is None:
        return f"a claim that states epsilon; this one states {claim.statement.currency.name}"
    if not observer_is_the_notion_s_own(claim):
        return "a claim that names no observer: a ledger does not say who sees what"
    return ""


def ledger_sentence(events: int, upper: float, agrees: bool, claim: Claim) -> str:
    """What a ledger's events cost, beside what is claimed."""
    told = f"{events} events cost" if events > 1 else "1 event costs"
    word = "at most" if agrees else "not shown to be at most"
    delta, most = claim.statement.delta, claim.statement.threshold
    return f"The ledger's {told} an epsilon of {upper:.6g} at most, at delta {delta:g}: {word} the claimed {most:g}."


def opened_ledger(path: Path) -> Ledger:
    """The ledger in a file, which must be there. Raises InputError for anything else."""
    try:
        return opened(path)
    except InputError as problem:
        raise problem.renamed("--ledger") from None


def audit_part(path: Path, claim: Claim) -> AuditPart:
    """What `dpcert audit --json` (or audit-training) found, beside the claim. Raises InputError for anything else, for
    an audit that compared nothing, and for one of other neighbours than the claim's: they support nothing."""
    text = text_of(path, "--audit")
    try:
        told = json.loads(text)
        lower, refuted = told["epsilon_lower"], told["refuted"]
        _supports(path, told, claim)
        error = told.get("alpha")
        delta = _delta_of(told)
        number = math.inf if lower == "inf" else float(lower)
        return AuditPart(
            sha256=sha256(text.encode()).hexdigest(),
            epsilon_lower=min(number, 1e308),
            delta=delta,
            error=None if error is None else float(error),
            refuted=bool(refuted) or above(claim, number, delta),
        )
    except InputError:  # which is a ValueError, too
        raise
    except (ValueError, TypeError, LookupError, RecursionError):
        raise InputError("--audit", str(path), "what `dpcert audit … --json` prints") from None


def _supports(path: Path, told: dict[str, Any], claim: Claim) -> None:
    """Raises InputError where the audit says nothing of the claim."""
    if why := told.get("unchecked"):
        raise InputError("--audit", str(path), f"an audit that checked something; this one did not: {why}")
    relation = told.get("neighbouring", claim.statement.neighbouring)
    if relation != claim.statement.neighbouring:
        expected = f"an audit of {claim.statement.neighbouring} neighbours, as the claim has them, not of {relation}"
        raise InputError("--audit", str(path), expected)


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


def above(claim: Claim, lower: float, delta: float | None) -> bool:
    """Whether a lower bound contradicts the claim. Epsilon falls with delta: a bound at a smaller delta may not."""
    stated = claim.statement
    if delta is None or stated.delta is None:
        return False
    return delta >= stated.delta and lower > stated.threshold


def text_of(path: Path, field: str) -> str:
    """A text file's contents. Raises InputError, under the field's name, for what cannot be read."""
    try:
        return content(field, path).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(field, str(path), "a text file in UTF-8") from None


def digests(paths: Iterable[Path]) -> dict[str, str]:
    """Name -> SHA-256 of every file; of a folder every file in it, by its path within the folder's own name.

    Raises InputError for what is no regular file (a link may point elsewhere tomorrow), for a file that cannot be read,
    and for two of the same name.
    """
    found: dict[str, str] = {}
    for path in paths:
        for name, file in _files(path):
            if not name.isprintable():
                raise InputError("--subject", name, "files whose names are printable characters")
            if name in found:
                raise InputError("--subject", str(file), f"files of different names: there is another {name!r}")
            found[name] = _digest(file)
    if not found:
        raise InputError("--subject", "(none)", "at least one file")
    return found


def _digest(path: Path) -> str:
    """The SHA-256 of a file, however large."""
    try:
        with path.open("rb") as handle:
            return file_digest(handle, "sha256").hexdigest()
    except OSError as problem:
        raise InputError("--subject", str(path), f"a readable file ({problem.strerror})") from None


def _files(path: Path) -> Iterator[tuple[str, Path]]:
    if path.is_symlink():
        raise InputError("--subject", str(path), "the file itself, not a symbolic link: a link may change its target")
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.is_symlink() or not (file.is_dir() or file.is_file()):
                raise InputError("--subject", str(file), "regular files and folders only, no links, pipes or devices")
            if file.is_file():
                yield f"{path.resolve().name}/{file.relative_to(path).as_posix()}", file
    elif path.is_file():
        yield path.name, path
    elif path.exists():
        raise InputError("--subject", str(path), "a regular file or a folder, not a pipe or a device")
    else:
        raise InputError("--subject", str(path), "a file or folder that exists")


ABOUT = ("claim", "phases", "currency")


def descriptions(claim: Claim) -> list[dict[str, Any]]:
    """The parts of a certificate that follow from the claim alone, for each of its certificates.

    For currencies whose certificates are no points of a curve they are taken from fresh certificates.
    """
    try:
        return [described(part) for part in points(claim, against(claim, claim.statement.currency.rtol))]
    except NoCertificate:
        with tempfile.TemporaryDirectory() as folder:
            verify(claim, certificates=Path(folder))
            return [json.loads(file.read_text("utf-8")) for file in sorted(Path(folder).glob("*.json"))]


def verdict_of(documents: Sequence[dict[str, Any]], described: Sequence[dict[str, Any]]) -> Verdict:
    """What certificates, each proved by the checker, say of the claim together.

    The claim is refuted where one of its certificates is, and holds where every one that it needs is there and does.
    """
    if any(document["verdict"] == "refuted" for document in documents):
        return "refuted"
    holding = [document for document in documents if document["verdict"] == "holds"]
    whole = described and all(any(same(document, each) for document in holding) for each in described)
    return "holds" if whole else "undecided"


def same(document: dict[str, Any], described: dict[str, Any]) -> bool:
    """Whether a certificate is about what is described."""
    return isinstance(document, dict) and all(document.get(key) == described.get(key) for key in ABOUT)
