"""DPFedMTL to the letter of its Algorithm 1: no clipping, S = 2CK/M, averages over K whatever |I_t| is.

For t = 0 ... T-1:
    I_t: each of M clients with probability K/M
    for i in I_t:
        g_i    = d f_i / d w_{M+1}                                  nothing is clipped
        g~_i   = g_i + n_i,  n_i ~ N(0, sigma^2 S^2)                (3), S = 2CK/M by Lemma 4.1
        w_{M+1,i} = w_{M+1}^t - eta g~_i                            (4)
        w_i    = w_i - eta d f_i / d w_i                            (5)
    w_{M+1}^{t+1} = (1/K) sum over I_t of w_{M+1,i}                 (6), K is not |I_t|

What follows from the letter (docs/dpfedmtl.md):
- Without clipping the sensitivity is infinite, and so is epsilon, against everybody.
- Replacing a client moves the average of gradients by 2C/K if they are clipped, M/K^2 times as far as S says.
- (6) multiplies the model by |I_t|/K. An empty cohort makes it 0, and the factor tells how many took part.
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


class DpFedMtlAsPrinted(SharedLayers):
    """Algorithm 1 as printed. clip_norm is the C that Lemma 4.1 supposes; it only scales the noise."""

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
