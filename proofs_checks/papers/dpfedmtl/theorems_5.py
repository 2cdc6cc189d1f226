"""Theorems 5.1 and 5.2: their bounds along runs of Algorithm 1 with H = 1, runs that are the trainer's own.

In every setting the recursion behind the means is first compared with a run of the trainer (dpfedmtl_trainer.py of the
convergence room).
Quadratic clients have exact expectations in closed form; the others are means over runs, with a one-sided normal bound
of error probability ALPHA for each of the rounds looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import islice

import numpy as np
from scipy.stats import norm

from ....mechanisms.arrays import Floats
from ...convergence.dpfedmtl_recursion import Family, Step, quadratic_means, runs
from ...convergence.dpfedmtl_trainer import unlike_the_trainer
from ..row import Finding, Statement, Undecided, looseness, on_instances, resting_on

ALPHA, RUNS, ROUNDS = 1e-6, 2000, 150
RHS = "right-hand side"


@dataclass(frozen=True, eq=False)
class Course:
    """Upper and lower confidence bounds of E f - f* and E ||grad f||^2 by round, and the largest distance to w*."""

    excess: tuple[Floats, Floats]
    squared: tuple[Floats, Floats]
    radius: float


@cache
def course(family: Family, how: Step, start: float, seed: int = 1) -> Course:
    """ROUNDS rounds from w = start; all families here have w* = 0 and f* = f(0)."""
    best = float(family.value(np.zeros((1, family.clients)), np.zeros((1, family.dimension)))[0])
    excess, squared, radius = [], [], 0.0
    for heads, shared in islice(runs(family, how, RUNS, start, seed), ROUNDS):
        excess.append(_interval(family.value(heads, shared) - best))
        squared.append(_interval(family.squared_gradient(heads, shared)))
        radius = max(radius, float(np.sqrt((heads**2).sum(axis=1) + (shared**2).sum(axis=1)).max()))
    return Course((_column(excess, 0), _column(excess, 1)), (_column(squared, 0), _column(squared, 1)), radius)


def _interval(values: Floats) -> tuple[float, float]:
    reach = float(norm.isf(ALPHA)) * float(values.std()) / np.sqrt(len(values))
    return float(values.mean()) - reach, float(values.mean()) + reach


def _column(pairs: list[tuple[float, float]], which: int) -> Floats:
    return np.array([pair[which] for pair in pairs])


def neighbourhood(family: Family, noise: float, diversity: float, slope: float) -> float:
    """Lemma 5.2's printed constant for H = 1: B^2/(2 lambda^2) + (2 + 1/(2ML)) d (S sigma)^2 / lambda^2."""
    m, smooth = family.clients, family.smoothness
    return (slope**2 / 2 + (2 + 1 / (2 * m * smooth)) * family.dimension * noise**2) / diversity**2


SETTINGS = ((2, 1e-2, 1.0, 3e-3), (5, 1.0, 1.0, 0.3), (5, 1.0, 2.0, 0.3))
"""(M, L, lambda, S sigma); three shared coordinates."""

FLAT = (2, 1e-4, 1.0, 1e-4)
"""Two quadratic clients with a small L and lambda = 1: started at the optimum they all but attain Theorem 5.1."""


def average_gradient(statement: Statement) -> Finding:
    """Theorem 5.1: the mean over t < T of E ||grad f(w^t)||^2 against its bound, for every T.

    Clients that are not convex by runs, and quadratic ones exactly, from far away and from the optimum.
    """
    formula, rounds = statement.claim[RHS], np.arange(1, ROUNDS + 1)
    ratios, seen = [], []
    for setting in SETTINGS:
        family, how, start = with_curve("cosine", setting), step_of(setting), 1.0
        bound = _average_bound(formula, family, setting, start, setting[1] * np.sqrt(3))
        run = course(family, how, start)
        ratios.append([float((np.cumsum(side) / rounds / bound).max()) for side in run.squared])
        seen.append((family, how, start))
    for start in (0.0, 5.0):
        family, how = with_curve("quadratic", FLAT), step_of(FLAT)
        bound = _average_bound(formula, family, FLAT, start, largest_slope(family, FLAT[3], start))
        exact = float((np.cumsum(quadratic_means(family, how, start, ROUNDS)[1]) / rounds / bound).max())
        ratios.append([exact, exact])
        seen.append((family, how, start))
    return _against(ratios, statement, unlike_the_trainer(seen))


