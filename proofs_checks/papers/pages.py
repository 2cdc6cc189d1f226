"""The readers' pages: docs/papers/, generated from the judged register. `make papers` writes them anew."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from .judge import Judgement
from .register import Paper, papers
from .row import Finding, Grade, Kind, Severity, Statement, Status

MEANING = {
    Status.HOLDS: "passes its check, which decides every case or certified numbers, and fails a spoilt version of it",
    Status.FALSE: "refuted, by a counterexample in exact arithmetic, ball arithmetic or certified numbers",
    Status.UNBROKEN: "passes on the instances that were tested; the check fails a spoilt version. Not a proof",
    Status.BROKEN: "fails on an instance that was tested, in floating point or by a run; the repaired one passes there",
    Status.OPEN: "what the paper leaves open decides: one reading passes, another fails",
    Status.READ: "decided by reading",
}
WORST = {
    Severity.RESULT: "Results that do not hold",
    Severity.CONSTANT: "Constants and conditions",
    Severity.STEP: "Steps of proofs",
    Severity.SLIP: "Slips",
}
BROKEN = (Status.FALSE, Status.BROKEN, Status.READ)


def write_pages(folder: Path, judgements: Sequence[Judgement], extra: Path | None = None) -> list[Path]:
    """One page and the figures for each paper among the judgements, and README.md over all pages in the folder.

    The judgements of a paper have to be complete. extra: a paper's folder beside the register's own. Raises InputError
    without matplotlib.
    """
    from .figures import draw

    folder.mkdir(parents=True, exist_ok=True)
    judged = [paper for paper in papers(extra).values() if any(j.row.paper == paper.key for j in judgements)]
    figures = draw(folder, [paper.key for paper in judged])
    files = []
    for paper in judged:
        files.append(folder / f"{paper.key}.md")
        own = [j for j in judgements if j.row.paper == paper.key]
        files[-1].write_text(page(paper, own, figures.get(paper.key, [])))
    index = folder / "README.md"
    index.write_text(overview(folder))
    return [*files, index]


def sections(text: str) -> dict[str, str]:
    """The rows of a page as written by write_pages, by id."""
    blocks = re.split(r"^### ", text.partition("\n## Row by row\n")[2], flags=re.MULTILINE)[1:]
    return {block.splitlines()[0]: f"### {block.strip()}" for block in blocks}


_JUDGED = re.compile(
    rf"^- Verdict \(({'|'.join(re.escape(str(kind)) for kind in Kind)})\): (.*?)(?: \(vacuous\))?\.$", re.M
)
"""A section's line of kind and status."""


def overview(folder: Path) -> str:
    """README.md over the pages that are in the folder: counts of the printed statements, and of our own rows."""
    lines = [
        "# The papers, checked",
        "",
        "These pages list the statements of papers that can be checked, and say whether they hold. A program decides:",
        "it checks the printed statement, and a second statement on which the same check has to give the opposite.",
        "The status follows from both results and from the kind of evidence; no status is written by hand.",
        "",
        "`dpcert papers` prints this table, and `dpcert papers --only ID` one statement in full. `make papers` writes",
        "these pages (`dpcert papers --pages docs/papers`). To add a paper, read [adding a paper](adding.md).",
        "",
        "| paper | statements | " + " | ".join(str(status) for status in Status) + " | our own rows |",
        "|---|--:|" + "--:|" * (len(Status) + 1),
    ]
    for paper in papers().values():
        file = folder / f"{paper.key}.md"
        if not file.is_file():
            continue
        rows = [_JUDGED.search(each) for each in sections(file.read_text()).values()]
        counts = Counter(found[2] for found in rows if found and found[1] == Kind.PRINTED)
        own = sum(found is not None and found[1] != Kind.PRINTED for found in rows)
        cells = [str(counts.total()), *(str(counts[status]) for status in Status), str(own)]
        lines.append(f"| [{paper.title}]({paper.key}.md) | " + " | ".join(cells) + " |")
    lines += ["", "| status | meaning |", "|---|---|"]
    lines += [f"| {status} | {meaning} |" for status, meaning in MEANING.items()]
    lines += [
        "",
        "Only statements that the paper prints are counted as its own; corrections, consequences that we draw,",
    ]
    lines += ["attacks and remarks on released code are rows of ours. A statement is called *vacuous* when it holds of"]
    lines += ["anything whatever, so that it says nothing.", ""]
    return "\n".join(lines)


