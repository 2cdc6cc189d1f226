"""Theorem 6 (Appendix A.2), continued: constants from (61) on, and the statements (11) and (29).

K = L + lambda + lambda/p^2 and K2 = L + lambda + 2 lambda/p^2; s = sqrt(d) sigma, b = sqrt(2 B/lambda), G^2 = sum of
the squared gradients.
"""

from __future__ import annotations

from typing import Any

import z3

from ..row import EXACT, Finding, Statement
from ..smt import Recheck, Values, decide

L, LAMBDA, P, ETA = z3.Reals("L lambda p eta")
SMOOTH = L + LAMBDA
GIVEN = (L > 0, LAMBDA > 0, P > 0, P <= 1)
K, K2 = SMOOTH + LAMBDA / (P * P), SMOOTH + 2 * LAMBDA / (P * P)
G, S, B, M, H = z3.Reals("G s b m h")


def _number(statement: Statement, name: str) -> Any:
    return z3.RealVal(str(statement.claim[name]))


def vacuous_29(statement: Statement) -> Finding:
    """(29) at E = 1 for numbers that have nothing to do with each other: two rounds of any client.

    Smoothness and f >= f* >= 0 alone give g_0^2 <= 2 (L + lambda)(f_0 - f*) and g_1^2 <= 2 (L + lambda) f_1; f_1 <= B.
    """
    constant = _number(statement, "constant")
    g0, g1, f0, f1, best, most = z3.Reals("g0_squared g1_squared f0 f1 f_star B1")

    def recheck(values: Values) -> Recheck:
        smooth = values["L"] + values["lambda"]
        k = smooth + values["lambda"] / values["p"] ** 2
        left = values["g0_squared"] + values["g1_squared"]
        right = 4 * k * (values["f0"] - values["f_star"]) + float(statement.claim["constant"]) * k * values["B1"]
        return Recheck(left > right, {"left": left, "right": right})

    given = [*GIVEN, best >= 0, best <= f0, g0 >= 0, g1 >= 0, f1 >= 0, f1 <= most]
    return decide(
        g0 + g1 <= 4 * K * (f0 - best) + constant * K * most,
        [*given, g0 <= 2 * SMOOTH * (f0 - best), g1 <= 2 * SMOOTH * f1],
        recheck,
        proof="true for any sequence of models whatever: smoothness bounds the squared gradient by 2 (L + lambda) f_k",
        refutation="with a smaller constant it is not implied by smoothness alone",
        vacuous=True,
    )


def feasible_rounds(statement: Statement) -> Finding:
    """T = m/(lambda d gamma^2) for FEMNIST: m = 205, gamma = .2, the published network's d = 115 646."""
    rounds = {lam: 205 / (lam * 115_646 * 0.04) for lam in statement.domain["lambda"]}
    numbers = {f"lambda = {lam:g}": value for lam, value in rounds.items()}
    least = min(rounds.values())
    return Finding(least >= 1000, f"T = {least:.4g} rounds at the largest lambda, 1000 were run", numbers, basis=EXACT)
