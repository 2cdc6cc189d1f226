"""Theorem 7 (Appendix A.3; Theorem 5 in the text), its proof and Corollary 8: the steps over the reals.

k = ((L + lambda) eta^2 p^2 - 2 eta p)(mu + lambda) is the coefficient of (104); D = L p^2 + lambda p^2 - 2 lambda.
"""

from __future__ import annotations

import math
from typing import Any

import z3

from ..row import Finding, Statement
from ..smt import Recheck, Values, decide

L, MU, LAMBDA, P, ETA, C = z3.Reals("L mu lambda p eta c")
SMOOTH, CONVEX = L + LAMBDA, MU + LAMBDA
GIVEN = (MU > 0, L >= MU, LAMBDA > 0, P > 0, P <= 1)
DENOMINATOR = SMOOTH * P * P - 2 * LAMBDA


def step_83(statement: Statement) -> Finding:
    """coefficient * |grad|^2 <= coefficient * 2 (mu + lambda) gap, from |grad|^2 >= 2 (mu + lambda) gap."""
    coefficient, square, gap = z3.Reals("coefficient gradient_squared gap")
    signed = [coefficient <= 0] if statement.domain["coefficient"] == "at most 0" else []

    def recheck(values: Values) -> Recheck:
        left = values["coefficient"] * values["gradient_squared"]
        right = values["coefficient"] * 2 * (values["mu"] + values["lambda"]) * values["gap"]
        return Recheck(left > right, {"left": left, "right": right})

    return decide(
        coefficient * square <= coefficient * 2 * CONVEX * gap,
        [*GIVEN, gap >= 0, square >= 2 * CONVEX * gap, *signed],
        recheck,
        proof="multiplying strong convexity's inequality by a coefficient of at most 0",
        refutation="with a positive coefficient, which the theorem's step size gives, the inequality turns round",
    )


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
    return Finding(worst <= 1e-12, text, {"excess": worst}, where if worst > 1e-12 else None)


def _excess_of_84(w: float, broadcast: float, eta: float, compared: str) -> float:
    def f(v: float, centre: float) -> float:
        return v**2 / 2 + (v - centre) ** 2 / 2

    change = f(w - eta * (w + w - broadcast), broadcast) - f(w, broadcast)
    optimum = f(0.5, 1.0)  # x = (0, 2): w_1* = 1/2, w_bar* = 1
    reference = optimum if compared == "f_k(w_k*; w~*)" else f(broadcast / 2, broadcast)
    return change - (eta**2 - eta) * 2 * 2 * (f(w, broadcast) - reference)


def sign_of_105(statement: Statement) -> Finding:
    """delta' <= (1 + k) delta from (104) with beta = 0, against (105)'s factor, k as the theorem chooses it."""
    k, before, after = z3.Reals("k delta_t delta_next")
    sign = 1 if statement.claim["factor"] == "1 + k" else -1

    def recheck(values: Values) -> Recheck:
        allowed = (1 + sign * values["k"]) * values["delta_t"]
        return Recheck(values["delta_next"] > allowed, {"delta_{t+1}": values["delta_next"], "(105)": allowed})

    return decide(
        after <= (1 + sign * k) * before,
        [before > 0, 2 * k >= 1, k <= 1, after <= (1 + k) * before],
        recheck,
        proof="(104) with delta factored out",
        refutation="(104) gives the factor 1 + k, not 1 - k; where k < 0 (a stable step) 1 - k is above 1",
    )


def step_107(statement: Statement) -> Finding:
    """G^2 <= constant * Delta, by which lambda eta^2 G^2 is moved into the factor of Delta."""
    square, gap = z3.Reals("G_squared Delta")
    constant = 2 * CONVEX if statement.claim["constant"] == "2 (mu + lambda)" else 2 * SMOOTH

    def recheck(values: Values) -> Recheck:
        allowed = 2 * (values["mu"] + values["lambda"]) * values["Delta"]
        return Recheck(values["G_squared"] > allowed, {"G^2": values["G_squared"], "2 (mu + lambda) Delta": allowed})

    return decide(
        square <= constant * gap,
        [*GIVEN, gap >= 0, square >= 2 * CONVEX * gap, square <= 2 * SMOOTH * gap],
        recheck,
        proof="smoothness bounds the squared gradient by 2 (L + lambda) times the gap",
        refutation="strong convexity bounds G^2 from below, not from above",
    )


