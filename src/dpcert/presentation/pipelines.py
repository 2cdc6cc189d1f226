"""Verdicts as other tools read them: JUnit's XML, SARIF, GitHub's annotations, a Markdown table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

from ..mechanisms.digits import interval
from ..proofs_checks.verification.verdict import Verification
from ..proofs_checks.verification.verdict_table import serious, worst_first
from ..proofs_checks.verification.verdicts import Verdicts
from .annotations import Annotation, Level
from .annotations import github as as_github
from .annotations import sarif as as_sarif

RULES = {
    "refuted": "The claimed privacy parameter is too small for what ran",
    "undecided": "The certified interval does not decide the claim",
    "bad-input": "The claim file cannot be read",
}


def junit(judged: Verdicts) -> str:
    """A test case a claim, with its findings, which fails unless the claim holds; what cannot be read is an error."""
    failing = [result for result in judged.results if result.verdict != "holds"]
    suite = ElementTree.Element(
        "testsuite",
        name="dpcert verify",
        tests=str(len(judged.results) + len(judged.problems)),
        failures=str(len(failing)),
        errors=str(len(judged.problems)),
        time=f"{sum(result.seconds for result in judged.results):.3f}",
    )
    for result in judged.results:
        case = _case(suite, result.claim.file or "-", result.claim.statement.title, result.seconds)
        if result.verdict != "holds":
            ElementTree.SubElement(case, "failure", type=result.verdict, message=_clean(_sentence(result)))
        found = serious(result)
        if found:
            ElementTree.SubElement(case, "system-out").text = _clean("\n".join(map(str, found)))
    for file, problem in judged.problems:
        ElementTree.SubElement(_case(suite, file, file, 0.0), "error", type="bad-input", message=_clean(str(problem)))
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: ElementTree.Element, file: str, name: str, seconds: float) -> ElementTree.Element:
    folder = Path(file).parent.as_posix().replace("/", ".").strip(".") or "claims"
    named = {"classname": _clean(folder), "name": _clean(name), "file": _clean(file), "time": f"{seconds:.3f}"}
    return ElementTree.SubElement(suite, "testcase", named)


def _clean(text: str) -> str:
    """Without the characters that XML 1.0 has no way to write."""
    return re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", text)


def sarif(judged: Verdicts) -> str:
    """What is refuted or undecided, what cannot be read, and the findings that are errors or warnings."""
    return as_sarif(_annotations(judged), RULES)


def github(judged: Verdicts) -> str:
    """The same as annotations of a workflow run."""
    return as_github(_annotations(judged))


def _annotations(judged: Verdicts) -> Iterator[Annotation]:
    for result in judged.results:
        file, statement = result.claim.file or "-", result.claim.statement
        line = _line(file, statement.currency.name)
        severe: Level = "error" if result.verdict == "refuted" else "warning"
        if result.verdict != "holds":
            yield Annotation(result.verdict, severe, f"{statement.title}: {_sentence(result)}", file, line)
        for finding in serious(result):
            level: Level = severe if finding.severity == "error" else "warning"
            yield Annotation(finding.id, level, f"{statement.title}: {finding.text}", file, line)
    for file, problem in judged.problems:
        yield Annotation("bad-input", "error", str(problem), file, _line(file, problem.field.rpartition(".")[2]))


def _line(file: str, key: str) -> int | None:
    """The first line of the file that gives the key a value; None where there is none."""
    try:
        lines = Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
    except (OSError, ValueError):
        return None
    pattern = re.compile(rf"\s*{re.escape(key)}\s*=")
    return next((number for number, line in enumerate(lines, 1) if pattern.match(line)), None)


def _sentence(result: Verification) -> str:
    words, certified = result.claim.statement.currency.words, interval(result.certified, 6)
    return f"{result.verdict}; printed {result.printed}, {words} certified in {certified}: {result.why}"


def markdown(judged: Verdicts) -> str:
    """A table for a job's summary or a pull request, the findings below it, and a line that counts."""
    rows = ["| claim | printed | certified | verdict | why |", "|---|---:|---|---|---|"]
    ordered = worst_first(judged.results)
    for result in ordered:
        certified = interval(result.certified, 6)
        cells = (result.claim.statement.title, result.printed, certified, result.verdict, result.why)
        rows.append("| " + " | ".join(map(_cell, cells)) + " |")
    rows += [f"| {_cell(file)} | | | not read | {_cell(str(problem))} |" for file, problem in judged.problems]
    counts = Counter[str](result.verdict for result in judged.results)
    counted = f"{counts['holds']} hold, {counts['refuted']} refuted, {counts['undecided']} undecided"
    found = [
        f"- **{_cell(result.claim.statement.title)}**: {finding.severity} `{finding.id}`: {_cell(finding.text)}"
        for result in ordered
        for finding in serious(result)
    ]
    counted += f", {len(judged.problems)} not readable" if judged.problems else ""
    return "\n".join([*rows, "", *found, *([""] if found else []), counted, ""])


def _cell(text: str) -> str:
    """Text that stays text in a Markdown table."""
    return re.sub(r"([\\|`*_<>\[\]])", r"\\\1", " ".join(text.split()))


FORMATS: dict[str, Callable[[Verdicts], str]] = {"junit": junit, "sarif": sarif, "github": github, "markdown": markdown}
