"""What MOCHA's released code does and the trainers do not: its visiting order, and its mini-batch subgradient round."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpcert.mechanisms.arrays import Floats
from dpcert.trainers.mocha.losses import Loss
from dpcert.trainers.mocha.mini_batches import descent_of
from dpcert.trainers.mocha.mocha import State
from dpcert.trainers.mocha.sdca import Order
from dpcert.trainers.mocha.tasks import Tasks


def recorded_order(permutations: list[list[int]]) -> Order:
    """The reference implementation's visiting order for recorded permutations: entry s mod n, for s = 1 to n."""
    longest = max(len(permutation) for permutation in permutations)
    order = np.full((len(permutations), longest), -1)
    for task, permutation in enumerate(permutations):
        order[task, : len(permutation)] = np.roll(permutation, -1)
    return order


def reference_round(
    tasks: Tasks, loss: Loss, state: State, omega: Floats, regularisation: float, order: Order, scaling: float
) -> State:
    """A round as the reference code takes it, its optional projection on balls of radius lambda^{-1/2} included."""
    batch = float((order >= 0).sum())
    shrunk = state.weights @ (np.eye(tasks.count) - scaling / (state.rounds + 1) * omega)
    weights = shrunk + scaling / batch * descent_of(tasks, loss, state.weights, order)
    norms = np.sqrt(regularisation) * np.linalg.norm(weights, axis=0)
    return replace(state, weights=weights / np.maximum(1.0, norms), rounds=state.rounds + 1)
