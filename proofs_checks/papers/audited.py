"""What an audit says of a row: the statement is refuted, or it is not in so many runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..auditing import AuditResult
from .row import Finding, on_instances


def judged(result: AuditResult, against: str, numbers: Mapping[str, Any], alpha: float) -> Finding:
    """alpha: the probability that a refutation is wrong. against: what was claimed, in words."""
    text = f"p-value {result.p_value:.3g} against {against} in {result.trials} runs"
    return Finding(
        not result.refuted,
        text,
        {"p-value": result.p_value, **numbers},
        None if result.witness is None else result.witness.to_json(),
        error_probability=alpha if result.refuted else 0.0,
        basis=on_instances(result.trials, "audit"),
    )
