"""dpcert lint: known slips in training scripts, found without running them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ..mechanisms.tables.fields import MissingKeys
from ..mechanisms.validate import choice
from ..presentation.annotations import Annotation, github, sarif
from ..presentation.output import complain, say, show
from ..proofs_checks.lint import RULES, Finding, Report, lint
from . import options
from .options import Json

CLEAN, FOUND, BAD_INPUT = 0, 1, 2


def lint_command(
    paths: Annotated[list[Path] | None, options.named("PATH", "Python scripts, notebooks, or folders of them.")] = None,
    as_json: Json = False,
    form: Annotated[
        str, typer.Option("--format", help="How to print: text, json, sarif (code scanning) or github (annotations).")
    ] = "text",
    strict: Annotated[bool, "Count notes as findings in the exit code."] = False,
    explain: Annotated[
        str | None,
        typer.Option(metavar="RULE", help="Explain this rule, with a wrong and a right example; no file is read."),
    ] = None,
) -> None:
    """Exit code: 0 nothing found, or notes only (--strict: these count); 1 findings; 2 a path that does not exist or is
    not Python (the others are still read).
    """
    form = options.form(form, ("text", "json", "sarif", "github"), as_json)
    if explain is not None:
        rules = {rule.id: rule for rule in RULES}
        return show(rules[choice("--explain", explain, rules)], as_json)
    if not paths:
        raise MissingKeys({"PATH": "a Python script, a notebook or a folder"})
    report = lint(paths)
    for file in report.bad:
        complain(file.reason)
    if form == "sarif":
        typer.echo(sarif(_annotations(report), {}, {rule.id: str(rule) for rule in RULES}), nl=False)
    elif form == "github":
        typer.echo(github(_annotations(report)), nl=False)
    elif form == "json":
        show(report, as_json=True)
    else:
        for finding in report.findings:
            say(str(finding))
        say(report.summary, err=True)
    raise typer.Exit(_exit_code(report, report.findings if strict else report.slips))


def _annotations(report: Report) -> list[Annotation]:
    """A finding in a notebook names its cell: lines of the file itself mean nothing there."""
    found = []
    for seen in report.findings:
        text = seen.sentence
        if seen.cell is None:
            found.append(Annotation(seen.rule, seen.level, text, seen.path, seen.line, seen.column))
        else:
            found.append(Annotation(seen.rule, seen.level, f"cell {seen.cell}, line {seen.line}: {text}", seen.path))
    return found + [Annotation("bad-input", "error", file.reason, file.path) for file in report.bad]


def _exit_code(report: Report, counted: Sequence[Finding]) -> int:
    if report.bad:
        return BAD_INPUT
    return FOUND if counted else CLEAN
