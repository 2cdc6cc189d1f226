"""Theorem 6 (Appendix A.2), continued: constants from (61) on, and the statements (11) and (29).

K = L + lambda + lambda/p^2 and K2 = L + lambda + 2 lambda/p^2; s = sqrt(d) sigma, b = sqrt(2 B/lambda), G^2 = sum of
the squared gradients.
"""

from __future__ import annotations

from typing import Any

import z3

from ..row import Finding, Statement
from ..smt import Recheck, Values, decide

L, LAMBDA, P, ETA = z3.Reals("L lambda p eta")
SMOOTH = L + LAMBDA
GIVEN = (L > 0, LAMBDA > 0, P > 0, P <= 1)
STEP = P / (P * P * L + (P * P + 1) * LAMBDA)
K, K2 = SMOOTH + LAMBDA / (P * P), SMOOTH + 2 * LAMBDA / (P * P)
G, S, B, M, H = z3.Reals("G s b m h")


def _number(statement: Statement, name: str) -> Any:
    return z3.RealVal(str(statement.claim[name]))


def coefficient_61(statement: Statement) -> Finding:
    """eta p - (L + lambda)/2 eta^2 p^2 - (lambda/2) eta^2 at the theorem's eta is 1/(2K).

    Without the last term it is K2/(2K^2).
    """
    factor = _number(statement, "times the stated coefficients")
    base = STEP * P - SMOOTH / 2 * STEP * STEP * P * P

    def recheck(values: Values) -> Recheck:
        p, smooth, lam = values["p"], values["L"] + values["lambda"], values["lambda"]
        eta = p / (p * p * smooth + lam)
        true = eta * p - smooth / 2 * (eta * p) ** 2 - lam / 2 * eta**2
        said = float(statement.claim["times the stated coefficients"]) / (2 * (smooth + lam / p**2))
        return Recheck(abs(true - said) > 1e-9 * said, {"true coefficient": true, "stated": said})

    return decide(
        z3.And(base - LAMBDA / 2 * STEP * STEP == factor / (2 * K), base == factor * K2 / (2 * K * K)),
        GIVEN,
        recheck,
        proof="both coefficients, identically (given the proof's E I^2 = p^2)",
        refutation="the coefficients are 1/(2K) and K2/(2K^2)",
    )


E_STEPS = z3.Real("E")
C65 = 2 / E_STEPS * K + 2 * (E_STEPS - 1) / E_STEPS * K * K / K2
C66 = 2 * K + (LAMBDA / (P * P)) / (E_STEPS * K2)


def _constants(values: Values) -> dict[str, float]:
    p, lam, steps = values["p"], values["lambda"], values["E"]
    k, k2 = values["L"] + lam + lam / p**2, values["L"] + lam + 2 * lam / p**2
    return {
        "(65)": 2 / steps * k + 2 * (steps - 1) / steps * k * k / k2,
        "(66)": 2 * k + lam / p**2 / (steps * k2),
        "2K": 2 * k,
    }


def equality_66(statement: Statement) -> Finding:
    """(65) = (66), or (65) <= (66)."""

    def recheck(values: Values) -> Recheck:
        numbers = _constants(values)
        return Recheck(abs(numbers["(65)"] - numbers["(66)"]) > 1e-12, numbers)

    return decide(
        C65 == C66 if statement.claim["relation"] == "=" else C65 <= C66,
        [*GIVEN, E_STEPS >= 1],
        recheck,
        proof="(65) is at most 2K, and (66) at least",
        refutation="(65) and (66) differ",
    )


def needed_65(statement: Statement) -> Finding:
    """x + y <= constant F from x/(2K) + K2 y/(2K^2) <= F: x sums G^2 over the last steps of rounds, y over others."""
    x, y, start = z3.Reals("x y F")
    constant = C65 if statement.claim["constant"] == "(65)" else C66

    def recheck(values: Values) -> Recheck:
        numbers = _constants(values)
        left, right = values["x"] + values["y"], numbers["(65)"] * values["F"]
        return Recheck(left > right, {"left": left, "right": right} | numbers)

    return decide(
        x + y <= constant * start,
        [*GIVEN, E_STEPS >= 1, x >= 0, y >= 0, x / (2 * K) + K2 * y / (2 * K * K) <= start],
        recheck,
        proof="K2 >= K, so 2K is enough, and (66) is more",
        refutation="the constant has to be 2K, whatever the share of communication steps",
    )


