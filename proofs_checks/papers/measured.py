"""What an audit, and a measured exponent, say of the statement of a row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .row import Basis, Finding, Statement, on_instances

if TYPE_CHECKING:
    from ..auditing import AuditResult
    from ..convergence.exponents import Exponent


def by_audit(result: AuditResult, against: str, numbers: Mapping[str, Any], alpha: float) -> Finding:
    """Refuted, or not in so many runs. alpha: the chance that a refutation is wrong. against: the claim, in words."""
    text = f"p-value {result.p_value:.3g} against {against} in {result.trials} runs"
    return Finding(
        not result.refuted,
        text,
        {"p-value": result.p_value, **numbers},
        None if result.witness is None else result.witness.to_json(),
        error_probability=alpha if result.refuted else 0.0,
        basis=on_instances(result.trials, "audit"),
    )


def by_exponent(
    fit: Exponent, statement: Statement, what: str, basis: Basis, numbers: Mapping[str, Any], slack: float = 0.0
) -> Finding:
    """claim.exponent as that of a fit. what: the quantity, to which the exponent is added.

    claim.relation: "is", or "at most" where the paper bounds the quantity by O(size^exponent) for large sizes (for
    small ones with domain.towards = 0); "at least" is its opposite. slack: for what is not a power law exactly.
    """
    stated, relation = statement.claim["exponent"], statement.claim.get("relation", "is")
    exact, above, below = fit.agrees_with(stated, slack), fit.low >= stated - slack, fit.high <= stated + slack
    most, least = (above, below) if statement.domain.get("towards", math.inf) == 0 else (below, above)
    holds = {"is": exact, "at most": most, "at least": least}[relation]
    text = f"{what}^{fit.value:.3f}, {fit.range}, stated {stated:g}"
    if relation == "at most" and holds and not exact:
        text += f": the bound is loose, by the power {abs(stated - fit.value):.3g}"
    measured = {"exponent": fit.value, "low": fit.low, "high": fit.high, **numbers}
    return Finding(holds, text, measured, error_probability=fit.alpha, basis=basis, rate=(stated, fit.value))
