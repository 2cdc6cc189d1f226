"""Appendix A.1: the steps of the proof of Theorem 1, over the reals."""

from __future__ import annotations

import math

import z3

from ..row import Finding, Statement
from ..smt import Recheck, Values, decide

ALPHA, EPSILON, LOG, SENSITIVITY, SIGMA, GAMMA = z3.Reals("alpha epsilon L sensitivity sigma gamma")
T, M, Q = z3.Reals("T m q")
POSITIVE = (EPSILON > 0, LOG > 0, SENSITIVITY > 0, SIGMA > 0, GAMMA > 0, T >= 1, M >= 1, Q >= 1)


def gaussian_renyi(statement: Statement) -> Finding:
    """D_alpha(N(D, s^2) || N(0, s^2)) against coefficient * alpha D^2 / s^2.

    The exponent of p^alpha q^(1-alpha) is -(x - alpha D)^2 / 2 s^2 + alpha (alpha - 1) D^2 / 2 s^2, for all x; the
    Gaussian integral is 1, so D_alpha = alpha D^2 / (2 s^2) exactly.
    """
    coefficient, x = statement.claim["coefficient"], z3.Real("x")
    exponent = -ALPHA * (x - SENSITIVITY) ** 2 - (1 - ALPHA) * x**2
    square = -((x - ALPHA * SENSITIVITY) ** 2) + ALPHA * (ALPHA - 1) * SENSITIVITY**2
    exact = ALPHA * SENSITIVITY**2 / (2 * SIGMA**2)
    stated = z3.RealVal(str(coefficient)) * ALPHA * SENSITIVITY**2 / SIGMA**2
    related = {"=": stated == exact, ">=": stated >= exact, "<=": stated <= exact}[statement.claim["relation"]]

    def recheck(values: Values) -> Recheck:
        alpha, shift, sigma = values["alpha"], values["sensitivity"], values["sigma"]
        true, said = alpha * shift**2 / (2 * sigma**2), float(coefficient) * alpha * shift**2 / sigma**2
        wrong = {"=": said != true, ">=": said < true, "<=": said > true}[statement.claim["relation"]]
        return Recheck(wrong, {"true Renyi divergence": true, "stated": said})

    return decide(
        z3.And(exponent == square, related),
        [*POSITIVE, ALPHA > 1],
        recheck,
        proof=f"exactly alpha D^2 / (2 sigma^2), of which the statement has {2 * float(coefficient):g} times as much",
        refutation=f"the exact coefficient is 1/2, not {coefficient}",
    )


def dimension_in_renyi(statement: Statement) -> Finding:
    """Whether 2 alpha D^2 / (d^power sigma^2) is at least the exact alpha D^2 / (2 sigma^2) in every dimension d."""
    d = z3.Real("d")
    power = statement.claim["power of d"]
    stated = 2 * ALPHA * SENSITIVITY**2 / (SIGMA**2 * (d if power else 1))

    def recheck(values: Values) -> Recheck:
        true = values["alpha"] * values["sensitivity"] ** 2 / (2 * values["sigma"] ** 2)
        said = 4 * true / values["d"] ** power
        return Recheck(said < true, {"true Renyi divergence": true, "stated": said, "d": values["d"]})

    return decide(
        stated >= ALPHA * SENSITIVITY**2 / (2 * SIGMA**2),
        [*POSITIVE, ALPHA > 1, d >= 1],
        recheck,
        proof="an upper bound of the exact alpha D^2 / (2 sigma^2), whatever the dimension",
        refutation="below the exact alpha D^2 / (2 sigma^2) as soon as d > 4",
    )


def clipped_difference(statement: Statement) -> Finding:
    """|u - v| <= factor * gamma for |u|, |v| <= gamma. Two vectors span a plane, so two coordinates are all of R^d."""
    factor = statement.claim["factor"]
    u, v, a, b = z3.Reals("u1 u2 v1 v2")
    distance = (u - a) ** 2 + (v - b) ** 2

    def recheck(values: Values) -> Recheck:
        apart = math.hypot(values.get("u1", 0) - values.get("v1", 0), values.get("u2", 0) - values.get("v2", 0))
        return Recheck(apart > factor * values["gamma"], {"distance / gamma": apart / values["gamma"]})

    return decide(
        distance <= z3.RealVal(str(factor)) ** 2 * GAMMA**2,
        [GAMMA > 0, u**2 + v**2 <= GAMMA**2, a**2 + b**2 <= GAMMA**2],
        recheck,
        proof=f"two updates clipped to gamma are never more than {factor} gamma apart",
        refutation=f"two updates clipped to gamma can be more than {factor} gamma apart, up to 2 gamma",
    )


