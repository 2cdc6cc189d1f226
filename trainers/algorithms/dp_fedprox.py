"""DP-FedProx: one global model, local steps held back by a proximal term (Li et al. 2020, arXiv 1812.06127v5, (2))."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor

from ...mechanisms.validate import nonnegative
from ..engine.algorithm import Algorithm, Clients, Solve
from ..engine.contribution import Contribution


class DpFedProx(Algorithm):
    """DP-FedAvg with local losses l_k(w) + (strength/2) ||w - w^t||^2."""

    name = "dp-fedprox"
    notion = "dp"
    streams = True

    def __init__(self, strength: float = 1.0) -> None:
        self.strength = nonnegative("lambda", strength)

    def client_round(
        self, solve: Solve, shared: Tensor, own: Tensor, clients: Clients
    ) -> tuple[Iterable[Contribution], None]:
        start = shared[0]
        return solve.change(start, start, self.strength), None
