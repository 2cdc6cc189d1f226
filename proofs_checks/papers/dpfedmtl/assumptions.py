"""Section 5.2's assumptions: gradient diversity, bounded gradients, level sets; alone and together."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np

from ...convergence.dpfedmtl_recursion import Family, Step, runs
from ..row import EXACT, Finding, Statement, on_instances


def smallest_diversity(family: Family, shared: float, denominator: str) -> float:
    """The ratio of Assumption 5.5 at w_s = shared: mean ||df_i||^2 over ||sum_i df||^2 or ||(1/M) sum_i df_i||^2."""
    slopes = family.shared_slopes(np.full((1, 1, family.dimension), shared))[0]
    mean = slopes.mean(axis=0)
    whole = family.clients * mean if denominator == "||sum_i df||^2" else mean
    return float((slopes**2).sum(axis=1).mean() / (whole**2).sum())


def step_from_diversity(statement: Statement) -> Finding:
    """A run of ten identical quadratic clients, no noise, with eta = 1/(lambda L) and the smallest lambda allowed."""
    family = Family("quadratic", 1.0, 10)
    diversity = smallest_diversity(family, 1.0, statement.claim["denominator"])
    history = [float(family.value(h, w)[0]) for h, w in islice(runs(family, Step(1 / diversity), 1, 1.0, 0), 12)]
    text = f"lambda = {diversity:.3g}, eta L = {1 / diversity:.3g}: f goes from {history[0]:.3g} to {history[-1]:.3g}"
    return Finding(history[-1] <= history[0], text, {"lambda": diversity, "f": history}, basis=on_instances(1))


def diversity_near_stationary(statement: Statement) -> Finding:
    """The ratio of Assumption 5.5 (over ||df||^2) as w_s tends to a stationary point of f."""
    family = Family("quadratic", 1.0, 10, spread=statement.domain["spread of the clients"])
    ratios = [smallest_diversity(family, 10.0**-k, "||df||^2") for k in range(6)]
    bounded = ratios[-1] <= 10 * ratios[0]
    return Finding(
        bounded,
        f"the ratio goes from {ratios[0]:.3g} to {ratios[-1]:.3g}",
        {"ratio by distance 10^-k": ratios},
        basis=on_instances(6),
    )


def stays_in_level_set(statement: Statement) -> Finding:
    """P[f(w^1) > f(w^0)] for f = x^2/2, eta = 1/L = 1, from w^0 = 1: the step lands at the noise."""
    noise = statement.domain["S sigma"]
    probability = math.erfc(1 / noise / math.sqrt(2)) if noise > 0 else 0.0
    text = f"the first step leaves the level set with probability {probability:.3f}"
    return Finding(probability == 0, text, {"probability": probability}, basis=EXACT)