def page(paper: Paper, judgements: Sequence[Judgement], figures: Sequence[tuple[str, str]]) -> str:
    """A paper's page: which statements fail, rates, the whole table, and row by row."""
    lines = [f"# {paper.title}", "", paper.about, "", counted(judgements), ""]
    if paper.notation:
        lines += ["| symbol | here it stands for |", "|---|---|"]
        lines += [f"| {_plain(symbol)} | {_plain(meaning)} |" for symbol, meaning in paper.notation.items()] + [""]
    for file, caption in figures:
        lines += [shown(file, caption), ""]
    lines += [*_broken(judgements), *_rates(judgements)]
    lines += ["## All rows", "", "| id | of | status | evidence | claim |", "|---|---|---|---|---|"]
    for j in judgements:
        cells = (f"[{j.row.id}](#{_anchor(j.row.id)})", j.row.kind, _status(j), j.grade, _plain(j.row.readings[0].text))
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", "## Row by row", ""]
    for j in judgements:
        lines += [section(j), ""]
    return "\n".join(lines)


def counted(judgements: Sequence[Judgement]) -> str:
    """How many statements of the paper came out how, and how many rows are ours."""
    printed = Counter(j.status for j in judgements if j.row.kind is Kind.PRINTED)
    own: Counter[Kind] = Counter(j.row.kind for j in judgements if j.row.kind is not Kind.PRINTED)
    found = ", ".join(f"{status} {printed[status]}" for status in Status if printed[status])
    ours = ", ".join(f"{kind} {own[kind]}" for kind in Kind if own[kind])
    paper = f"The paper prints {printed.total()} statements that a program can check. Verdicts: {found}."
    return paper + (f" Rows that we add: {ours}." if ours else "")


def _broken(judgements: Sequence[Judgement]) -> list[str]:
    """Which statements fail: the findings, the worst first."""
    found = [j for j in judgements if j.row.kind is Kind.PRINTED and j.repaired is not None and j.status in BROKEN]
    lines = ["## Which statements fail, and what follows", ""] if found else []
    for severity, title in WORST.items():
        those = [j for j in found if (j.row.severity or Severity.STEP) is severity]
        if those:
            lines += [f"**{title}**", ""]
        for j in those:
            link, claim = f"[{j.row.id}](#{_anchor(j.row.id)})", _plain(j.row.readings[0].text)
            lines.append(f"- {link} ({_plain(j.row.place)}; {j.status}): {claim}")
            lines.append(f"  {_plain(j.why)}. *{j.remedy.capitalize()}*: {_plain(j.instead)}{_proved(j)}")
            lines += [f"  {_plain(j.row.note)}"] if j.row.note else []
        lines += [""] if those else []
    return lines


def _proved(j: Judgement) -> str:
    if j.row.proof:
        return f" ([proof](../{j.row.proof.partition(',')[0]}))"
    return "" if j.repaired is None else f" ({j.repaired.grade})"


def _rates(judgements: Sequence[Judgement]) -> list[str]:
    """Exponents as stated and as measured."""
    rows = [(j, j.printed[0].rate) for j in judgements if j.printed[0].rate is not None]
    if not rows:
        return []
    lines = ["## Rates", "", "| id | statement | stated exponent | measured | instances |", "|---|---|--:|--:|---|"]
    for j, rate in rows:
        assert rate is not None
        link, basis = f"[{j.row.id}](#{_anchor(j.row.id)})", j.printed[0].basis
        text = _plain(j.row.readings[0].text)
        lines.append(f"| {link} | {text} | {rate[0]:g} | {rate[1]:.3f} | {basis.instances} {basis.how} |")
    return [*lines, ""]


