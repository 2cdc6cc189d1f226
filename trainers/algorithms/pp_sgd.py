"""PP-SGD: a private global model plus a local one, added (Bietti, Wei, Dudik, Langford, Wu 2022; PMTL, A.8).

Client k predicts with w + theta_k. A step with gradient g moves theta_k by -alpha eta g and contributes -eta g to w:
alpha = 0 is DP-FedAvg with one step, large alpha is local training.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ...mechanisms.validate import nonnegative
from ..engine.algorithm import Algorithm, Clients, Solve


class PpSgd(Algorithm):
    """alpha: the local learning rate over the global one.

    With one local step this is the paper's update. With more, the client's whole step from w + theta_k, at the rate
    (1 + alpha) eta, is split between theta_k and its contribution in the same proportion alpha : 1.
    """

    name = "pp-sgd"
    notion = "billboard"
    personal = True

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = nonnegative("alpha", alpha)

    def begin_personal(self, initial: Tensor) -> Tensor:
        return torch.zeros_like(initial)

    def client_round(self, solve: Solve, shared: Tensor, own: Tensor, clients: Clients) -> tuple[Tensor, Tensor]:
        before = shared[0] + own
        step = solve(before, learning_rate_factor=1 + self.alpha) - before
        contribution = step / (1 + self.alpha)
        return contribution, own + self.alpha * contribution

    def models(self, shared: Tensor, own: Tensor, clients: Clients) -> Tensor:
        return shared[0] + own
