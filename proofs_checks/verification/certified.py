"""The certificates of a claim: written where they can be proved, and else a finding that says why not."""

from __future__ import annotations

from pathlib import Path

from ...accounting import Bracket
from ...mechanisms import InputError, Shuffled, rounds_by_step
from ..certificates.certificate import Written, filed, write
from ..certificates.currencies import of_currency, serves
from ..certificates.points import points
from ..certificates.restated import NoCertificate
from ..certificates.stated import restated
from ..claims.claim import Claim
from ..claims.currency import EpsilonAt
from ..claims.findings import Finding
from ..claims.observers import against, certifiable, interval
from .verdict import judge


def certificate_of(
    claim: Claim, bracket: Bracket, directory: Path | None, name: str | None
) -> tuple[str | None, tuple[Finding, ...]]:
    """The certificate's file, the first one of a curve's, if one was asked for; and what there is to say of it.

    Raises InputError where nothing can be written into the folder.
    """
    if directory is None:
        return None, ()
    if not certifiable(claim):
        return None, (_none("Certificates speak of the notion's own observer only."),)
    if serves(claim.statement.currency, bracket):
        return _of_currency(claim, bracket, directory, name)
    try:
        parts = points(claim, against(claim, claim.statement.currency.rtol))
        named = [name if name is None or len(parts) == 1 else f"{name}-{place}" for place in range(1, len(parts) + 1)]
        found = [_written(part, claim, bracket, directory, each) for part, each in zip(parts, named, strict=True)]
    except NoCertificate as problem:
        return None, (_none(f"No certificate: {problem}."),)
    except OSError as problem:
        raise InputError("--certificate", str(directory), f"a folder to write to ({problem})") from None
    note = restated(claim)
    notes = [Finding("certificate-restates", "info", f"The certificate speaks of {note}.")] if note else []
    if not isinstance(claim.statement.currency, EpsilonAt):
        files = ", ".join(written.path.name for written, _ in found)
        notes.append(
            Finding("certificate-of-points", "info", f"Proved point by point, as epsilons at deltas: {files}.")
        )
    return str(found[0][0].path), (*(weaker for _, weaker in found if weaker is not None), *notes)


def _of_currency(
    claim: Claim, bracket: Bracket, directory: Path, name: str | None
) -> tuple[str | None, tuple[Finding, ...]]:
    """The one file of a Renyi divergence, a rho, a mu or a true-positive rate."""
    currency = claim.statement.currency
    try:
        document = of_currency(claim, bracket, against(claim, currency.rtol))
        path = filed(document, claim, directory, name)
    except NoCertificate as problem:
        return None, (_none(f"No certificate: {problem}."),)
    except OSError as problem:
        raise InputError("--certificate", str(directory), f"a folder to write to ({problem})") from None
    note = restated(claim)
    return str(path), (Finding("certificate-restates", "info", f"The certificate speaks of {note}."),) if note else ()


def _why(part: Claim) -> str:
    """What of the interval the checker has no rule for, where that is known."""
    shuffled = any(isinstance(step, Shuffled) for step in rounds_by_step(part.run))
    return (
        " The checker has no rule for amplification by shuffling: it takes each epoch for one plain round." * shuffled
    )


def _none(text: str) -> Finding:
    return Finding("no-certificate", "info", text)


def _written(
    part: Claim, whole: Claim, bracket: Bracket, directory: Path, name: str | None
) -> tuple[Written, Finding | None]:
    """One point's certificate, and a warning where it proves less than is known."""
    known = bracket if part is whole else interval(part, part.run, part.statement.currency.rtol)
    written = write(part, known.lower, known.upper, directory, name)
    if written.verdict == judge(known, part.statement.threshold):
        return written, None
    proved = f"[{written.epsilon_lower:g}, {written.epsilon_upper:g}]"
    verdict = "holds" if written.verdict == "holds" else f"is {written.verdict}"
    text = f"The certificate proves a wider interval, {proved}; by that interval the claim {verdict}.{_why(part)}"
    return written, Finding("certificate-proves-less", "warning", text)
