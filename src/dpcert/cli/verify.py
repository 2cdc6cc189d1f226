"""dpcert verify: a verdict on every claim file, as a table, as JSON, as an HTML report, and as what pipelines read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from ..accounting.question import tolerance
from ..mechanisms import InputError
from ..mechanisms.paths import place_for
from ..mechanisms.validate import count
from ..mechanisms.workers import cores
from ..presentation.output import complain, show
from ..presentation.progress import bar
from ..proofs_checks.verification.files import Asked, claim_files, verify_files
from ..proofs_checks.verification.verdicts import NotJudged, Verdicts
from . import INTERRUPTED, options
from .declared import with_fields

HOLDS, REFUTED, BAD_INPUT, UNDECIDED = 0, 1, 2, 3
"""Exit codes. Bad input comes before refuted, refuted before undecided."""

FORMATS = ("table", "json", "junit", "sarif", "markdown", "github")


@dataclass(frozen=True, slots=True)
class Options:
    """What is judged, and how it is told; the fields are the options, in the order of --help."""

    claims: Annotated[list[Path], options.named("CLAIM.toml", "Claim files, folders of them, or -.")]
    with_audit: Annotated[
        bool, typer.Option("--audit", help="Also attack the implementations that the claims name.")
    ] = False
    everything: Annotated[
        bool, typer.Option("--all", help="List every claim. Default: of more than five, those that hold are counted.")
    ] = False
    certificate: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write one certificate per claim into this folder.")
    ] = None
    report: Annotated[
        Path | None, typer.Option(metavar="OUT.html", help="Write a self-contained HTML report (needs jinja2).")
    ] = None
    compared: Annotated[
        bool,
        typer.Option("--compare", help="Also print every claim's epsilon at one delta, and the total of all releases."),
    ] = False
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="Output format: table, json, junit or sarif (for CI services), markdown or github (annotations).",
        ),
    ] = "table"
    jobs: Annotated[int, typer.Option(metavar="N", help="Number of worker processes; 0 means one per core.")] = 1
    rtol: Annotated[
        float | None,
        typer.Option(
            metavar="R", help="Relative width of each interval. Default: 1e-6, or as narrow as the verdict needs."
        ),
    ] = None
    cache: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep verdicts in this folder, and reuse those of unchanged claims."),
    ] = None

    def check(self) -> None:
        """InputError, before any work, for options that contradict one another, and where nothing can be written."""
        if self.compared and self.form not in ("table", "json"):
            raise InputError("--compare", self.form, "--format table or json beside it")
        if self.rtol is not None:
            tolerance("--rtol", self.rtol)
        count("--jobs", self.jobs, least=0)
        if self.cache is not None and (self.with_audit or self.certificate is not None):
            alone = "no --audit and no --certificate beside it: both are made anew"
            raise InputError("--cache", str(self.cache), alone)
        options.folder("--certificate", self.certificate)
        options.folder("--cache", self.cache)
        if self.report is not None:
            from ..presentation.report import check_templates

            check_templates()
            place_for("--report", self.report)


@with_fields(Options)
def verify_command(asked: Options, as_json: options.Json = False) -> None:
    """Each claim holds (the true epsilon is at most the stated one), is refuted (the true epsilon is larger) or stays
    undecided. Exit code: 0 every claim holds; 1 at least one is refuted; 2 bad input (the other claims are still
    verified); 3 none is refuted, at least one is undecided; 130 after Ctrl-C, which prints what is known by then.
    """
    asked = replace(asked, form=options.form(asked.form, FORMATS, as_json))
    asked.check()
    files = claim_files(asked.claims)
    wanted = Asked(asked.certificate, asked.with_audit, asked.cache, asked.rtol)
    with bar("verifying") as progress:
        found = verify_files(files, wanted, asked.jobs or cores(), progress)
    for file, reason in found.problems:
        if not isinstance(reason, NotJudged):
            complain(str(reason) if reason.field == "file" and reason.sentence else f"{file}: {reason}")
    found = replace(found.compared() if asked.compared else found, everything=asked.everything)
    _show(found, asked.form)
    if asked.report is not None:
        from ..presentation.report import write_report

        write_report(asked.report, found)
    if found.unjudged:
        complain(f"{found.unjudged} of {len(files)} claims were not judged.")
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(_exit_code(found))


def _show(found: Verdicts, form: str) -> None:
    if form in ("table", "json"):
        return show(found, as_json=form == "json")
    from ..presentation.pipelines import FORMATS as PRINTED

    typer.echo(PRINTED[form](found), nl=False)


def _exit_code(found: Verdicts) -> int:
    verdicts = {result.verdict for result in found.results}
    if found.problems:
        return BAD_INPUT
    if "refuted" in verdicts:
        return REFUTED
    return UNDECIDED if "undecided" in verdicts else HOLDS
