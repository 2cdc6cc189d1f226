"""dpcert attest: a model's files, a claim about their privacy and what supports it, in one signed file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..attest import attest, read_private_key
from ..attest.model_card import refresh
from ..mechanisms import InputError
from ..mechanisms.paths import place_for
from ..presentation.output import show
from .options import Json

if TYPE_CHECKING:
    from securesystemslib.signer._crypto_signer import CryptoSigner


def attest_command(
    claim: Annotated[Path, typer.Argument(metavar="CLAIM.toml", help="The claim about the files.", show_default=False)],
    subject: Annotated[
        list[Path], typer.Option(metavar="FILE", help="A file (or folder) that the claim is about; repeatable.")
    ],
    out: Annotated[Path, typer.Option(metavar="FILE.intoto.jsonl", help="Where to write the attestation.")],
    certificate: Annotated[
        Path | None, typer.Option(help="A certificate of the claim. Default: a new one is made.")
    ] = None,
    schedule_log: Annotated[
        Path | None,
        typer.Option(help="Who took part in which round. The log is tested; only its digest is written down."),
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option(help="The ledger of the run. Its last hash and its cost are written down.")
    ] = None,
    audit: Annotated[
        list[Path] | None, typer.Option(help="A file with the output of dpcert audit --json; repeatable.")
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(
            metavar="KEY.pem",
            help="Sign with this private key (Ed25519 or ECDSA, PEM). Without it the attestation is unsigned.",
        ),
    ] = None,
    model_card: Annotated[
        Path | None, typer.Option(metavar="README.md", help="Insert or refresh a section of this model card.")
    ] = None,
    as_json: Json = False,
) -> None:
    """A refuted or undecided claim is attested as that. Check the result with dpcert check.
    Example: dpcert attest claim.toml --subject model.safetensors --key key.pem --out model.intoto.jsonl
    """
    place_for("--out", out)
    for option, written in (("--out", out), ("--model-card", model_card)):
        if written is not None and any(written.resolve().is_relative_to(each.resolve()) for each in subject):
            expected = (
                "a file that is not attested itself; instead of a folder, give each file of the model with --subject"
            )
            raise InputError(option, str(written), expected)
    found = attest(
        claim,
        subject,
        certificate=certificate,
        schedule_log=schedule_log,
        ledger=ledger,
        audits=audit or (),
        signer=signer_of(key),
    )
    found.write(out)
    if model_card is not None:
        refresh(model_card, found, out)
    show(found, as_json)


def signer_of(key: Path | None) -> CryptoSigner | None:
    """Who signs with this private key, whose passphrase is asked for at the terminal and read from nowhere else."""
    return None if key is None else read_private_key(key, _passphrase)


def _passphrase() -> str:
    if not sys.stdin.isatty():
        raise InputError("--key", "encrypted", "a terminal to type its passphrase at, or a key without one")
    told: str = typer.prompt("Passphrase of the key", hide_input=True, err=True)
    return told
