"""DPFedMTL's Algorithm 1 with the clipping that Lemmas 4.1 and 4.2 suppose, and everything else as printed.

    g_i  = d f_i / d w_{M+1},  g_i <- g_i min(1, C / ||g_i||)       "suppose gradients are clipped with constant C"
    g~_i = g_i + n_i,  n_i ~ N(0, sigma^2 S^2)                      (3), S = 2CK/M by Lemma 4.1
    (4) to (6) as in as_printed.py

Lemma 4.2 claims G_{1/sigma}-DP for a round. The server sees g~_i alone: it moves by 2C under noise sigma S, which is
G_{M/(K sigma)}. The average moves by 2C/K under noise sigma S / sqrt(K): G_{M/(K^1.5 sigma)}.
"""

from __future__ import annotations

from .as_printed import DpFedMtlAsPrinted


class DpFedMtlClipped(DpFedMtlAsPrinted):
    """As printed, with gradients clipped to C = clip_norm."""

    name = "dpfedmtl-clipped"
    clips = True
