"""Verdicts as a readable table; on a narrow terminal, a few lines a claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Protocol, TypeVar

from ...accounting import Bracket
from ...mechanisms.digits import interval
from ...mechanisms.text_table import NARROW, paragraph, rendered, text_table, width
from ..claims.claim import Claim
from ..claims.findings import Finding

_FEW = 5
"""As many claims are read at one look."""

STYLES = {"holds": "bold green", "refuted": "bold red", "undecided": "bold yellow"}


class Judgement(Protocol):
    """What the table shows of a verdict on a claim (verdict.Verification)."""

    @property
    def claim(self) -> Claim: ...
    @property
    def verdict(self) -> str: ...
    @property
    def certified(self) -> Bracket: ...
    @property
    def printed(self) -> str: ...
    @property
    def why(self) -> str: ...
    @property
    def findings(self) -> tuple[Finding, ...]: ...
    @property
    def certificate(self) -> str | None: ...
    @property
    def seconds(self) -> float: ...


AnyJudgement = TypeVar("AnyJudgement", bound=Judgement)


def verdict_table(results: Sequence[Judgement], problems: int, unjudged: int, everything: bool) -> str:
    """A row per claim that is listed, then one line that counts all; nothing when no claim could be read.

    problems: claims without a verdict; unjudged: those of them that could be read.
    """
    if not results:
        return ""
    listed = list(results) if everything else worth_listing(results)
    rows = worst_first(listed)
    lines = _blocks(rows) if width() < NARROW else _rows(rows)
    counted = [_counted(results, problems, unjudged), *([_not_listed(results)] if len(listed) < len(results) else [])]
    return "\n".join([*lines, *map(paragraph, counted), *_certificates(results)])


def worst_first(results: Sequence[AnyJudgement]) -> list[AnyJudgement]:
    """Of many claims those that are refuted before the others; of a few, in the order in which they were named."""
    if len(results) <= _FEW:
        return list(results)
    return sorted(results, key=lambda result: ("refuted", "undecided", "holds").index(result.verdict))


def worth_listing(results: Sequence[AnyJudgement]) -> list[AnyJudgement]:
    """Of many claims those that do not hold; of a few, all."""
    return [result for result in results if len(results) <= _FEW or result.verdict != "holds"]


def serious(result: Judgement) -> list[Finding]:
    """The findings that are errors or warnings, which every format shows; --json and reports have the others too."""
    return [finding for finding in result.findings if finding.severity != "info"]


def _rows(results: Sequence[Judgement]) -> Iterator[str]:
    """The table, and below it the claims' findings."""
    from rich.text import Text

    if not results:
        return
    yield text_table(
        (
            {"header": "claim", "ratio": 5},
            {"header": "printed", "justify": "right", "max_width": 14},
            {"header": "certified interval", "no_wrap": True},
            {"header": "verdict", "no_wrap": True},
            {"header": "why", "ratio": 6},
        ),
        [
            (
                result.claim.statement.title,
                result.printed,
                interval(result.certified, 6),
                Text(result.verdict, STYLES[result.verdict]),
                result.why,
            )
            for result in results
        ],
    )
    for result in results:
        for finding in serious(result):
            yield rendered(f"{result.claim.statement.title}: {finding}" if len(results) > 1 else str(finding))


def _blocks(results: Sequence[Judgement]) -> Iterator[str]:
    """At most eight lines per claim: its title with the verdict, the numbers, and why; and its findings, whole."""
    from rich.text import Text

    for result in results:
        first, *rest = wrap(result.claim.statement.title, width() - 11, max_lines=2, placeholder=" ...")
        yield rendered(Text(f"{result.verdict:<11}", STYLES[result.verdict]) + Text(first, "bold"))
        numbers = f"printed {result.printed}, certified {interval(result.certified, 6)}"
        why = wrap(result.why, width() - 11, max_lines=5, placeholder=" ...")
        found = [line for each in serious(result) for line in wrap(str(each), width() - 11)]
        for line in (*rest, numbers, *why, *found):
            yield rendered(Text(f"{'':11}{line}", overflow="ellipsis", no_wrap=True))


def _counted(results: Sequence[Judgement], problems: int, unjudged: int) -> str:
    counts = Counter[str](result.verdict for result in results)
    parts = [f"{counts[verdict]} {word}" for verdict, word in (("holds", "hold"), ("refuted", "refuted"))]
    parts.append(f"{counts['undecided']} undecided")
    if problems > unjudged:
        parts.append(f"{problems - unjudged} not readable (see the errors)")
    if unjudged:
        parts.append(f"{unjudged} not judged")
    total = len(results) + problems
    seconds = sum(result.seconds for result in results)
    return f"{total} claim{'s' if total > 1 else ''}: {', '.join(parts)}; {seconds:.1f} s of computation"


def _not_listed(results: Sequence[Judgement]) -> str:
    held = [result for result in results if result.verdict == "holds"]
    warned = sum(bool(serious(result)) for result in held)
    found = f" ({warned} of them with a warning or an error in the claim)" if warned else ""
    return f"Claims that hold are not listed{found}; --all lists them."


def _certificates(results: Sequence[Judgement]) -> Iterator[str]:
    """Where certificates were asked for: how many were written, and for which claims there is none, and why."""
    written = sum(result.certificate is not None for result in results)
    if written:
        yield paragraph(
            f"{written} certificate{'s' if written > 1 else ''} written. Prove one again: dpcert check FILE"
        )
    for result in results:
        for finding in result.findings:
            if finding.id in ("no-certificate", "certificate-proves-less"):
                yield paragraph(f"{result.claim.statement.title}: {finding.text}")
