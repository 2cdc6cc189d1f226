"""Theorem 7 (Appendix A.3; Theorem 5 in the text): (83) to (84), along a step."""

from __future__ import annotations

import math

from ..row import Finding, Statement, on_instances


def step_84(statement: Statement) -> Finding:
    """One exact step on quadratics (m = 2, a = lambda = 1, p = 1): true change against the stated bound.

    l_k = (w - x_k)^2/2; the coefficient is (eta^2 - eta), both its factors as in (83) and (84) with L = mu = 1.
    """
    worst, where = -math.inf, {}
    for w in (0.0, 1.0, 1.5, 2.0):
        for broadcast in (0.0, 1.0, 3.0):
            for eta in (0.1, 0.25, 0.5):
                excess = _excess_of_84(w, broadcast, eta, statement.claim["compared with"])
                if excess > worst:
                    worst, where = excess, {"w": w, "w~": broadcast, "eta": eta, "x": [0.0, 2.0]}
    text = f"largest (true change - bound) over 36 states: {worst:.4g}"
    return Finding(worst <= 1e-12, text, {"excess": worst}, where if worst > 1e-12 else None, basis=on_instances(36))


def _excess_of_84(w: float, broadcast: float, eta: float, compared: str) -> float:
    def f(v: float, centre: float) -> float:
        return v**2 / 2 + (v - centre) ** 2 / 2

    change = f(w - eta * (w + w - broadcast), broadcast) - f(w, broadcast)
    optimum = f(0.5, 1.0)  # x = (0, 2): w_1* = 1/2, w_bar* = 1
    reference = optimum if compared == "f_k(w_k*; w~*)" else f(broadcast / 2, broadcast)
    return change - (eta**2 - eta) * 2 * 2 * (f(w, broadcast) - reference)
