"""Naive client-level DP for multi-task learning: DP-SGD on the concatenation of all models (PMTL, Figure 1).

All m models are released, so every one of them carries the full noise while only its own client moves it: what plain
client-level DP asks for, and why the paper relaxes it.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from ...mechanisms.validate import nonnegative
from ..engine.algorithm import Algorithm, Clients, Solve
from ..engine.contribution import Contribution


class NaiveJoint(Algorithm):
    """shared: the (m, d) models. A client's update is its own block of the joint vector, clipped as a whole.

    The mean to which models are pulled is a function of the released models. Blocks add the sum of the cohort's
    updates, not its mean: a block has one client, and dividing by q would only shrink signal and noise alike.
    """

    name = "naive-joint"
    notion = "dp"
    streams = True

    def __init__(self, strength: float = 1.0) -> None:
        self.strength = nonnegative("lambda", strength)

    def begin(self, initial: Tensor, population: int) -> Tensor:
        return initial.unsqueeze(0).repeat(population, 1)

    def block_of(self, clients: Clients) -> Clients:
        return clients

    def client_round(
        self, solve: Solve, shared: Tensor, own: Tensor, clients: Clients
    ) -> tuple[Iterable[Contribution], None]:
        return solve.change(shared[torch.from_numpy(clients)], shared.mean(dim=0), self.strength), None

    def aggregate(self, shared: Tensor, total: Tensor, expected: int, members: int, rate: float) -> Tensor:
        return shared.add_(total)

    def reference(self, shared: Tensor, clients: Clients) -> Tensor:
        return shared.mean(dim=0, keepdim=True).expand(len(clients), -1)

    def models(self, shared: Tensor, own: Tensor, clients: Clients) -> Tensor:
        return shared[torch.from_numpy(clients)]
