"""DPFedMTL's forms: corrected, with noise at the server or at the clients; as printed; and as printed but clipped.

All but the printed one bound a gradient: g_i = d f_i / d w_{M+1}, g_i <- g_i min(1, C / ||g_i||). n is Gaussian.
"""

from __future__ import annotations

import math

from torch import Tensor

from ..data import Federation
from ..engine.parameters import FlatModule
from ..engine.settings import Settings
from .shared_layers import SharedLayers

LARGEST_SPREAD = 0.25
"""Of the logarithm of all rounds' factors |I_t|/K: on FEMNIST .71 takes 5 points of accuracy."""


class DpFedMtl(SharedLayers):
    """Corrected, with a trusted server's noise on the sum.

        I_t: each of M clients with probability K/M, nobody told who
        w_{M+1}^{t+1} = w_{M+1}^t - (eta/K) (sum over I_t of g_i + n),  n ~ N(0, sigma^2 S^2),  S = 2C

    Replacing a client moves the sum by at most 2C: a round is G_{1/sigma}-DP for somebody who knows who took part, as
    Lemma 4.2 wants, and C_p(G_{1/sigma}) under Poisson sampling that stays secret (Lemma 4.3). K is a constant, and
    divides a sum of gradients, not of weights: an empty cohort leaves the model where it is, up to noise.
    """

    name = "dpfedmtl"

    def server_round(self, shared: Tensor, mean: Tensor, rate: float) -> Tensor:
        return shared - self.learning_rate * mean


class DpFedMtlLocalNoise(DpFedMtl):
    """Corrected, with the noise at the clients, as the paper's threat model (a curious server) asks.

        g~_i = g_i + n_i,  n_i ~ N(0, sigma^2 S^2),  S = 2C             at the client
        w_{M+1}^{t+1} = w_{M+1}^t - (eta/K) sum over I_t of g~_i

    One upload moves by 2C under its own noise: a participation is G_{1/sigma}-DP against the server. The coalition of
    all others subtracts what it sent and is left with the same upload, or nothing where the client stayed away: neither
    leaves any amplification by sampling. A client that is absent takes its noise away: add-remove is refused.
    """

    name = "dpfedmtl-local-noise"
    noise_at = "clients"


class DpFedMtlAsPrinted(SharedLayers):
    """Algorithm 1 to the letter: no clipping, averages over K whatever |I_t| is. clip_norm is Lemma 4.1's C, which only
    scales the noise.

        I_t: each of M clients with probability K/M
        g~_i = d f_i / d w_{M+1} + n_i,  n_i ~ N(0, sigma^2 S^2)        (3), S = 2CK/M by Lemma 4.1
        w_{M+1,i} = w_{M+1}^t - eta g~_i,  w_i = w_i - eta d f_i / d w_i    (4), (5)
        w_{M+1}^{t+1} = (1/K) sum over I_t of w_{M+1,i}                 (6), K is not |I_t|

    What follows (docs/dpfedmtl.md): without clipping the sensitivity is infinite, and so is epsilon, against everybody;
    replacing a client moves the average of clipped gradients by 2C/K, M/K^2 times as far as S says; (6) multiplies the
    model by |I_t|/K: an empty cohort makes it 0, and the factor tells how many took part.
    """

    name = "dpfedmtl-as-printed"
    noise_at = "clients"
    clips = False

    def prepare(self, model: FlatModule, federation: Federation, settings: Settings) -> None:
        super().prepare(model, federation, settings)
        self.empty_rounds = self.spread = 0.0
        if settings.sampling == "poisson" and settings.cohort < federation.population:
            absent = 1 - settings.cohort / federation.population
            releases = sum(map(self.releases_in, range(settings.rounds)))
            self.empty_rounds = releases * absent**federation.population
            self.spread = math.sqrt(releases * absent / settings.cohort)

    def sensitivity(self, clip_norm: float, cohort: int, population: int) -> float:
        """S = 2CK/M (Lemma 4.1)."""
        return 2 * clip_norm * cohort / population

    def aggregate(self, shared: Tensor, total: Tensor, expected: int, members: int, rate: float) -> Tensor:
        """(1/K) sum over I_t of (w^t - eta g~_i), eqs. (4) and (6). total: the sum of the g~_i."""
        return (members * shared - self.learning_rate * total) / expected

    def advice(self, *, learning_rate: float, steps: int, sampling_rate: float) -> str | None:
        if math.expm1(-self.empty_rounds) <= -0.5:
            return (
                f"eq. (6) divides by K whatever |I_t| is, and {self.empty_rounds:.3g} rounds without any client are "
                "expected: each sets all shared weights to zero. Use --sampling fixed-size, or dpfedmtl."
            )
        if self.spread > LARGEST_SPREAD:
            return (
                "eq. (6) divides by K whatever |I_t| is: over these rounds the shared weights are multiplied by a "
                f"random factor whose logarithm varies by {self.spread:.2g} (a standard deviation), so that training "
                "may end below clients that train alone. Use --sampling fixed-size, or dpfedmtl."
            )
        return None


class DpFedMtlClipped(DpFedMtlAsPrinted):
    """As printed, with the clipping that Lemmas 4.1 and 4.2 suppose ("suppose gradients are clipped with constant C").

    Lemma 4.2 claims G_{1/sigma}-DP for a round. The server sees g~_i alone, which moves by 2C under noise sigma S:
    G_{M/(K sigma)}. The average moves by 2C/K under noise sigma S / sqrt(K): G_{M/(K^1.5 sigma)}.
    """

    name = "dpfedmtl-clipped"
    clips = True
