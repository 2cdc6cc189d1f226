"""Steps between displays that the other modules do not cover, what Algorithm 1 puts out, and units of T."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import z3

from ..row import Finding, Statement
from ..smt import Recheck, Values, decide
from .setup import published

D, LAMBDA, GAMMA, LOG, M, EPSILON, E, B, S, P, L = z3.Reals("d lambda gamma log_1_delta m epsilon E B s p L")
POSITIVE = (*(each > 0 for each in (D, LAMBDA, GAMMA, LOG, EPSILON, B, S, P, L)), M >= 1, E >= 1)
T = M / (LAMBDA * D * GAMMA * GAMMA)
VARIANCE = GAMMA * GAMMA * T * LOG / (M * M * EPSILON * EPSILON)
"""Theorem 1's sigma^2, its constant being 1, at the rounds T of (10)."""

IDENTITIES: dict[str, tuple[Any, Any]] = {
    "(31)": (D * LAMBDA * VARIANCE / E, LOG / (M * E * EPSILON * EPSILON)),
    "(119)": (M * LAMBDA * D * VARIANCE, LOG / (EPSILON * EPSILON)),
    "(73)": (
        2 * (LAMBDA / (P * P)) / (E * (L + LAMBDA + 2 * LAMBDA / (P * P))),
        2 * LAMBDA / (E * (L * P * P + LAMBDA * P * P + 2 * LAMBDA)),
    ),
}
"""What a display has to be, and what is printed."""


def identity(statement: Statement) -> Finding:
    """The printed side, times `factor`, against what it has to be, for all positive values of the parameters."""
    factor = statement.claim["factor"]
    true, printed = IDENTITIES[statement.domain["display"]]

    def recheck(values: Values) -> Recheck:
        return Recheck(float(factor) != 1, {"printed / true": float(factor)} | dict(values))

    return decide(
        true == z3.RealVal(factor) * printed,
        POSITIVE,
        recheck,
        proof="identically",
        refutation=f"it is {1 / float(factor):.4g} times what is stated",
    )


def first_term_of_10(statement: Statement) -> Finding:
    """lambda/T at T = m/(lambda d gamma^2), against d gamma^2/m, lambda where stated."""
    given = [*POSITIVE, LAMBDA <= 1] if statement.domain["lambda"] == "at most 1" else [*POSITIVE]

    def recheck(values: Values) -> Recheck:
        printed = values["d"] * values["gamma"] ** 2 / values["m"]
        return Recheck(values["lambda"] > 1, {"lambda/T": values["lambda"] ** 2 * printed, "(10)": printed})

    return decide(
        LAMBDA / T <= D * GAMMA * GAMMA / M,
        given,
        recheck,
        proof="lambda/T is lambda^2 d gamma^2/m",
        refutation="lambda/T is lambda^2 d gamma^2/m: (10) has lost lambda^2",
    )


def square_75(statement: Statement) -> Finding:
    """lambda (s^2 + 2 s b + b^2) = (sqrt(lambda) s + sqrt(2 B))^2 with b = sqrt(2 B/lambda), r = sqrt(lambda)."""
    r, b = z3.Reals("r b")
    factor = z3.RealVal(statement.claim["factor"])

    def recheck(values: Values) -> Recheck:
        true = values["r"] ** 2 * (values["s"] + values["b"]) ** 2
        return Recheck(true > 0, {"true": true, "stated": float(statement.claim["factor"]) * true})

    return decide(
        r * r * (S * S + 2 * S * b + b * b) == factor * (r * S + r * b) * (r * S + r * b),
        [r > 0, S > 0, b > 0],
        recheck,
        proof="identically, r b being sqrt(2 B)",
        refutation="the square is lambda (s + b)^2",
    )


def selection_probability(statement: Statement) -> Finding:
    """C(m - 1, q - 1)/C(m, q) against factor q/m, exactly, for all q <= m <= 40."""
    factor = Fraction(statement.claim["factor"])
    pairs = [(m, q) for m in range(1, 41) for q in range(1, m + 1)]
    wrong = [(m, q) for m, q in pairs if Fraction(math.comb(m - 1, q - 1), math.comb(m, q)) != factor * Fraction(q, m)]
    text = f"different in {len(wrong)} of {len(pairs)} cases with m at most 40"
    return Finding(not wrong, text, {"cases": len(pairs)}, {"m, q": wrong[0]} if wrong else None)


