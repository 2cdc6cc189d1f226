"""All pairs of a target, audited within one error probability and one budget."""

from __future__ import annotations

from concurrent.futures import Executor

from ...mechanisms import InputError
from .audit import audit
from .curve import ClaimedCurve
from .result import AuditResult
from .sampling import Progress
from .target import Target


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

    Raises InputError when the mechanism does not run on its pair.
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
        except InputError:
            raise
        except Exception as problem:  # the mechanism's own
            reason = " ".join(f"{type(problem).__name__}: {problem}".split())[:200]
            shown = " ".join(repr(pair).split())[:120]
            raise InputError(target.name, reason, f"a mechanism that runs on the pair {shown}") from problem
        if found is None or (not result.refuted, result.p_value) < (not found.refuted, found.p_value):
            found = result
        if result.refuted or result.stopped == "interrupt":
            break
    assert found is not None
    return found
