"""Every client alone: the baseline that any collaboration has to beat, and that costs no privacy."""

from __future__ import annotations

from torch import Tensor

from ..engine.algorithm import Algorithm, Clients, Solve


class LocalOnly(Algorithm):
    """A client in the cohort continues its own SGD; nothing is sent to anybody.

    releases: False, since nothing is sent.
    """

    name = "local"
    notion = "billboard"
    personal = True
    releases = False

    def client_round(self, solve: Solve, shared: Tensor, own: Tensor, clients: Clients) -> tuple[None, Tensor]:
        return None, solve(own)
