"""Rounds steered by theta; CoCoA is the case of one theta for all nodes and rounds (MOCHA, section 3.4, Remark 2).

Each node works on its subproblem (4) until its bound on theta_t^h (Definition 1) is at most what it was asked for.
The reference code's CoCoA stops on an absolute, differently scaled gap instead: on the landmine data it takes one
coordinate step a node in most early rounds and runs into its cap of 1,000 later (docs/mocha.md).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...mechanisms.arrays import Floats
from . import objective
from .losses import Loss
from .mocha import State
from .sdca import local_updates, random_order
from .tasks import Tasks
from .theta import Subproblem

LONGEST = 1000
"""Steps after which a node gives up on its theta, as in the reference code."""


def theta_round(
    tasks: Tasks,
    loss: Loss,
    state: State,
    regularisation: float,
    targets: Floats,
    sigma: float,
    rng: np.random.Generator,
) -> State:
    """One federated round in which node t reaches theta_t <= targets[t].

    The bound is looked at after every quarter of a pass over a node's own samples. Looking is not counted as work.
    """
    scale = np.diag(state.covariance) / regularisation
    problem = Subproblem(tasks, loss, state.alpha, state.weights, scale, sigma)
    alpha, message = state.alpha, np.zeros_like(state.v)
    taken = np.zeros(tasks.count, dtype=np.int64)
    quarter = np.maximum(1, tasks.sizes // 4)
    while (wanting := (problem.theta_bound(alpha, message) > targets) & (taken < LONGEST) & (targets < 1)).any():
        steps = np.where(wanting, np.minimum(quarter, LONGEST - taken), 0)
        order = random_order(tasks, steps, rng)
        alpha, moved = local_updates(tasks, loss, alpha, problem.local_weights(message), scale, sigma, order)
        message, taken = message + moved, taken + steps
    weights = state.weights + objective.weights_of(message, state.covariance, regularisation)
    return replace(state, alpha=alpha, v=state.v + message, weights=weights, rounds=state.rounds + 1, visited=taken)
