"""The local solver: dual coordinate ascent on MOCHA's data-local subproblem, eq. (4), for all tasks side by side.

Tasks are independent within a round, so the s-th coordinate step of every task is taken in one vectorised
operation: as exact as a loop over tasks, and dozens of times faster.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.arrays import Floats
from .losses import Loss
from .tasks import Tasks

Order = NDArray[np.int64]


def local_updates(
    tasks: Tasks, loss: Loss, alpha: Floats, weights: Floats, scale: Floats, sigma: float, order: Order
) -> tuple[Floats, Floats]:
    """One round of local work.

    alpha (m, max n_t): the dual variables. weights (d, m): w(alpha). scale (m,): Sigma_tt / lambda.
    sigma: sigma' of eq. (4). order (m, steps): the sample that each task visits at each step, -1 for none.
    Returns the new alpha and Delta v (m, d) with Delta v_t = X_t^T Delta alpha_t / n_t, the only message sent.
    """
    x, y = tasks.padded
    everyone = np.arange(tasks.count)
    alpha = alpha.copy()
    local = weights.T.copy()
    message = np.zeros((tasks.count, tasks.dimension))
    step_size = scale / tasks.sizes
    for visited in order.T:
        active = visited >= 0
        sample = np.where(active, visited, 0)
        features, old = x[everyone, sample], alpha[everyone, sample]
        prediction = (features * local).sum(axis=1)
        curvature = sigma * step_size * (features * features).sum(axis=1)
        new = np.where(active, loss.step(old, prediction, y[everyone, sample], curvature), old)
        alpha[everyone, sample] = new
        move = (new - old)[:, None] * features
        message += move
        local += (sigma * step_size)[:, None] * move
    return alpha, message / tasks.sizes[:, None]


def random_order(tasks: Tasks, steps: NDArray[np.int64], rng: np.random.Generator) -> Order:
    """Each task's own random permutation of its samples, repeated until it has taken its number of steps."""
    return _orders(tasks, steps, [rng] * tasks.count)


def own_orders(tasks: Tasks, passes: float, generators: Sequence[np.random.Generator]) -> Order:
    """As random_order, with a generator a task: nobody's order depends on anybody else's number of samples."""
    steps = np.maximum(1, np.floor(passes * tasks.sizes)).astype(np.int64)
    return _orders(tasks, steps, generators)


def _orders(tasks: Tasks, steps: NDArray[np.int64], generators: Sequence[np.random.Generator]) -> Order:
    order = np.full((tasks.count, max(1, int(steps.max()))), -1)
    for task, (size, taken, rng) in enumerate(zip(tasks.sizes, steps, generators, strict=True)):
        permutation = rng.permutation(size)
        order[task, :taken] = permutation[np.arange(1, taken + 1) % size]
    return order


def visits(order: Order) -> NDArray[np.int64]:
    """(m,): how many samples each task visits."""
    return np.asarray((order >= 0).sum(axis=1))
