"""Theorem 7 (Appendix A.3; Theorem 5 in the text): its step size and its rate, over the reals."""

from __future__ import annotations

from typing import Any

import z3

from ..row import Finding, Statement
from ..smt import Recheck, Values, decide

L, MU, LAMBDA, P, ETA, C = z3.Reals("L mu lambda p eta c")
SMOOTH, CONVEX = L + LAMBDA, MU + LAMBDA
GIVEN = (MU > 0, L >= MU, LAMBDA > 0, P > 0, P <= 1)
DENOMINATOR = SMOOTH * P * P - 2 * LAMBDA
ADMISSIBLE = (
    DENOMINATOR != 0,
    ETA * DENOMINATOR == C * P,
    2 * ETA * P * (C - 2) * CONVEX >= 1,
    ETA * P * (C - 2) * CONVEX <= 1,
)


def stable_step(statement: Statement) -> Finding:
    """Whether the stated step size contracts every quadratic with Hessian between mu + lambda and L + lambda."""
    small: tuple[Any, ...] = (ETA > 0, ETA * SMOOTH <= 1)
    chosen = small if statement.claim["step size"] == "at most 1/(L + lambda)" else ADMISSIBLE

    def recheck(values: Values) -> Recheck:
        eta, limit = values["eta"], 2 / (values["L"] + values["lambda"])
        factor = 1 - eta * (values["L"] + values["lambda"])
        return Recheck(abs(factor) > 1 or eta < 0, {"eta": eta, "2/(L + lambda)": limit, "growth a step": abs(factor)})

    return decide(
        z3.And(ETA > 0, ETA * SMOOTH <= 2),
        (*GIVEN, *chosen),
        recheck,
        proof="0 < eta <= 2/(L + lambda) for every such step size",
        refutation="the step size is beyond the stability limit 2/(L + lambda)",
    )


def no_stable_step(statement: Statement) -> Finding:
    """Whether some admissible step size lies where stated, for some L >= mu > 0, lambda > 0 and p."""
    beyond = z3.Or(ETA < 0, ETA * SMOOTH > 2)
    wanted = z3.Not(beyond) if statement.claim["where"] == "in (0, 2/(L + lambda)]" else beyond

    def recheck(values: Values) -> Recheck:
        eta, limit = values["eta"], 2 / (values["L"] + values["lambda"])
        outside = eta < 0 or eta > limit
        asked = statement.claim["where"] == "in (0, 2/(L + lambda)]"
        return Recheck(outside is not asked, {"eta": eta, "2/(L + lambda)": limit})

    found = decide(
        z3.Not(wanted),
        (*GIVEN, *ADMISSIBLE),
        recheck,
        proof="no admissible step size at all",
        refutation="there is one",
    )
    where = statement.claim["where"]
    text = f"no admissible step size is {where} (z3: unsat)" if found.holds else f"an admissible step size is {where}"
    return Finding(not found.holds, text, found.numbers, found.witness)


def admissible_exists(statement: Statement) -> Finding:
    """Whether some c meets 1/2 <= eta p (c - 2)(mu + lambda) <= 1: (c^2 - 2c) p^2 (mu + lambda)/D in [1/2, 1].

    For D > 0 that grows without bound from c = 2 on; for D < 0 it is largest at c = 1, p^2 (mu + lambda)/|D|.
    """
    domain = [DENOMINATOR > 0] if statement.domain["p"] == "p^2 (L + lambda) > 2 lambda" else [DENOMINATOR != 0]

    def recheck(values: Values) -> Recheck:
        p, convex = values["p"], values["mu"] + values["lambda"]
        denominator = (values["L"] + values["lambda"]) * p * p - 2 * values["lambda"]
        best = max((c * c - 2 * c) * p * p * convex / denominator for c in (x / 100 for x in range(-400, 601)))
        return Recheck(denominator < 0 and best < 0.5, {"largest eta p (c - 2)(mu + lambda)": best})

    return decide(
        z3.Or(DENOMINATOR > 0, 2 * P * P * CONVEX >= -DENOMINATOR),
        (*GIVEN, *domain),
        recheck,
        proof="some constant c is admissible",
        refutation="no constant c is admissible: eta p (c - 2)(mu + lambda) stays below 1/2",
    )


def halving_rate(statement: Statement) -> Finding:
    """Whether some fixed step shrinks the gap of every such quadratic to half: (1 - eta a)^2 <= 1/2 at both ends.

    The best is eta = 2/((L + lambda) + (mu + lambda)), where both ends agree; any other is worse at one end.
    """
    bound = statement.domain["(L + lambda)/(mu + lambda) at most"]
    best = 2 / (SMOOTH + CONVEX)
    given = [*GIVEN] if bound == "any" else [*GIVEN, round(10 * bound) * CONVEX >= 10 * SMOOTH]

    def recheck(values: Values) -> Recheck:
        kappa = (values["L"] + values["lambda"]) / (values["mu"] + values["lambda"])
        factor = ((kappa - 1) / (kappa + 1)) ** 2
        return Recheck(factor > 0.5, {"condition number": kappa, "best factor a step": factor})

    return decide(
        2 * (1 - best * CONVEX) * (1 - best * CONVEX) <= 1,
        given,
        recheck,
        proof="the step 2/(L + mu + 2 lambda) halves the gap",
        refutation="even the best fixed step does not halve the gap of an ill-conditioned problem",
    )
