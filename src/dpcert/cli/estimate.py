"""Beside a certified interval that is wide: what a simulation says; beside an estimate by a limit: its error bar."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..accounting import Bracket
from ..accounting.currencies.gdp import METHOD, error_bar
from ..accounting.pricing.dominating import dominating
from ..accounting.question import seen_by
from ..mechanisms import BallsInBins, Mechanism, MinSeparated, rounds_by_step
from ..mechanisms.digits import rounded_down, rounded_up

if TYPE_CHECKING:
    from ..proofs_checks.simulation.estimates import DeltaEstimate, EpsilonEstimate
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
    from ..proofs_checks.simulation.estimates import estimate_delta, estimate_epsilon

    relation: Any = asked.relation
    found: DeltaEstimate | EpsilonEstimate
    if epsilon is None:
        found = estimate_epsilon(step, delta, neighbouring=relation, error=ERROR)
    else:
        found = estimate_delta(step, epsilon, neighbouring=relation, error=ERROR)
    return {"estimate": asdict(found)}


def limit_theorem(run: Mechanism, asked: Setting, found: Bracket, epsilon: float) -> dict[str, Any]:
    """{"error_bar": ...}: between what deltas at epsilon the Berry-Esseen theorem leaves the truth, where the central
    limit of Gaussian DP was asked for; {} elsewhere."""
    if found.certified or found.method != METHOD or math.isinf(epsilon):
        return {}
    against: dict[str, Any] = asked.against()
    seen = seen_by(against["notion"], against["participation"])
    pairs = dominating(run, against["neighbouring"], seen).upper
    bars = [error_bar(product, epsilon) for product in pairs]
    ends = {"delta_lower": max(bar.lower for bar in bars), "delta_upper": max(bar.upper for bar in bars)}
    return {"error_bar": ends | {"epsilon": epsilon, "certified": False, "by": bars[0].method}}


def told(found: dict[str, Any], quantity: str) -> Iterator[str]:
    """A line for the estimate and one for the bar, as far as they are there."""
    if "estimate" in found:
        estimate = found["estimate"]
        about, least = rounded_down(estimate[quantity], 4), rounded_down(estimate["lower"], 4)
        yield (
            f"  simulated: about {about}, and at least {least} with probability of error {estimate['error']:g}, of the "
            f"unit that always contributes alike ({estimate['draws']:,} draws): it can refute, and proves nothing"
        )
    if "error_bar" in found:
        bar = found["error_bar"]
        least, most = rounded_down(bar["delta_lower"], 3), rounded_up(bar["delta_upper"], 3)
        yield (
            f"  error bar (Berry-Esseen, moments in double precision): delta between {least} and {most} at epsilon = "
            f"{bar['epsilon']:.6g}"
        )
