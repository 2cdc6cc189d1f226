"""Theorem 5.3: its bound for strongly convex clients, exactly, in settings in which the trainer is run as well."""

from __future__ import annotations

import numpy as np

from ..row import Finding, Kind, Row, Statement
from .recursion import Family, quadratic_means
from .theorems_5 import FLAT, RHS, ROUNDS, largest_slope, neighbourhood, step_of, with_curve
from .trainer_problem import unlike_the_trainer

STRONG = (
    ((10, 0.01, 1.0, 0.01), 0.0),
    ((10, 0.01, 1.0, 0.01), 5.0),
    ((5, 1.0, 1.0, 0.3), 1.0),
    ((5, 1.0, 2.0, 0.3), 1.0),
    ((5, 1.0, 1.0, 0.0), 1.0),
    (FLAT, 0.0),
)
"""((M, L, lambda, S sigma), start): without noise the heads attain the rate, at the optimum the noise the radius."""


def strongly_convex_gap(statement: Statement) -> Finding:
    """Theorem 5.3 for quadratic clients, exactly, at every T, and with every round as the first one.

    c = L/M, the heads' modulus; heads that start at their optimum stay there, and leave c = L. B is taken along the
    run: no strongly convex function has a bound on all of V.
    """
    worst, where, seen = -np.inf, "", []
    for setting, start in STRONG:
        family, how = with_curve("quadratic", setting), step_of(setting)
        gaps, rounds = quadratic_means(family, how, start, ROUNDS)[0], np.arange(ROUNDS)
        rate, radius = _rate_and_radius(statement, family, setting, start)
        bound = radius + (1 - rate) ** rounds * (gaps[0] - radius)
        afresh = radius + (1 - rate) * (gaps[:-1] - radius)
        excess = max(float((gaps - bound).max()), float((gaps[1:] - afresh).max())) / (float(gaps.max()) + 1e-300)
        if excess > worst:
            worst, where = excess, f"L = {setting[1]}, M = {setting[0]}, lambda = {setting[2]}, start {start}"
        seen.append((family, how, start))
    unlike = unlike_the_trainer(seen)
    if unlike:
        return Finding(False, unlike)
    holds = worst <= 1e-12
    text = "the bound holds at every T" if holds else f"exceeded by {worst:.3g} of the largest gap ({where})"
    return Finding(holds, text, {"largest excess": worst}, None if holds else {"at": where})


def _rate_and_radius(
    statement: Statement, family: Family, setting: tuple[int, float, float, float], start: float
) -> tuple[float, float]:
    """rho and beta of (17), as printed or as corrected."""
    clients, smooth, diversity, noise = setting
    modulus = family.modulus if start else smooth
    if statement.claim[RHS] == "printed":
        slope = largest_slope(family, noise, start)
        rate = modulus / (diversity * clients * smooth)
        return rate, neighbourhood(family, noise, diversity, slope) / rate
    rate = statement.claim["rate factor"] * modulus / (diversity * smooth)
    variance = family.dimension * noise**2
    radius = statement.claim["noise factor"] * variance / (2 * diversity * modulus)
    return min(rate, 1.0), radius


ROWS = (
    Row(
        id="DPFEDMTL-T5.3",
        paper="dpfedmtl",
        place="Theorem 5.3, (17), with H = 1 and B read as a bound along the run",
        kind=Kind.TRAINER,
        evidence=strongly_convex_gap,
        printed=Statement(
            "E f(w^T) - f* - beta is at most (1 - c/(lambda M L))^T (f(w^0) - f* - beta).", {RHS: "printed"}
        ),
        repaired=Statement(
            "E f(w^T) - f* - beta is at most (1 - c/(lambda L))^T (f(w^0) - f* - beta), with beta = "
            "d (S sigma)^2/(2 lambda c K).",
            {RHS: "corrected", "noise factor": 1.0, "rate factor": 1.0},
        ),
    ),
    Row(
        id="DPFEDMTL-T5.3-corrected",
        paper="dpfedmtl",
        place="Theorem 5.3, corrected: its rate",
        kind=Kind.TRAINER,
        evidence=strongly_convex_gap,
        printed=Statement(
            "E f(w^T) - f* contracts to d (S sigma)^2/(2 lambda c K) by 1 - c/(lambda L) a round.",
            {RHS: "corrected", "noise factor": 1.0, "rate factor": 1.0},
        ),
        spoilt=Statement(
            "E f(w^T) - f* contracts to d (S sigma)^2/(2 lambda c K) by 1 - 1.03 c/(lambda L) a round.",
            {RHS: "corrected", "noise factor": 1.0, "rate factor": 1.03},
        ),
    ),
)
"""The rows of Theorem 5.3."""
