"""dpcert explain: which accountant, conversion and convention reproduces a published number."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..presentation.output import show
from ..proofs_checks.claims.claim import load_claim
from ..proofs_checks.reproduction.explanation import explain
from . import options
from .options import Json


def explain_command(
    claim: Annotated[Path, options.named("CLAIM.toml", "A claim file.")],
    everything: Annotated[
        bool, typer.Option("--all", help="Show every convention tried. Default: the nearest few.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Tries each with the run as described, and with one thing changed. Says nothing about whether the number is
    right: that is dpcert verify.
    """
    read = load_claim(claim)
    with Console(stderr=True).status("searching the conventions"):
        found = explain(read)
    show(replace(found, everything=everything), as_json)
