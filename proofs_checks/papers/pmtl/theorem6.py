"""Theorem 6 (Appendix A.2; Theorem 3 in the text) and its proof: the steps over the reals.

K = L + lambda + lambda/p^2 and K2 = L + lambda + 2 lambda/p^2; s = sqrt(d) sigma, b = sqrt(2 B/lambda), G^2 = sum of
the squared gradients.
"""

from __future__ import annotations

import math
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


def stable_step(statement: Statement) -> Finding:
    """eta = 1/(pL + (p + 1/p) lambda) against the stability limit 2/(L + lambda)."""
    given = list(GIVEN)
    if statement.domain["parameters"] != "any":
        given.append(L * (1 - 2 * P) * P <= LAMBDA * (2 * P * P + 2 - P))

    def recheck(values: Values) -> Recheck:
        p, smooth, lam = values["p"], values["L"], values["lambda"]
        eta = 1 / (p * smooth + (p + 1 / p) * lam)
        return Recheck(eta > 2 / (smooth + lam), {"eta": eta, "2/(L + lambda)": 2 / (smooth + lam)})

    return decide(
        STEP * SMOOTH <= 2,
        given,
        recheck,
        proof="eta <= 2/(L + lambda)",
        refutation="the step size is beyond the stability limit 2/(L + lambda)",
    )


def smoothness_32(statement: Statement) -> Finding:
    """f(w + v) <= f(w) + f'(w) v + (constant/2) v^2 for the (L + lambda)-smooth f(w) = (L + lambda) w^2/2."""
    w, v = z3.Reals("w v")
    constant = L if statement.claim["constant"] == "L/2" else SMOOTH

    def recheck(values: Values) -> Recheck:
        extra = values["lambda"] / 2 * values["v"] ** 2
        return Recheck(extra > 0, {"left - right": extra})

    return decide(
        SMOOTH / 2 * (w + v) ** 2 <= SMOOTH / 2 * w * w + SMOOTH * w * v + constant / 2 * v * v,
        GIVEN,
        recheck,
        proof="the descent lemma with the function's own smoothness",
        refutation="f_k is (L + lambda)-smooth, and L is too little",
    )


def coin_34(statement: Statement) -> Finding:
    """E||eta I g||^2 for a coin I of probability p is p (eta g)^2 + (1 - p) 0, against p^power eta^2 g^2."""
    power, g = statement.claim["power of p"], z3.Real("g")

    def recheck(values: Values) -> Recheck:
        true = values["p"] * (values["eta"] * values["g"]) ** 2
        said = values["p"] ** power * (values["eta"] * values["g"]) ** 2
        return Recheck(true > said, {"true": true, "stated": said})

    return decide(
        P * (ETA * g) * (ETA * g) == (P * P if power == 2 else P) * ETA * ETA * g * g,
        [*GIVEN, ETA > 0],
        recheck,
        proof="E I^2 = E I = p",
        refutation="E I^2 = p, not p^2: the second-order term is 1/p times larger than printed",
    )


def descent_35(statement: Statement) -> Finding:
    """(L + lambda)/2 eta^2 p - eta p <= 0, the true coefficient of one local step, at the stated step size."""
    step = STEP if statement.claim["step size"] == "1/(pL + (p + 1/p) lambda)" else 1 / SMOOTH

    def recheck(values: Values) -> Recheck:
        p, smooth, lam = values["p"], values["L"], values["lambda"]
        eta = 1 / (p * smooth + (p + 1 / p) * lam)
        true = (smooth + lam) / 2 * eta**2 * p - eta * p
        return Recheck(true > 0, {"true": true, "printed": (smooth + lam) / 2 * eta**2 * p**2 - eta * p})

    return decide(
        SMOOTH / 2 * step * step * P - step * P <= 0,
        GIVEN,
        recheck,
        proof="every local step descends in expectation",
        refutation="with E I^2 = p the objective rises in expectation at the stated step size",
    )


def coin_per_step(statement: Statement) -> Finding:
    """E f after E steps on f = a w^2/2, a eta = 1/2, p = 1/2, w = 1: coins tossed per step against per round."""
    steps, p, shrink = statement.domain["E"], 0.5, 0.25
    per_round = p * shrink**steps + 1 - p
    per_step = statement.claim["times the proof's expectation"] * (p * shrink + 1 - p) ** steps
    text = f"E f/f = {per_round:.4f} with Algorithm 1's coins, {per_step:.4f} as in the proof"
    return Finding(math.isclose(per_round, per_step, rel_tol=1e-12), text, {"E f": [per_round, per_step]})


