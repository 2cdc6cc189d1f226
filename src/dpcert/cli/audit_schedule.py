"""dpcert audit --schedule LOG: was a run sampled as it is accounted?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..presentation.output import print_json

if TYPE_CHECKING:
    from ..proofs_checks.schedules.audit import ScheduleAudit


def print_audit(path: Path, audit: ScheduleAudit, as_json: bool) -> None:
    """What was found, as one JSON document or as lines."""
    if as_json:
        print_json({"schedule": str(path), "refuted": audit.refuted, **asdict(audit)})
        return
    typer.echo(f"{audit.rounds} rounds against {audit.scheme}, with a probability of error of at most {audit.error:g}:")
    for check in audit.checks:
        typer.echo(f"  {check.name}: {check.text} (p at most {check.p_value:.3g})")
    verdict = "refuted: this was not sampled so" if audit.refuted else "not refuted, which proves nothing"
    typer.echo(verdict)
