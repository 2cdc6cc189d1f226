"""Theorem 5.3: its bound for strongly convex clients, exactly, in settings in which the trainer is run as well."""

from __future__ import annotations

import numpy as np

from ...convergence.dpfedmtl_recursion import Family, quadratic_means
from ...convergence.dpfedmtl_trainer import unlike_the_trainer
from ..row import Finding, Statement, on_instances
from .theorems_5 import FLAT, RHS, ROUNDS, largest_slope, neighbourhood, step_of, with_curve

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
        return Finding(False, unlike, basis=on_instances(len(STRONG), "recursions equal to the trainer"))
    holds = worst <= 1e-12
    text = "the bound holds at every T" if holds else f"exceeded by {worst:.3g} of the largest gap ({where})"
    return Finding(
        holds,
        text,
        {"largest excess": worst},
        None if holds else {"at": where},
        basis=on_instances(len(STRONG), "recursions equal to the trainer"),
    )


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