def step_103(statement: Statement) -> Finding:
    """(102) <= (103); the difference is (lambda/2)(h - s - b)^2 with s = sqrt(d) sigma, b = sqrt(2 B/lambda)."""
    h, s, b = z3.Reals("h s b")
    cross = z3.RealVal(str(statement.claim["coefficient of sqrt(d) sigma sqrt(2B/lambda)"]))
    left = LAMBDA / 2 * (h + s) * (h + s + 2 * b)
    right = LAMBDA * (h * h + s * s + cross * s * b + b * b / 2)

    def recheck(values: Values) -> Recheck:
        hh, ss, bb, lam = (values.get(name, 0.0) for name in ("h", "s", "b", "lambda"))
        below = lam / 2 * (hh + ss) * (hh + ss + 2 * bb)
        factor = float(statement.claim["coefficient of sqrt(d) sigma sqrt(2B/lambda)"])
        above = lam * (hh**2 + ss**2 + factor * ss * bb + bb**2 / 2)
        return Recheck(below > above, {"(102)": below, "(103)": above})

    return decide(
        left <= right,
        [LAMBDA > 0, h >= 0, s >= 0, b >= 0],
        recheck,
        proof="the difference is (lambda/2)(h - sqrt(d) sigma - sqrt(2B/lambda))^2",
        refutation="fails where h = sqrt(d) sigma + sqrt(2B/lambda)",
    )


def step_108(statement: Statement) -> Finding:
    """Delta' <= (1 - x) Delta + M gives Delta' - C <= (1 - x)(Delta - C) for C = factor M/x."""
    x, before, after, most = z3.Reals("x Delta Delta_next M")
    factor = statement.claim["C, times M/x"]
    centre = z3.RealVal(factor) * most / x

    def recheck(values: Values) -> Recheck:
        c = float(factor) * values["M"] / values["x"]
        left, right = values["Delta_next"] - c, (1 - values["x"]) * (values["Delta"] - c)
        return Recheck(left > right, {"left": left, "right": right})

    return decide(
        after - centre <= (1 - x) * (before - centre),
        [x > 0, x < 1, most >= 0, after <= (1 - x) * before + most],
        recheck,
        proof="C is the fixed point of the recursion",
        refutation="C is not the fixed point",
    )


def step_110(statement: Statement) -> Finding:
    """(1 - (D + 2 lambda) eta^2 ... ) Delta <= (1 - (D eta^2 ...)) Delta: dropping -2 lambda enlarges the factor."""
    gap = z3.Real("Delta")
    with_it = 1 - ((SMOOTH * P * P) * ETA * ETA - 2 * ETA * P) * CONVEX
    without = 1 - (DENOMINATOR * ETA * ETA - 2 * ETA * P) * CONVEX
    given = [*GIVEN, gap >= 0] if statement.domain["Delta"] == "at least 0" else [*GIVEN]

    def recheck(values: Values) -> Recheck:
        difference = 2 * values["lambda"] * values["eta"] ** 2 * (values["mu"] + values["lambda"]) * values["Delta"]
        return Recheck(difference < 0, {"(110) - (109)": difference})

    return decide(
        with_it * gap <= without * gap,
        given,
        recheck,
        proof="the difference 2 lambda eta^2 (mu + lambda) Delta is not negative",
        refutation="fails for Delta < 0, which is possible: Delta_t is no optimality gap of f_k(.; w~^t)",
    )


def step_111(statement: Statement) -> Finding:
    """(D eta^2 - 2 eta p)(mu + lambda) at eta = c p/D, against the stated multiple of (mu + lambda) p^2/D."""
    factor = statement.claim["c^2 less c times"]
    multiple = C * C - z3.RealVal(factor) * C
    eta = C * P / DENOMINATOR

    def recheck(values: Values) -> Recheck:
        c = values["c"]
        stated = c * c - float(factor) * c
        return Recheck(c * c - 2 * c != stated, {"true multiple": c * c - 2 * c, "stated": stated})

    return decide(
        (DENOMINATOR * eta * eta - 2 * eta * P) * CONVEX == multiple * CONVEX * P * P / DENOMINATOR,
        [*GIVEN, DENOMINATOR != 0],
        recheck,
        proof="substitution, identically",
        refutation="substitution gives c^2 - 2c",
    )


