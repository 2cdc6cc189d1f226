"""Theorem 2: sublinear convergence for Lipschitz losses, on problem (1), which is a sum over the n samples.

The corrected theorem, proved in docs/theory/mocha.md with G = 4 L^2 sigma sigma', sigma = sum_t n_t sigma_t,
kappa = 1 - Theta: after h0 = ceil(log+(2 (D(0) - D*)/G) / kappa) rounds, E[D - D*] <= 2G / (2 + kappa (h - h0)).
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from ....mechanisms.arrays import Floats
from ...convergence.mocha_problem import Problem, made_problem
from ...convergence.mocha_round import confirm_rounds
from ..row import Finding, Statement, on_instances

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
