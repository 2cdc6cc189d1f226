"""Without one of its limits the checker believes a certificate of what cannot be, and the reader prices it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from certificate_limits import BELIEVED, LIMITS, by_night
from scipy.stats import norm
from weakened_checker import weakened

from dpcert.mechanisms import InputError
from dpcert.mechanisms.tables.phase import Phase
from dpcert.proofs_checks.claims.claim import Claim, parse_claim
from dpcert.proofs_checks.verification.verify import verify


@pytest.mark.parametrize("name", by_night(BELIEVED))
def test_the_limit_is_what_refuses(tmp_path: Path, name: str) -> None:
    limit = LIMITS[name]
    assert weakened(tmp_path, limit.without).check(limit.certificate_beyond()).ok


def test_units_that_do_not_exist_are_priced_without_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three of two: refuted, where the worst that two units can do (a sum that moves by 2) keeps the claim."""
    tables = {
        "claim": {"title": "T", "neighbouring": "zero-out", "epsilon": 100.0, "delta": 1e-5, "group": 3},
        "mechanism": {"kind": "gaussian-mean", "noise_std": 0.1, "clip_norm": 1.0},
        "sampling": {"scheme": "none", "population": 2},
    }
    with pytest.raises(InputError, match="2 units of the population"):
        parse_claim(tables)
    mu = 10.0  # both units: the mean moves by 1, a tenth of that is the noise
    needed = norm.cdf(mu / 2 - 100.0 / mu) - math.exp(100.0) * norm.cdf(-mu / 2 - 100.0 / mu)
    assert needed <= 1e-5
    monkeypatch.setattr(Claim, "_at_most_everybody", lambda *_: None)
    assert verify(parse_claim(tables)).verdict == "refuted"


def test_days_that_go_on_are_priced_too_low_where_each_starts_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree of eight rounds on each of ten days: a unit is in ten trees, each of which moves by 2."""
    tables = {
        "claim": {"title": "T", "neighbouring": "zero-out", "epsilon": 4.0, "delta": 1e-6},
        "mechanism": {"kind": "tree-aggregation", "noise_multiplier": 4.0},
        "composition": {"rounds": 8, "days": 10},
    }
    with pytest.raises(InputError, match=r"composition\.days"):
        parse_claim(tables)
    mu = math.sqrt(10) * 2.0 / 4.0
    assert norm.cdf(mu / 2 - 4.0 / mu) - math.exp(4.0) * norm.cdf(-mu / 2 - 4.0 / mu) > 1e-6
    monkeypatch.setattr(Phase, "_require_whole_days", lambda _: None)
    assert verify(parse_claim(tables)).verdict == "holds"
