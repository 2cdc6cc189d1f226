"""Theorem 2: sublinear convergence for Lipschitz losses, on problem (1), which is a sum over the n samples.

The corrected theorem, proved in docs/theory/mocha.md with G = 4 L^2 sigma sigma', sigma = sum_t n_t sigma_t,
kappa = 1 - Theta: after h0 = ceil(log+(2 (D(0) - D*)/G) / kappa) rounds, E[D - D*] <= 2G / (2 + kappa (h - h0)).
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from ....mechanisms.arrays import Floats
from ...convergence.exponents import Exponent, fitted_exponent
from ...convergence.mocha_problem import Problem, confirm_rounds, lone_sample, made_problem
from ..measured import by_exponent
from ..row import Finding, Statement, looseness, on_instances, resting_on
from .theorem_1 import expected_dual

ROUNDS = 600
ACCURACY = 5.0


def spread(problem: Problem) -> float:
    """G = 4 L^2 sigma sigma' with L = 1 and sigma = sum_t n_t sigma_t."""
    return 4.0 * float((problem.block_norms * problem.tasks.sizes).sum()) * problem.sigma_prime


@cache
def hinge_run(regularisation: float, rounds: int = ROUNDS) -> tuple[Problem, Floats, Floats, float]:
    """Forty strongly coupled hinge tasks: alpha and D at every round, and D* from below by the best duality gap."""
    problem = made_problem(40, 4, 5, loss="hinge", coupling=0.98, regularisation=regularisation)
    state, values, alphas, below = problem.start(), [], [], -math.inf
    for h in range(rounds):
        alphas.append(state.alpha)
        values.append(problem.dual(state.alpha))
        if h % 50 == 0 or h == rounds - 1:
            below = max(below, values[-1] - problem.gap(state.alpha))
        state = problem.round(state, passes=2)
    return problem, np.array(alphas), np.array(values), below


def excess_of(regularisation: float, rounds: int = ROUNDS) -> tuple[Problem, Floats]:
    """The problem, and an upper bound of D - D* at every round."""
    problem, _, values, below = hinge_run(regularisation, rounds)
    return problem, values - below


def prescribed_rounds(statement: Statement) -> Finding:
    """(7) with the sign of its logarithm corrected: D at the average of rounds H0 + 1 to H, against epsilon_D.

    Where H is longer than the run, the run's last value stands for it: D is convex and never increases.
    """
    confirm_rounds()
    power, numbers, holds = statement.claim["power of n"], {}, True
    for regularisation in statement.domain["lambda"]:
        problem, alphas, values, below = hinge_run(regularisation)
        size = (
            spread(problem) * {"sum n_t sigma_t": 1, "n^2 sum n_t sigma_t": problem.total**2}[statement.domain["sigma"]]
        )
        scaled = size / problem.total**power
        start = max(0.0, 1 + math.log(2 * (values[0] - below) / scaled))
        first = math.ceil(math.ceil(start) + 4 * scaled / ACCURACY)
        last = first + math.ceil(2 * max(1.0, scaled / (2 * ACCURACY)))
        reached = min(last, ROUNDS - 1)
        excess = problem.dual(alphas[min(first + 1, reached) : reached + 1].mean(axis=0)) - below
        numbers[f"lambda = {regularisation}"] = {"H0": first, "H": last, "D - D*": excess}
        holds = holds and excess <= ACCURACY
    worst = max(numbers.values(), key=lambda each: each["D - D*"])
    text = f"after H = {worst['H']} rounds D - D* is {worst['D - D*']:.3g} at the average, the target {ACCURACY:g}"
    return Finding(
        holds, text, numbers, None if holds else dict(worst), basis=on_instances(len(numbers), "trainer runs")
    )


LONG = 1500
"""Rounds over which the rate is fitted."""


@resting_on(on_instances(5, "trainer runs"))
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
    return Finding(holds, text, numbers, loose=looseness(ratios))


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
    return by_exponent(_measured_decay(), statement, "D - D* goes as h", on_instances(1, "trainer runs"), {})