def with_curve(curve: str, setting: tuple[int, float, float, float]) -> Family:
    return Family(curve, setting[1], setting[0], 3)


def step_of(setting: tuple[int, float, float, float]) -> Step:
    """eta = 1 / (lambda L)."""
    return Step(1 / (setting[2] * setting[1]), setting[3])


def largest_slope(family: Family, noise: float, start: float) -> float:
    """B where no bound on all of V exists: 4.5 standard deviations of the stationary law, or the start's slope."""
    return float(np.sqrt(family.dimension)) * max(4.5 * noise, family.smoothness * start)


def _average_bound(
    formula: str, family: Family, setting: tuple[int, float, float, float], start: float, slope: float
) -> Floats:
    """(ROUNDS,): the right-hand side of Theorem 5.1 at T = 1, 2, ..."""
    clients, smooth, diversity, noise = setting
    rounds = np.arange(1, ROUNDS + 1)
    at_start = np.full((1, clients), start), np.full((1, family.dimension), start)
    first = float(family.value(*at_start)[0])
    if formula == "printed":
        constant = 2 * diversity * clients * smooth
        return np.asarray(constant * (neighbourhood(family, noise, diversity, slope) + first / rounds))
    return np.asarray(family.dimension * noise**2 / diversity + 2 * diversity * smooth * first / rounds)


def convex_gap(statement: Statement) -> Finding:
    """Theorem 5.2: E f(w^T) - f* against 2 lambda M L R0^2 / T + alpha, R0 the largest distance met in any run."""
    rounds, ratios, seen = np.arange(1, ROUNDS), [], []
    for setting in SETTINGS:
        clients, smooth, diversity, noise = setting
        family, how = with_curve("log cosh", setting), step_of(setting)
        run = course(family, how, 1.0)
        if statement.claim[RHS] == "printed":
            scale = 2 * diversity * clients * smooth * run.radius**2
            constant = neighbourhood(family, noise, diversity, smooth * np.sqrt(3))
        else:
            scale = 2 * diversity * smooth * run.radius**2
            constant = 3 * noise**2 / (2 * diversity**2 * smooth)
        bound = scale / rounds + np.sqrt(scale * constant)
        pick = np.max if statement.claim["relation"] == "at most" else np.min
        ratios.append([float(pick(side[1:] / bound)) for side in run.excess])
        seen.append((family, how, 1.0))
    return _against(ratios, statement, unlike_the_trainer(seen))


def _against(ratios: list[list[float]], statement: Statement, unlike: str) -> Finding:
    """From the (lower, upper) confidence bounds of measured over bound, one pair a setting.

    "at most" is decided by the largest ratios met, "at least" by the smallest.
    """
    if unlike:
        return Finding(False, unlike, basis=on_instances(len(ratios), "recursions equal to the trainer"))
    factor, most = statement.claim["factor"], statement.claim["relation"] == "at most"
    pick = max if most else min
    low, high = (pick(side) for side in zip(*ratios, strict=True))
    names = ("at most", "or more at some T") if most else ("at least", "or more everywhere")
    text = f"measured {names[0]} {high:.3f} times the bound at every T up to {ROUNDS}, and {low:.3f} {names[1]}"
    if low <= factor < high:
        raise Undecided(text)
    numbers = {"measured over bound, from": low, "measured over bound, to": high}
    holds = high <= factor if most else low > factor
    return Finding(
        bool(holds),
        text,
        numbers,
        error_probability=len(SETTINGS) * ROUNDS * ALPHA,
        basis=on_instances(len(ratios), "recursions equal to the trainer"),
        loose=looseness(most_measured for _, most_measured in ratios) if most else None,
    )


STRONG = (
    ((10, 0.01, 1.0, 0.01), 0.0),
    ((10, 0.01, 1.0, 0.01), 5.0),
    ((5, 1.0, 1.0, 0.3), 1.0),
    ((5, 1.0, 2.0, 0.3), 1.0),
    ((5, 1.0, 1.0, 0.0), 1.0),
    (FLAT, 0.0),
)
"""((M, L, lambda, S sigma), start): without noise the heads attain the rate, at the optimum the noise the radius."""


@resting_on(on_instances(len(STRONG), "recursions equal to the trainer"))
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
