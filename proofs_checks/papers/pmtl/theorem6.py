"""Theorem 6 (Appendix A.2; Theorem 3 in the text): what of its proof is no formula over the reals."""

from __future__ import annotations

from ..row import Finding, Statement, on_instances


def no_clipping(statement: Statement) -> Finding:
    """||E-step update|| against gamma, f = (a/2) w^2 from w = 1 (gradient norms at most a), for steps up to 2/a."""
    worst, where = 0.0, {}
    for curvature in (0.1, 1.0):
        for step in (0.1, 0.5, 0.9):
            for steps in (1, 5, 50):
                eta = step / curvature
                gamma = curvature * (eta * steps if statement.domain["gamma at least"] == "eta E max ||grad||" else 1.0)
                ratio = (1 - (1 - step) ** steps) / gamma
                if ratio > worst:
                    worst, where = ratio, {"a": curvature, "eta": eta, "E": steps, "gamma": gamma}
    text = f"largest update / gamma over 18 settings: {worst:.4g}"
    return Finding(
        worst <= 1 + 1e-12,
        text,
        {"update / gamma": worst},
        where if worst > 1 + 1e-12 else None,
        basis=on_instances(18),
    )
