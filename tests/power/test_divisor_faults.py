"""A mean over a cohort of everybody, taken to divide by a constant as 0.2.0 did, is below the closed form."""

from __future__ import annotations

import math

import pytest
from scipy.stats import norm

from dpcert.mechanisms.tables.cohort import SamplingTable
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.verification.verify import certified_interval

TABLES = {
    "claim": {"title": "T", "neighbouring": "add-remove", "epsilon": 15.0, "delta": 1e-5},
    "mechanism": {"kind": "gaussian-mean", "noise_std": 0.1, "clip_norm": 1.0},
    "sampling": {"scheme": "fixed-size", "population": 10, "cohort": 10},
    "composition": {"rounds": 3},
}


def needed(epsilon: float) -> float:
    """The delta of three means that move by 2/10 (Balle, Wang 2018, Theorem 8)."""
    mu = math.sqrt(3) * 0.2 / 0.1
    return float(norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))


def test_a_divisor_that_is_told_by_the_scheme_s_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert needed(certified_interval(parse_claim(TABLES))[0].upper) <= 1e-5 * (1 + 1e-9)
    monkeypatch.setattr(SamplingTable, "leaves_some_out", property(lambda sampling: sampling.scheme == "fixed-size"))
    assert needed(certified_interval(parse_claim(TABLES))[0].upper) > 1e-5
