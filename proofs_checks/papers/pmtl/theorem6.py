"""Theorem 6 (Appendix A.2; Theorem 3 in the text): what of its proof is no formula over the reals."""

from __future__ import annotations

import math

from ..row import EXACT, Finding, Statement, on_instances


def coin_per_step(statement: Statement) -> Finding:
    """E f after E steps on f = a w^2/2, a eta = 1/2, p = 1/2, w = 1: coins tossed per step against per round."""
    steps, p, shrink = statement.domain["E"], 0.5, 0.25
    per_round = p * shrink**steps + 1 - p
    per_step = statement.claim["times the proof's expectation"] * (p * shrink + 1 - p) ** steps
    text = f"E f/f = {per_round:.4f} with Algorithm 1's coins, {per_step:.4f} as in the proof"
    return Finding(math.isclose(per_round, per_step, rel_tol=1e-12), text, {"E f": [per_round, per_step]}, basis=EXACT)


def one_gradient_47(statement: Statement) -> Finding:
    """||update||^2 of E local steps on f = w^2/2 from w = 1, eta = .1, against ||eta grad||^2."""
    update = 1 - 0.9 ** statement.domain["E"]
    text, numbers = f"squared update {update**2:.4f}, (47) has 0.0100", {"squared update": update**2, "(47)": 0.1**2}
    return Finding(update**2 <= 0.01 * (1 + 1e-12), text, numbers, basis=EXACT)


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


def feasible_rounds(statement: Statement) -> Finding:
    """T = m/(lambda d gamma^2) for FEMNIST: m = 205, gamma = .2, the published network's d = 115 646."""
    rounds = {lam: 205 / (lam * 115_646 * 0.04) for lam in statement.domain["lambda"]}
    numbers = {f"lambda = {lam:g}": value for lam, value in rounds.items()}
    least = min(rounds.values())
    return Finding(least >= 1000, f"T = {least:.4g} rounds at the largest lambda, 1000 were run", numbers, basis=EXACT)
