"""Private MOCHA. OURS, not the paper's: the paper gives no privacy guarantee (its footnote 3).

Write Sigma = Omega^{-1} = c I + B D B^T with c an eigenvalue (algorithms.fixed_omega.decompose), so that
w_t = (c v_t + D-weighted row t of B M) / lambda with the (r, d) statistic M = sum_t b_t v_t^T. Node t knows its own
v_t = X_t^T alpha_t / n_t exactly; all that it needs of the others is M, which is the billboard. Each round

1. node t solves its subproblem (4) as in MOCHA and shortens the whole step, Delta alpha_t and Delta v_t, by
   min(1, clip_norm / ||Delta v_t||): the dual is convex, so a shortened step is a feasible one, and alpha, v agree;
2. it sends b_t Delta v_t^T / max_s ||b_s||, of norm at most clip_norm;
3. M grows by the sum of these plus Gaussian noise of standard deviation noise_multiplier * clip_norm.

So a round is one Gaussian mechanism on a sum over clients, whatever Omega is; for mean-regularised tasks M is one
row. Omega must not depend on the data, unless all of V is published (`everything`): then Omega-steps on the
published W are post-processing. Clients' noise does not vanish: what survives of the convergence theorems is in
docs/mocha.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import count, nonnegative, positive
from ..algorithms.fixed_omega import decompose
from ..engine.clipping import ClippedSum, Grid, Layers
from ..engine.noise import grid_noise
from ..engine.spent import digest_of
from ..engine.streams import Streams
from .methods import Setting
from .mocha import State
from .omegas import Omega, learned_covariance
from .sdca import local_updates, own_orders
from .sigma_prime import SigmaPrime, lemma_sigma, reference_sigma

CPU = torch.device("cpu")


OMEGA_EVERY = 10
"""Rounds between the Omega-steps of private MOCHA with a learned Omega."""


@dataclass(frozen=True, eq=False)
class Relay:
    """How nodes read their weights off the billboard: W^T = (level V + mixing M) / lambda, M = rows^T V + noise.

    rows (m, r): b_t. mixing (m, r). largest: max_t ||b_t||.
    """

    level: float
    rows: Floats
    mixing: Floats

    @classmethod
    def of(cls, covariance: Floats) -> Relay:
        """The fewest rows for a fixed Sigma (m, m). Raises InputError where tasks have nothing in common."""
        level, signs, rows = decompose(covariance)
        return cls(level, rows, -rows * signs)

    @classmethod
    def everything(cls, covariance: Floats) -> Relay:
        """All of V is published, and nodes use the published version of their own v_t too."""
        return cls(0.0, np.eye(len(covariance)), covariance)

    @property
    def largest(self) -> float:
        return float(np.linalg.norm(self.rows, axis=1).max())

    def weights(self, v: Floats, statistic: Floats, regularisation: float) -> Floats:
        """(d, m): every node's own weights."""
        return np.asarray((self.level * v + self.mixing @ statistic).T / regularisation)


@dataclass(frozen=True, eq=False)
class Release:
    """What a round would publish, before anybody sees it, and the state that nodes have moved to.

    pre_noise, noise: (r, d), in the units of the clipped messages. messages: (m, r, d) as they enter the sum.
    """

    pre_noise: Floats
    noise: Floats
    messages: Floats
    alpha: Floats
    v: Floats

    def digest(self) -> str:
        """By which a repeated round is recognised."""
        return digest_of(self.pre_noise + self.noise)


