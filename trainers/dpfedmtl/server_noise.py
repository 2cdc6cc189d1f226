"""DPFedMTL corrected, with a trusted server's noise on the sum.

    I_t: each of M clients with probability K/M, nobody told who
    g_i  = d f_i / d w_{M+1},  g_i <- g_i min(1, C / ||g_i||)
    w_{M+1}^{t+1} = w_{M+1}^t - (eta/K) (sum over I_t of g_i + n),  n ~ N(0, sigma^2 S^2),  S = 2C

Replacing a client moves the sum by at most 2C, so that a round is G_{1/sigma}-DP for somebody who knows who took part,
as Lemma 4.2 wants, and C_p(G_{1/sigma}) under Poisson sampling that stays secret (Lemma 4.3). K is a constant, and what
it divides is a sum of gradients, not of weights: an empty cohort leaves the model where it is, up to noise.
"""

from __future__ import annotations

from torch import Tensor

from .shared_layers import SharedLayers


class DpFedMtl(SharedLayers):
    """Clipped gradients, fixed denominator, noise at the server for the sum's true sensitivity."""

    name = "dpfedmtl"

    def server_round(self, shared: Tensor, mean: Tensor, rate: float) -> Tensor:
        """w_{M+1} - eta g~, g~ the noisy sum over the constant K."""
        return shared - self.learning_rate * mean
