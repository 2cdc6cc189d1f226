"""What is left to hide in a run before clients who know what they themselves sent."""

from __future__ import annotations

from typing import Any

from ...mechanisms import BestOfSeveral, InputError, Mechanism, Repeat, Sequence, ShuffledReports, rounds_by_step
from ...mechanisms.composition import parts_of
from .guarantees import Observer, ObserverKind

_RUNS = "an outside reader, with BestOfSeveral: clients know how many runs they took part in, and the number is secret"
_INSIDE = "rounds of their own, where clients know the reports that they sent"


def without_known_reports(run: Mechanism, observer: Observer) -> Mechanism:
    """The run as a coalition sees it: of n shuffled reports it knows its own, and n - size are left in random order.

    Raises InputError for a coalition of as many clients as there are reports, for shuffled reports inside of other
    schemes, and for BestOfSeveral, whose number of runs clients would know.
    """
    if observer.kind != ObserverKind.COALITION:
        return run
    steps = rounds_by_step(run)
    if not any(inside(step, ShuffledReports | BestOfSeveral) for step in steps):
        return run
    parts: list[Mechanism] = []
    for step, rounds in steps.items():
        if inside(step, BestOfSeveral):
            raise InputError("observer", str(observer), _RUNS)
        if isinstance(step, ShuffledReports):
            parts.append(Repeat(_left(step, observer.size), rounds))
        elif inside(step, ShuffledReports):
            raise InputError("mechanism", step, _INSIDE)
        else:
            parts.append(Repeat(step, rounds))
    return Sequence(tuple(parts))


def _left(step: ShuffledReports, colluders: int | None) -> Mechanism:
    if colluders is None or colluders == step.reports - 1:
        return step.report
    if colluders >= step.reports:
        raise InputError("observer.size", colluders, f"at most reports - 1 = {step.reports - 1} other clients")
    return ShuffledReports(step.report, step.reports - colluders)


def inside(step: Mechanism, kinds: Any) -> bool:
    """Whether the description is one of these kinds, or is about one."""
    return any(isinstance(part, kinds) for part in parts_of(step))
