"""The HTML report: one self-contained file, no script, no network; readable in light and dark."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from html import escape
from pathlib import Path

from ..mechanisms import InputError
from ..proofs_checks.auditing import AuditWitness
from ..proofs_checks.verification.verify import Verification
from ..proofs_checks.verification.witness import CurrencyWitness
from .output import interval, rounded_down
from .table import printed

STYLE = """
:root{color-scheme:light dark;--ink:#1c2430;--soft:#5b6675;--paper:#fbfbf9;--card:#fff;--line:#e2e4e0;
--holds:#1f8a5b;--refuted:#c8372d;--undecided:#b7791f;--track:#eceeea}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ee;--soft:#9aa5b4;--paper:#14181e;--card:#1c222a;--line:#2d3540;
--holds:#4cc38a;--refuted:#ff7b72;--undecided:#e3b341;--track:#262d36}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);
font:15px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:1080px;margin:0 auto;padding:40px 20px 80px}h1{font-size:28px;margin:0 0 4px;letter-spacing:-.01em}
.lead{color:var(--soft);margin:0 0 28px;max-width:70ch}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin-bottom:32px}
.tile{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 18px}
.tile b{display:block;font-size:30px;line-height:1.1;font-variant-numeric:tabular-nums}
.tile span{color:var(--soft)}
h2{font-size:18px;margin:34px 0 10px}
.chart{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 16px;overflow-x:auto}
.chart svg{display:block;width:100%;min-width:640px;height:auto;font:12px system-ui,sans-serif}
details{background:var(--card);border:1px solid var(--line);border-left:5px solid var(--line);border-radius:8px;
margin:8px 0}details.holds{border-left-color:var(--holds)}details.refuted{border-left-color:var(--refuted)}
details.undecided{border-left-color:var(--undecided)}summary{cursor:pointer;padding:10px 16px;display:grid;
grid-template-columns:minmax(0,1fr) auto auto;gap:18px;align-items:baseline}
summary .num{font-variant-numeric:tabular-nums;color:var(--soft)}
.verdict{font-weight:650;min-width:84px;text-align:right}.holds .verdict{color:var(--holds)}
.refuted .verdict{color:var(--refuted)}.undecided .verdict{color:var(--undecided)}
.body{padding:0 18px 16px;border-top:1px solid var(--line)}.body h3{font-size:13px;text-transform:uppercase;
letter-spacing:.06em;color:var(--soft);margin:16px 0 4px}.body p,.body ul{margin:4px 0}.body ul{padding-left:20px}
.tag{display:inline-block;border-radius:4px;padding:0 7px;font-size:12px;border:1px solid currentColor}
.error{color:var(--refuted)}.warning{color:var(--undecided)}.info{color:var(--soft)}
code{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px;overflow-wrap:anywhere}
footer{color:var(--soft);margin-top:40px;font-size:13px}
"""

ROW, LEFT, RIGHT, WIDTH, TOP = 26, 390, 40, 1060, 26


def write_report(path: Path, results: list[Verification], problems: list[tuple[str, InputError]]) -> None:
    """Write the report; an existing file is replaced. InputError where it cannot be written."""
    try:
        path.write_text(_page(results, problems), encoding="utf-8")
    except OSError as problem:
        raise InputError("--report", str(path), f"a file that can be written ({problem})") from None


def _page(results: list[Verification], problems: list[tuple[str, InputError]]) -> str:
    counts = Counter[str](result.verdict for result in results)
    tiles = [(str(counts[word]), word) for word in ("holds", "refuted", "undecided")]
    if problems:
        tiles.append((str(len(problems)), "not readable"))
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width,initial-scale=1">',
            f"<title>dpcert report</title><style>{STYLE}</style></head><body><main>",
            "<h1>Is this epsilon true?</h1>",
            '<p class="lead">Every claim below was checked against a certified interval that contains the true '
            "epsilon of what the claim says ran. A claim holds when the whole interval lies at or below the printed "
            "number, and is refuted when the whole interval lies above.</p>",
            '<section class="tiles">',
            *(f'<div class="tile"><b>{number}</b><span>{word}</span></div>' for number, word in tiles),
            "</section>",
            "<h2>Printed against certified</h2>" if results else "",
            '<p class="lead">Circle: the printed epsilon. Bar: the certified interval. The axis is logarithmic; a bar '
            "from its left end stands for a lower end of 0.</p>"
            if results
            else "",
            f'<div class="chart">{_chart(results)}</div>' if results else "",
            "<h2>Claims</h2>",
            *(_details(result) for result in results),
            *(_problem(file, problem) for file, problem in problems),
            "<footer>Made by dpcert. What no verdict covers is listed under each claim, and in KNOWN_LIMITS.md."
            "</footer>",
            "</main></body></html>",
        ]
    )


def _stated(result: Verification) -> float:
    """The claimed number as it is printed."""
    statement = result.claim.statement
    return statement.threshold if statement.epsilon is None else statement.epsilon


def _chart(results: list[Verification]) -> str:
    """One row a claim on a logarithmic axis: a dot at the printed epsilon, a bar over the certified interval."""
    numbers = [value for r in results for value in (_stated(r), r.certified.lower, r.certified.upper)]
    finite = [value for value in numbers if 0 < value < math.inf] or [1.0]
    low, high = math.floor(math.log10(min(finite))), max(math.ceil(math.log10(max(finite))), 1)

    def x(value: float) -> float:
        place = math.log10(min(max(value, 10.0**low), 10.0**high))
        return LEFT + (WIDTH - LEFT - RIGHT) * (place - low) / max(high - low, 1)

    height = TOP + ROW * len(results) + 10
    parts = [f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="Printed epsilon and certified interval">']
    for power in range(low, high + 1, max(1, (high - low) // 10)):
        place = x(10.0**power)
        parts.append(
            f'<line x1="{place:.1f}" x2="{place:.1f}" y1="{TOP - 6}" y2="{height - 6}" stroke="var(--line)"/>'
            f'<text x="{place:.1f}" y="14" text-anchor="middle" fill="var(--soft)">{10.0**power:g}</text>'
        )
    parts.extend(_row(result, TOP + ROW * index, x) for index, result in enumerate(results))
    return "".join([*parts, "</svg>"])


def _row(result: Verification, top: float, x: Callable[[float], float]) -> str:
    statement, middle, colour = result.claim.statement, top + ROW / 2, f"var(--{result.verdict})"
    start, end, stated = x(result.certified.lower), x(result.certified.upper), x(_stated(result))
    title = statement.title if len(statement.title) <= 52 else statement.title[:51] + "…"
    hint = f"{statement.title}: printed {printed(result)}, certified {interval(result.certified, 6)}, {result.verdict}"
    return (
        f"<g><title>{escape(hint)}</title>"
        f'<text x="{LEFT - 12}" y="{middle + 4:.1f}" text-anchor="end" fill="var(--ink)">{escape(title)}</text>'
        f'<line x1="{min(stated, start):.1f}" x2="{max(stated, end):.1f}" y1="{middle}" y2="{middle}" '
        'stroke="var(--track)" stroke-width="6"/>'
        f'<rect x="{start - 3:.1f}" y="{middle - 6}" width="{max(end - start, 0) + 6:.1f}" height="12" rx="3" '
        f'fill="{colour}"/>'
        f'<circle cx="{stated:.1f}" cy="{middle}" r="5" fill="none" stroke="var(--ink)" stroke-width="2"/></g>'
    )


def _details(result: Verification) -> str:
    statement = result.claim.statement
    body = [f"<p>{escape(result.why)}.</p>"]
    if result.findings:
        items = (
            f'<li><span class="tag {finding.severity}">{finding.severity}</span> {escape(finding.text)}</li>'
            for finding in result.findings
        )
        body.append(f"<h3>Findings</h3><ul>{''.join(items)}</ul>")
    if isinstance(result.witness, AuditWitness):
        body.append(f"<h3>Witness</h3><pre>{escape(str(result.witness))}</pre>")
    elif isinstance(result.witness, CurrencyWitness):
        other = result.witness
        body.append(
            f"<h3>Witness</h3><p>{escape(other.neighbours)}.</p><p><code>{escape(other.pair)}</code></p>"
            f"<p>For these, {escape(other.quantity)} is at least {rounded_down(other.needed, 6)}.</p>"
        )
    elif result.witness:
        seen = result.witness
        body.append(
            f"<h3>Witness</h3><p>{escape(seen.neighbours)}.</p><p><code>{escape(seen.pair)}</code></p>"
            f"<p>At the claimed epsilon these need delta &ge; {rounded_down(seen.delta_at_claimed_epsilon, 4)}.</p>"
        )
    body.append(f"<h3>Assumed</h3>{_list(result.assumptions)}<h3>Not checked</h3>{_list(result.not_checked)}")
    source = escape(statement.source) + (
        f"; convention: {escape(statement.convention)}" if statement.convention else ""
    )
    certificate = f"; certificate: <code>{escape(result.certificate)}</code>" if result.certificate else ""
    body.append(f"<h3>Source</h3><p>{source}; file: <code>{escape(result.claim.file or '-')}</code>{certificate}</p>")
    return (
        f'<details class="{result.verdict}"><summary><span>{escape(statement.title)}</span>'
        f'<span class="num">printed {escape(printed(result))}, certified {interval(result.certified, 6)}, '
        f'{escape(statement.currency.words)}</span><span class="verdict">{result.verdict}</span></summary>'
        f'<div class="body">{"".join(body)}</div></details>'
    )


def _list(sentences: tuple[str, ...]) -> str:
    return "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) + "</ul>"


def _problem(file: str, problem: InputError) -> str:
    return (
        f'<details class="undecided"><summary><span>{escape(file)}</span><span></span>'
        f'<span class="verdict">not read</span></summary><div class="body"><p>{escape(str(problem))}</p></div>'
        "</details>"
    )
