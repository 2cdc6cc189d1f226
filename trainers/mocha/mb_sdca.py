"""Mini-batch SDCA (Takac, Bijral, Richtarik, Srebro 2013): every step of a batch is taken against the same W.

For a batch S and 1 <= scaling <= |S|, with a_i the exact coordinate minimiser of the dual at the current W,
alpha_i <- alpha_i + scaling/|S| (a_i - alpha_i) for i in S: scaling = 1 averages and is always safe, |S| adds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.validate import positive, rate
from . import objective
from .losses import Loss
from .mocha import State, resolve_loss
from .sdca import Order, random_order
from .tasks import Tasks


def batch_round(tasks: Tasks, loss: Loss, state: State, regularisation: float, order: Order, step: float) -> State:
    """One round: a damped step for each sample in `order` (m, steps), each at most once, -1 for none.

    step: scaling / |S|, |S| the batch of all nodes together.
    """
    x, y = tasks.padded
    chosen = batch_mask(tasks, order)
    scale = np.diag(state.covariance)[:, None] / (regularisation * tasks.sizes[:, None])
    prediction = objective.predictions(tasks, state.weights)
    exact = loss.step(state.alpha, prediction, y, scale * np.einsum("tnd,tnd->tn", x, x))
    move = np.where(chosen, step * (exact - state.alpha), 0.0)
    message = objective.images(tasks, move)
    weights = state.weights + objective.weights_of(message, state.covariance, regularisation)
    return replace(state, alpha=state.alpha + move, v=state.v + message, weights=weights, rounds=state.rounds + 1)


def batch_mask(tasks: Tasks, order: Order) -> NDArray[np.bool_]:
    """(m, max n_t): which samples the order visits."""
    chosen = np.zeros((tasks.count, tasks.padded[1].shape[1] + 1), dtype=bool)
    np.put_along_axis(chosen, np.where(order >= 0, order, chosen.shape[1] - 1), True, axis=1)
    return chosen[:, :-1]


def mb_sdca(
    tasks: Tasks,
    state: State,
    regularisation: float,
    rng: np.random.Generator,
    *,
    fraction: float = 1.0,
    scaling: float = 1.0,
    loss: str = "hinge",
) -> Iterator[State]:
    """Mini-batch SDCA without end. fraction: of each node's samples in a batch."""
    step_loss = resolve_loss(loss)
    positive("scaling", scaling)
    batch = rate("fraction", fraction) * tasks.sizes
    while True:
        order = random_order(tasks, np.floor(batch).astype(np.int64), rng)
        state = batch_round(tasks, step_loss, state, regularisation, order, scaling / float(batch.sum()))
        yield state
