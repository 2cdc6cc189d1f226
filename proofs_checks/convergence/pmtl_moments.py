"""Algorithm 1 in expectation, exactly: second moments of its state on problems with quadratic losses.

On quadratics a round is linear in x = (w~, w_1, ..., w_m, 1) once its cohort S is drawn: x' = (A + sum_{k in S} B_k) x
plus noise. A cohort of q out of m, drawn uniformly, has a client with probability p = q/m and a pair of clients with
p_2 = q (q - 1)/(m (m - 1)), so that with B = sum_k B_k the matrix M = E x x^T follows
    M' = A M A^T + p (B M A^T + A M B^T) + p_2 B M B^T + (p - p_2) sum_k B_k M B_k^T + noise,
and the mean of every quadratic function of the state is a trace: no sampling error at all. `check_against_trainer` runs
the trainer with its noise and compares its rounds with these matrices, step by step, and its noise with sigma.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...mechanisms.arrays import Floats
from . import UnlikeTheTrainer
from .noise_law import ENOUGH, right_noise
from .pmtl_runs import Form, run


@dataclass(frozen=True, eq=False)
class Federation:
    """A Quadratic problem and how Algorithm 1 is run on it, without clipping.

    cohort: q, None for all. sigma: the noise on the cohort's mean, as in line 8. start: (d,) the initial model of all.
    scale: of the clients' updates in line 8, 1 in every form of the algorithm.
    """

    problem: Any
    form: Form
    strength: float
    learning_rate: float
    steps: int = 1
    cohort: int | None = None
    sigma: float = 0.0
    start: Floats | None = None
    scale: float = 1.0

    @property
    def size(self) -> tuple[int, int]:
        """m and d."""
        clients, dimension = self.problem.centres.shape
        return int(clients), int(dimension)

    @property
    def taking_part(self) -> int:
        """q."""
        return self.size[0] if self.cohort is None else self.cohort

    @property
    def rate(self) -> float:
        """p = q/m."""
        return self.taking_part / self.size[0]

    @property
    def smoothness(self) -> float:
        """K = L + lambda."""
        return float(self.problem.smoothness) + self.strength

    @property
    def share(self) -> float:
        """c = 1 - eta K/2."""
        return 1 - self.learning_rate * self.smoothness / 2

    @property
    def noise_on_mean(self) -> float:
        """The standard deviation of what a round adds to w~, beside the clients' part."""
        return self.sigma * (self.rate if self.form == "increments" else 1.0)

    @cached_property
    def initial(self) -> Floats:
        """x^0: every model at `start`."""
        m, d = self.size
        begin = np.zeros(d) if self.start is None else self.start
        return np.append(np.tile(begin, m + 1), 1.0)

    def place(self, client: int) -> slice:
        """Where w_k lies in the state; -1 for w~."""
        d = self.size[1]
        return slice((client + 1) * d, (client + 2) * d)

    @cached_property
    def contractions(self) -> Floats:
        """(m, d, d) I - eta (H_k + lambda I): a local step multiplies the gradient of f_k(.; w~) by it."""
        d = self.size[1]
        return np.asarray(np.eye(d) - self.learning_rate * (self.problem.hessians + self.strength * np.eye(d)))

    @cached_property
    def parts(self) -> tuple[Floats, Floats]:
        """A (n, n) and the B_k (m, n, n)."""
        m, d = self.size
        n = (m + 2) * d - d + 1
        idle, moving = np.eye(n), np.zeros((m, n, n))
        for k in range(m):
            power, carried = np.eye(d), np.zeros((d, d))
            for _ in range(self.steps):
                carried = carried + power
                power = power @ self.contractions[k]
            own, pull = self.place(k), self.learning_rate * carried
            moving[k, own, own] = power - np.eye(d)
            moving[k, own, self.place(-1)] = self.strength * pull
            moving[k, own, -1] = pull @ self.problem.hessians[k] @ self.problem.centres[k]
            weight = self.scale / (m if self.form == "increments" else self.taking_part)
            moving[k, self.place(-1)] = weight * moving[k, own]
            if self.form == "reset":
                moving[k, self.place(-1), own] += weight * np.eye(d)
        if self.form == "reset":
            idle[self.place(-1), self.place(-1)] = 0
        return idle, moving

    def moments(self, rounds: int) -> Moments:
        """E x x^T before the first round and after each of `rounds` rounds."""
        (m, d), (idle, moving) = self.size, self.parts
        q, p, every = self.taking_part, self.rate, moving.sum(axis=0)
        pair = p if q == m else p * (q - 1) / (m - 1)
        noise = np.zeros_like(idle)
        noise[self.place(-1), self.place(-1)] = self.noise_on_mean**2 * np.eye(d)
        found = np.empty((rounds + 1, *idle.shape))
        found[0] = np.outer(self.initial, self.initial)
        both = idle + every
        for t in range(rounds):
            now = found[t]
            if q == m:
                after = both @ now @ both.T
            else:
                cross = every @ now @ idle.T
                after = idle @ now @ idle.T + p * (cross + cross.T) + pair * every @ now @ every.T
                after += (p - pair) * (moving @ now @ moving.transpose(0, 2, 1)).sum(axis=0)
            found[t + 1] = (after + after.T) / 2 + noise  # rounding leaves an asymmetry that would grow
        return Moments(self, found)


