"""The joint problem in (W, Omega) with a certificate of optimality.

With Sigma = Omega^{-1}, tr Sigma = 1, minimising over Sigma first leaves a convex problem in W alone:
min_W  sum of mean losses + lambda/2 ||W||_*^2  (trace norm; Argyriou, Evgeniou, Pontil 2008, section 3).
Its Fenchel dual is  max_alpha  -sum of mean l*(-alpha) - ||V(alpha)||_op^2 / (2 lambda), so every alpha
gives a lower bound on the joint optimum, whatever alternation produced it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...mechanisms.arrays import Floats
from ...mechanisms.validate import positive
from . import objective
from .losses import Loss
from .mocha import Report, State
from .sdca import local_updates, random_order
from .tasks import Tasks


def joint_report(tasks: Tasks, loss: Loss, state: State, regularisation: float) -> Report:
    """Certify a state: the joint primal value of W, the trace-norm dual bound of alpha, the optimum between them."""
    trace_norm = float(np.linalg.svd(state.weights, compute_uv=False).sum())
    v = objective.images(tasks, state.alpha)
    operator_norm = float(np.linalg.norm(v, 2))
    conjugates = float(objective.task_means(tasks, loss.conjugate(state.alpha, tasks.padded[1])).sum())
    primal = objective.risk(tasks, loss, state.weights) + regularisation / 2 * trace_norm**2
    # Hoelder: <W, V^T> <= ||W||_* ||V||_op <= lambda/2 ||W||_*^2 + ||V||_op^2 / (2 lambda), so the rest is >= 0.
    inner = float(np.einsum("dt,td->", state.weights, v))
    apart = regularisation / 2 * trace_norm**2 + operator_norm**2 / (2 * regularisation) - inner
    gap = objective.fenchel_excess(tasks, loss, state.alpha, state.weights) + max(0.0, apart)
    return Report(state.rounds, primal, -conjugates - operator_norm**2 / (2 * regularisation), gap)


def consensus_start(tasks: Tasks, penalty: float = 0.01) -> State:
    """Everything zero, W without coupling. penalty: rho of the augmented Lagrangian; it adapts."""
    state = State.start(tasks, np.eye(tasks.count))
    extra = {"shift": np.zeros_like(state.weights), "penalty": np.array(positive("penalty", penalty))}
    return replace(state, extra=extra)


def consensus_round(tasks: Tasks, loss: Loss, state: State, regularisation: float, rng: np.random.Generator) -> State:
    """One round of the alternating direction method of multipliers on the joint problem.

    Nodes keep MOCHA's role: each takes one pass of dual coordinate ascent on its own data for its proximal
    problem, and sends its v_t. The server's step is the proximal map of lambda/2 ||.||_*^2 in place of the
    Omega-step (Boyd et al. 2011, sections 3 and 3.4.1 for the balanced penalty, every ten rounds).
    """
    shift, penalty = state.extra["shift"], float(state.extra["penalty"])
    centre = state.weights - shift
    order = random_order(tasks, tasks.sizes, rng)
    scale = np.full(tasks.count, 1 / penalty)
    alpha, message = local_updates(tasks, loss, state.alpha, centre + state.v.T / penalty, scale, 1.0, order)
    v = state.v + message
    local = centre + v.T / penalty
    shared = _squared_trace_norm_prox(local + shift, regularisation / penalty)
    shift = shift + local - shared
    primal, dual = np.linalg.norm(local - shared), penalty * np.linalg.norm(shared - state.weights)
    rounds, factor = state.rounds + 1, 1.0
    if rounds % 10 == 0:
        factor = 2.0 if primal > 10 * dual else 0.5 if dual > 10 * primal else 1.0
    extra = {"shift": shift / factor, "penalty": np.array(penalty * factor)}
    return State(alpha, v, shared, state.covariance, rounds, extra, tasks.sizes)


def _squared_trace_norm_prox(matrix: Floats, weight: float) -> Floats:
    """argmin over Z of weight/2 ||Z||_*^2 + 1/2 ||Z - matrix||_F^2.

    Singular values shrink by weight times their new sum. With the j largest kept, that sum is
    (old sum of j) / (1 + weight j); j is the last whose value stays positive.
    """
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    thresholds = weight * np.cumsum(values) / (1 + weight * np.arange(1, len(values) + 1))
    kept = np.flatnonzero(values > thresholds)
    if len(kept) == 0:
        return np.zeros_like(matrix)
    return np.asarray((left * np.maximum(values - thresholds[kept[-1]], 0.0)) @ right)
