"""Lemma 5.2, one step in expectation, and what is true in its place (docs/theory/dpfedmtl.md).

Corrected, for every K drawn uniformly, H = 1, f_i jointly L-smooth, mean ||d_s f_i||^2 <= lambda ||d_s f||^2 and
eta = 1/(lambda L):  E f(w+) - f(w) <= -||grad f||^2 / (2 lambda L) + d (S sigma)^2 / (2 lambda^2 L K).
"""

from __future__ import annotations

import math
from itertools import combinations, islice, product

import numpy as np

from ...convergence.dpfedmtl_recursion import CURVES, Family, Step, runs
from ..row import EXACT, Finding, Statement, on_instances, resting_on


def smallest_diversity(family: Family, shared: float, denominator: str) -> float:
    """The ratio of Assumption 5.5 at w_s = shared: mean ||df_i||^2 over ||sum_i df||^2 or ||(1/M) sum_i df_i||^2."""
    slopes = family.shared_slopes(np.full((1, 1, family.dimension), shared))[0]
    mean = slopes.mean(axis=0)
    whole = family.clients * mean if denominator == "||sum_i df||^2" else mean
    return float((slopes**2).sum(axis=1).mean() / (whole**2).sum())


@resting_on(on_instances(1))
def step_from_diversity(statement: Statement) -> Finding:
    """A run of ten identical quadratic clients, no noise, with eta = 1/(lambda L) and the smallest lambda allowed."""
    family = Family("quadratic", 1.0, 10)
    diversity = smallest_diversity(family, 1.0, statement.claim["denominator"])
    history = [float(family.value(h, w)[0]) for h, w in islice(runs(family, Step(1 / diversity), 1, 1.0, 0), 12)]
    text = f"lambda = {diversity:.3g}, eta L = {1 / diversity:.3g}: f goes from {history[0]:.3g} to {history[-1]:.3g}"
    return Finding(history[-1] <= history[0], text, {"lambda": diversity, "f": history})


@resting_on(on_instances(6))
def diversity_near_stationary(statement: Statement) -> Finding:
    """The ratio of Assumption 5.5 (over ||df||^2) as w_s tends to a stationary point of f."""
    family = Family("quadratic", 1.0, 10, spread=statement.domain["spread of the clients"])
    ratios = [smallest_diversity(family, 10.0**-k, "||df||^2") for k in range(6)]
    bounded = ratios[-1] <= 10 * ratios[0]
    return Finding(
        bounded, f"the ratio goes from {ratios[0]:.3g} to {ratios[-1]:.3g}", {"ratio by distance 10^-k": ratios}
    )


@resting_on(EXACT)
def stays_in_level_set(statement: Statement) -> Finding:
    """P[f(w^1) > f(w^0)] for f = x^2/2, eta = 1/L = 1, from w^0 = 1: the step lands at the noise."""
    noise = statement.domain["S sigma"]
    probability = math.erfc(1 / noise / math.sqrt(2)) if noise > 0 else 0.0
    text = f"the first step leaves the level set with probability {probability:.3f}"
    return Finding(probability == 0, text, {"probability": probability})


NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(80)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def expected_step(
    family: Family, head: float, shared: float, noise: float, step: float, cohort: int = 1
) -> tuple[float, float]:
    """(E f(w+) - f(w), ||grad f||^2) for d = 1: all cohorts by enumeration, the noise by Gauss and Hermite."""
    heads, at = np.full((1, family.clients), head), np.full((1, 1), shared)
    before, squared = float(family.value(heads, at)[0]), float(family.squared_gradient(heads, at)[0])
    slopes, after = family.shared_slopes(at[:, None, :])[0, :, 0], []
    for chosen in combinations(range(family.clients), cohort):
        moved = np.repeat(heads, len(NODES), axis=0)
        moved[:, chosen] -= step * family.head_slopes(heads)[0, list(chosen)]
        landed = shared - step * (slopes[list(chosen)].mean() + noise / np.sqrt(cohort) * NODES)
        after.append(float(WEIGHTS @ family.value(moved, landed[:, None])))
    return float(np.mean(after)) - before, squared