@dataclass(frozen=True)
class PrivateRounds:
    """The rounds of private MOCHA on `setting`. passes: over a node's samples in a round.

    omega_every: rounds between Omega-steps on the published weights; 0 keeps Omega, and publishes the least.
    sigma_prime: of (4); one that reads the tasks' data, as sigma_prime.lemma_sigma does, is not private.
    """

    setting: Setting
    clip_norm: float
    noise_multiplier: float
    passes: float = 1.0
    omega_every: int = 0
    sigma_prime: SigmaPrime = reference_sigma

    def __post_init__(self) -> None:
        positive("clip_norm", self.clip_norm)
        nonnegative("noise_multiplier", self.noise_multiplier)
        positive("passes", self.passes)
        count("omega_every", self.omega_every, least=0)

    @property
    def sensitivity(self) -> float:
        """How far replacing one client's data moves pre_noise: 2 clip_norm."""
        return 2 * self.clip_norm

    def relay(self, covariance: Floats) -> Relay:
        return Relay.everything(covariance) if self.omega_every else Relay.of(covariance)

    def start(self) -> State:
        state = State.start(self.setting.tasks, self.setting.omega)
        rows = self.relay(state.covariance).rows
        return replace(state, extra={"statistic": np.zeros((rows.shape[1], self.setting.tasks.dimension))})

    def compute(self, state: State, streams: Streams, attempt: int) -> Release:
        """All nodes' part of a round, and the noise; functions of the state, the streams and the attempt alone."""
        alpha, message = self._local(state, streams)
        norms = np.linalg.norm(message, axis=1)
        finite = np.isfinite(norms)  # a node whose arithmetic overflowed sits the round out
        factor = np.where(finite, self.clip_norm / np.maximum(norms, self.clip_norm), 0.0)[:, None]
        moved = factor * np.where(finite[:, None], message, 0.0)
        step = factor * np.where(finite[:, None], alpha - state.alpha, 0.0)
        pre_noise, messages = self._clipped_sum(self.relay(state.covariance), moved)
        deviation = self.noise_multiplier * self.clip_norm
        rng = streams.generator("noise", attempt, state.rounds)
        noise = grid_noise(rng, pre_noise.shape, deviation, self._grid().unit, CPU).numpy()
        return Release(pre_noise, noise, messages, self._feasible(state.alpha + step), state.v + moved)

    def publish(self, state: State, release: Release, released: Floats) -> State:
        """The state after everybody has read `released` (r, d)."""
        relay = self.relay(state.covariance)
        statistic = state.extra["statistic"] + relay.largest * released
        covariance = self._covariance(state, statistic)
        weights = self.relay(covariance).weights(release.v, statistic, self.setting.regularisation)
        return State(release.alpha, release.v, weights, covariance, state.rounds + 1, {"statistic": statistic})

    def _local(self, state: State, streams: Streams) -> tuple[Floats, Floats]:
        """The nodes' subproblems; each node's coins are its own, whatever the others' data are."""
        tasks = self.setting.tasks
        generators = [streams.generator("batches", state.rounds, node) for node in range(tasks.count)]
        order = own_orders(tasks, self.passes, generators)
        scale = np.diag(state.covariance) / self.setting.regularisation
        sigma = self.sigma_prime(tasks, state.covariance)
        return local_updates(tasks, self.setting.loss, state.alpha, state.weights, scale, sigma, order)

    def _feasible(self, moved: Floats) -> Floats:
        """A convex combination of two feasible points, which rounding may have put beside an end of [0, y]."""
        targets = self.setting.tasks.padded[1]
        outside = np.isinf(self.setting.loss.conjugate(moved, targets))
        clamped = targets * np.clip(moved * targets, 0.0, 1.0)
        return np.where(outside, clamped, moved)

    def _grid(self) -> Grid:
        return Grid.for_round(self.clip_norm, self.setting.tasks.count, torch.float64)

    def _clipped_sum(self, relay: Relay, moved: Floats) -> tuple[Floats, Floats]:
        """The exact sum of all messages on the grid, and the messages; each of norm at most clip_norm, exactly."""
        blocks, dimension = relay.rows.shape[1], moved.shape[1]
        grid = self._grid()
        total = ClippedSum(1, blocks * dimension, Layers((blocks * dimension,)), grid, CPU)
        messages = np.zeros((len(moved), blocks, dimension))
        for node, vector in enumerate(moved):
            sent = torch.from_numpy(np.outer(relay.rows[node] / relay.largest, vector).ravel())
            before = total.total.clone()
            total.add(sent, 0)
            added = total.total - before  # exact: whole numbers
            messages[node] = added.numpy().reshape(blocks, dimension) * grid.unit
        return total.total.numpy().reshape(blocks, dimension) * grid.unit, messages

    def _covariance(self, state: State, statistic: Floats) -> Floats:
        """Sigma for the next round. An Omega-step reads the published weights only: post-processing."""
        if not self.omega_every or (state.rounds + 1) % self.omega_every:
            return state.covariance
        published = Relay.everything(state.covariance).weights(statistic, statistic, self.setting.regularisation)
        scale = float(np.square(published).sum()) or 1.0
        return learned_covariance(published, 1e-3 * scale)


def private_of(
    setting: Setting, omega: Omega, clip_norm: float, noise_multiplier: float, sigma_prime: SigmaPrime | None = None
) -> PrivateRounds:
    """Private MOCHA; with a learned omega everything is published and Omega learned from that.

    Raises InputError for the sigma_prime `lemma`, which would tell of everybody's data.
    """
    if sigma_prime is lemma_sigma:
        raise InputError("sigma_prime", "lemma", "reference or tight with privacy: lemma reads all clients' data")
    every = OMEGA_EVERY if omega.learned else 0
    sigma = sigma_prime or reference_sigma
    return PrivateRounds(setting, clip_norm, noise_multiplier, omega_every=every, sigma_prime=sigma)
