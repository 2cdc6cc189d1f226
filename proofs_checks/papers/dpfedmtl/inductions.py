"""From Lemma 5.2 to Theorems 5.2 and 5.3: the recursions, over the reals."""

from __future__ import annotations

import z3

from ..row import Finding, Statement
from ..smt import Recheck, Values, decide

E_, ROOT, TIME = z3.Reals("e s T")


def convex_recursion(statement: Statement) -> Finding:
    """From e+ <= e - e^2 + s^2 (A = 1, s = sqrt(c/A)): one step of the induction e_T <= 1/T + s, for all T >= 1.

    After scaling by A the recursion has this form. The start: any e_0 >= 0 gives e_1 <= 1 + s.
    """
    most = z3.RealVal(str(statement.domain["c over A, at most"]))
    after = E_ - E_ * E_ + ROOT * ROOT

    def recheck(values: Values) -> Recheck:
        e, s, t = values["e"], values["s"], values["T"]
        new = e - e * e + s * s
        return Recheck(new > s + 1 / (t + 1), {"e+": new, "bound": s + 1 / (t + 1)})

    return decide(
        after <= ROOT + 1 / (TIME + 1),
        [E_ >= 0, ROOT >= 0, most >= ROOT * ROOT, TIME >= 1, E_ <= ROOT + 1 / TIME],
        recheck,
        proof="the induction step holds for every T, whatever the start",
        refutation="a gap below sqrt(c A) overshoots it when c > A/4, and 1/T is too small to cover that",
    )


def linear_recursion(statement: Statement) -> Finding:
    """e+ <= (1 - rho) e + gamma gives e+ - beta <= (1 - rho)(e - beta) with beta = factor gamma / rho, 0 < rho <= 1."""
    gap, rho, gamma, beta = z3.Reals("e rho gamma beta")
    factor = z3.RealVal(statement.claim["beta over gamma/rho"])

    def recheck(values: Values) -> Recheck:
        e, r, g, b = (values[name] for name in ("e", "rho", "gamma", "beta"))
        left, right = (1 - r) * e + g - b, (1 - r) * (e - b)
        return Recheck(left > right + 1e-12, {"left": left, "right": right})

    return decide(
        (1 - rho) * gap + gamma - beta <= (1 - rho) * (gap - beta),
        [rho > 0, rho <= 1, gamma > 0, beta * rho == factor * gamma],
        recheck,
        proof="an identity",
        refutation="beta is then no fixed point",
    )