def _bound(formula: str, family: Family, squared: float, noise: float, diversity: float, slope: float) -> float:
    """The right-hand side of the lemma (H = 1, d = 1) as printed or as corrected (with a factor on the noise)."""
    m, smooth = family.clients, family.smoothness
    if formula == "printed":
        gradient = slope**2 / (2 * diversity**2)
        return -squared / (2 * diversity * m * smooth) + gradient + (2 + 1 / (2 * m * smooth)) * noise**2 / diversity**2
    factor = {"corrected": 1.0, "0.97 of the corrected noise": 0.97}[formula]
    return -squared / (2 * diversity * smooth) + factor * noise**2 / (2 * diversity**2 * smooth)


@resting_on(on_instances(240, "quadrature"))
def sufficient_decay(statement: Statement) -> Finding:
    """E f(w+) - f(w) against the bound: three curves, L from 0.01 to 10, M from 1 to 10, lambda 1 and 2, five points.

    B of Assumption 5.6 is L, the largest slope of the curves with bounded slopes (the quadratic has none, and is left
    out of what needs B). The quadrature is exact to 1e-12 here; a relative slack of 1e-9 covers it.
    """
    formula, worst, where, numbers = statement.claim["right-hand side"], -np.inf, "", {}
    curves = [name for name in CURVES if formula != "printed" or name != "quadratic"]
    for curve in curves:
        for smooth in (0.01, 0.1, 1.0, 10.0):
            for clients in (1, 2, 10):
                family = Family(curve, smooth, clients)
                for diversity in (1.0, 2.0):
                    for point in (0.0, 0.1, 0.5, 1.0, 2.0):
                        noise = smooth * statement.domain["S sigma over L"]
                        step = 1 / (diversity * smooth)
                        change, squared = expected_step(family, point, point, noise, step)
                        said = _bound(formula, family, squared, noise, diversity, smooth)
                        excess = (change - said) / (abs(said) + 1e-3 * smooth)
                        if excess > worst + 1e-12:  # of equal ones the first, whatever the processor rounds
                            worst, where = excess, f"{curve}, L = {smooth}, M = {clients}, w = {point}"
                            numbers = {"E f(w+) - f(w)": change, "bound": said}
    holds = worst <= 1e-9
    text = f"E f(w+) - f(w) = {numbers['E f(w+) - f(w)']:.4g}, bound {numbers['bound']:.4g} ({where})"
    return Finding(holds, text, numbers, None if holds else {"at": where})


@resting_on(on_instances(36, "quadrature"))
def disagreeing_clients(statement: Statement) -> Finding:
    """E f(w+) - f(w) against -(eta/2) ||grad f||^2 + (L eta^2/2) (zeta^2 (M-K)/(K(M-1)) + d (S sigma)^2/K), eta <= 1/L.

    zeta^2: the variance of the clients' shared gradients at w. Needs no bound on the gradient diversity.
    """
    factor, worst, numbers = statement.claim["factor of zeta^2"], -np.inf, {}
    for curve, cohort, share, point in product(CURVES, (1, 2, 4), (0.3, 1.0), (0.0, 0.4, 1.5)):
        family, noise = Family(curve, 2.0, 4, spread=0.8), 0.5
        step = share / family.smoothness
        change, squared = expected_step(family, point, point, noise, step, cohort)
        variance = float(family.shared_slopes(np.full((1, 1, 1), point)).var())
        spread = factor * variance * (4 - cohort) / (cohort * 3) + noise**2 / cohort
        said = -step / 2 * squared + family.smoothness * step**2 / 2 * spread
        if change - said > worst:
            worst, numbers = change - said, {"E f(w+) - f(w)": change, "bound": said, "zeta^2": variance}
    text = f"E f(w+) - f(w) exceeds the bound by at most {worst:.3g}"
    return Finding(worst <= 1e-12, text, numbers)
