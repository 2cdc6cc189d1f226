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

from torch import Tensor

from ...mechanisms.validate import nonnegative
from ..engine.algorithm import Algorithm, Clients, Solve
from ..engine.contribution import Differences
from .stability import growth_factor

GROWTH_TOLERANCE = 1e-6
"""The spectral radius is 1 at least, up to the rounding of a double eigenvalue."""


class Pmtl(Algorithm):
    """As the published code aggregates; strength: the regularisation lambda of eq. (2)."""

    name = "pmtl"
    notion = "billboard"
    personal = True

    def __init__(self, strength: float = 1.0) -> None:
        self.strength = nonnegative("lambda", strength)

    def client_round(self, solve: Solve, shared: Tensor, own: Tensor, clients: Clients) -> tuple[Differences, Tensor]:
        mean = shared[0]
        after = solve(own, mean, self.strength)
        return Differences(after, mean), after

    def models(self, shared: Tensor, own: Tensor, clients: Clients) -> Tensor:
        return own


class PmtlAsPrinted(Pmtl):
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

    def client_round(self, solve: Solve, shared: Tensor, own: Tensor, clients: Clients) -> tuple[Differences, Tensor]:
        after = solve(own, shared[0], self.strength)
        return Differences(after, own), after


class PmtlIncrements(Pmtl):
    """Increments divided by the number of clients: w~ stays the mean of all models."""

    name = "pmtl-increments"

    def client_round(self, solve: Solve, shared: Tensor, own: Tensor, clients: Clients) -> tuple[Differences, Tensor]:
        after = solve(own, shared[0], self.strength)
        return Differences(after, own), after

    def server_round(self, shared: Tensor, mean: Tensor, rate: float) -> Tensor:
        return shared + rate * mean
