"""What PMTL is compared with: one global model, all models, a model each, and models of two parts."""

from __future__ import annotations

import torch
from torch import Tensor

from ...mechanisms import PrivacyNotion
from ...mechanisms.validate import nonnegative
from ..engine.algorithm import Algorithm, ClientRound, Clients, Pulled, Solve


class DpFedAvg(Algorithm):
    """w <- w + (1/q) sum clip(w_k - w) + noise, w_k from local SGD that starts at w: one global model
    (McMahan, Ramage, Talwar, Zhang 2018, arXiv 1710.06963v3, Algorithm 1)."""

    name = "dp-fedavg"
    streams = True

    def client_round(self, solve: Solve, shared: Tensor, own: Tensor, clients: Clients) -> ClientRound:
        return solve.change(shared[0]), None


class DpFedProx(Pulled):
    """DP-FedAvg with local losses l_k(w) + (strength/2) ||w - w^t||^2 (Li et al. 2020, arXiv 1812.06127v5, (2))."""

    name = "dp-fedprox"
    streams = True

    def client_round(self, solve: Solve, shared: Tensor, own: Tensor, clients: Clients) -> ClientRound:
        start = shared[0]
        return solve.change(start, start, self.strength), None


class NaiveJoint(Pulled):
    """Client-level DP for multi-task learning as it stands: DP-SGD on all m models at once (PMTL, Figure 1).

    shared: the (m, d) models, all released: each carries the full noise while only its own client moves it. A client's
    update is its own block of the joint vector, clipped as a whole. Models are pulled to the mean of the released ones.
    Blocks add the sum of the cohort's updates, not its mean: a block has one client, and dividing by q would only
    shrink signal and noise alike.
    """

    name = "naive-joint"
    streams = True

    def begin(self, initial: Tensor, population: int) -> Tensor:
        return initial.unsqueeze(0).repeat(population, 1)

    def block_of(self, clients: Clients) -> Clients:
        return clients

    def client_round(self, solve: Solve, shared: Tensor, own: Tensor, clients: Clients) -> ClientRound:
        return solve.change(shared[torch.from_numpy(clients)], shared.mean(dim=0), self.strength), None

    def aggregate(self, shared: Tensor, total: Tensor, expected: int, members: int, rate: float) -> Tensor:
        return shared.add_(total)

    def reference(self, shared: Tensor, clients: Clients) -> Tensor:
        return shared.mean(dim=0, keepdim=True).expand(len(clients), -1)

    def models(self, shared: Tensor, own: Tensor, clients: Clients) -> Tensor:
        return shared[torch.from_numpy(clients)]


class LocalOnly(Algorithm):
    """A client in the cohort continues its own SGD; nothing is sent: what any collaboration has to beat, at no cost."""

    name = "local"
    notion = PrivacyNotion.BILLBOARD
    personal = True
    releases = False

    def client_round(self, solve: Solve, shared: Tensor, own: Tensor, clients: Clients) -> ClientRound:
        return None, solve(own)


class Ditto(Pulled):
    """The global model is DP-FedAvg's; v_k takes local steps on l_k(v) + (strength/2) ||v - w^t||^2 and stays home
    (Li, Hu, Beirami, Smith 2021, Algorithm 1)."""

    name = "ditto"
    notion = PrivacyNotion.BILLBOARD
    personal = True

    def client_round(self, solve: Solve, shared: Tensor, own: Tensor, clients: Clients) -> ClientRound:
        contribution = solve(shared[0]) - shared[0]
        return contribution, solve(own, shared[0], self.strength, stream=1)


class PpSgd(Algorithm):
    """A private global model plus a local one, added (Bietti, Wei, Dudik, Langford, Wu 2022; PMTL, A.8).

    Client k predicts with w + theta_k. A step with gradient g moves theta_k by -alpha eta g and contributes -eta g to
    w: alpha, the local learning rate over the global one, = 0 is DP-FedAvg with one step, large it is local training.
    With several local steps the whole step from w + theta_k, at the rate (1 + alpha) eta, is split alpha : 1.
    """

    name = "pp-sgd"
    notion = PrivacyNotion.BILLBOARD
    personal = True

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = nonnegative("alpha", alpha)

    def begin_personal(self, initial: Tensor) -> Tensor:
        return torch.zeros_like(initial)

    def client_round(self, solve: Solve, shared: Tensor, own: Tensor, clients: Clients) -> ClientRound:
        before = shared[0] + own
        step = solve(before, learning_rate_factor=1 + self.alpha) - before
        contribution = step / (1 + self.alpha)
        return contribution, own + self.alpha * contribution

    def models(self, shared: Tensor, own: Tensor, clients: Clients) -> Tensor:
        return shared[0] + own