@dataclass(frozen=True, eq=False)
class Moments:
    """seconds: (T + 1, n, n), E x x^T. Every method gives (T + 1,) expectations."""

    federation: Federation
    seconds: Floats

    def _mean_of_squares(self, rows: Floats) -> Floats:
        """E ||rows x||^2; rows: (r, n)."""
        return np.asarray(np.einsum("ri,tij,rj->t", rows, self.seconds, rows, optimize=True))

    @cached_property
    def _pick(self) -> tuple[Floats, list[Floats], Floats]:
        """Matrices that take w~, each w_k and their mean out of the state."""
        own, (m, d) = self.federation, self.federation.size
        unit = np.eye((m + 1) * d + 1)
        models = [unit[own.place(k)] for k in range(m)]
        return unit[own.place(-1)], models, np.asarray(sum(models)) / m

    def _gradient(self, client: int, centre: Floats) -> Floats:
        """grad l_k(w_k) + lambda (w_k - centre), as rows."""
        problem, models = self.federation.problem, self._pick[1]
        rows = (problem.hessians[client] + self.federation.strength * np.eye(self.federation.size[1])) @ models[client]
        rows = rows - self.federation.strength * centre
        rows[:, -1] -= problem.hessians[client] @ problem.centres[client]
        return np.asarray(rows)

    def local_gradients(self) -> Floats:
        """The mean over clients of sum_{j < E} E ||grad f_k(v_k^j; w~^t)||^2, v_k^j the local steps if k takes part."""
        total, m = np.zeros(len(self.seconds)), self.federation.size[0]
        for k in range(m):
            gradient = self._gradient(k, self._pick[0])
            for _ in range(self.federation.steps):
                total += self._mean_of_squares(gradient) / m
                gradient = self.federation.contractions[k] @ gradient
        return total

    def gradients(self) -> Floats:
        """E ||grad Phi(W^t)||^2, Phi = m F."""
        clients = range(self.federation.size[0])
        squares = [self._mean_of_squares(self._gradient(k, self._pick[2])) for k in clients]
        return np.asarray(np.sum(squares, axis=0))

    def gaps(self) -> Floats:
        """E F(W^t) - F*: half the Hessian of Phi at W^t - W*, over m."""
        problem, strength, (m, _) = self.federation.problem, self.federation.strength, self.federation.size
        total, offsets = np.zeros(len(self.seconds)), self._offsets()
        for k in range(m):
            root = np.linalg.cholesky(problem.hessians[k]).T
            total += self._mean_of_squares(root @ offsets[k]) / (2 * m)
        middle = np.asarray(sum(offsets)) / m
        for k in range(m):
            total += strength * self._mean_of_squares(offsets[k] - middle) / (2 * m)
        return total

    def _offsets(self) -> list[Floats]:
        """w_k - w_k*, as rows."""
        best = self.federation.problem.optimum(self.federation.strength)
        rows = [matrix.copy() for matrix in self._pick[1]]
        for k, matrix in enumerate(rows):
            matrix[:, -1] -= best[k]
        return rows

    def distances(self) -> Floats:
        """(1/m) sum_k E ||w_k^t - w_k*||^2."""
        return np.asarray(np.mean([self._mean_of_squares(rows) for rows in self._offsets()], axis=0))

    def errors(self) -> Floats:
        """E ||e_t||^2, e_t = w~^t - w_bar^t."""
        return self._mean_of_squares(self._pick[0] - self._pick[2])


def check_against_trainer(federation: Federation, rounds: int = 4) -> float:
    """Run the trainer, noise and all: the largest distance from what A and the B_k make of the round before.

    With noise there are rounds enough for the law of what w~ got beside it to be tested. Raises UnlikeTheTrainer
    above 1e-9 of the models' size, for noise of another variance and for cohorts of another size, so that no evidence
    rests on a recursion of another algorithm.
    """
    told = replace(federation, scale=1.0)
    d, deviation, where = told.size[1], told.noise_on_mean, f"({told.form}, q = {told.taking_part})"
    rounds = max(rounds, math.ceil(ENOUGH / d)) if deviation else rounds
    path = run(
        told.problem,
        told.form,
        strength=told.strength,
        learning_rate=told.learning_rate,
        rounds=rounds,
        local_steps=told.steps,
        cohort=told.cohort,
        noise_std=told.sigma,
        seed=1,
        start=told.start,
    )
    if any(len(cohort) != told.taking_part for cohort in path.cohorts):
        raise UnlikeTheTrainer(f"the trainer's cohorts are {[len(cohort) for cohort in path.cohorts[:4]]}, ... {where}")
    states = np.concatenate([path.shared[:, None], path.models], axis=1).reshape(rounds + 1, -1)
    states = np.hstack([states, np.ones((rounds + 1, 1))])
    idle, moving = told.parts
    apart = states[1:].copy()
    for t in range(rounds):
        apart[t] -= (idle + moving[path.cohorts[t]].sum(axis=0)) @ states[t]
    size, noise = float(np.abs(states).max()), apart[:, :d].copy()
    if deviation:
        apart[:, :d] = 0.0
    worst = float(np.abs(apart).max()) / size
    if not worst < 1e-9:
        raise UnlikeTheTrainer(f"the recursion is {worst:.2g} away from the trainer {where}")
    if not right_noise(noise, deviation, 1e-9 * size):
        raise UnlikeTheTrainer(f"the trainer's noise has deviation {noise.std():.3g}, told {deviation:.3g} {where}")
    return worst
