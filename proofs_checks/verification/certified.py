"""The certificates of a claim: written where they can be proved, and else a finding that says why not."""

from __future__ import annotations

from pathlib import Path

from ...accounting import Bracket
from ...mechanisms import InputError, Shuffled
from ...mechanisms.composition import has_step
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
    currency = claim.statement.currency
    whole = serves(currency, bracket)
    try:
        if whole:
            document = of_currency(claim, bracket, against(claim, currency.rtol))
            files, notes = [filed(document, claim, directory, name)], list[Finding]()
        else:
            files, notes = _of_points(claim, bracket, directory, name)
    except NoCertificate as problem:
        return None, (_none(f"No certificate: {problem}."),)
    except OSError as problem:
        raise InputError("--certificate", str(directory), f"a folder to write to ({problem})") from None
    if note := restated(claim):
        notes.append(Finding("certificate-restates", "info", f"The certificate speaks of {note}."))
    if not whole and not isinstance(currency, EpsilonAt):
        told = f"Proved point by point, as epsilons at deltas: {', '.join(file.name for file in files)}."
        notes.append(Finding("certificate-of-points", "info", told))
    return str(files[0]), tuple(notes)


def _of_points(claim: Claim, bracket: Bracket, directory: Path, name: str | None) -> tuple[list[Path], list[Finding]]:
    """One point's certificate after the other, and a warning for each that proves less than is known."""
    parts = points(claim, against(claim, claim.statement.currency.rtol))
    files, weaker = [], []
    for place, part in enumerate(parts, 1):
        known = bracket if part is claim else interval(part, part.run, part.statement.currency.rtol)
        named = name if name is None or len(parts) == 1 else f"{name}-{place}"
        written = write(part, known.lower, known.upper, directory, named)
        files.append(written.path)
        if written.verdict != judge(known, part.statement.threshold):
            weaker.append(_weaker(part, written))
    return files, weaker


def _weaker(part: Claim, written: Written) -> Finding:
    proved = f"[{written.epsilon_lower:g}, {written.epsilon_upper:g}]"
    verdict = "holds" if written.verdict == "holds" else f"is {written.verdict}"
    text = f"The certificate proves a wider interval, {proved}; by that interval the claim {verdict}."
    if has_step(part.run, Shuffled):
        text += " The checker has no rule for amplification by shuffling: it takes each epoch for one plain round."
    return Finding("certificate-proves-less", "warning", text)


def _none(text: str) -> Finding:
    return Finding("no-certificate", "info", text)
