"""dpcert explain: which accountant, conversion and convention reproduces a published number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..mechanisms.digits import as_given
from ..presentation.output import output_console, print_json
from ..proofs_checks.claims.claim import Claim, load_claim
from ..proofs_checks.claims.currency import EpsilonAt
from ..proofs_checks.reproduction.claimed import explained
from ..proofs_checks.reproduction.matches import Chance, Convention, chances, not_reproduced
from ..proofs_checks.reproduction.order_grids import GRIDS, SOURCE_S
from ..proofs_checks.reproduction.printed import Printed, printed
from ..proofs_checks.reproduction.stated_numbers import stated_numbers
from .options import Json

SHOWN_MATCHES, SHOWN_OTHERS = 8, 3

NAMED = (SOURCE_S, *GRIDS)
"""The order grids, as conventions' names have them."""


def explain_command(
    claim: Annotated[Path, typer.Argument(metavar="CLAIM.toml", help="A claim file.", show_default=False)],
    everything: Annotated[
        bool, typer.Option("--all", help="Show every convention tried, not the nearest few.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Which conventions give the printed epsilon: accountant, conversion, neighbours, sampling, rounding?

    Tries each with the run as described, and with one thing changed. Says nothing about whether the number is
    right: that is dpcert verify.
    """
    read = load_claim(claim)
    with Console(stderr=True).status("searching the conventions"):
        numbers = [(number, explained(number)) for number in stated_numbers(read)]
    if as_json:
        documents = [_document(number, found) for number, found in numbers]
        about = {"file": read.file, "title": read.statement.title}
        print_json(about | ({"points": documents} if len(documents) > 1 else documents[0]))
        return
    for number, found in numbers:
        _print(number, found, everything, _place(number) if len(numbers) > 1 else "")


def _place(number: Claim) -> str:
    """Which point of a curve it is."""
    currency = number.statement.currency
    return f" at delta {as_given(currency.delta)}" if isinstance(currency, EpsilonAt) else ""


def _document(number: Claim, found: tuple[Convention, ...]) -> dict[str, object]:
    return {
        "claimed": number.statement.currency.claimed(),
        "reproduced_by": [convention.name for convention in found if convention.reproduces],
        "tried": len(found),
        "matching": sum(convention.reproduces for convention in found),
        "chances": [asdict(chance) for chance in chances(found, printed(number.printed))],
        "conventions": [asdict(convention) for convention in found],
    }


def _counted(found: tuple[Convention, ...], number: Printed) -> str:
    """How many of the conventions give the printed digits, or plainly that none does."""
    if not found:
        return "No convention is known for such a run: how the number came about is unknown."
    matching = sum(convention.reproduces for convention in found)
    if matching:
        plain = sum(convention.reproduces and not convention.changes for convention in found)
        verb = "gives" if matching == 1 else "give"
        return (
            f"{matching} of {len(found)} conventions tried {verb} the printed digits, {plain} of them without any "
            "change to the description (--all shows them)."
        )
    return f"{not_reproduced(found, number)} --all shows them."


def _by_chance(found: tuple[Convention, ...], told: tuple[Chance, ...]) -> str:
    """What a match is worth: how often a number out of the blue would be matched too."""
    if not told:
        return ""
    low, high = told[-1].window
    fewest = min((len(c.changes) for c in found if c.reproduces), default=0)
    plain = next((chance for chance in told if chance.changes_at_most >= fewest), told[-1])
    numbers = f"of all numbers from {low:g} to {high:g} with as many digits"
    text = f"By chance: {_share(told[-1])} {numbers} are given by some convention tried"
    if plain == told[-1]:
        return text + "."
    changes = {0: "no change", 1: "one change"}.get(plain.changes_at_most, f"at most {plain.changes_at_most} changes")
    return f"{text}, {_share(plain)} by one of the {plain.tried} with {changes}."


def _share(chance: Chance) -> str:
    return f"{100 * chance.any:.2g}%"


def grouped(found: Sequence[Convention]) -> list[tuple[str, Convention]]:
    """(name, convention) with order grids that give the same value in one row, at the place of the first of them."""
    rows: dict[tuple[str, float, str], list[str]] = {}
    first: dict[tuple[str, float, str], Convention] = {}
    for convention in found:
        grid = next((grid for grid in NAMED if f", {grid}" in convention.name), "")
        name = convention.name.replace(f", {grid}", ", {}", 1) if grid else convention.name
        key = name, convention.value, convention.detail
        rows.setdefault(key, []).append(grid)
        first.setdefault(key, convention)
    return [(key[0].format(_listed(grids)) if grids[0] else key[0], first[key]) for key, grids in rows.items()]


def _listed(grids: list[str]) -> str:
    """ "TF-Privacy's and Opacus's orders"."""
    if len(grids) == 1:
        return grids[0]
    *owners, last = [grid.removesuffix(" orders") for grid in grids]
    return f"{', '.join(owners)} and {last} orders"


def _print(read: Claim, found: tuple[Convention, ...], everything: bool, place: str) -> None:
    rows = grouped(found)
    matching = sum(convention.reproduces for _, convention in rows)
    few = [*rows[: min(matching, SHOWN_MATCHES)], *rows[matching : matching + SHOWN_OTHERS]]
    shown = rows if everything else few
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(read.statement.currency.name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("convention", ratio=3)
    table.add_column("detail", ratio=2)
    for name, convention in shown:
        style = "bold green" if convention.reproduces else "dim"
        mark = "= printed" if convention.reproduces else ""
        value = f"[{style}]{convention.value:.6g}[/{style}]"
        table.add_row(value, mark, escape(name), escape(convention.detail))
    console = output_console()
    currency = read.statement.currency
    told = f"{read.statement.title}: printed {currency.name} {read.printed}{place}"
    console.print(told, markup=False, highlight=False)
    console.print(table)
    console.print(_counted(found, printed(read.printed)), markup=False, highlight=False)
    console.print(_by_chance(found, chances(found, printed(read.printed))), markup=False, highlight=False)
    if read.statement.convention:
        console.print(f"The source says: {read.statement.convention}.", markup=False, highlight=False)
