"""The register of the papers as a table, and one row's evidence in full."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table

from ..proofs_checks.papers import Finding, Judgement, Kind, Statement, Status
from ..proofs_checks.papers.judging import Judged
from .output import output_console

STYLES = {
    Status.HOLDS: "bold green",
    Status.FALSE: "bold red",
    Status.UNBROKEN: "green",
    Status.BROKEN: "red",
    Status.OPEN: "bold magenta",
    Status.READ: "yellow",
}


def print_table(found: Judged) -> None:
    """One line a statement, then a line that counts."""
    judgements = found.judgements
    if not judgements:
        return
    console = output_console()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("id", no_wrap=True)
    table.add_column("statement", ratio=5)
    table.add_column("status", width=14)
    table.add_column("why", ratio=4)
    table.add_column("evidence", width=14)
    table.add_column("s", justify="right")
    for judged in judgements:
        style = STYLES[judged.status]
        status = f"[{style}]{judged.status}[/{style}]" + (" (vacuous)" if judged.vacuous else "")
        why = judged.why + (f" Instead: {judged.instead}" if judged.instead else "")
        claim, seconds = escape(judged.row.readings[0].text), f"{judged.seconds:.1f}"
        table.add_row(escape(judged.row.id), claim, status, escape(why), evidence(judged), seconds)
    console.print(table)
    printed = [judged for judged in judgements if judged.row.kind is Kind.PRINTED]
    counts = Counter(judged.status for judged in printed)
    parts = [f"{counts[status]} {status}" for status in Status if counts[status]]
    if len(printed) < len(judgements):
        parts.append(f"{len(judgements) - len(printed)} rows of ours")
    if found.problems:
        parts.append(f"{len(found.problems)} without a status (see the errors)")
    total = sum(judged.seconds for judged in judgements)
    console.print(f"{len(printed)} statements: {'; '.join(parts)}; {total:.1f} s of computation")


def evidence(judged: Judgement) -> str:
    """The grade of a row's evidence, with what it rests on."""
    basis = judged.printed[0].basis
    return f"{judged.grade}: {f'{basis.instances}, ' if basis.instances else ''}{basis.how}"


def print_evidence(judged: Judgement) -> None:
    """The statements of one row that were put to its function, and what it found of each."""
    console, style = output_console(), STYLES[judged.status]
    row = judged.row
    console.print(f"[bold]{escape(row.id)}[/bold]  {escape(row.place)}")
    vacuous = " (vacuous: anything whatever satisfies it)" if judged.vacuous else ""
    console.print(f"[{style}]{judged.status}[/{style}]{vacuous}")
    console.print(f"{row.kind}; evidence: {evidence(judged)}; by {row.function}, {judged.seconds:.2f} s\n")
    if row.note:
        console.print(f"{escape(row.note)}\n", highlight=False)
    for statement, found in zip(row.readings, judged.printed, strict=True):
        _print_finding("printed", statement, found)
    if row.missing:
        console.print(f"not said in the paper: {escape(row.missing)}\n", highlight=False)
    if judged.repaired is not None and row.repaired is not None:
        _print_finding(judged.remedy, row.repaired, judged.repaired)
    if judged.spoilt is not None and row.spoilt is not None:
        _print_finding("spoilt on purpose", row.spoilt, judged.spoilt)


def _print_finding(name: str, statement: Statement, found: Finding) -> None:
    console = output_console()
    verdict = "[green]passes[/green]" if found.holds else "[red]fails[/red]"
    console.print(f"[bold]{name}[/bold]: {escape(statement.text)}", highlight=False)
    console.print(f"  {verdict}: {escape(found.text)}", highlight=False)
    for title, values in (("numbers", found.numbers), ("counterexample", found.witness or {})):
        if values:
            console.print(f"  {title}: {escape(_listed(values))}", highlight=False)
    if found.error_probability:
        console.print(f"  false with a probability of at most {found.error_probability:g}", highlight=False)
    console.print()


def _listed(values: Mapping[str, Any]) -> str:
    return "; ".join(f"{name} = {_shown(value)}" for name, value in values.items())


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_shown(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{" + _listed(value) + "}"
    return str(value)
