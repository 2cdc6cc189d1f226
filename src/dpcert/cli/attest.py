"""dpcert attest: a model's files, a claim about their privacy and what supports it, in one signed file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..attest import attest, read_private_key
from ..attest.model_card import refresh
from ..mechanisms import InputError
from ..presentation.output import show
from .options import Json
from .passphrase import passphrase

SUPPORT, SIGNING = "What supports the claim", "Signing and output"


def attest_command(
    claim: Annotated[Path, typer.Argument(metavar="CLAIM.toml", help="The claim about the files.", show_default=False)],
    subject: Annotated[
        list[Path],
        typer.Option("--subject", metavar="FILE", help="A file (or folder) that the claim is about; repeatable."),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE.intoto.jsonl", help="Where to write the attestation.")],
    certificate: Annotated[
        Path | None,
        typer.Option(help="A certificate of the claim. Default: a new one is made.", rich_help_panel=SUPPORT),
    ] = None,
    schedule_log: Annotated[
        Path | None,
        typer.Option(
            help="Who took part in which round. The log is tested; only its digest is written down.",
            rich_help_panel=SUPPORT,
        ),
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(
            help="The ledger of the run. Its last hash and its cost are written down.", rich_help_panel=SUPPORT
        ),
    ] = None,
    audit: Annotated[
        list[Path] | None,
        typer.Option(
            "--audit", help="A file with the output of dpcert audit --json; repeatable.", rich_help_panel=SUPPORT
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(
            metavar="KEY.pem",
            help="Sign with this private key (Ed25519 or ECDSA, PEM). Without it the attestation is unsigned.",
            rich_help_panel=SIGNING,
        ),
    ] = None,
    model_card: Annotated[
        Path | None,
        typer.Option(
            metavar="README.md", help="Insert or refresh a section of this model card.", rich_help_panel=SIGNING
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write an attestation: what a claim says about files, and whether it is proved, tested, logged or asserted.

    A refuted or undecided claim is attested as that. Check the result with dpcert check.
    Example: dpcert attest claim.toml --subject model.safetensors --key key.pem --out model.intoto.jsonl
    """
    if not out.parent.is_dir():
        raise InputError("--out", str(out), "a file in a folder that exists")
    signer = None if key is None else read_private_key(key, passphrase)
    found = attest(
        claim,
        subject,
        certificate=certificate,
        schedule_log=schedule_log,
        ledger=ledger,
        audits=audit or (),
        signer=signer,
    )
    found.write(out)
    if model_card is not None:
        refresh(model_card, found, out)
    show(found, as_json)
