"""dpcert verify: a verdict on every claim file, as a table, as JSON, and as an HTML report."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..mechanisms import InputError
from ..mechanisms.tables.file import read_stream
from ..proofs_checks.certificates.certificate import told_apart
from ..proofs_checks.claims.claim import parse_claim
from ..proofs_checks.verification.comparison import Comparison, compare
from ..proofs_checks.verification.verify import Verification
from ..proofs_checks.verification.verify import verify as verify_claim
from .options import Json
from .output import complain, print_json

HOLDS, REFUTED, BAD_INPUT, UNDECIDED = 0, 1, 2, 3
"""Exit codes. Bad input comes before refuted, refuted before undecided."""

STDIN = "-"
"""The name under which a claim is read from standard input."""

Problems = list[tuple[str, InputError]]


def verify_command(
    claims: Annotated[
        list[Path],
        typer.Argument(metavar="CLAIM.toml...", help="Claim files, folders of them, or -.", show_default=False),
    ],
    with_audit: Annotated[
        bool, typer.Option("--audit", help="Also attack the implementations that the claims name.")
    ] = False,
    as_json: Json = False,
    certificate: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write one certificate a claim into this folder.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="OUT.html", help="Write a self-contained HTML report (needs jinja2).")
    ] = None,
    compared: Annotated[
        bool,
        typer.Option("--compare", help="Also: all claims in one currency, and what all releases cost together."),
    ] = False,
) -> None:
    """Verify claims: does the stated epsilon hold for what ran?

    Exit code: 0 every claim holds; 1 at least one is refuted; 2 bad input (the other claims are still
    verified); 3 none refuted, at least one undecided.
    """
    _check_outputs(certificate, report)
    files = list(_files(claims))
    results, problems = _verify_all(files, certificate, _attacked if with_audit else _as_verified)
    comparison = compare(results) if compared and results else None
    if as_json:
        print_json(_document(results, problems, comparison))
    else:
        from .table import print_comparison, print_table

        print_table(results, problems)
        if comparison is not None:
            print_comparison(results, comparison)
    if report is not None:
        from .report import write_report

        write_report(report, results, problems, comparison)
    raise typer.Exit(_exit_code(results, problems))


def _check_outputs(certificate: Path | None, report: Path | None) -> None:
    """Whatever is wrong with the places to write to is said before any work."""
    if report is not None:
        from .report import check_templates

        check_templates()
        if report.is_dir() or not report.parent.is_dir():
            raise InputError("--report", str(report), "a file name in an existing folder")
    if certificate is not None:
        try:
            certificate.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise InputError("--certificate", str(certificate), f"a folder to write to ({problem})") from None


def _files(named: list[Path]) -> Iterator[Path]:
    """The files named, and those of folders and their folders, by name: all that end in .toml."""
    for path in named:
        if not os.path.isdir(path):  # False, and no error, for what cannot be a path: reading it says what is wrong
            yield path
            continue
        found = sorted(path.rglob("*.toml"))
        if not found:
            raise InputError("CLAIM.toml", str(path), "a folder with claim files (*.toml) in it")
        yield from found


def _as_verified(result: Verification) -> Verification:
    return result


def _attacked(result: Verification) -> Verification:
    from ..proofs_checks.verification.implementation import audited

    return audited(result)


def _verify_all(
    paths: list[Path], certificate: Path | None, finish: Callable[[Verification], Verification]
) -> tuple[list[Verification], Problems]:
    results: list[Verification] = []
    problems: Problems = []
    names = _certificate_names(paths)
    columns = (
        TextColumn("verifying"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=len(paths))
        for path in paths:
            progress.update(task, description=path.name)
            try:
                claim = parse_claim(read_stream(sys.stdin.buffer), file=STDIN) if str(path) == STDIN else path
                result = verify_claim(claim, certificates=certificate, certificate_name=names.get(path))
                results.append(finish(result))
            except InputError as problem:
                problems.append((str(path), problem))
            except Exception as bug:  # of ours, or too little memory: it must not take the other claims' verdicts along
                problems.append((str(path), _unjudged(path, bug)))
            progress.advance(task)
        progress.update(task, description="")
    for file, reason in problems:
        complain(f"{file}: {reason}")
    return results, problems


def _unjudged(path: Path, bug: Exception) -> InputError:
    """The error for a claim on which dpcert itself failed; the traceback goes to stderr, for a report."""
    traceback.print_exception(bug)
    reason = " ".join(f"{type(bug).__name__} {bug}".split())[:120]
    return InputError("file", str(path), f"a claim that dpcert can judge: it failed ({reason}); please report this")


def _certificate_names(paths: list[Path]) -> dict[Path, str]:
    """Names for the certificates of files of one name in several folders; all others name themselves."""
    folders: dict[str, set[Path]] = {}
    for path in paths:
        folders.setdefault(path.stem, set()).add(path.resolve())
    doubled = [path for path in paths if len(folders[path.stem]) > 1]
    return {path: f"{path.stem}-{told_apart(str(path.resolve()))}" for path in doubled}


def _document(results: list[Verification], problems: Problems, comparison: Comparison | None) -> dict[str, object]:
    errors = [
        {"file": file, "field": problem.field, "expected": problem.expected, "message": str(problem)}
        for file, problem in problems
    ]
    document: dict[str, object] = {"claims": [result.to_json() for result in results], "errors": errors}
    return document if comparison is None else document | {"comparison": comparison.to_json(results)}


def _exit_code(results: list[Verification], problems: Problems) -> int:
    verdicts = {result.verdict for result in results}
    if problems:
        return BAD_INPUT
    if "refuted" in verdicts:
        return REFUTED
    return UNDECIDED if "undecided" in verdicts else HOLDS