def product_38(statement: Statement) -> Finding:
    """||u - c||^2 - ||u - e||^2 against ||c - e|| ||2u - c - e||, in the plane; r, t are the two norms."""
    u1, u2, c1, c2, e1, e2, r, t = z3.Reals("u1 u2 c1 c2 e1 e2 r t")
    left = (u1 - c1) ** 2 + (u2 - c2) ** 2 - (u1 - e1) ** 2 - (u2 - e2) ** 2
    inner = (e1 - c1) * (2 * u1 - c1 - e1) + (e2 - c2) * (2 * u2 - c2 - e2)
    if statement.claim["relation"] == "<=":
        a1, a2, b1, b2 = z3.Reals("a1 a2 b1 b2")
        claim = z3.And(left == inner, (a1 * b1 + a2 * b2) ** 2 <= (a1**2 + a2**2) * (b1**2 + b2**2))
        given: list[Any] = []
    else:
        claim = left == r * t
        given = [r >= 0, t >= 0, r * r == (c1 - e1) ** 2 + (c2 - e2) ** 2, c2 == 0, e2 == 0, u1 == 0, c1 == -e1, e1 > 0]
        given.append(t * t == (2 * u1 - c1 - e1) ** 2 + (2 * u2 - c2 - e2) ** 2)

    def recheck(values: Values) -> Recheck:
        product = values["r"] * values["t"]
        distance = math.dist((values["u1"], values["u2"]), (values["c1"], values["c2"])) ** 2
        distance -= math.dist((values["u1"], values["u2"]), (values["e1"], values["e2"])) ** 2
        return Recheck(abs(distance - product) > 1e-9, {"left": distance, "product of norms": product})

    return decide(
        claim,
        given,
        recheck,
        proof="the difference is an inner product, at most the product of the norms (Cauchy-Schwarz)",
        refutation="the inner product of two orthogonal vectors is 0, the product of their norms is not",
    )


def cauchy_39(statement: Statement) -> Finding:
    """(E XY)^2 <= factor E X^2 E Y^2 for a two-valued probability space of weights p and 1 - p."""
    x, y, v, w = z3.Reals("x y v w")
    factor = _number(statement, "factor")

    def recheck(values: Values) -> Recheck:
        p = values["p"]
        left = (p * values["x"] * values["y"] + (1 - p) * values["v"] * values["w"]) ** 2
        right = p * values["x"] ** 2 + (1 - p) * values["v"] ** 2
        right *= (p * values["y"] ** 2 + (1 - p) * values["w"] ** 2) * float(statement.claim["factor"])
        return Recheck(left > right, {"left": left, "right": right})

    return decide(
        (P * x * y + (1 - P) * v * w) ** 2 <= factor * (P * x * x + (1 - P) * v * v) * (P * y * y + (1 - P) * w * w),
        [P > 0, P < 1],
        recheck,
        proof="the difference is p (1 - p)(x w - v y)^2",
        refutation="fails for proportional X and Y",
    )


def jensen_46(statement: Statement) -> Finding:
    """(x + y + z)^2 <= factor (x^2 + y^2 + z^2): the sum over m = 3 clients."""
    x, y, z = z3.Reals("x y z")
    factor = _number(statement, "factor")

    def recheck(values: Values) -> Recheck:
        left = (values["x"] + values["y"] + values["z"]) ** 2
        right = float(statement.claim["factor"]) * (values["x"] ** 2 + values["y"] ** 2 + values["z"] ** 2)
        return Recheck(left > right, {"left": left, "right": right})

    return decide(
        (x + y + z) ** 2 <= factor * (x * x + y * y + z * z),
        [],
        recheck,
        proof="the difference is a sum of squares of differences",
        refutation="fails for equal updates",
    )


def one_gradient_47(statement: Statement) -> Finding:
    """||update||^2 of E local steps on f = w^2/2 from w = 1, eta = .1, against ||eta grad||^2."""
    update = 1 - 0.9 ** statement.domain["E"]
    text, numbers = f"squared update {update**2:.4f}, (47) has 0.0100", {"squared update": update**2, "(47)": 0.1**2}
    return Finding(update**2 <= 0.01 * (1 + 1e-12), text, numbers)


