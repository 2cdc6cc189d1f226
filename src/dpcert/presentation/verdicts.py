"""The readable table of verdicts, and of a comparison; on a narrow terminal, a few lines a claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from textwrap import wrap

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from ..mechanisms import InputError
from ..mechanisms.digits import interval
from ..mechanisms.text_table import paragraph
from ..proofs_checks.claims.findings import Finding
from ..proofs_checks.verification.comparison import Comparison
from ..proofs_checks.verification.files import NotJudged
from ..proofs_checks.verification.verdict import Verification
from .output import output_console

NARROW = 110
"""Below so many columns the columns of a table would be a word wide."""

_FEW = 5
"""As many claims are read at one look."""

STYLES = {"holds": "bold green", "refuted": "bold red", "undecided": "bold yellow"}


def print_table(
    results: list[Verification], problems: list[tuple[str, InputError]], listed: Sequence[Verification]
) -> None:
    """One row per claim that is listed, then one line that counts all; nothing when no claim could be read."""
    if not results:
        return
    console = output_console()
    rows = worst_first(listed)
    if console.width < NARROW:
        _print_blocks(console, rows)
    elif rows:
        console.print(_table(rows))
        for result in rows:
            for finding in serious(result):
                line = f"{result.claim.statement.title}: {finding}" if len(rows) > 1 else str(finding)
                console.print(line, markup=False, highlight=False)
    counts = Counter[str](result.verdict for result in results)
    parts = [f"{counts[verdict]} {word}" for verdict, word in (("holds", "hold"), ("refuted", "refuted"))]
    parts.append(f"{counts['undecided']} undecided")
    unjudged = sum(isinstance(problem, NotJudged) for _, problem in problems)
    if len(problems) > unjudged:
        parts.append(f"{len(problems) - unjudged} not readable (see the errors)")
    if unjudged:
        parts.append(f"{unjudged} not judged")
    seconds = sum(result.seconds for result in results)
    total = len(results) + len(problems)
    counted = f"{total} claim{'s' if total > 1 else ''}: {', '.join(parts)}; {seconds:.1f} s of computation"
    console.print(paragraph(counted), markup=False, highlight=False)
    if len(listed) < len(results):
        console.print(paragraph(_not_listed(results)), markup=False, highlight=False)
    _print_certificates(console, results)


def worst_first(results: Sequence[Verification]) -> list[Verification]:
    """Of many claims those that are refuted before the others; of a few, in the order in which they were named."""
    if len(results) <= _FEW:
        return list(results)
    return sorted(results, key=lambda result: ("refuted", "undecided", "holds").index(result.verdict))


def worth_listing(results: Sequence[Verification]) -> list[Verification]:
    """Of many claims those that do not hold; of a few, all."""
    return [result for result in results if len(results) <= _FEW or result.verdict != "holds"]


def _not_listed(results: Sequence[Verification]) -> str:
    held = [result for result in results if result.verdict == "holds"]
    warned = sum(bool(serious(result)) for result in held)
    found = f" ({warned} of them with a warning or an error in the claim)" if warned else ""
    return f"Claims that hold are not listed{found}; --all lists them."


def serious(result: Verification) -> list[Finding]:
    """The findings that are errors or warnings, which every format shows; --json and reports have the others too."""
    return [finding for finding in result.findings if finding.severity != "info"]


def _table(results: Sequence[Verification]) -> Table:
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
            result.printed,
            escape(interval(result.certified, 6)),
            f"[{style}]{result.verdict}[/{style}]",
            escape(result.why),
        )
    return table


def _print_blocks(console: Console, results: Sequence[Verification]) -> None:
    """At most eight lines per claim: its title with the verdict, the numbers, and why; and its findings, whole."""
    for result in results:
        first, *rest = wrap(result.claim.statement.title, console.width - 11, max_lines=2, placeholder=" ...")
        console.print(Text(f"{result.verdict:<11}", STYLES[result.verdict]) + Text(first, "bold"))
        numbers = f"printed {result.printed}, certified {interval(result.certified, 6)}"
        why = wrap(result.why, console.width - 11, max_lines=5, placeholder=" ...")
        found = [line for each in serious(result) for line in wrap(str(each), console.width - 11)]
        for line in (*rest, numbers, *why, *found):
            console.print(f"{'':11}{line}", markup=False, highlight=False, overflow="ellipsis", no_wrap=True)


def print_comparison(results: Sequence[Verification], comparison: Comparison) -> None:
    """Every claim's epsilon at one delta, and that of all releases together."""
    console = output_console()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=f"side by side, at delta = {comparison.delta:g}")
    for title in ("claim", "printed", "epsilon", "against"):
        table.add_column(title, justify="right" if title == "printed" else "left", no_wrap=title == "epsilon")
    for result, epsilon in zip(results, comparison.epsilons, strict=True):
        statement = result.claim.statement
        against = f"{statement.notion}, {statement.neighbouring}, one {statement.unit}"
        table.add_row(escape(statement.title), result.printed, escape(interval(epsilon, 6)), escape(against))
    console.print(table)
    if comparison.total is None:
        console.print(f"No total: {comparison.no_total}.", markup=False, highlight=False)
        return
    text = "for a unit whose data are in all of these releases, each with randomness of its own"
    console.print(f"Together: {interval(comparison.total, 6)} {text}.", markup=False, highlight=False)


def _print_certificates(console: Console, results: list[Verification]) -> None:
    """Where certificates were asked for: how many were written, and for which claims there is none, and why."""
    written = [result for result in results if result.certificate is not None]
    if written:
        console.print(
            f"{len(written)} certificate{'s' if len(written) > 1 else ''} written. Prove one again: dpcert check FILE"
        )
    for result in results:
        for finding in result.findings:
            if finding.id in ("no-certificate", "certificate-proves-less"):
                console.print(escape(f"{result.claim.statement.title}: {finding.text}"))
