"""Mini-batches: SDCA and subgradient descent, every step of a batch against the same W.

SDCA (Takac, Bijral, Richtarik, Srebro 2013): for a batch S and 1 <= scaling <= |S|, with a_i the exact coordinate
minimiser of the dual at the current W, alpha_i <- alpha_i + scaling/|S| (a_i - alpha_i) for i in S: scaling = 1
averages and is always safe, |S| adds.

SGD on the primal of the W-step: W <- W - eta (g + lambda W Omega), g_t the batch mean of l'(x w_t) x over node t's
part of the batch. `pegasos` decreases eta as strong convexity asks (Shalev-Shwartz, Singer, Srebro 2007; Shamir, Zhang
2013): eta = 1 / (lambda kappa h), with kappa Omega's smallest eigenvalue. The reference code's step
(tests/oracles/reference_mocha.py) shrinks W by scaling/h Omega but adds subgradients with a step that never decreases:
its fixed points are not the optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.arrays import Floats
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


StepRule = Callable[[float, float, int], float]
"""(scaling, lambda kappa, rounds done) -> the length of the next step."""


def descent_of(tasks: Tasks, loss: Loss, weights: Floats, order: Order) -> Floats:
    """(d, m): for each node the sum over its batch of -l'(x w_t) x."""
    x, y = tasks.padded
    slopes = loss.descent(objective.predictions(tasks, weights), y)
    return np.asarray(np.einsum("tnd,tn->dt", x, np.where(batch_mask(tasks, order), slopes, 0.0)))


def gradient_round(
    tasks: Tasks, loss: Loss, state: State, omega: Floats, regularisation: float, order: Order, step: float
) -> State:
    """One step of this length against the batch's subgradient of the primal."""
    visited = visits(order)
    downhill = (
        descent_of(tasks, loss, state.weights, order) / np.maximum(1, visited) - regularisation * state.weights @ omega
    )
    return replace(state, weights=state.weights + step * downhill, rounds=state.rounds + 1, visited=visited)


def decreasing(scaling: float, convexity: float, rounds: int) -> float:
    """In the end as pegasos, but from `scaling` on, as if h had begun later."""
    return scaling / (1 + convexity * scaling * rounds)


def constant(scaling: float, convexity: float, rounds: int) -> float:
    """`scaling`, as smooth losses allow."""
    return scaling


def pegasos(scaling: float, convexity: float, rounds: int) -> float:
    """1/(lambda kappa h), whose first steps throw W far out where lambda is small."""
    return 1 / (convexity * (rounds + 1))


STEP_RULES: dict[str, StepRule] = {rule.__name__: rule for rule in (decreasing, constant, pegasos)}


def with_dual_point(tasks: Tasks, loss: Loss, state: State) -> State:
    """The state with alpha and v read off its weights, alpha = -l'(p), so that a primal method has a valid gap too."""
    slopes = loss.descent(objective.predictions(tasks, state.weights), tasks.padded[1])
    alpha = np.where(tasks.present, slopes, 0.0)
    return replace(state, alpha=alpha, v=objective.images(tasks, alpha))
