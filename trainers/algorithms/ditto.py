"""Ditto: personal models pulled towards a separately trained global one (Li, Hu, Beirami, Smith 2021, Algorithm 1)."""

from __future__ import annotations

from torch import Tensor

from ...mechanisms.validate import nonnegative
from ..engine.algorithm import Algorithm, Clients, Solve


class Ditto(Algorithm):
    """The global model is DP-FedAvg's; v_k takes local steps on l_k(v) + (strength/2) ||v - w^t||^2 and stays home."""

    name = "ditto"
    notion = "billboard"
    personal = True

    def __init__(self, strength: float = 1.0) -> None:
        self.strength = nonnegative("lambda", strength)

    def client_round(self, solve: Solve, shared: Tensor, own: Tensor, clients: Clients) -> tuple[Tensor, Tensor]:
        contribution = solve(shared[0]) - shared[0]
        return contribution, solve(own, shared[0], self.strength, stream=1)
