"""Mini-batch subgradient descent on the primal of the W-step, W <- W - eta (g + lambda W Omega).

g_t is the batch mean of l'(x w_t) x over node t's part of the batch. `pegasos_round` decreases eta as strong
convexity asks (Shalev-Shwartz, Singer, Srebro 2007; Shamir, Zhang 2013): eta = 1 / (lambda kappa h), kappa the smallest
eigenvalue of Omega. The reference code's step (`reference_round`) shrinks W by scaling/h Omega but adds subgradients
with a step that never decreases: its fixed points are not the optimum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.validate import positive, rate
from . import objective
from .losses import Loss
from .mb_sdca import batch_mask
from .mocha import State, resolve_loss
from .relationships import inverse
from .sdca import Order, random_order
from .tasks import Tasks

Array = NDArray[np.float64]


def descent_of(tasks: Tasks, loss: Loss, weights: Array, order: Order) -> Array:
    """(d, m): for each node the sum over its batch of -l'(x w_t) x."""
    x, y = tasks.padded
    slopes = loss.descent(objective.predictions(tasks, weights), y)
    total: Array = np.einsum("tnd,tn->dt", x, np.where(batch_mask(tasks, order), slopes, 0.0))
    return total


def gradient_round(
    tasks: Tasks, loss: Loss, state: State, omega: Array, regularisation: float, order: Order, step: float
) -> State:
    """One step of this length against the batch's subgradient of the primal."""
    taken = np.maximum(1, (order >= 0).sum(axis=1))
    downhill = descent_of(tasks, loss, state.weights, order) / taken - regularisation * state.weights @ omega
    return replace(state, weights=state.weights + step * downhill, rounds=state.rounds + 1)


def reference_round(
    tasks: Tasks, loss: Loss, state: State, omega: Array, regularisation: float, order: Order, scaling: float
) -> State:
    """A round as the reference code takes it, its optional projection on balls of radius lambda^{-1/2} included."""
    batch = float((order >= 0).sum())
    shrunk = state.weights @ (np.eye(tasks.count) - scaling / (state.rounds + 1) * omega)
    weights = shrunk + scaling / batch * descent_of(tasks, loss, state.weights, order)
    norms = np.sqrt(regularisation) * np.linalg.norm(weights, axis=0)
    return replace(state, weights=weights / np.maximum(1.0, norms), rounds=state.rounds + 1)


def mb_sgd(
    tasks: Tasks,
    state: State,
    regularisation: float,
    rng: np.random.Generator,
    *,
    fraction: float = 1.0,
    step: float | None = None,
    loss: str = "hinge",
) -> Iterator[State]:
    """Mini-batch SGD without end. step: a constant length; by default Pegasos' decreasing one."""
    step_loss = resolve_loss(loss)
    omega = inverse(state.covariance, "covariance")
    convexity = regularisation * float(np.linalg.eigvalsh(omega)[0])
    batch = np.maximum(1, np.floor(rate("fraction", fraction) * tasks.sizes)).astype(np.int64)
    if step is not None:
        positive("step", step)
    while True:
        length = 1 / (convexity * (state.rounds + 1)) if step is None else step
        order = random_order(tasks, batch, rng)
        state = gradient_round(tasks, step_loss, state, omega, regularisation, order, length)
        yield state


def with_dual_point(tasks: Tasks, loss: Loss, state: State) -> State:
    """The state with alpha and v read off its weights, alpha = -l'(p), so that a primal method has a valid gap too."""
    slopes = loss.descent(objective.predictions(tasks, state.weights), tasks.padded[1])
    alpha = np.where(tasks.present, slopes, 0.0)
    return replace(state, alpha=alpha, v=objective.images(tasks, alpha))
