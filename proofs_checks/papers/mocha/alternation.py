"""Section 4's first sentences and line 11: alternating between W and Omega, for the trace-norm relationship.

R = (lambda/2) tr(W Sigma^-1 W^T) with Sigma = Omega^-1, tr Sigma = 1, is jointly convex in (W, Sigma); it is the form
of [57], which section 5 uses (14) instead of (2).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np

from ....mechanisms.arrays import Floats
from ....trainers.mocha import objective
from ....trainers.mocha.losses import LOSSES
from ....trainers.mocha.methods import Setting, WeightStep, iterate
from ....trainers.mocha.mocha import omega_step, report, stale_omega_step
from ....trainers.mocha.omegas import learned_covariance
from ....trainers.mocha.tasks import related_tasks
from ...convergence.mocha_problem import confirm_rounds
from ..row import Finding, Statement, on_instances, resting_on


@resting_on(on_instances(1))
def alternate_to_the_end(statement: Statement) -> Finding:
    """Two tasks with one weight each: (1/2) sum a_t (w_t - 1)^2 + (lambda/2) tr(W (Sigma^-1) W^T), a = (4, 1/2).

    Both half-steps in closed form, 5000 times from Sigma = I/2. With the term smoothing * tr Sigma^-1 as well, the
    jointly convex problem keeps Sigma positive definite; its optimum comes from its own stationarity condition.
    """
    smoothing, curvature, lam = statement.domain["smoothing"], np.array([4.0, 0.5]), 0.5
    sigma: Floats = np.eye(2) / 2
    w: Floats = np.zeros(2)
    for _ in range(5000):
        singular = np.linalg.matrix_rank(sigma, tol=1e-13) < 2
        w = _along(sigma, curvature, lam) if singular else _anywhere(sigma, curvature, lam)
        sigma = learned_covariance(w[None, :], smoothing) if smoothing else np.outer(w, w) / (w @ w)
    reached, best = _joint_value(w, curvature, lam, smoothing), _joint_optimum(curvature, lam, smoothing)
    numbers = {"reached": reached, "optimum": best, "excess": reached - best}
    holds = reached - best < 1e-8
    return Finding(holds, f"alternation ends {reached - best:.3g} above the joint optimum", numbers)


def _anywhere(sigma: Floats, curvature: Floats, lam: float) -> Floats:
    """The W-step for an invertible Sigma."""
    return np.asarray(np.linalg.solve(np.diag(curvature) + lam * np.linalg.inv(sigma), curvature), float)


def _along(sigma: Floats, curvature: Floats, lam: float) -> Floats:
    """The W-step where Sigma = u u^T: w = s u with tr(W Sigma^-1 W^T) = s^2, everything else being infinite."""
    u = np.linalg.eigh(sigma)[1][:, -1]
    u = u * np.sign(u.sum())
    result: Floats = u * (curvature @ u) / (curvature @ (u * u) + lam)
    return result


def _joint_value(w: Floats, curvature: Floats, lam: float, smoothing: float) -> float:
    """The objective after the best Sigma: (tr (w w^T + smoothing I)^(1/2))^2 for the regulariser."""
    trace = np.sqrt(w @ w + smoothing) + np.sqrt(smoothing)
    return float(curvature @ (w - 1) ** 2 / 2 + lam / 2 * trace**2)


def _joint_optimum(curvature: Floats, lam: float, smoothing: float) -> float:
    """By a fixed-point iteration on the norm of w: the stationary w_t is a_t / (a_t + lam trace / sqrt(|w|^2 + s))."""
    w = np.ones(2)
    for _ in range(10_000):
        root = np.sqrt(w @ w + smoothing)
        w = curvature / (curvature + lam * (root + np.sqrt(smoothing)) / root)
    return _joint_value(w, curvature, lam, smoothing)


@resting_on(on_instances(10000))
def omega_closed_form(statement: Statement) -> Finding:
    """Sigma = (W^T W)^power / trace against 2000 random Sigma and small moves from it, in 5 random W."""
    rng, worst = np.random.default_rng(6), -np.inf
    for _ in range(5):
        weights = rng.standard_normal((5, 4))
        values, vectors = np.linalg.eigh(weights.T @ weights)
        powers = values ** statement.claim["power"]
        stated = (vectors * powers) @ vectors.T / powers.sum()
        value = float(np.trace(weights @ np.linalg.inv(stated) @ weights.T))
        for trial in range(2000):
            root = rng.standard_normal((4, 4))
            other = root @ root.T / np.trace(root @ root.T)
            if trial % 2:
                other = 0.99 * stated + 0.01 * other
            rival = float(np.trace(weights @ np.linalg.inv(other) @ weights.T))
            worst = max(worst, (value - rival) / value)
    holds = worst <= 1e-12
    text = "no rival is below it" if holds else f"a rival is lower by {worst:.3g} of the value"
    return Finding(holds, text, {"largest relative gain of a rival": worst})


@resting_on(on_instances(1, "trainer runs"))
def weights_after_omega(statement: Statement) -> Finding:
    """Lines 11 and 12: primal - dual as the run would compute them, with W recomputed for the new Omega or not."""
    confirm_rounds()
    covariance = 0.1 * np.eye(4) + 0.9 * np.kron(np.eye(2), np.ones((2, 2)))
    tasks, _ = related_tasks(4, 4, 12, covariance, np.random.default_rng(1))
    lam = 1e-2
    method = WeightStep(Setting(tasks, LOSSES["hinge"], 4 * np.eye(4), lam))
    state = next(islice(iterate(method, np.random.default_rng(0)), 299, None))
    fresh = statement.claim["W"] == "recomputed"
    state = omega_step(state, lam, 1e-6) if fresh else stale_omega_step(state)
    omega = np.asarray(np.linalg.inv(state.covariance), float)
    conjugates = objective.task_means(tasks, LOSSES["hinge"].conjugate(state.alpha, tasks.padded[1])).sum()
    primal = report(tasks, LOSSES["hinge"], state, lam).primal
    dual = -float(conjugates) - objective.regulariser(state.weights, omega, lam)
    return Finding(primal - dual >= 0, f"primal {primal:.4f}, dual {dual:.4f}", {"primal": primal, "dual": dual})


@resting_on(on_instances(1, "a replay"))
def omega_from_weights(statement: Statement) -> Finding:
    """Line 11 in a replay: other data and dual variables, or other weights, and the rest as it was; the same Omega?"""
    covariance = 0.1 * np.eye(4) + 0.9 * np.kron(np.eye(2), np.ones((2, 2)))
    states = []
    for seed in (1, 2):
        tasks, _ = related_tasks(4, 4, 12, covariance, np.random.default_rng(seed))
        method = WeightStep(Setting(tasks, LOSSES["hinge"], 4 * np.eye(4), 1e-2))
        states.append(next(iterate(method, np.random.default_rng(0))))
    first, other = states
    if statement.claim["does not depend on"] == "the data":
        replayed = replace(other, weights=first.weights)
    else:
        replayed = replace(first, weights=other.weights)
    before, after = (omega_step(state, 1e-2, 1e-3).covariance for state in (first, replayed))
    moved = float(np.abs(before - after).max())
    text = "the same Omega to the last bit" if moved == 0 else f"Omega^-1 differs by {moved:.3g}"
    return Finding(moved == 0, text, {"largest difference": moved})