def shown(file: str, caption: str) -> str:
    """A figure with its caption."""
    return f"![{caption}]({file})\n\n*{caption}*"


def section(judged: Judgement) -> str:
    """All that a page says of a row below the overview."""
    row = judged.row
    lines = [f"### {row.id}", "", f"*{_plain(row.place)}*", ""]
    lines += [f"- Claim: {_plain(row.readings[0].text)}"]
    if row.formula:
        lines.append(f"- Formula: ${row.formula}$")
    lines.append(f"- Verdict ({row.kind}): {_status(judged)}.")
    lines.append(f"- Evidence: {_evidence(judged)}.")
    if judged.status is Status.OPEN:
        for statement, found in zip(row.readings, judged.printed, strict=True):
            lines.append(f"- Read as: {_outcome(statement, found)}")
        lines.append(f"- Missing: {_plain(row.missing)}.")
    else:
        lines.append(f"- Found: {_plain(judged.printed[0].text)}.")
    if judged.printed[0].loose is not None and judged.printed[0].holds:
        lines.append(f"- Looseness: the bound is at least {_loose(judged.printed[0])}.")
    if row.note:
        lines.append(f"- Note: {_plain(row.note)}")
    if judged.repaired is not None:
        lines.append(f"- {judged.remedy.capitalize()}: {_plain(judged.instead)}")
        lines.append(f"- Checked ({judged.repaired.grade}): {_plain(judged.repaired.text)}.")
        if judged.repaired.loose is not None:
            lines.append(f"- Its looseness: the bound is at least {_loose(judged.repaired)}.")
    if judged.spoilt is not None and row.spoilt is not None:
        lines.append(f"- The same check {_opposite(row.spoilt, judged.spoilt)}")
    lines.append(f"- Reproduce: `dpcert papers --only {row.id}`")
    return "\n".join(lines)


def _loose(found: Finding) -> str:
    """The ratio of a bound to the truth, or to what was measured."""
    assert found.loose is not None
    smallest, median = found.loose
    what = "what is measured" if found.grade is Grade.TESTED else "the truth"
    rest = "" if median is None else f", {median:.3g} times in the median"
    return f"{smallest:.4g} times {what}{rest}"


def _evidence(judged: Judgement) -> str:
    """The grade in words: proved, or tested on how many of what."""
    basis, proof = judged.printed[0].basis, judged.row.proof
    if judged.grade is Grade.TESTED:
        return f"{judged.grade} ({basis.instances}: {basis.how})"
    if judged.status is Status.HOLDS and proof:
        page_, _, date = proof.partition(", ")
        return f"{judged.grade} in [prose](../{page_}) ({date}); tested on {basis.instances} instances ({basis.how})"
    return f"{judged.grade} ({basis.how})"


def _opposite(statement: Statement, found: Finding) -> str:
    """What the check says of the statement next to it, of which it has to say the opposite."""
    verb = "accepts" if found.holds else "rejects"
    return f"{verb} the statement “{_plain(statement.text)}” Reason: {_plain(found.text)}."


def _outcome(statement: Statement, found: Finding) -> str:
    return f"{_plain(statement.text)} {'Passes' if found.holds else 'Fails'}: {_plain(found.text)}."


def _status(judged: Judgement) -> str:
    return str(judged.status) + (" (vacuous)" if judged.vacuous else "")


def _plain(text: str) -> str:
    """One line; characters with a meaning in Markdown are shown as themselves, in each of its dialects."""
    escaped = re.sub(r"([*_>\[\]|\\])", r"\\\1", " ".join(text.split()))
    return escaped.replace("<", "&lt;").replace("~", "&#126;")


def _anchor(name: str) -> str:
    """GitHub's anchor of a heading."""
    return re.sub(r"[^a-z0-9 _-]", "", name.casefold()).replace(" ", "-")