def square_67(statement: Statement) -> Finding:
    """G^2 - 2 lambda r (s + b) G/p = (G - x)^2 - x^2 with r = sqrt(m); x = lambda m (s + b)/p or lambda r (s + b)/p."""
    r = z3.Real("r")
    x = LAMBDA * (r * r if statement.claim["factor"] == "lambda m" else r) * (S + B) / P

    def recheck(values: Values) -> Recheck:
        rr, c = values["r"], values["lambda"] * (values["s"] + values["b"]) / values["p"]
        return Recheck(rr * c != rr * rr * c, {"needed": rr * c, "stated": rr * rr * c})

    return decide(
        G * G - 2 * LAMBDA * r * (S + B) * G / P == (G - x) * (G - x) - x * x,
        [*GIVEN, r >= 1],
        recheck,
        proof="completing the square, identically",
        refutation="(64) has sqrt(m), not m",
    )


def constant_71(statement: Statement) -> Finding:
    """G^2 <= 2 R + 2 (A + n lambda^2 m/p^2)(s^2 + 2sb) + 8 m lambda B/p^2 from the completed square of (64).

    There (G - x)^2 <= R + (A + 2 lambda^2 m/p^2)(s^2 + 2sb) + 2 m lambda B/p^2, x^2 = (lambda^2 m/p^2)(s + b)^2,
    b^2 = 2B/lambda, A = L lambda m + m lambda^2, and G^2 <= 2 (G - x)^2 + 2 x^2. One communication step.
    """
    n, rest = _number(statement, "n"), z3.Real("R")
    unit, cross = LAMBDA * LAMBDA * M / (P * P), S * S + 2 * S * B
    base = L * LAMBDA * M + M * LAMBDA * LAMBDA
    square = rest + (base + 2 * unit) * cross + unit * B * B
    stated = 2 * rest + 2 * (base + n * unit) * cross + 4 * unit * B * B

    def recheck(values: Values) -> Recheck:
        s, b = values["s"], values["b"]
        missing = 2 * (3 - float(statement.claim["n"])) * values["lambda"] ** 2 * values["m"] / values["p"] ** 2
        missing *= s * s + 2 * s * b
        return Recheck(missing > 0, {"2 (G - x)^2 + 2 x^2 - (71)": missing})

    return decide(
        2 * square + 2 * unit * (S + B) * (S + B) <= stated,
        [*GIVEN, M >= 1, S >= 0, B >= 0, rest >= 0],
        recheck,
        proof="2 (2 + 1) = 2 * 3",
        refutation="2 (G - x)^2 + 2 x^2 has 2 (2 + 1) lambda^2 m/p^2 before s^2 + 2sb",
    )


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
    return Finding(least >= 1000, f"T = {least:.4g} rounds at the largest lambda, 1000 were run", numbers)


def lipschitz(statement: Statement) -> Finding:
    """|l'(w) + lambda (w - c)| <= G for |l'| <= G_l and G = G_l + lambda R, on the line or where |w - c| <= R."""
    w, c, slope, most, radius = z3.Reals("w c slope G_l R")
    given = [LAMBDA > 0, most >= 0, radius >= 0, slope <= most, -slope <= most]
    if statement.domain["w"] == "within R of w~":
        given += [w - c <= radius, c - w <= radius]
    gradient, bound = slope + LAMBDA * (w - c), most + LAMBDA * radius

    def recheck(values: Values) -> Recheck:
        true = abs(values["slope"] + values["lambda"] * (values["w"] - values["c"]))
        return Recheck(true > values["G_l"] + values["lambda"] * values["R"], {"|gradient|": true})

    return decide(
        z3.And(gradient <= bound, -gradient <= bound),
        given,
        recheck,
        proof="G = G_l + lambda R bounds the gradient there",
        refutation="(lambda/2)||w - w~||^2 has an unbounded gradient: f_k is G-Lipschitz on R^d for no G",
    )


def corrected_descent(statement: Statement) -> Finding:
    """-a (a - b) + (1/2)(a - b)^2 <= -(1/2) a^2 + factor b^2: a step of C-T6's proof, by coordinate, eta K = 1.

    a: an entry of grad Phi, b: the same of lambda 1 e_t.
    """
    a, b = z3.Reals("a b")
    factor = _number(statement, "factor")

    def recheck(values: Values) -> Recheck:
        x, y = values["a"], values["b"]
        left, right = -x * (x - y) + (x - y) ** 2 / 2, -(x**2) / 2 + float(statement.claim["factor"]) * y**2
        return Recheck(left > right, {"left": left, "right": right})

    return decide(
        -a * (a - b) + (a - b) * (a - b) / 2 <= -a * a / 2 + factor * b * b,
        [],
        recheck,
        proof="an identity with 1/2",
        refutation="the two sides are equal with 1/2, so less is not enough",
    )
