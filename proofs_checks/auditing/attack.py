"""All pairs of a target, audited within one error probability and one budget."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import replace

from .audit import audit
from .curve import ClaimedCurve
from .mechanism_error import MechanismError
from .result import AuditResult
from .target import Target
from .trials import Progress


def attack(
    target: Target,
    claim: ClaimedCurve,
    *,
    delta: float = 0.0,
    trials: int,
    alpha: float,
    max_seconds: float,
    seed: int = 0,
    method: str = "best",
    executor: Executor | None = None,
    progress: Progress | None = None,
    replay: str | None = None,
) -> AuditResult:
    """The audit with the most evidence; each pair gets an equal part of alpha and of the time.

    Raises MechanismError, with the most evidence so far, when the mechanism fails on a pair.
    """
    share = len(target.pairs)
    found: AuditResult | None = None
    for pair in target.pairs:
        try:
            result = audit(
                target.mechanism,
                pair,
                claim=claim,
                delta=delta,
                trials=trials,
                alpha=alpha / share,
                max_seconds=max_seconds / share,
                seed=seed,
                method=method,
                executor=executor,
                progress=progress,
                replay=replay,
            )
        except MechanismError as failure:
            if failure.known is not None:
                failure.known = replace(failure.known, alpha=alpha)
            failure.known = _stronger(found, failure.known)
            raise
        # Whoever shows the strongest of several answers for all of them: so says its alpha, and its p-value with it.
        found = _stronger(found, replace(result, alpha=alpha))
        if result.refuted or result.stopped == "interrupt":
            break
    assert found is not None
    return found


def _stronger(first: AuditResult | None, second: AuditResult | None) -> AuditResult | None:
    """The one with more evidence; the first of equals."""
    some = [result for result in (first, second) if result is not None]
    return min(some, key=lambda result: (not result.refuted, result.p_value), default=None)