def averaged_sensitivity(statement: Statement) -> Finding:
    """||(1/m)(a - b)||^2 = factor m^-2 ||a - b||^2; one coordinate suffices, both sides being sums over coordinates."""
    factor = statement.claim["times 1/m^2"]
    a, b = z3.Reals("a b")
    stated = z3.RealVal(factor) * (a - b) ** 2 / (M * M)

    def recheck(values: Values) -> Recheck:
        m, gap = values["m"], (values["a"] - values["b"]) ** 2
        said = float(factor) * gap / m**2
        return Recheck(gap / m**2 != said, {"true": gap / m**2, "stated": said})

    return decide(
        (a / M - b / M) ** 2 == stated,
        [M >= 1],
        recheck,
        proof="the mean's squared sensitivity is the update's divided by m^2, identically",
        refutation="the squared sensitivity of the mean is the update's divided by m^2",
    )


def composition(statement: Statement) -> Finding:
    """T Gaussian rounds of squared shift r each: the sum of their divergences against factor T times one round's.

    Together they are one Gaussian of squared shift T r, by the exact value above; one coordinate a round.
    """
    square = z3.Real("squared_shift")
    together = ALPHA * (T * square) / 2
    factor = statement.claim["times T"]
    stated = z3.RealVal(factor) * T * (ALPHA * square / 2)

    def recheck(values: Values) -> Recheck:
        true = values["T"] * values["alpha"] * values["squared_shift"] / 2
        return Recheck(true > float(factor) * true, {"T rounds": true, "stated": float(factor) * true})

    return decide(
        together <= stated,
        [ALPHA > 1, square > 0, T >= 1],
        recheck,
        proof="T rounds cost T times one round's divergence, exactly",
        refutation="T rounds cost T times one round's divergence",
    )


def rounds_in_26(statement: Statement) -> Finding:
    """The sum over T rounds of 2 alpha gamma^2 / (m^2 sigma^2) at the chosen alpha and sigma, against (26)'s term."""
    rounds = T if statement.claim["rounds counted"] == "T" else 1
    alpha, variance = 4 * LOG / EPSILON, 16 * GAMMA**2 * T * LOG / (EPSILON**2 * M**2)
    one = 2 * alpha * GAMMA**2 / (M**2 * variance)

    def recheck(values: Values) -> Recheck:
        epsilon, steps = values["epsilon"], values["T"]
        said = epsilon / 2 / steps * (steps if statement.claim["rounds counted"] == "T" else 1)
        return Recheck(said != epsilon / 2, {"the sum": epsilon / 2, "stated": said, "T": steps})

    return decide(
        z3.And(rounds * one == T * one, T * one == EPSILON / 2),
        POSITIVE,
        recheck,
        proof="the sum over the rounds is epsilon/2 exactly",
        refutation="the sum over T rounds is epsilon/2; without the factor T it is epsilon/(2T)",
    )


def second_half_of_27(statement: Statement) -> Finding:
    """L / (4L/eps - 1) <= eps/2 where alpha = 4L/eps > 1 and eps <= bound * L."""
    bound = statement.domain["epsilon at most, in log(1/delta)"]

    def recheck(values: Values) -> Recheck:
        log, epsilon = values["L"], values["epsilon"]
        term = log / (4 * log / epsilon - 1)
        return Recheck(term > epsilon / 2, {"log(1/delta)/(alpha - 1)": term, "epsilon/2": epsilon / 2})

    return decide(
        LOG / (4 * LOG / EPSILON - 1) <= EPSILON / 2,
        [EPSILON > 0, LOG > 0, bound * LOG > EPSILON if bound == 4 else bound * LOG >= EPSILON],
        recheck,
        proof=f"true for every epsilon of at most {bound} log(1/delta)",
        refutation="false for 2 log(1/delta) < epsilon < 4 log(1/delta)",
    )


def noise_multiplier_of_19(statement: Statement) -> Finding:
    """(1/q) N(0, (multiplier gamma)^2), the multiplier factor q sigma/gamma, has the variance sigma^2 of line 8."""
    factor = statement.claim["times q sigma / gamma"]
    multiplier = z3.RealVal(factor) * Q * SIGMA / GAMMA

    def recheck(values: Values) -> Recheck:
        true, said = values["sigma"], float(factor) * values["sigma"]
        return Recheck(true != said, {"sigma": true, "standard deviation of the stated noise": said})

    return decide(
        (multiplier * GAMMA / Q) ** 2 == SIGMA**2,
        POSITIVE,
        recheck,
        proof="q sigma / gamma on the clipped sum is sigma on the mean, identically",
        refutation=f"the noise on the mean is then {factor} sigma",
    )
