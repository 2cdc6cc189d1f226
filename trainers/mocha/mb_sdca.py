"""Mini-batch SDCA (Takac, Bijral, Richtarik, Srebro 2013): every step of a batch is taken against the same W.

For a batch S and 1 <= scaling <= |S|, with a_i the exact coordinate minimiser of the dual at the current W,
alpha_i <- alpha_i + scaling/|S| (a_i - alpha_i) for i in S: scaling = 1 averages and is always safe, |S| adds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from . import objective
from .losses import Loss
from .mocha import State
from .sdca import Order, visits
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
    alpha, v = state.alpha + move, state.v + message
    return replace(state, alpha=alpha, v=v, weights=weights, rounds=state.rounds + 1, visited=visits(order))


def batch_mask(tasks: Tasks, order: Order) -> NDArray[np.bool_]:
    """(m, max n_t): which samples the order visits."""
    chosen = np.zeros((tasks.count, tasks.padded[1].shape[1] + 1), dtype=bool)
    np.put_along_axis(chosen, np.where(order >= 0, order, chosen.shape[1] - 1), True, axis=1)
    return chosen[:, :-1]
