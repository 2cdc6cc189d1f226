"""Beside a certified interval that is wide: what a simulation says, where one can be made."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from ..mechanisms import BallsInBins, Mechanism, MinSeparated, rounds_by_step
from .output import rounded_down

if TYPE_CHECKING:
    from ..proofs_checks.auditing.sampled_estimates import DeltaEstimate, EpsilonEstimate
    from .setting import Setting

ERROR = 1e-6


def simulated(run: Mechanism, asked: Setting, delta: float = 0.0, epsilon: float | None = None) -> dict[str, Any]:
    """{"estimate": ...} of epsilon at delta, or of delta at epsilon; {} where the run has no estimate.

    Of sampled correlated noise alone, for an observer from whom the rounds of a unit are hidden, at a delta above 0.
    """
    steps = list(rounds_by_step(run).items())
    hidden = asked.notion == "dp" and asked.participation != "visible"
    if len(steps) != 1 or steps[0][1] != 1 or not hidden or not (delta or epsilon is not None):
        return {}
    step = steps[0][0]
    if not isinstance(step, BallsInBins | MinSeparated):
        return {}
    from ..proofs_checks.auditing.sampled_estimates import estimate_delta, estimate_epsilon

    relation: Any = asked.relation
    found: DeltaEstimate | EpsilonEstimate
    if epsilon is None:
        found = estimate_epsilon(step, delta, neighbouring=relation, error=ERROR)
    else:
        found = estimate_delta(step, epsilon, neighbouring=relation, error=ERROR)
    return {"estimate": asdict(found)}


def print_estimate(found: dict[str, Any], quantity: str) -> None:
    """One line, where there is an estimate."""
    if found:
        estimate = found["estimate"]
        about, least = rounded_down(estimate[quantity], 4), rounded_down(estimate["lower"], 4)
        typer.echo(
            f"  simulated: about {about}, and at least {least} with probability of error {estimate['error']:g}, of the "
            f"unit that always contributes alike ({estimate['draws']:,} draws): it can refute, and proves nothing"
        )
