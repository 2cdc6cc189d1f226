"""Small trainers with the replay protocol: one that is right, and three that leak past their billboard.

They are what `check_billboard` is tried on, and the shortest complete example of the protocol: clipped, noised
federated mean estimation in which each client keeps a personal model (mean-regularised multi-task learning on
quadratics). Client k's data are an array of points, shape (n_k, dimension).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...mechanisms.arrays import Floats

SERVER, COHORT, CLIENT = 0, 1, 2


@dataclass(slots=True)
class Record:
    """The fields of trainer_protocol.RunRecord."""

    billboard: list[Floats] = field(default_factory=list)
    pre_noise: list[Floats] = field(default_factory=list)
    noise: list[Floats] = field(default_factory=list)
    sensitivity: list[float] = field(default_factory=list)
    messages: dict[tuple[int, int], Floats] = field(default_factory=dict)
    outputs: list[Floats] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PersonalMeans:
    """Each round, a fixed-size cohort uploads clipped steps; the server publishes their noisy mean.

    Every client takes local steps towards (its own mean + pull * billboard) / (1 + pull), on a random half of its
    points when `randomised_clients`. noise_std: on the mean over the cohort.
    """

    rounds: int = 6
    cohort: int = 3
    clip_norm: float = 0.5
    noise_std: float = 0.1
    pull: float = 0.5
    randomised_clients: bool = False

    def run(self, clients: Sequence[Any], seed: int, billboard: Sequence[Any] | None = None) -> Record:
        record, dimension = Record(), np.asarray(clients[0]).shape[1]
        start: Floats = np.zeros(dimension)
        current = self._publish(record, billboard, start, np.zeros(dimension), 0.0)
        models = [np.zeros(dimension) for _ in clients]
        for t in range(self.rounds):
            cohort = self._cohort(clients, models, seed, t)
            for k in cohort:
                models[k] = self._local(clients, k, models, current, seed, t)
                record.messages[t, k] = self._clipped(models[k] - current)
            mean: Floats = np.stack([record.messages[t, k] for k in cohort]).mean(axis=0)
            noise: Floats = np.random.default_rng([seed, SERVER, t]).normal(0.0, self.noise_std, (dimension,))
            current = self._publish(record, billboard, current + mean, noise, 2 * self.clip_norm / self.cohort)
        record.outputs = [self._local(clients, k, models, current, seed, self.rounds) for k in range(len(clients))]
        return record

    def _publish(
        self, record: Record, billboard: Sequence[Any] | None, value: Floats, noise: Floats, sensitivity: float
    ) -> Floats:
        """Write down a release; what everybody reads is the recorded one in a replay."""
        t = len(record.billboard)
        read: Floats = value + noise if billboard is None else np.asarray(billboard[t])
        record.billboard.append(read)
        record.pre_noise.append(value)
        record.noise.append(noise)
        record.sensitivity.append(sensitivity)
        return read

    def _cohort(self, clients: Sequence[Any], models: list[Floats], seed: int, t: int) -> list[int]:
        chosen = np.random.default_rng([seed, COHORT, t]).choice(len(clients), self.cohort, replace=False)
        return sorted(int(k) for k in chosen)

    def _local(
        self, clients: Sequence[Any], k: int, models: list[Floats], current: Floats, seed: int, t: int
    ) -> Floats:
        points = np.asarray(clients[k])
        if self.randomised_clients:
            kept = np.random.default_rng([seed, CLIENT, k, t]).random(len(points)) < 0.5
            points = points[kept] if kept.any() else points
        target = (points.mean(axis=0) + self.pull * current) / (1.0 + self.pull)
        return np.asarray(models[k] + 0.5 * (target - models[k]))

    def _clipped(self, step: Floats) -> Floats:
        return np.asarray(step * min(1.0, self.clip_norm / max(float(np.linalg.norm(step)), 1e-300)))


@dataclass(frozen=True, slots=True)
class SharedOptimiserState(PersonalMeans):
    """Leaks: clients start from a momentum that the server keeps over the raw, noiseless models of the others."""

    def _local(
        self, clients: Sequence[Any], k: int, models: list[Floats], current: Floats, seed: int, t: int
    ) -> Floats:
        momentum: Floats = 0.1 * np.stack(models).mean(axis=0)
        return np.asarray(PersonalMeans._local(self, clients, k, models, current, seed, t) + momentum)


@dataclass(frozen=True, slots=True)
class GlobalNormalisation(PersonalMeans):
    """Leaks: every client centres its points by a mean taken over all clients' points beforehand."""

    def run(self, clients: Sequence[Any], seed: int, billboard: Sequence[Any] | None = None) -> Record:
        centre = np.concatenate([np.asarray(data) for data in clients]).mean(axis=0)
        return PersonalMeans.run(self, [np.asarray(data) - centre for data in clients], seed, billboard)
