"""From samples to a result: a list of parts, each with its share of the error probability.

A part is an object `part(evidence, error) -> Found`; what it says without an assumption is wrong with probability
`error` at most. Parts know nothing of each other, so that those that were finished when Ctrl-C came are reported.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from .band import Band
from .checked import unchecked, unread
from .evidence import Evidence
from .result import AuditResult, LowerBound, Test
from .witness import AuditWitness


@dataclass(frozen=True, slots=True)
class Found:
    """What one part has to say. warning: a sentence on what refutes nothing, and should be known."""

    tests: tuple[Test, ...] = ()
    bounds: tuple[LowerBound, ...] = ()
    witnesses: tuple[AuditWitness, ...] = ()
    band: Band | None = None
    warning: str = ""


class Part(Protocol):
    """at_any_time: whether it may speak where the number of trials depends on their outcomes."""

    @property
    def at_any_time(self) -> bool: ...

    def __call__(self, samples: Evidence, error: float) -> Found: ...


def evaluate(evidence: Evidence, parts: Sequence[tuple[Part, float]], alpha: float, started: float) -> AuditResult:
    """The result of all parts. started: when the audit began, by time.perf_counter()."""
    samples, stopped = evidence.samples, evidence.samples.stopped
    found: list[Found] = []
    try:
        for part, error in parts:
            if part.at_any_time or stopped not in ("early", "failure"):
                found.append(part(evidence, error))
    except KeyboardInterrupt:
        stopped = "interrupt"
    tests = tuple(test for some in found for test in some.tests)
    witnesses = [witness for some in found for witness in some.witnesses]
    refuted = bool(witnesses) or any(test.refutes for test in tests)
    return AuditResult(
        refuted=refuted,
        alpha=alpha,
        claim=evidence.claim,
        tests=tests,
        bounds=tuple(bound for some in found for bound in some.bounds),
        band=next((some.band for some in found if some.band is not None), None),
        witness=min(witnesses, key=lambda one: one.p_value, default=None),
        trials=samples.trials,
        seconds=time.perf_counter() - started,
        stopped=stopped,
        seed=evidence.question.seed,
        blind=() if refuted else unread(samples),
        unchecked="" if refuted else unchecked(samples, evidence.question.pair, evidence.claim, alpha),
        warnings=tuple(some.warning for some in found if some.warning),
        generators=samples.generators,
    )
