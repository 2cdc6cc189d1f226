"""DP-FedAvg: one global model (McMahan, Ramage, Talwar, Zhang 2018, arXiv 1710.06963v3, Algorithm 1)."""

from __future__ import annotations

from torch import Tensor

from ..engine.algorithm import Algorithm, Clients, Solve


class DpFedAvg(Algorithm):
    """w <- w + (1/q) sum clip(w_k - w) + noise, w_k from local SGD that starts at w."""

    name = "dp-fedavg"
    notion = "dp"

    def client_round(self, solve: Solve, shared: Tensor, own: Tensor, clients: Clients) -> tuple[Tensor, None]:
        return solve(shared[0]) - shared[0], None
