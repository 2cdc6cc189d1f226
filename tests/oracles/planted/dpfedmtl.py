"""DPFedMTL's Algorithm 1, one round: as printed, and its correction (papers/dpfedmtl/audits.py)."""

from __future__ import annotations

from dpcert.proofs_checks.auditing import gdp
from dpcert.proofs_checks.papers.dpfedmtl.audits import CLIP, SIGMA, as_printed, corrected

from .case import Planted

CASES = (
    Planted(
        "DPFedMTL Algorithm 1 as printed",
        "gradients within the clipping bound: the noise alone is too small",
        gdp(1 / SIGMA),
        ([0.0, 0.0, CLIP], [0.0, 0.0, -CLIP]),
        as_printed,
        corrected,
    ),
    Planted(
        "DPFedMTL Algorithm 1, un-clipped",
        "a gradient of norm 20 C",
        gdp(1 / SIGMA),
        ([0.0, 0.0, 20 * CLIP], [0.0, 0.0, -20 * CLIP]),
        as_printed,
        corrected,
        trials=500,
    ),
)