def round_of_7(statement: Statement) -> Finding:
    """w~ + mean of h_k against w~ + mean of (w_k' - w_k), two clients, h_k = w_k' or the difference."""
    w, first, second, after_1, after_2 = z3.Reals("w~ w1 w2 w1_after w2_after")
    true = w + (after_1 - first + after_2 - second) / 2
    model = statement.claim["h_k"] == "the new model"
    stated = w + (after_1 + after_2) / 2 if model else w + ((after_1 - first) + (after_2 - second)) / 2

    def recheck(values: Values) -> Recheck:
        apart = (values["w1"] + values["w2"]) / 2
        return Recheck(apart != 0, {"(7) - line 8": apart})

    return decide(
        true == stated, [], recheck, proof="(7) is line 8, before clipping", refutation="(7) adds the models themselves"
    )


def outputs(statement: Statement) -> Finding:
    """Line 10's output before three one-bit clients' neighbours: all models, or all but the changed client's."""
    loss, budget = published(statement.claim["seen"] == "all models")
    text = f"largest likelihood ratio {loss}, e^epsilon of the broadcasts {budget}"
    return Finding(loss <= budget, text, {"largest ratio": float(loss), "e^epsilon": float(budget)})


def releases(statement: Statement) -> Finding:
    """How many noisy broadcasts Algorithm 1 makes for 12 local steps of a client, in a run, against 12 charged."""
    from ....trainers.data.known import mean_estimation
    from .runs import run

    steps = statement.domain["E"]
    path = run(
        mean_estimation(population=3, dimension=1, curvature=1.0, seed=1),
        "as-printed",
        strength=1.0,
        learning_rate=0.1,
        rounds=12 // steps,
        local_steps=steps,
        noise_std=0.1,
    )
    made = int((abs(path.shared[1:] - path.shared[:-1]).max(axis=1) > 0).sum())
    over = math.sqrt(12 / made)
    text = f"{made} noisy broadcasts for 12 local steps: sigma for T = 12 is {over:.3g} times what is needed"
    return Finding(made == 12, text, {"broadcasts": made, "sigma / needed": over})


def step_113(statement: Statement) -> Finding:
    """(112) gives Delta' - D <= u (Delta - D), u = r^E, for D = factor x C/(1 - u), where x C = M."""
    u, most, before, after = z3.Reals("u M Delta Delta_next")
    factor = statement.claim["D, times M/(1 - u)"]
    centre = z3.RealVal(factor) * most / (1 - u)

    def recheck(values: Values) -> Recheck:
        d = float(factor) * values["M"] / (1 - values["u"])
        left, right = values["Delta_next"] - d, values["u"] * (values["Delta"] - d)
        return Recheck(left > right, {"left": left, "right": right})

    return decide(
        after - centre <= u * (before - centre),
        [u > 0, u < 1, most > 0, after <= u * before + most],
        recheck,
        proof="D is the fixed point of a round",
        refutation="D is not the fixed point of a round",
    )


def step_118(statement: Statement) -> Finding:
    """(117) <= (118) for T = E: v (Delta_0 - D) + D with D = M/(1 - v), v = r^E <= u = 2^-E <= 1/2."""
    u, v, most, start = z3.Reals("u v M Delta_0")
    given = [v > 0, v <= u, 2 * u <= 1, most > 0]
    if statement.domain["Delta_0"] == "at least 0":
        given.append(start >= 0)

    def recheck(values: Values) -> Recheck:
        left = values["v"] * values["Delta_0"] + values["M"]
        right = values["u"] * (values["Delta_0"] - values["M"]) + values["M"] / (1 - values["u"])
        return Recheck(left > right, {"(117)": left, "(118)": right})

    return decide(
        v * (start - most / (1 - v)) + most / (1 - v) <= u * (start - most) + most / (1 - u),
        given,
        recheck,
        proof="the difference is (u - v) Delta_0 + M u^2/(1 - u)",
        refutation="fails for Delta_0 far below 0, which is possible: Delta_0 is no optimality gap",
    )


def bound_14(statement: Statement) -> Finding:
    """(14) of the earlier version for any f_k >= 0 of at most B: S_T, S_0, S* their means, r = 1 - x, v = r^T <= r."""
    share = z3.RealVal(str(statement.claim["B in the bracket"]))
    last, first, best, bound, x, v = z3.Reals("S_T S_0 S_star B x v")

    def recheck(values: Values) -> Recheck:
        level = float(statement.claim["B in the bracket"]) * values["B"] / values["x"]
        left = values["S_T"] - values["S_star"]
        right = values["v"] * (values["S_0"] - values["S_star"] - level) + level
        return Recheck(left > right, {"left": left, "right": right})

    level = share * bound / x
    return decide(
        last - best <= v * (first - best - level) + level,
        [last >= 0, last <= bound, first >= 0, best >= 0, x > 0, x <= 1, v >= 0, v <= 1 - x],
        recheck,
        proof="true for any sequence of models whatever: B/x (1 - v) is B at least",
        refutation="with less than B it is not implied any more",
        vacuous=True,
    )
