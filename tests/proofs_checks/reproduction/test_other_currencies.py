"""Printed numbers of other currencies: whom they take for neighbours, what they take off, and mu's limit."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dpcert.accounting import renyi
from dpcert.mechanisms import BestOfSeveral, Gaussian, InputError, Poisson, Repeat
from dpcert.proofs_checks.claims.claim import Claim, parse_claim
from dpcert.proofs_checks.claims.currency import EpsilonAt
from dpcert.proofs_checks.reproduction.claimed import explained, stated_numbers
from dpcert.proofs_checks.verification.verify import verify

LAPLACE = {"mechanism": {"kind": "laplace", "noise_multiplier": 4.0}, "composition": {"rounds": 12}}
DP_SGD = {
    "mechanism": {"kind": "gaussian", "noise_multiplier": 1.1},
    "sampling": {"scheme": "poisson", "sampling_rate": 0.01},
    "composition": {"rounds": 100},
}


def claim(stated: dict[str, Any], run: dict[str, Any]) -> Claim:
    return parse_claim({"claim": {"title": "T", "neighbouring": "add-remove"} | stated} | run)


def test_a_doubled_sensitivity_is_found() -> None:
    found = explained(claim({"epsilon": 6, "delta": 0}, LAPLACE))
    assert [each.name for each in found if each.reproduces] == ["pure epsilon, replace-one"]
    assert explained(claim({"epsilon": 3, "delta": 0}, LAPLACE))[0].changes == ()


def test_a_rho_without_its_sampling_is_found() -> None:
    found = explained(claim({"rho": 41.322, "orders_up_to": 8}, DP_SGD))
    assert any("without amplification" in each.name for each in found if each.reproduces)


def test_mu_in_the_limit_is_found() -> None:
    limit = 0.01 * math.sqrt(100 * math.expm1(1 / 1.21))
    found = explained(claim({"mu": round(limit, 5), "fpr_at_least": 0.01}, DP_SGD))
    assert [each.name for each in found if each.reproduces] == ["mu in the limit of many rounds"]


def test_a_curve_is_several_numbers() -> None:
    stated = claim({"curve": [[1.5, 1e-5], [2, 1e-6]]}, DP_SGD)
    with pytest.raises(InputError, match="one number"):
        explained(stated)
    parts = stated_numbers(stated)
    assert [part.printed for part in parts] == ["1.5", "2"]
    assert [part.statement.currency for part in parts] == [EpsilonAt(1.5, 1e-5, 1.5), EpsilonAt(2.0, 1e-6, 2.0)]


def test_a_divergence_and_a_rate_are_explained() -> None:
    true = renyi(Repeat(Gaussian(1.1), 100), 8.0, "add-remove").upper
    (number,) = stated_numbers(claim({"renyi": {"order": 8, "epsilon": round(true, 3)}}, DP_SGD))
    assert [each.changes for each in explained(number) if each.reproduces] == [
        ("without amplification by sampling",),
        ("zero-out", "without amplification by sampling"),
    ]
    (number,) = stated_numbers(claim({"tpr_at_fpr": {"fpr": 0.01, "tpr": 0.0145}}, DP_SGD))
    assert number.printed == "0.0145"
    assert len(explained(number)) > 2


def test_a_search_for_settings_is_a_claim() -> None:
    table = {"kind": "best-of-several", "gamma": 0.1, "run": DP_SGD}
    read = claim({"epsilon": 6, "delta": 1e-5}, {"mechanism": table})
    training = Repeat(Poisson(Gaussian(1.1), 0.01), 100)
    assert read.run == Repeat(BestOfSeveral(training, 0.1), 1)
    assert verify(read).verdict == "holds"
    low = claim({"epsilon": 0.3, "delta": 1e-5}, {"mechanism": table})
    assert verify(low).verdict == "refuted"
    for wrong in ({"gamma": 1.0}, {"shape": -1.0}, {"run": {"mechanism": {"kind": "gaussian"}}}):
        with pytest.raises(InputError):
            verify(claim({"epsilon": 6, "delta": 1e-5}, {"mechanism": table | wrong}))