def step_116(statement: Statement) -> Finding:
    """M < M/(1 - r^E) <= M/(1 - factor u) for 0 < r^E <= 2^-E = u."""
    power, u, most = z3.Reals("r_to_E u M")
    factor = statement.claim["times 2^-E"]
    top = z3.RealVal(factor) * u

    def recheck(values: Values) -> Recheck:
        value, end = values["M"] / (1 - values["r_to_E"]), values["M"] / (1 - float(factor) * values["u"])
        return Recheck(value > end, {"D": value, "stated upper end": end})

    return decide(
        z3.And(most < most / (1 - power), most / (1 - power) <= most / (1 - top)),
        [most > 0, power > 0, power <= u, u <= z3.RealVal("0.5")],
        recheck,
        proof="M/(1 - x) grows from M on [0, 2^-E]",
        refutation="fails at r^E = 2^-E",
    )


def bound_78(statement: Statement) -> Finding:
    """(78) for numbers that have nothing to do with each other: any f_k >= 0 of at most B each.

    S_t = sum_k f_k(w_k^t; w~^t) <= m B, S* = sum_k f_k(w_k*; w~*) >= 0, M >= share * m B the bracket of (78), u = 2^-E,
    v = 2^-T <= u. z3 proves S_T - S* <= v (S_0 - S* - M) + M/(1 - u) for all of them.
    """
    share = z3.RealVal(str(statement.claim["B in the bracket"]))
    last, first, best, bound, most, u, v = z3.Reals("S_T S_0 S_star mB M u v")

    def recheck(values: Values) -> Recheck:
        left = values["S_T"] - values["S_star"]
        right = values["v"] * (values["S_0"] - values["S_star"] - values["M"]) + values["M"] / (1 - values["u"])
        return Recheck(left > right, {"left": left, "right": right})

    return decide(
        last - best <= v * (first - best - most) + most / (1 - u),
        [last >= 0, last <= bound, first >= 0, best >= 0, most >= share * bound, v > 0, v <= u, u <= z3.RealVal("0.5")],
        recheck,
        proof="true for any sequence of models whatever: the right-hand side contains m B, and the left-hand side is "
        "never more",
        refutation="without m B in full it is not implied any more",
        vacuous=True,
    )


def half_square(statement: Statement) -> Finding:
    """a^2 + b^2 >= factor (a + b)^2."""
    a, b = z3.Reals("a b")
    factor = z3.RealVal(str(statement.claim["factor"]))

    def recheck(values: Values) -> Recheck:
        left = values["a"] ** 2 + values["b"] ** 2
        right = float(statement.claim["factor"]) * (values["a"] + values["b"]) ** 2
        return Recheck(left < right, {"left": left, "right": right})

    return decide(
        a * a + b * b >= factor * (a + b) * (a + b),
        [],
        recheck,
        proof="the difference is (a - b)^2/2",
        refutation="fails at a = b",
    )


def clipping_97(statement: Statement) -> Finding:
    """The clipped update eta g min(1, gamma/(eta g)), g >= 0, against eta g min(1, gamma/g), or against itself."""
    gamma, g = z3.Reals("gamma g")

    def least(a: Any, b: Any) -> Any:
        return z3.If(a < b, a, b)

    true = least(ETA * g, gamma)
    stated = ETA * least(g, gamma) if statement.claim["clipping at"] == "gamma/||grad||" else least(ETA * g, gamma)

    def recheck(values: Values) -> Recheck:
        eta, slope, bound = values["eta"], values["g"], values["gamma"]
        update, said = min(eta * slope, bound), eta * min(slope, bound)
        return Recheck(update > said, {"clipped update": update, "(97)": said})

    return decide(
        true <= stated,
        [ETA > 0, ETA < 1, gamma > 0, g >= 0],
        recheck,
        proof="the update eta grad clipped at gamma, as in (47)",
        refutation="what is clipped is eta grad: (97) is too small by up to eta, where eta < 1",
    )
