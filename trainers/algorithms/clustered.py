"""Clustered PMTL: the mean-regularised objective within fixed clusters (PMTL, remark after Corollary 2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from ...mechanisms import InputError
from ...mechanisms.validate import count, nonnegative
from ..engine.algorithm import Algorithm, Clients, Solve
from ..engine.contribution import Differences


class ClusteredPmtl(Algorithm):
    """One w~_c for each cluster, each the mean of its own clients' models.

    clusters: each client's cluster, from 0. They must not depend on the clients' data (claims register, PMTL-RG2).
    A client moves its own block of the joint sum, so one release of noise multiplier z covers all clusters. A
    cluster's sum is divided by its expected part of the cohort, q m_c / m.

    sizes: number of clients in each cluster.
    """

    name = "clustered-pmtl"
    notion = "billboard"
    personal = True

    def __init__(self, clusters: Sequence[int], strength: float = 1.0) -> None:
        self.strength = nonnegative("lambda", strength)
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

    def client_round(self, solve: Solve, shared: Tensor, own: Tensor, clients: Clients) -> tuple[Differences, Tensor]:
        mean = shared[torch.from_numpy(self.block_of(clients))]
        after = solve(own, mean, self.strength)
        return Differences(after, mean), after

    def server_round(self, shared: Tensor, mean: Tensor, rate: float) -> Tensor:
        part = torch.from_numpy(len(self.clusters) / self.sizes).to(mean).unsqueeze(1)
        return shared + part * mean
