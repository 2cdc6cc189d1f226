"""MOCHA, Algorithm 1: alternate federated dual ascent on W with central updates of Omega."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from . import objective
from .losses import Loss
from .omegas import inverse, learned_covariance
from .sdca import Order, local_updates, visits
from .tasks import Tasks


@dataclass(frozen=True, eq=False)
class State:
    """alpha (m, max n_t), v (m, d), weights (d, m), covariance = Omega^{-1} (m, m), rounds done.

    extra: what a method keeps besides, by name. visited: samples that each node visited in the last round, (m,).
    """

    alpha: Floats
    v: Floats
    weights: Floats
    covariance: Floats
    rounds: int = 0
    extra: dict[str, Floats] = field(default_factory=dict)
    visited: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @staticmethod
    def start(tasks: Tasks, omega: Floats) -> State:
        """Line 2: everything zero, with the given Omega."""
        if np.shape(omega) != (tasks.count, tasks.count):
            raise InputError("omega", np.shape(omega), f"({tasks.count}, {tasks.count}), one row a task")
        return State(
            alpha=np.zeros(tasks.padded[1].shape),
            v=np.zeros((tasks.count, tasks.dimension)),
            weights=np.zeros((tasks.dimension, tasks.count)),
            covariance=inverse(omega, "omega"),
        )


@dataclass(frozen=True)
class Report:
    """Objectives after some rounds: primal - dual = gap >= 0 whenever weights = w(alpha); also the joint ones."""

    rounds: int
    primal: float
    dual: float
    gap: float


def report(tasks: Tasks, loss: Loss, state: State, regularisation: float) -> Report:
    """Primal, dual and the valid duality gap of a state."""
    omega = inverse(state.covariance, "covariance")
    return Report(
        rounds=state.rounds,
        primal=objective.risk(tasks, loss, state.weights) + objective.regulariser(state.weights, omega, regularisation),
        dual=objective.dual_value(tasks, loss, state.alpha, state.v, state.covariance, regularisation),
        gap=objective.duality_gap(tasks, loss, state.alpha, state.weights, omega, state.covariance, regularisation),
    )


def federated_round(tasks: Tasks, loss: Loss, state: State, regularisation: float, order: Order, sigma: float) -> State:
    """Lines 6 to 10: every node's local work in the given visiting order, then one reduce of Delta v."""
    scale = np.diag(state.covariance) / regularisation
    alpha, message = local_updates(tasks, loss, state.alpha, state.weights, scale, sigma, order)
    weights = state.weights + objective.weights_of(message, state.covariance, regularisation)
    visited = visits(order)
    return replace(state, alpha=alpha, v=state.v + message, weights=weights, rounds=state.rounds + 1, visited=visited)


def omega_step(state: State, regularisation: float, smoothing: float) -> State:
    """Line 11, with the learned trace-norm relationship, and W recomputed as w(alpha) for the new Omega.

    Without recomputing, W is no longer the primal point of alpha and every later "gap" is meaningless:
    the reference implementation's full runs report negative ones (`stale_omega_step` reproduces that).
    """
    covariance = learned_covariance(state.weights, smoothing)
    weights = objective.weights_of(state.v, covariance, regularisation)
    return replace(state, covariance=covariance, weights=weights)


def stale_omega_step(state: State) -> State:
    """Line 11 as the reference implementation runs it: Sigma = (W^T W)^{1/2} / tr, and W left as it was.

    Eigenvalues of W^T W below 1e-7 are lifted to 1e-7 when one is negative, as there.
    """
    values, vectors = np.linalg.eigh(state.weights.T @ state.weights)
    if (values < 0).any():
        values = np.maximum(values, 1e-7)
    root = (vectors * np.sqrt(values)) @ vectors.T
    return replace(state, covariance=root / np.trace(root))
