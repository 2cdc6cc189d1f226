"""All pairs of a target, audited within one error probability and one budget."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from typing import Any

from .audit import audit
from .calling import MechanismError, shortened
from .curve import ClaimedCurve
from .literals import written
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
    max_seconds: float | None = None,
    seed: int = 0,
    method: str = "best",
    executor: Executor | None = None,
    progress: Progress | None = None,
    replay: str | None = None,
    after_stop: int = 0,
) -> AuditResult:
    """The audit with the most evidence; each pair gets an equal part of alpha and of the time.

    Of generic pairs those on which the mechanism fails are left out, and that is said in the warnings. Otherwise
    raises MechanismError, with the most evidence so far, when the mechanism fails on a pair.
    """
    share = len(target.pairs)
    attempt = partial(
        audit,
        target.mechanism,
        claim=claim,
        delta=delta,
        trials=trials,
        alpha=alpha / share,
        max_seconds=None if max_seconds is None else max_seconds / share,
        seed=seed,
        method=method,
        executor=executor,
        progress=progress,
        replay=replay,
        after_stop=after_stop,
    )
    # Whoever shows the strongest of several answers for all of them: so says its alpha, and its p-value with it.
    named: dict[str, Any] = {"alpha": alpha, "mechanism": target.name, "generic_pair": target.generic}
    return _strongest(target, attempt, named)


def _strongest(target: Target, attempt: Callable[[tuple[Any, Any]], AuditResult], named: dict[str, Any]) -> AuditResult:
    found: AuditResult | None = None
    tried: list[str] = []
    reasons: list[str] = []
    failed: list[MechanismError] = []
    for pair in target.pairs:
        try:
            result = attempt(pair)
        except MechanismError as failure:
            failure.known = _stronger(found, failure.known and replace(failure.known, **named))
            if not target.generic or (failure.known is not None and failure.known.refuted):
                raise
            failed.append(failure)
            continue
        tried.append(_shown(pair))
        reasons.append(result.unchecked)
        found = _stronger(found, replace(result, **named))
        if result.refuted or result.stopped == "interrupt":
            break
    if found is None:
        raise failed[0]
    unchecked = "" if found.refuted or not all(reasons) else reasons[0]
    skipped = tuple(f"not tried: {failure}" for failure in failed[:1])
    return replace(found, tried=tuple(tried), unchecked=unchecked, warnings=(*found.warnings, *skipped))


def _shown(pair: tuple[Any, Any]) -> str:
    return " and ".join(shortened(written(dataset) or repr(dataset)) for dataset in pair)


def _stronger(first: AuditResult | None, second: AuditResult | None) -> AuditResult | None:
    """The one with more evidence; the first of equals."""
    some = [result for result in (first, second) if result is not None]
    return min(some, key=lambda result: (not result.refuted, result.p_value), default=None)
