"""Section 3.3, (4): when the nodes' subproblems bound the dual, and what a node has to know."""

from __future__ import annotations

import numpy as np

from ....trainers.mocha import objective
from ....trainers.mocha.relationships import safe_sigma
from ...convergence.mocha_problem import made_problem, part_way, tight_problem
from ...convergence.mocha_round import confirm_rounds
from ..row import Finding, Statement, looseness, on_instances


def sharp_value(statement: Statement) -> Finding:
    """The subproblems bound the dual iff sigma' >= max ||X a||_M^2 / sum ||X_t a_t||^2_(M_t): 200 random problems.

    The largest generalised eigenvalue, with the direction that attains it; the bound of every problem must hold for
    `factor` times it, and the attaining direction is the witness when it does not.
    """
    rng, shares, least = np.random.default_rng(0), [], np.inf
    for _ in range(200):
        tasks, dimension, samples = 4, 3, 3
        root = rng.standard_normal((tasks, tasks))
        covariance = root @ root.T + 0.05 * np.eye(tasks)
        blocks = np.zeros((tasks * dimension, tasks * samples))
        for t in range(tasks):
            rows, columns = slice(t * dimension, (t + 1) * dimension), slice(t * samples, (t + 1) * samples)
            blocks[rows, columns] = rng.standard_normal((dimension, samples))
        whole = blocks.T @ np.kron(covariance, np.eye(dimension)) @ blocks
        alone = blocks.T @ np.kron(np.diag(np.diag(covariance)), np.eye(dimension)) @ blocks
        inverse_root = np.linalg.inv(np.linalg.cholesky(alone))
        values = np.linalg.eigvalsh(inverse_root @ whole @ inverse_root.T)
        sharp = float(values[-1])
        shares.append(sharp / {"row sums": safe_sigma(covariance), "m": float(tasks)}[statement.claim["sigma'"]])
        least = min(least, sharp)
    worst = max(shares)
    holds = worst <= statement.claim["factor"]
    text = f"the sharp sigma' is at most {worst:.4f} times the stated one, and never below {least:.3f}"
    return Finding(
        holds,
        text,
        {"sharp over stated, at most": worst, "smallest sharp value": float(least)},
        basis=on_instances(200),
        loose=looseness(shares) if holds else None,
    )


def descends(statement: Statement) -> Finding:
    """D along runs with sigma' = factor times the authors' value: coupled hinge tasks, and tasks with one model.

    The hinge tasks' nodes drop out and make 1 to 5 passes; the others send 1.99 times their exact updates, the longest
    that do not increase the subproblems (4), so that nothing is to spare.
    """
    confirm_rounds()
    factor, worst = statement.claim["sigma' over the authors'"], -np.inf
    hinge = made_problem(5, 4, 5, loss="hinge", coupling=0.95, regularisation=0.05)
    alike = tight_problem(1.0, 0.9999, 1e-3)
    rng = np.random.default_rng(0)
    for problem, share in ((hinge, 1.0), (alike, 1.99)):
        state, sigma = problem.start(), factor * problem.sigma_prime
        for _ in range(30):
            answering = rng.random(problem.tasks.count) >= (0.2 if share == 1.0 else 0.0)
            passes = int(rng.integers(1, 6))
            after = part_way(state, problem.round(state, answering, passes=passes, sigma=sigma), share)
            scale = abs(problem.dual(state.alpha)) + 1.0
            worst = max(worst, (problem.dual(after.alpha) - problem.dual(state.alpha)) / scale)
            state = after
    text = f"D changes by at most {worst:+.3g} of its size in a round"
    return Finding(worst <= 1e-12, text, {"largest relative change": worst}, basis=on_instances(2, "trainer runs"))


def local_data(statement: Statement) -> Finding:
    """Change all other nodes' data and dual variables: is node 0's update, given the stated input, the same bits?"""
    problem, other = made_problem(3, 4, 5, seed=1), made_problem(3, 4, 5, seed=2)
    state = problem.round(problem.start())
    foreign = other.round(other.start())
    features = (problem.tasks.features[0], *other.tasks.features[1:])
    labels = (problem.tasks.labels[0], *other.tasks.labels[1:])
    mixed = type(problem)(
        type(problem.tasks)(features, labels), problem.loss, problem.covariance, problem.regularisation
    )
    weights = foreign.weights.copy()
    if statement.claim["node 0 knows"] == "X_t, alpha_t and w_t(alpha)":
        weights[:, 0] = state.weights[:, 0]
    alpha = foreign.alpha.copy()
    alpha[0] = state.alpha[0]
    replayed = mixed.round(type(state)(alpha, foreign.v, weights, state.covariance))
    moved = float(np.abs(replayed.alpha[0] - problem.round(state).alpha[0]).max())
    text = "the same update to the last bit" if moved == 0 else f"the update differs by {moved:.3g}"
    return Finding(moved == 0, text, {"largest difference": moved}, basis=on_instances(1, "a replay"))


def weights_from_v(statement: Statement) -> Finding:
    """The weights along a run with drops against grad R*(v) of the sums of what the nodes sent, v_t alone."""
    confirm_rounds()
    problem, worst = made_problem(4, 4, 5, loss="hinge", coupling=0.9), 0.0
    rng, state = np.random.default_rng(3), problem.start()
    for _ in range(30):
        state = problem.round(state, rng.random(4) >= 0.3, passes=2)
        sent = statement.claim["v over the sum of the updates"] * state.v
        known = objective.weights_of(sent, problem.covariance, problem.regularisation)
        worst = max(worst, float(np.abs(known - state.weights).max()))
    return Finding(
        worst < 1e-12,
        f"the weights differ by at most {worst:.3g}",
        {"largest difference": worst},
        basis=on_instances(30, "trainer runs"),
    )
