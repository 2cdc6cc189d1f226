"""DPFedMTL corrected, with the noise at the clients, as the paper's threat model (a curious server) asks.

    g_i  = d f_i / d w_{M+1},  g_i <- g_i min(1, C / ||g_i||)
    g~_i = g_i + n_i,  n_i ~ N(0, sigma^2 S^2),  S = 2C             at the client
    w_{M+1}^{t+1} = w_{M+1}^t - (eta/K) sum over I_t of g~_i

One upload moves by 2C under its own noise: a participation is G_{1/sigma}-DP against the server. The coalition of all
other clients, who subtract what they sent, is left with the same upload, and with nothing where the client stayed away:
neither of them leaves any amplification by sampling. For a client whose data are replaced or zeroed: one that is absent
takes its noise away, so that add-remove is refused.
"""

from __future__ import annotations

from .server_noise import DpFedMtl


class DpFedMtlLocalNoise(DpFedMtl):
    """Clipped gradients, fixed denominator, noise at each client for its own gradient's sensitivity, S = 2C."""

    name = "dpfedmtl-local-noise"
    noise_at = "clients"
