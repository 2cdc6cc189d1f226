"""The passphrase of a private key, asked for at the terminal and read from nowhere else."""

from __future__ import annotations

import sys

import typer

from ..mechanisms import InputError


def passphrase() -> str:
    """What the person types. Raises InputError without a terminal."""
    if not sys.stdin.isatty():
        raise InputError("--key", "encrypted", "a terminal to type its passphrase at, or a key without one")
    told: str = typer.prompt("Passphrase of the key", hide_input=True, err=True)
    return told
