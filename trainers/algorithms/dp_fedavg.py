"""DP-FedAvg: one global model (McMahan, Ramage, Talwar, Zhang 2018, arXiv 1710.06963v3, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor

from ..engine.algorithm import Algorithm, Clients, Solve
from ..engine.contribution import Contribution


class DpFedAvg(Algorithm):
    """w <- w + (1/q) sum clip(w_k - w) + noise, w_k from local SGD that starts at w."""

    name = "dp-fedavg"
    notion = "dp"
    streams = True

    def client_round(
        self, solve: Solve, shared: Tensor, own: Tensor, clients: Clients
    ) -> tuple[Iterable[Contribution], None]:
        return solve.change(shared[0]), None
