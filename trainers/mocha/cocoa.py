"""Rounds steered by theta; CoCoA is the case of one theta for all nodes and rounds (MOCHA, section 3.4, Remark 2).

theta_t^h (Definition 1) says how well a node solved its subproblem (4); it is bounded without knowing the solution.
G(Delta) - G* is at most the subproblem's own duality gap, sum of l(p) + l*(-alpha) + alpha p over the node's samples
with p the predictions of its local weights; and (a - x) / (b - x) falls in x where a <= b, so putting a lower bound
of G* in Definition 1 gives an upper bound of theta. Nodes work until that bound is at most what they were asked for,
and never stop too early.

The reference code's CoCoA stops on an absolute, differently scaled gap instead: on the landmine data it takes one
coordinate step a node in most early rounds and runs into its cap of 1,000 later (docs/mocha.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...mechanisms.arrays import Floats
from . import objective
from .losses import Loss
from .mocha import State
from .sdca import local_updates, random_order
from .tasks import Tasks


@dataclass(frozen=True)
class Subproblem:
    """Where a round starts: the data of eq. (4) for all tasks side by side.

    alpha (m, max n_t), weights (d, m) = w(alpha), scale (m,) = Sigma_tt / lambda, sigma = sigma'.
    """

    tasks: Tasks
    loss: Loss
    alpha: Floats
    weights: Floats
    scale: Floats
    sigma: float

    def local_weights(self, message: Floats) -> Floats:
        """(d, m): w_t + sigma' Sigma_tt / lambda Delta v_t, the subproblem's primal point after moving by message."""
        return np.asarray(self.weights + (self.sigma * self.scale)[None, :] * message.T)

    def value(self, alpha: Floats, message: Floats) -> Floats:
        """(m,): G_t at this alpha with Delta v = message (m, d), without the constant c."""
        targets = self.tasks.padded[1]
        conjugates = objective.task_means(self.tasks, self.loss.conjugate(alpha, targets))
        linear = np.einsum("dt,td->t", self.weights, message)
        return np.asarray(conjugates + linear + self.sigma * self.scale / 2 * (message * message).sum(axis=1))

    def gap(self, alpha: Floats, message: Floats) -> Floats:
        """(m,): at least G_t - min G_t, never negative."""
        prediction = objective.predictions(self.tasks, self.local_weights(message))
        targets = self.tasks.padded[1]
        terms = self.loss.value(prediction, targets) + self.loss.conjugate(alpha, targets) + alpha * prediction
        return objective.task_means(self.tasks, np.maximum(terms, 0.0))

    def theta_bound(self, alpha: Floats, message: Floats) -> Floats:
        """(m,): an upper bound of each theta_t in [0, 1]; 0 where there was nothing to gain."""
        gap = self.gap(alpha, message)
        gained = self.value(self.alpha, np.zeros_like(message)) - self.value(alpha, message)
        whole = gained + gap
        return np.clip(np.divide(gap, whole, out=np.zeros_like(gap), where=whole > 0), 0.0, 1.0)


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
