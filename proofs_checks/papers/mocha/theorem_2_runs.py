"""Theorem 2, corrected, along runs of the trainer: every round, the duality gap of averages, the rate."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from ...convergence.exponents import Exponent, fitted_exponent
from ...convergence.mocha_problem import lone_sample, made_problem
from ...convergence.mocha_round import confirm_rounds
from ..rates import judged
from ..row import Finding, Statement, looseness, on_instances
from .theorem_1 import expected_dual
from .theorem_2 import excess_of, hinge_run, spread

LONG = 1500
"""Rounds over which the rate is fitted."""


def bounded_along_a_run(statement: Statement) -> Finding:
    """Measured D - D* against 2G / (2 + kappa (h - h0)) at every round, and the expectation of every single round.

    One round: E[e' | past] <= e - kappa (s e - s^2 G / 2) at the best s, summed over the 16 outcomes of four nodes.
    The relation "at least" is the same with both inequalities turned round.
    """
    confirm_rounds()
    ratios: list[float] = []
    for regularisation in (0.5, 5.0, 50.0):
        problem, excess = excess_of(regularisation)
        size = spread(problem)
        first = math.ceil(max(0.0, math.log(2 * excess[0] / size)))
        later = excess[first:]
        ratios += (later * (2 + np.arange(len(later))) / (2 * size)).tolist()
    for drop in (0.0, 0.5):
        ratios += _single_rounds(drop)
    most, least = max(ratios), min(ratios)
    holds = most <= 1 if statement.claim["relation"] == "at most" else least >= 1
    text = f"measured between {least:.3g} and {most:.3g} times the bound"
    numbers = {"largest ratio": most, "smallest ratio": least}
    return Finding(holds, text, numbers, basis=on_instances(5, "trainer runs"), loose=looseness(ratios))


@cache
def _single_rounds(drop: float) -> tuple[float, ...]:
    """The ratios of E[e' | past] to its bound along a run of four nodes."""
    problem = made_problem(4, 4, 5, loss="hinge", coupling=0.9, regularisation=5.0)
    size = spread(problem)
    state = problem.start()
    for _ in range(300):
        state = problem.round(state)
    best, rng, state = problem.dual(state.alpha), np.random.default_rng(3), problem.start()
    ratios: list[float] = []
    for _ in range(30):
        full, excess = problem.round(state, passes=30), problem.dual(state.alpha) - best
        if excess < 1e-9:
            break
        s = min(1.0, excess / size)
        bound = excess - (1 - drop) * (s * excess - s * s * size / 2)
        ratios.append((expected_dual(problem, state, full, drop) - best) / bound)
        state = problem.round(state, rng.random(4) >= drop, passes=30)
    return tuple(ratios)


def decrease_of_a_round(statement: Statement) -> Finding:
    """(R) of docs/theory/mocha.md: D - D+ >= s gap - (s^2/2) c sigma' sum ||X_t (u_t - alpha_t)||^2_(M_t), all s.

    u: minus the losses' slopes at w(alpha). Exact solvers, hinge loss; the best s of [0, 1]. One sample attains it.
    """
    worst = 0.0
    cases = (
        (made_problem(4, 4, 5, loss="hinge", coupling=0.9, regularisation=0.5), 12),
        (lone_sample("hinge", 4.0), 1),
    )
    for problem, rounds in cases:
        state = problem.start()
        x, y = problem.tasks.padded[:2]
        for _ in range(rounds):
            margins = y * np.einsum("tid,dt->ti", x, state.weights)
            aims = np.einsum("tid,ti->td", x, np.where(margins < 1, y, 0.0) - state.alpha)
            quadratic = (
                statement.claim["c"] * problem.sigma_prime * float((problem.scale * (aims**2).sum(axis=1)).sum())
            )
            gap, after = problem.gap(state.alpha), problem.round(state, passes=60)
            s = min(1.0, gap / quadratic)
            decrease = problem.dual(state.alpha) - problem.dual(after.alpha)
            worst = max(worst, (s * gap - s * s * quadratic / 2) / decrease)
            state = problem.round(state, passes=2)
    text = f"the promised decrease is at most {worst:.4f} times the one of the round"
    return Finding(worst <= 1 + 1e-9, text, {"promised over measured": worst})


def gap_of_the_average(statement: Statement) -> Finding:
    """The duality gap at the average of alpha over rounds H0 + 1 to H0 + N against e_(H0) + G/(2 kappa N)."""
    worst, least, shares = -math.inf, math.inf, []
    for regularisation in (0.5, 5.0, 50.0):
        problem, alphas, values, below = hinge_run(regularisation)
        size = spread(problem)
        for first, length in ((0, 1), (0, 10), (0, 100), (20, 20), (100, 100), (100, 400)):
            gap = problem.gap(alphas[first + 1 : first + length + 1].mean(axis=0))
            bound = float(values[first]) - below + size / (2 * length)
            apart = (gap - bound) / (float(values[0]) - below)
            worst, least = max(worst, apart), min(least, apart)
            shares.append(gap / bound)
    holds = worst <= 1e-12 if statement.claim["relation"] == "at most" else least >= 0
    text = f"gap minus bound is between {least:.3g} and {worst:.3g} times D - D* at the start"
    loose = looseness(shares) if worst <= 1e-12 else None
    return Finding(holds, text, {"largest (gap - bound) / (D(0) - D*)": worst, "smallest": least}, loose=loose)


@cache
def _measured_decay() -> Exponent:
    _, excess = excess_of(0.02, LONG)
    rounds = np.unique(np.geomspace(200, LONG - 1, 12).astype(int))
    return fitted_exponent(rounds, excess[rounds])


def decay(statement: Statement) -> Finding:
    """D - D* as a power of the number of rounds, on a hard problem: claim.exponent bounds it from a side."""
    return judged(_measured_decay(), statement, "D - D* goes as h", on_instances(1, "trainer runs"), {})
