"""The readable table of verdicts."""

from __future__ import annotations

from collections import Counter

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..mechanisms import InputError
from ..proofs_checks.verification.verify import Verification
from .output import interval, output_console

STYLES = {"holds": "bold green", "refuted": "bold red", "undecided": "bold yellow"}


def printed(result: Verification) -> str:
    """The claimed number as it is written, with its currency where that is not epsilon."""
    name = result.claim.statement.currency.name
    return result.claim.printed if name == "epsilon" else f"{name} {result.claim.printed}"


def print_table(results: list[Verification], problems: list[tuple[str, InputError]]) -> None:
    """One row a claim, then one line that counts; nothing at all when no claim could be read."""
    if not results:
        return
    console = output_console()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("claim", ratio=5)
    table.add_column("printed", justify="right", max_width=14)
    table.add_column("certified interval", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("why", ratio=6)
    for result in results:
        statement, style = result.claim.statement, STYLES[result.verdict]
        table.add_row(
            escape(statement.title),
            printed(result),
            escape(interval(result.certified, 6)),
            f"[{style}]{result.verdict}[/{style}]",
            escape(result.why),
        )
    console.print(table)
    counts = Counter[str](result.verdict for result in results)
    parts = [f"{counts[verdict]} {word}" for verdict, word in (("holds", "hold"), ("refuted", "refuted"))]
    parts.append(f"{counts['undecided']} undecided")
    if problems:
        parts.append(f"{len(problems)} not readable (see the errors)")
    seconds = sum(result.seconds for result in results)
    total = len(results) + len(problems)
    console.print(f"{total} claim{'s' if total > 1 else ''}: {', '.join(parts)}; {seconds:.1f} s of computation")
    _print_certificates(console, results)


def _print_certificates(console: Console, results: list[Verification]) -> None:
    """Where certificates were asked for: how many were written, and for which claims there is none, and why."""
    written = [result for result in results if result.certificate is not None]
    if written:
        console.print(
            f"{len(written)} certificate{'s' if len(written) > 1 else ''} written; re-prove one with: dpcert check FILE"
        )
    for result in results:
        for finding in result.findings:
            if finding.id in ("no-certificate", "certificate-proves-less"):
                console.print(escape(f"{result.claim.statement.title}: {finding.text}"))