def average_48(statement: Statement) -> Finding:
    """E over the 3 cohorts of 2 out of 3 of the squared mean update, against factor/m times the sum of squares."""
    x, y, z = z3.Reals("x y z")
    factor = _number(statement, "factor")
    mean = ((x + y) ** 2 + (y + z) ** 2 + (x + z) ** 2) / 12

    def recheck(values: Values) -> Recheck:
        a, b, c = values["x"], values["y"], values["z"]
        left = ((a + b) ** 2 + (b + c) ** 2 + (a + c) ** 2) / 12
        right = float(statement.claim["factor"]) * (a * a + b * b + c * c) / 3
        return Recheck(left > right, {"left": left, "right": right})

    return decide(
        mean <= factor * (x * x + y * y + z * z) / 3,
        [],
        recheck,
        proof="Jensen's inequality in each cohort; each client is in q/m of them",
        refutation="fails for equal updates",
    )


def arithmetic_48(statement: Statement) -> Finding:
    """(m/q^2) sum_k p ||g_k||^2, that is (46) with E I = p, against (48)'s (1/m) or (1/q) times the sum."""
    m, q, total = z3.Reals("m q sum_of_squares")
    stated = total / (m if statement.claim["in front of the sum"] == "1/m" else q)

    def recheck(values: Values) -> Recheck:
        true, said = values["sum_of_squares"] / values["q"], values["sum_of_squares"] / values["m"]
        return Recheck(true > said, {"(46)": true, "(48)": said})

    return decide(
        m / (q * q) * (q / m) * total <= stated,
        [m >= 1, q >= 1, q <= m, total >= 0],
        recheck,
        proof="m/q^2 times q/m is 1/q",
        refutation="(46) is (1/q) times the sum of squares, more than (48)",
    )


def hidden_sign_50(statement: Statement) -> Finding:
    """(lambda/2)||w - w~||^2 <= f_k(w; w~) = l_k(w) + (lambda/2)||w - w~||^2."""
    loss, square = z3.Reals("loss squared_distance")
    given = [LAMBDA > 0, square >= 0] + ([loss >= 0] if statement.domain["l_k"] == "at least 0" else [])

    def recheck(values: Values) -> Recheck:
        return Recheck(values["loss"] < 0, {"f_k - (lambda/2)||w - w~||^2": values["loss"]})

    return decide(
        LAMBDA / 2 * square <= loss + LAMBDA / 2 * square,
        given,
        recheck,
        proof="true of losses that are never negative",
        refutation="fails where the loss is negative (a log density, for instance)",
    )


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
    return Finding(worst <= 1 + 1e-12, text, {"update / gamma": worst}, where if worst > 1 + 1e-12 else None)


def expansion_52(statement: Statement) -> Finding:
    """sqrt(C1) sqrt(C1 + 4 C2 + 4 sqrt(C1 C2)) with C1 = (h + s)^2, C2 = b^2, squared, against (h + s + factor b)."""
    factor = _number(statement, "factor of b")
    first, second = (H + S) * (H + S), B * B
    squared = first * (first + 4 * second + 4 * (H + S) * B)
    stated = (H + S) * (H + S + factor * B)

    def recheck(values: Values) -> Recheck:
        root, b = values["h"] + values["s"], values["b"]
        true, said = root * (root + 2 * b), root * (root + float(statement.claim["factor of b"]) * b)
        return Recheck(true > said, {"(42)": true, "stated": said})

    return decide(
        squared <= stated * stated,
        [H >= 0, S >= 0, B >= 0],
        recheck,
        proof="C1 + 4 C2 + 4 sqrt(C1 C2) is (sqrt(C1) + 2 sqrt(C2))^2",
        refutation="with less than 2 b it falls short",
    )


def expansion_58(statement: Statement) -> Finding:
    """(lambda/2) m (h + s)(h + s + 2b) with h = eta G/sqrt(m), r = sqrt(m), against (59)/(60)'s three terms."""
    r = z3.Real("r")
    factor = _number(statement, "factor of the middle term")
    true = LAMBDA / 2 * r * r * (ETA * G / r + S) * (ETA * G / r + S + 2 * B)
    stated = LAMBDA / 2 * ETA * ETA * G * G + factor * LAMBDA * r * (S + B) * ETA * G
    stated += LAMBDA * r * r / 2 * (S * S + 2 * S * B)

    def recheck(values: Values) -> Recheck:
        middle = values["lambda"] * values["r"] * (values["s"] + values["b"]) * values["eta"] * values["G"]
        apart = middle * (1 - float(statement.claim["factor of the middle term"]))
        return Recheck(apart != 0, {"true - stated": apart})

    return decide(
        true == stated,
        [r >= 1, LAMBDA > 0],
        recheck,
        proof="multiplying out, identically",
        refutation="the middle term is lambda sqrt(m)(s + b) eta G",
    )
