"""dpcert audit-suite: audit every mechanism of a library that a manifest names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ..mechanisms import InputError
from ..mechanisms.validate import count
from ..presentation.output import say, show
from ..presentation.progress import bar
from .options import Json

NOT_REFUTED, REFUTED, NOT_CHECKED = 0, 1, 4


def audit_suite_command(
    manifest: Annotated[Path, typer.Argument(metavar="MANIFEST.toml", help="Library, mechanisms and their claims.")],
    jobs: Annotated[int, "Number of audits that run at once, each in its own process."] = 1,
    resume: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep finished rows in this file and do not run them again.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only this mechanism; repeatable.")] = None,
    as_json: Json = False,
) -> None:
    """Audit only manifests that you trust: what a manifest imports and calls is executed. The error probability holds
    for all rows of the table together. Exit code: 0 nothing was refuted (which proves nothing); 1 a claim is refuted;
    2 bad input; 4 nothing was refuted, but some mechanism could not be checked.
    """
    from ..proofs_checks.suites import read, run_suite

    found = read(manifest)
    unknown = sorted(set(only or ()) - {entry.name for entry in found.entries})
    if unknown:
        raise InputError("--only", unknown[0], f"a mechanism of {manifest}")
    if found.written_for is not None and found.installed != found.written_for:
        say(f"note: {found.library} {found.installed}; the manifest is for {found.written_for}", err=True)
    with bar("audits", quiet=as_json) as step:
        result = run_suite(found, jobs=count("--jobs", jobs), kept=resume, only=only or (), progress=step)
    show(replace(result, manifest=str(manifest)), as_json)
    raise typer.Exit(REFUTED if result.refuted else NOT_REFUTED if result.all_checked else NOT_CHECKED)
