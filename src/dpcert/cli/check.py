"""dpcert check: the independent checker re-proves a certificate, or says what is not proved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ..mechanisms import InputError
from .options import Json
from .output import print_json

PROVED, REJECTED = 0, 1


def check_command(
    certificate: Annotated[
        Path, typer.Argument(metavar="CERTIFICATE.json", help="Written by dpcert verify --certificate.")
    ],
    as_json: Json = False,
) -> None:
    """Re-prove a certificate in ball arithmetic, without the accountants that wrote it.

    Exit code: 0 everything in it is proved; 1 something is not; 2 there is no JSON document to check.
    """
    _require_document(certificate)
    from ..proofs_checks.certificates.checker import check

    result = check(certificate)
    if as_json:
        print_json({"file": str(certificate), "proved": result.ok, "reason": result.reason})
    else:
        typer.echo(f"{'proved' if result.ok else 'NOT PROVED'}: {result.reason}")
    raise typer.Exit(PROVED if result.ok else REJECTED)


def _require_document(path: Path) -> None:
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
