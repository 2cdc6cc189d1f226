"""dpcert explain: which accountant, conversion and convention reproduces a published number."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..proofs_checks.claims.claim import Claim, load_claim, to_run
from ..proofs_checks.reproduction.explain import Convention, explain
from .options import Json
from .output import output_console, print_json

SHOWN_MATCHES, SHOWN_OTHERS = 8, 3


def explain_command(
    claim: Annotated[Path, typer.Argument(metavar="CLAIM.toml", help="A claim file.", show_default=False)],
    everything: Annotated[
        bool, typer.Option("--all", help="Show every convention tried, not the nearest few.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Which conventions give the printed epsilon: accountant, conversion, neighbours, sampling, rounding?

    Says nothing about whether the number is right: that is dpcert verify.
    """
    read = load_claim(claim)
    statement = read.statement
    with Console(stderr=True).status("searching the conventions"):
        found = explain(to_run(read), statement.delta, statement.neighbouring, read.printed, statement.notion)
    if as_json:
        print_json(_document(read, found))
    else:
        _print(read, found, everything)


def _document(read: Claim, found: tuple[Convention, ...]) -> dict[str, object]:
    statement = read.statement
    return {
        "file": read.file,
        "title": statement.title,
        "claimed": {"epsilon": statement.epsilon, "delta": statement.delta},
        "reproduced_by": [convention.name for convention in found if convention.reproduces],
        "conventions": [asdict(convention) for convention in found],
    }


def _counted(found: tuple[Convention, ...], matching: int) -> str:
    """How many of the conventions give the printed digits, or plainly that none does."""
    if matching or not found:
        return f"{matching} of {len(found)} conventions tried give the printed digits (--all shows them)."
    nearest = found[0]
    return (
        f"None of the {len(found)} conventions tried gives the printed digits (--all shows them): how the number came "
        f"about is unknown. The nearest is {nearest.value:.6g}, {nearest.name}."
    )


def _print(read: Claim, found: tuple[Convention, ...], everything: bool) -> None:
    matching = sum(convention.reproduces for convention in found)
    few = (*found[: min(matching, SHOWN_MATCHES)], *found[matching : matching + SHOWN_OTHERS])
    shown = found if everything else few
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("epsilon", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("convention", ratio=3)
    table.add_column("detail", ratio=2)
    for convention in shown:
        style = "bold green" if convention.reproduces else "dim"
        mark = "= printed" if convention.reproduces else ""
        value = f"[{style}]{convention.value:.6g}[/{style}]"
        table.add_row(value, mark, escape(convention.name), escape(convention.detail))
    console = output_console()
    console.print(f"{read.statement.title}: printed epsilon {read.printed}", markup=False, highlight=False)
    console.print(table)
    console.print(_counted(found, matching), markup=False, highlight=False)
    if read.statement.convention:
        console.print(f"The source says: {read.statement.convention}.", markup=False, highlight=False)
