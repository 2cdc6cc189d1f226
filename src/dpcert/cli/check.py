"""dpcert check: the independent checker re-proves a certificate, or says what is not proved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ..mechanisms import InputError
from ..presentation.output import print_json
from .options import Json

PROVED, REJECTED = 0, 1


def check_command(
    certificates: Annotated[
        list[Path], typer.Argument(metavar="CERTIFICATE.json...", help="Written by verify or prove with --certificate.")
    ],
    as_json: Json = False,
) -> None:
    """Re-prove certificates, without what wrote them: accountants or the search for proofs.

    Claims are re-proved in ball arithmetic, functions (`dpcert prove`) by running them on symbols.

    Exit code: 0 everything in them is proved; 1 something is not; 2 there is no JSON document to check.
    """
    documents = [(certificate, _document(certificate)) for certificate in certificates]
    found = [_checked(certificate, document) for certificate, document in documents]
    if as_json:
        print_json(found[0] if len(found) == 1 else {"certificates": found})
    else:
        for result in found:
            named = f"{result['file']}: " if len(found) > 1 else ""
            typer.echo(f"{named}{'proved' if result['proved'] else 'NOT PROVED'}: {result['reason']}")
    raise typer.Exit(PROVED if all(result["proved"] for result in found) else REJECTED)


def _checked(certificate: Path, document: dict[str, Any]) -> dict[str, Any]:
    if str(document.get("format", "")).startswith(("dpcert proof", "dpcert enumeration")):
        ok, reason = _proof(document)
    else:
        from ..proofs_checks.certificates.checker import check

        result = check(certificate)
        ok, reason = result.ok, result.reason
    return {
        "file": str(certificate),
        "proved": ok,
        "verdict": document.get("verdict") if ok else None,
        "reason": reason,
    }


def _proof(document: dict[str, Any]) -> tuple[bool, str]:
    """Of a function, which must be there to be run, and be the one that was proved."""
    from ..proofs_checks.auditing.target import load
    from ..proofs_checks.proving.certificate import source_digest
    from ..proofs_checks.proving.checker.check import check_proof
    from ..proofs_checks.proving.checker.finite import check_enumeration

    name = str(document.get("function"))
    function = load(name, "([0.0], [1.0])", field="function").mechanism
    if source_digest(function) != document.get("source_sha256"):
        return False, f"the source of {name} is not the one that was proved"
    enumeration = str(document["format"]).startswith("dpcert enumeration")
    checked = (check_enumeration if enumeration else check_proof)(document, function)
    every_size = "induction" in document and not enumeration
    entries = "any number of entries" if every_size else f"entries {document.get('sizes')}"
    claim = f"{name} is {document.get('epsilon')}-DP ({document.get('relation')}, {entries}): "
    return checked.ok, (claim if checked.ok else "") + checked.reason


def _document(path: Path) -> dict[str, Any]:
    """Anything but a readable JSON object is bad input, not a rejected certificate."""
    if path.exists() and not path.is_file():  # to open a named pipe would wait for somebody to write into it
        raise InputError("certificate", str(path), "a regular file, not a folder, a pipe or a device")
    try:
        document = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as problem:
        reason = " ".join(str(problem).split())[:160]
        raise InputError("certificate", str(path), f"a readable JSON file ({reason})") from None
    if not isinstance(document, dict):
        raise InputError("certificate", str(path), f"a JSON object, not a {type(document).__name__}")
    return document
