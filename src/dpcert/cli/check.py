"""dpcert check: the independent checker re-proves a certificate, or says what is not proved."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..attest.envelope import is_envelope
from ..mechanisms import InputError
from ..mechanisms.paths import content
from ..presentation.output import show
from . import options
from .options import Json

PROVED, REJECTED, PROVED_UP_TO = 0, 1, 4


def check_command(
    certificates: Annotated[
        list[Path],
        options.named("CERTIFICATE.json", "Files that verify or prove wrote with --certificate, or that attest wrote."),
    ],
    subject: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="For an attestation: a file to compare with it; repeatable."),
    ] = None,
    key: Annotated[
        Path | None, typer.Option(metavar="KEY.pub", help="For an attestation: the signer's public key (PEM).")
    ] = None,
    schedule_log: Annotated[Path | None, "For an attestation: the schedule log, if you have it."] = None,
    ledger: Annotated[Path | None, "For an attestation: the ledger, if you have it."] = None,
    as_json: Json = False,
) -> None:
    """Claims are re-proved in ball arithmetic, functions (`dpcert prove`) by interpreting them.

    Exit code: 0 everything in them is proved; 1 something is not; 2 a file is no certificate; 4 a function is
    proved for up to N entries only, and its certificate does not say that this was asked (--up-to N).
    """
    given = {"--subject": subject, "--key": key, "--schedule-log": schedule_log, "--ledger": ledger}
    if len(certificates) == 1 and is_envelope(certificates[0]):
        from ..attest import check_attestation, read_public_key

        public = None if key is None else read_public_key(key)
        log, book = schedule_log, ledger
        attested = check_attestation(certificates[0], subject or (), key=public, schedule_log=log, ledger=book)
        show(attested, as_json)
        raise typer.Exit(PROVED if attested.ok else REJECTED)
    asked = [option for option, value in given.items() if value is not None]
    if asked:
        for path in certificates:
            content("CERTIFICATE", path)  # says so where there is no such file
        names = ", ".join(map(str, certificates))
        raise InputError("CERTIFICATE", names, f"one attestation (dpcert attest writes it), as {asked[0]} is given")
    from ..proofs_checks.certificates.recheck import recheck

    found = recheck(certificates)
    show(found, as_json)
    if not found.proved:
        raise typer.Exit(REJECTED)
    raise typer.Exit(PROVED_UP_TO if found.only_up_to else PROVED)
