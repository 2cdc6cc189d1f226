"""PMTL: private mean-regularised multi-task learning (Hu, Wu, Smith, TMLR 2023, Algorithm 1), in three forms.

Lines 4 to 6 are common to them: each client of the cohort continues from its own model w_k^{o_k}, takes its local
steps on l_k(w) + (lambda/2) ||w - w~^t||^2 (eq. (3), line 13) and keeps the result. They differ in what it sends and
in how line 8 adds it to w~, and that decides whether w~ stays an estimate of the mean model:

- `Pmtl` (the published code; the default): u_k = w_k^{t+1} - w~^t, w~ += (1/q) sum clip(u_k) + noise. Each round w~ is
  the mean of the cohort's models afresh, so neither noise nor sampling error accumulates.
- `PmtlAsPrinted` (line 8 as printed): g_k = w_k^{t+1} - w_k^{o_k}, w~ += (1/q) sum clip(g_k) + noise. For q < m
  nothing ties w~ to the mean model: it drifts, and diverges where stability.growth_factor exceeds 1. Even for q = m
  the noise is a random walk.
- `PmtlIncrements`: the same g_k with 1/m in place of 1/q. Without clipping and noise w~ is the mean model exactly;
  the random walk of the noise stays.

Initial models are equal and independent of the data, so that w~^0 = mean w_k^0 reveals nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from ...mechanisms import InputError, PrivacyNotion
from ...mechanisms.validate import count, nonnegative
from ..engine.algorithm import ClientRound, Clients, Pulled, Solve
from ..engine.contribution import Differences
from .stability import growth_factor

GROWTH_TOLERANCE = 1e-6
"""The spectral radius is 1 at least, up to the rounding of a double eigenvalue."""


class Pmtl(Pulled):
    """As the published code aggregates; strength: the regularisation lambda of eq. (2)."""

    name = "pmtl"
    notion = PrivacyNotion.BILLBOARD
    personal = True

    def client_round(self, solve: Solve, shared: Tensor, own: Tensor, clients: Clients) -> ClientRound:
        mean = shared[0]
        after = solve(own, mean, self.strength)
        return Differences(after, mean), after


class PmtlIncrements(Pmtl):
    """Increments divided by the number of clients: w~ stays the mean of all models."""

    name = "pmtl-increments"

    def client_round(self, solve: Solve, shared: Tensor, own: Tensor, clients: Clients) -> ClientRound:
        after = solve(own, shared[0], self.strength)
        return Differences(after, own), after

    def server_round(self, shared: Tensor, mean: Tensor, rate: float) -> Tensor:
        return shared + rate * mean


class PmtlAsPrinted(PmtlIncrements):
    """Line 8 as printed: increments, divided by the cohort's size.

    curvature: the least curvature of the local losses, for the prediction of divergence; 0 for losses with flat
    directions, as those of neural networks and of logistic regression are.
    """

    name = "pmtl-as-printed"

    def __init__(self, strength: float = 1.0, curvature: float = 0.0) -> None:
        super().__init__(strength)
        self.curvature = nonnegative("curvature", curvature)

    def advice(self, *, learning_rate: float, steps: int, sampling_rate: float) -> str | None:
        growth = growth_factor(
            "as-printed",
            curvature=self.curvature,
            strength=self.strength,
            learning_rate=learning_rate,
            steps=steps,
            sampling_rate=sampling_rate,
        )
        if growth <= 1 + GROWTH_TOLERANCE:
            return None
        return (
            f"Algorithm 1 as printed is predicted to diverge: where the losses have curvature {self.curvature:g} the "
            f"broadcast model moves away from the clients' mean by a factor {growth:.4g} a round. "
            "Use pmtl, which takes the mean afresh every round."
        )

    def server_round(self, shared: Tensor, mean: Tensor, rate: float) -> Tensor:
        return shared.add_(mean)


class ClusteredPmtl(Pmtl):
    """One w~_c for each cluster, each the mean of its own clients' models.

    clusters: each client's cluster, from 0. They must not depend on the clients' data (claims register, PMTL-RG2).
    A client moves its own block of the joint sum, so one release of noise multiplier z covers all clusters. A
    cluster's sum is divided by its expected part of the cohort, q m_c / m.

    sizes: number of clients in each cluster.
    """

    name = "clustered-pmtl"

    def __init__(self, clusters: Sequence[int], strength: float = 1.0) -> None:
        super().__init__(strength)
        self.clusters = np.array([count("clusters", cluster, least=0) for cluster in clusters], dtype=np.int64)
        self.sizes = np.bincount(self.clusters) if len(self.clusters) else np.zeros(1, dtype=np.int64)
        if (self.sizes == 0).any():
            raise InputError("clusters", sorted(set(self.clusters.tolist())), "numbers from 0 without gaps")

    def check(self, population: int) -> None:
        if len(self.clusters) != population:
            raise InputError("clusters", len(self.clusters), f"one cluster for each of {population} clients")

    def begin(self, initial: Tensor, population: int) -> Tensor:
        return initial.unsqueeze(0).repeat(len(self.sizes), 1)

    def block_of(self, clients: Clients) -> Clients:
        return self.clusters[clients]

    def client_round(self, solve: Solve, shared: Tensor, own: Tensor, clients: Clients) -> ClientRound:
        mean = shared[torch.from_numpy(self.block_of(clients))]
        after = solve(own, mean, self.strength)
        return Differences(after, mean), after

    def server_round(self, shared: Tensor, mean: Tensor, rate: float) -> Tensor:
        part = torch.from_numpy(len(self.clusters) / self.sizes).to(mean).unsqueeze(1)
        return shared + part * mean
