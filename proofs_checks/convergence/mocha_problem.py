"""Problems with known constants, in the paper's scale: sums of losses, R(W) = (n_t lambda / 2) tr(W Omega W^T).

The trainer averages each task's losses. With equal n_t its objectives are those of (1) and (3) divided by n_t, with
M = Omega^-1 (x) I / (n_t lambda), so that M_t = scale_t I; alpha and sigma' are the same. What rests on runs of the
trainer asks `confirm_rounds` first, which compares a round, written out node by node and coordinate by coordinate, with
the trainer's: a trainer that does other rounds proves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.arrays import Floats
from ...trainers.mocha import objective
from ...trainers.mocha.losses import LOSSES, Loss
from ...trainers.mocha.mocha import State, federated_round
from ...trainers.mocha.sdca import Order
from ...trainers.mocha.sigma_prime import safe_sigma
from ...trainers.mocha.tasks import Tasks
from . import UnlikeTheTrainer


@dataclass(frozen=True, eq=False)
class Problem:
    """m tasks with n_t = `samples` each; covariance = Omega^-1 (m, m)."""

    tasks: Tasks
    loss: Loss
    covariance: Floats
    regularisation: float

    @property
    def samples(self) -> int:
        """n_t."""
        return int(self.tasks.sizes[0])

    @property
    def total(self) -> int:
        """n."""
        return int(self.tasks.sizes.sum())

    @property
    def scale(self) -> Floats:
        """(m,): M_t = scale_t I."""
        result: Floats = np.diag(self.covariance) / (self.samples * self.regularisation)
        return result

    @cached_property
    def sigma_prime(self) -> float:
        """sigma' as the authors' code sets it."""
        return safe_sigma(self.covariance)

    @cached_property
    def block_norms(self) -> Floats:
        """(m,): sigma_t = max over a of ||X_t a||^2_(M_t) / ||a||^2."""
        squares = np.array([np.linalg.norm(x, 2) ** 2 for x in self.tasks.features])
        result: Floats = squares * self.scale
        return result

    @cached_property
    def kernel(self) -> Floats:
        """(n, n): X^T M X, samples in the order of tasks."""
        x = self.tasks.padded[0]
        inner = np.einsum("tid,sjd,ts->tisj", x, x, self.covariance) / (self.samples * self.regularisation)
        result: Floats = inner.reshape(self.total, self.total)
        return result

    def start(self) -> State:
        """alpha = 0."""
        count, dimension = self.tasks.count, self.tasks.dimension
        return State(
            np.zeros((count, self.samples)), np.zeros((count, dimension)), np.zeros((dimension, count)), self.covariance
        )

    def dual(self, alpha: Floats) -> float:
        """D(alpha) of (3)."""
        flat = alpha.ravel()
        conjugates = self.loss.conjugate(alpha, self.tasks.padded[1]).sum()
        return float(conjugates + flat @ self.kernel @ flat / 2)

    def gap(self, alpha: Floats) -> float:
        """The duality gap at w(alpha), a sum of terms that cannot be negative."""
        v = objective.images(self.tasks, alpha)
        weights = objective.weights_of(v, self.covariance, self.regularisation)
        return self.samples * objective.fenchel_excess(self.tasks, self.loss, alpha, weights)

    def round(
        self,
        state: State,
        answering: NDArray[np.bool_] | None = None,
        passes: int = 8,
        sigma: float | None = None,
    ) -> State:
        """One federated round: `passes` cyclic passes of coordinate ascent on every answering node.

        sigma: sigma' of (4), by default the authors' value.
        """
        order: Order = np.tile(np.arange(self.samples), (self.tasks.count, passes))
        if answering is not None:
            order = np.where(answering[:, None], order, -1)
        return federated_round(self.tasks, self.loss, state, self.regularisation, order, sigma or self.sigma_prime)


def squared_optimum(problem: Problem) -> tuple[Floats, float]:
    """alpha* and D(alpha*) for the squared loss: the dual is quadratic."""
    y = problem.tasks.padded[1]
    flat = np.linalg.solve(np.eye(problem.total) + problem.kernel, y.ravel())
    best = np.asarray(flat, float).reshape(y.shape)
    return best, problem.dual(best)


def squared_theta(problem: Problem, state: State, after: State) -> Floats:
    """(m,): theta_t of (5) for the squared loss, from the exact minimisers of the subproblems (4)."""
    thetas = []
    for t, (x, y) in enumerate(zip(problem.tasks.features, problem.tasks.labels, strict=True)):
        curvature = np.eye(problem.samples) + problem.sigma_prime * problem.scale[t] * x @ x.T
        slope = state.alpha[t] - y + x @ state.weights[:, t]
        best = -np.linalg.solve(curvature, slope)
        left = after.alpha[t] - state.alpha[t] - best
        thetas.append(left @ curvature @ left / (best @ curvature @ best))
    return np.array(thetas)


def made_problem(
    count: int,
    dimension: int,
    samples: int,
    *,
    loss: str = "squared",
    labels: float = 1.0,
    coupling: float = 0.8,
    regularisation: float = 0.1,
    seed: int = 0,
) -> Problem:
    """Random unit features, labels +-`labels`, Omega^-1 = (1 - coupling) I + coupling 11^T."""
    rng = np.random.default_rng(seed)
    direction = rng.standard_normal(dimension)
    features, targets = [], []
    for _ in range(count):
        x = rng.standard_normal((samples, dimension))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        noise = 0.3 * rng.standard_normal(samples)
        features.append(x)
        targets.append(labels * np.where(x @ direction + noise >= 0, 1.0, -1.0))
    covariance = (1 - coupling) * np.eye(count) + coupling * np.ones((count, count))
    return Problem(Tasks(tuple(features), tuple(targets)), LOSSES[loss], covariance, regularisation)


def tight_problem(labels: float, coupling: float = 0.99, regularisation: float = 0.05) -> Problem:
    """Four tasks with the same orthonormal samples and nearly the same model: Theorem 1's constant is all but attained.

    Models that differ between the tasks have a dual curvature of about mu, and sigma' lets every node step as if it
    were mu + sigma' sigma_t.
    """
    count, samples = 4, 3
    targets = tuple(labels * np.sign(np.sin(1.0 + 2.0 * t + 3.0 * np.arange(samples))) for t in range(count))
    covariance = (1 - coupling) * np.eye(count) + coupling * np.ones((count, count))
    return Problem(Tasks((np.eye(samples),) * count, targets), LOSSES["squared"], covariance, regularisation)


def lone_sample(loss: str, block_norm: float) -> Problem:
    """One task with one sample x = y = 1 and sigma_1 = block_norm: one coordinate of D, solved exactly by one step."""
    return Problem(Tasks((np.ones((1, 1)),), (np.ones(1),)), LOSSES[loss], np.eye(1), 1 / block_norm)


def part_way(before: State, after: State, share: float) -> State:
    """Nodes that send `share` of their updates: solvers of (4) that stop short (share < 1) or overshoot."""
    return State(
        before.alpha + share * (after.alpha - before.alpha),
        before.v + share * (after.v - before.v),
        before.weights + share * (after.weights - before.weights),
        before.covariance,
        before.rounds + 1,
    )


CLOSE = 1e-9
ROUNDS = 3
ABSENT = 1
"""The node that drops out of every second round."""


def _coordinate(loss: str, old: float, prediction: float, label: float, curvature: float) -> float:
    """argmin over a of l*(-a) + (a - old) prediction + curvature (a - old)^2 / 2, in closed form."""
    if loss == "squared":
        return (label - prediction + curvature * old) / (1 + curvature)
    free = old + (label - prediction) / curvature
    return label * min(1.0, max(0.0, free * label))


def written_out(problem: Problem, loss: str, alpha: Floats, answering: list[bool], passes: int) -> Floats:
    """alpha after Algorithm 1's lines 6 to 9 from w(alpha), by cyclic passes; sigma' as the authors set it."""
    covariance, strength, samples = problem.covariance, problem.regularisation, problem.samples
    sigma = max(float(np.abs(row).sum() / row[t]) for t, row in enumerate(covariance))
    sums = np.array([x.T @ alpha[t] / samples for t, x in enumerate(problem.tasks.features)])
    after = alpha.copy()
    for t, (x, y) in enumerate(zip(problem.tasks.features, problem.tasks.labels, strict=True)):
        if not answering[t]:
            continue
        own = covariance[t] @ sums / strength
        rate = sigma * covariance[t, t] / (strength * samples)
        for _ in range(passes):
            for i in range(samples):
                new = _coordinate(loss, after[t, i], float(x[i] @ own), float(y[i]), rate * float(x[i] @ x[i]))
                own = own + rate * (new - after[t, i]) * x[i]
                after[t, i] = new
    return after


def confirm_rounds() -> None:
    """For both losses, a node absent every other round. Raises UnlikeTheTrainer where the trainer's rounds differ."""
    for loss in ("squared", "hinge"):
        problem = made_problem(3, 4, 5, loss=loss, coupling=0.7)
        state, alpha = problem.start(), problem.start().alpha
        for h in range(ROUNDS):
            answering = np.array([t != ABSENT or h % 2 == 1 for t in range(3)])
            state = problem.round(state, answering, passes=2)
            alpha = written_out(problem, loss, alpha, answering.tolist(), 2)
            apart = float(np.abs(state.alpha - alpha).max())
            if not apart < CLOSE:
                raise UnlikeTheTrainer(
                    f"the trainer's round {h + 1} is {apart:.2g} away from Algorithm 1's ({loss} loss)"
                )
