"""dpcert check: the independent checker re-proves a certificate, or says what is not proved."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ..attest.envelope import is_envelope
from ..mechanisms import InputError
from ..mechanisms.paths import content
from ..presentation.output import print_json, say, show
from . import options
from .options import Json

PROVED, REJECTED, PROVED_UP_TO = 0, 1, 4


def check_command(
    certificates: Annotated[
        list[Path],
        options.named(
            "CERTIFICATE.json...", "Files that verify or prove wrote with --certificate, or that attest wrote."
        ),
    ],
    subject: Annotated[
        list[Path] | None,
        typer.Option("--subject", metavar="FILE", help="For an attestation: a file to compare with it; repeatable."),
    ] = None,
    key: Annotated[
        Path | None, typer.Option("--key", metavar="KEY.pub", help="For an attestation: the signer's public key (PEM).")
    ] = None,
    schedule_log: Annotated[
        Path | None, typer.Option(help="For an attestation: the schedule log, if you have it.")
    ] = None,
    ledger: Annotated[Path | None, typer.Option(help="For an attestation: the ledger, if you have it.")] = None,
    as_json: Json = False,
) -> None:
    """Prove certificates and attestations again, by a checker that is independent of what wrote them.

    Claims are re-proved in ball arithmetic, functions (`dpcert prove`) by interpreting them.

    Exit code: 0 everything in them is proved; 1 something is not; 2 there is no JSON document to check; 4 a function is
    proved for up to N entries only, and its certificate does not say that this was asked (--up-to N).
    """
    given = {"--subject": subject, "--key": key, "--schedule-log": schedule_log, "--ledger": ledger}
    if len(certificates) == 1 and is_envelope(certificates[0]):
        return _attestation(certificates[0], subject or (), key, schedule_log, ledger, as_json)
    asked = [option for option, value in given.items() if value is not None]
    if asked:
        names = ", ".join(map(str, certificates))
        raise InputError("CERTIFICATE", names, f"one attestation (dpcert attest writes it), as {asked[0]} is given")
    documents = [(certificate, _document(certificate)) for certificate in certificates]
    found = [_checked(certificate, document) for certificate, document in documents]
    if as_json:
        print_json(found[0] if len(found) == 1 else {"certificates": found})
    else:
        for result in found:
            named = f"{result['file']}: " if len(found) > 1 else ""
            say(f"{named}{_word(result)}: {result['reason']}")
    if not all(result["proved"] for result in found):
        raise typer.Exit(REJECTED)
    raise typer.Exit(PROVED_UP_TO if any(result.get("only_up_to") for result in found) else PROVED)


def _attestation(
    path: Path,
    subjects: Sequence[Path],
    key: Path | None,
    schedule_log: Path | None,
    ledger: Path | None,
    as_json: bool,
) -> None:
    from ..attest import check_attestation, read_public_key

    public = None if key is None else read_public_key(key)
    found = check_attestation(path, subjects, key=public, schedule_log=schedule_log, ledger=ledger)
    show(found, as_json)
    if not found.ok:
        raise typer.Exit(REJECTED)


def _word(result: dict[str, Any]) -> str:
    if not result["proved"]:
        return "NOT PROVED"
    return f"proved up to N = {result['up_to']}" if result.get("up_to") is not None else "proved"


def _checked(certificate: Path, document: dict[str, Any]) -> dict[str, Any]:
    if str(document.get("format", "")).startswith(("dpcert proof", "dpcert enumeration")):
        return {"file": str(certificate)} | _proof(document)
    from ..proofs_checks.certificates.checker import check

    result = check(certificate)
    return {
        "file": str(certificate),
        "proved": result.ok,
        "verdict": document.get("verdict") if result.ok else None,
        "reason": result.reason,
    }


def _proof(document: dict[str, Any]) -> dict[str, Any]:
    """Of a function, which must be there to be run, and be the one that was proved."""
    from ..proofs_checks.auditing.target import load
    from ..proofs_checks.proving.certificate import source_digest
    from ..proofs_checks.proving.checker.check import check_proof
    from ..proofs_checks.proving.checker.finite import check_enumeration
    from ..proofs_checks.proving.proof import PROVED as EVERY
    from ..proofs_checks.proving.proof import PROVED_UP_TO as UP_TO

    name = str(document.get("function"))
    function = load(name, "([0.0], [1.0])", field="function").mechanism
    if source_digest(function) != document.get("source_sha256"):
        return {"proved": False, "verdict": None, "reason": f"the source of {name} is not the one that was proved"}
    enumeration = str(document["format"]).startswith("dpcert enumeration")
    checked = (check_enumeration if enumeration else check_proof)(document, function)
    if not checked.ok:
        return {"proved": False, "verdict": None, "reason": checked.reason}
    up_to = None if checked.every_size else max(checked.sizes)
    asked = document.get("up_to")
    entries = "any number of entries" if checked.every_size else f"entries {sorted(checked.sizes)} only"
    cost = f"{document['rho']}-zCDP" if "rho" in document and "delta" not in document else _dp(document)
    return {
        "proved": True,
        "verdict": EVERY if checked.every_size else UP_TO,
        "every_size": checked.every_size,
        "up_to": up_to,
        "only_up_to": up_to is not None and not (type(asked) is int and asked <= up_to),
        "reason": f"{name} is {cost} ({document.get('relation')}, {entries}): {checked.reason}",
    }


def _dp(document: dict[str, Any]) -> str:
    delta = document.get("delta", "0")
    return f"{document.get('epsilon')}-DP" if delta == "0" else f"({document.get('epsilon')}, {delta})-DP"


def _document(path: Path) -> dict[str, Any]:
    """Anything but a readable JSON object is bad input, not a rejected certificate."""
    read = content("certificate", path)
    try:
        document = json.loads(read.decode())
    except (ValueError, RecursionError) as problem:
        reason = " ".join(str(problem).split())[:160]
        raise InputError("certificate", str(path), f"a readable JSON file ({reason})") from None
    if not isinstance(document, dict):
        raise InputError("certificate", str(path), f"a JSON object, not a {type(document).__name__}")
    return document
