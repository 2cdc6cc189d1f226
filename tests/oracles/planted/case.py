"""What a planted case is: a broken mechanism, its correct twin, and the claim that only the twin keeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpcert.proofs_checks.auditing import ClaimedCurve

Batched = Callable[..., Any]
"""mechanism(dataset, rng, size) -> outputs, trial first."""


@dataclass(frozen=True, slots=True)
class Planted:
    """broken violates the claim on the pair; correct keeps it, on this pair and every other.

    trials: calls a side at which an audit is expected to find the violation; method: the audit's.
    twin_claim: where the twin keeps a different claim than the one that the broken mechanism violates.
    """

    name: str
    what: str
    claim: ClaimedCurve
    pair: tuple[Any, Any]
    broken: Batched
    correct: Batched
    trials: int = 2_000
    method: str = "best"
    twin_claim: ClaimedCurve | None = None
