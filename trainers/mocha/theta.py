"""theta_t^h, MOCHA's Definition 1: how well a node solved its subproblem (4), bounded without knowing the solution.

G(Delta) - G* is at most the subproblem's own duality gap, sum of l(p) + l*(-alpha) + alpha p over the node's samples
with p the predictions of its local weights; and (a - x) / (b - x) falls in x where a <= b, so putting a lower bound
of G* in Definition 1 gives an upper bound of theta. Nodes steer by that bound, and never stop too early.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import rate
from . import objective
from .losses import Loss
from .tasks import Tasks

Targets = Callable[[Tasks, int, np.random.Generator], Floats]
"""(tasks, round, rng) -> (m,) the theta that each node is asked for; 1 is a dropped node."""


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
        moved: Floats = self.weights + (self.sigma * self.scale)[None, :] * message.T
        return moved

    def value(self, alpha: Floats, message: Floats) -> Floats:
        """(m,): G_t at this alpha with Delta v = message (m, d), without the constant c."""
        targets = self.tasks.padded[1]
        conjugates = objective.task_means(self.tasks, self.loss.conjugate(alpha, targets))
        linear = np.einsum("dt,td->t", self.weights, message)
        value: Floats = conjugates + linear + self.sigma * self.scale / 2 * (message * message).sum(axis=1)
        return value

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


@dataclass(frozen=True)
class FixedTheta:
    """Every node reaches the same theta every round, as CoCoA requires."""

    theta: float

    def __call__(self, tasks: Tasks, round_index: int, rng: np.random.Generator) -> Floats:
        return np.full(tasks.count, rate("theta", self.theta))


@dataclass(frozen=True)
class RandomTheta:
    """Each node's theta is uniform on [low, high], anew every round."""

    low: float
    high: float

    def __call__(self, tasks: Tasks, round_index: int, rng: np.random.Generator) -> Floats:
        if not 0 < self.low <= self.high <= 1:
            raise InputError("theta", (self.low, self.high), "0 < low <= high <= 1")
        return rng.uniform(self.low, self.high, tasks.count)
