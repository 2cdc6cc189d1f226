"""Remark 2: CoCoA+ as MOCHA with one model for all tasks, against an implementation of its own."""

from __future__ import annotations

import numpy as np

from ....mechanisms.arrays import Floats
from ...convergence.mocha_problem import Problem, made_problem, part_way
from ..row import Finding, Statement

ROUNDS, PASSES = 20, 2


def cocoa_plus(problem: Problem) -> list[Floats]:
    """CoCoA+ (Ma et al. 2015, Algorithm 1, adding, sigma' = K) for the squared loss on the pooled data.

    min_w sum (x^T w - y)^2 / 2 + (lam/2) |w|^2 with lam = n_t lambda, the tasks' data as its K parts.
    """
    parts, lam = problem.tasks.count, problem.samples * problem.regularisation
    alpha = [np.zeros(problem.samples) for _ in range(parts)]
    w = np.zeros(problem.tasks.dimension)
    history = []
    for _ in range(ROUNDS):
        change = np.zeros_like(w)
        for part in range(parts):
            x, y = problem.tasks.features[part], problem.tasks.labels[part]
            local = np.zeros_like(w)
            for i in list(range(problem.samples)) * PASSES:
                slope = x[i] @ (w + parts * local / lam) + alpha[part][i] - y[i]
                step = -slope / (1 + parts * x[i] @ x[i] / lam)
                alpha[part][i] += step
                local += step * x[i]
            change += local
        w = w + change / lam
        history.append(w)
    return history


def same_iterates(statement: Statement) -> Finding:
    """Every task's weights in MOCHA with Omega^-1 = 11^T + ridge I and cyclic passes, against CoCoA+'s one w."""
    made = made_problem(4, 5, 6, seed=7)
    covariance = np.ones((4, 4)) + statement.claim["ridge in Omega^-1"] * np.eye(4)
    problem = Problem(made.tasks, made.loss, covariance, made.regularisation)
    expected, state, worst = cocoa_plus(problem), problem.start(), 0.0
    for weights in expected:
        state = problem.round(state, passes=PASSES)
        worst = max(worst, float(np.abs(state.weights - weights[:, None]).max()))
    holds = worst < 1e-12
    return Finding(
        holds, f"in {ROUNDS} rounds the weights differ by at most {worst:.3g}", {"largest difference": worst}
    )


def aggregation(statement: Statement) -> Finding:
    """Rounds to a duality gap of 1e-3, adding gamma Delta alpha with the valid sigma' = gamma * (its value for 1).

    gamma scales what every node changed: the state after the round is on the line between the two dual vectors.
    """
    problem = made_problem(6, 5, 6, coupling=0.6, seed=3)
    rounds = {}
    for gamma in (1 / 6, 0.5, 1.0):
        state = problem.start()
        count = 0
        while problem.gap(state.alpha) > 1e-3:
            full = problem.round(state, sigma=max(1.0, gamma * problem.sigma_prime))
            state = part_way(state, full, gamma)
            count += 1
        rounds[f"gamma = {gamma:.3g}"] = count
    best = min(rounds, key=lambda name: rounds[name])
    text = ", ".join(f"{name}: {count} rounds" for name, count in rounds.items())
    return Finding(best == statement.claim["best"], text, rounds)
