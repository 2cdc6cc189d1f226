"""Claims in other currencies: read, judged in both directions, refused where they contradict themselves."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from dpcert.mechanisms import InputError
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.verification.verify import verify
from dpcert.proofs_checks.verification.witness import CurrencyWitness

GAUSSIAN = {"kind": "gaussian", "noise_multiplier": 2.0}
"""mu = 1/2, rho = 1/8, advantage 2 Phi(1/4) - 1 = .19741."""


def claim(stated: dict[str, Any], mechanism: dict[str, Any] | None = None, **more: Any) -> Any:
    said = {"title": "a claim", "neighbouring": "add-remove"} | stated
    return parse_claim({"claim": said, "mechanism": mechanism or GAUSSIAN} | more)


JUDGED = [
    ({"rho": 0.126}, "holds"),
    ({"rho": 0.124}, "refuted"),
    ({"rho": 0.126, "orders_up_to": 8}, "holds"),
    ({"mu": 0.51}, "holds"),
    ({"mu": 0.49}, "refuted"),
    ({"mu": 0.51, "fpr_at_least": 1e-3}, "holds"),
    ({"mu": 0.51, "delta": 1e-5}, "holds"),
    ({"mu": 0.49, "delta": 1e-5}, "refuted"),
    ({"rho": 0.126, "delta": 1e-5}, "holds"),
    ({"rho": 0.124, "delta": 1e-5}, "refuted"),
    ({"renyi": {"order": 4, "epsilon": 0.51}}, "holds"),
    ({"renyi": {"order": 4, "epsilon": 0.49}}, "refuted"),
    ({"advantage": 0.1975}, "holds"),
    ({"advantage": 0.1973}, "refuted"),
    ({"tpr_at_fpr": {"fpr": 0.01, "tpr": 0.034}}, "holds"),  # Phi(Phi^-1(.01) + 1/2) = .03388
    ({"tpr_at_fpr": {"fpr": 0.01, "tpr": 0.0338}}, "refuted"),
    ({"curve": [[2.0, 1e-5], [2.5, 1e-7]]}, "holds"),  # the epsilons are 1.99309 and 2.40826
    ({"curve": [[2.0, 1e-5], [2.4, 1e-7]]}, "refuted"),
    ({"epsilon": 100.0, "delta": 0}, "refuted"),
]


@pytest.mark.parametrize(("stated", "verdict"), JUDGED)
def test_a_gaussian_release_in_every_currency(stated: dict[str, Any], verdict: str) -> None:
    result = verify(claim(stated))
    assert result.verdict == verdict
    assert (result.witness is not None) == (verdict == "refuted")
    document = result.to_json()
    name = next(iter(stated))
    assert "the true the" not in result.why
    assert list(document["certified"]) == [f"{name}_lower", f"{name}_upper"]  # type: ignore[arg-type]
    assert all(key in document["claimed"] for key in stated)  # type: ignore[operator]


def test_mobility_reports_hold_with_equality() -> None:
    """Twelve times .11 and six times .22 are exactly 2.64; 2.63 is not claimed, and could not be."""
    phases = [
        {"mechanism": {"kind": "laplace", "noise_multiplier": 1.0}, "composition": {"rounds": rounds}}
        for rounds in (12, 6)
    ]
    scales = (1 / 0.11, 1 / 0.22)
    for phase, scale in zip(phases, scales, strict=True):
        phase["mechanism"] = {"kind": "pure-dp", "epsilon": round(1 / scale, 10)}
    said = {"title": "mobility", "neighbouring": "add-remove", "delta": 0}
    assert verify(parse_claim({"claim": said | {"epsilon": 2.64}, "phase": phases})).verdict == "holds"
    assert verify(parse_claim({"claim": said | {"epsilon": 2.63}, "phase": phases})).verdict == "undecided"


def test_an_unbounded_loss_says_why() -> None:
    result = verify(claim({"epsilon": 100.0, "delta": 0}))
    assert result.certified.lower == math.inf
    assert "no upper bound" in result.why


def test_a_range_is_told_with_what_holds_without_it() -> None:
    sampling = {"scheme": "poisson", "sampling_rate": 0.01}
    run = {"sampling": sampling, "composition": {"rounds": 100}}
    result = verify(claim({"mu": 0.1, "fpr_at_least": 1e-4}, **run))
    assert result.verdict == "holds"
    (told,) = [finding.text for finding in result.findings if finding.id == "range-matters"]
    assert "from 5 to 5" in told  # sqrt(100) / 2
    assert verify(claim({"mu": 0.1}, **run)).verdict == "refuted"


def test_a_delta_is_a_range() -> None:
    """Sampled, sqrt(100) / 2 = 5 and 100 / 8 = 12.5 without it."""
    sampling = {"scheme": "poisson", "sampling_rate": 0.01}
    run = {"sampling": sampling, "composition": {"rounds": 100}}
    for stated, less, without in (({"mu": 0.059}, {"mu": 0.058}, "5 to 5"), ({"rho": 0.2}, {"rho": 1e-3}, "12.5")):
        result = verify(claim(stated | {"delta": 1e-5}, **run))
        assert result.verdict == "holds"
        assert any(finding.id == "range-matters" and without in finding.text for finding in result.findings)
        assert result.to_json()["claimed"] == stated | {"delta": 1e-5}
        assert verify(claim(less | {"delta": 1e-5}, **run)).verdict == "refuted"


def test_what_is_needed_is_told_with_digits_that_differ_from_the_claimed() -> None:
    laplace = {"kind": "laplace", "noise_multiplier": 2.0}
    for stated, told in ((0.4999, "0.5, and not 0.4999"), (0.4, "1.25 times the claimed one")):
        shown = f"The true pure epsilon is at least {told}; two neighbouring data sets show it."
        assert verify(claim({"epsilon": stated, "delta": 0}, laplace)).why == shown


def test_the_witness_names_what_is_compared() -> None:
    seen = verify(claim({"rho": 0.1, "orders_up_to": 4})).witness
    assert isinstance(seen, CurrencyWitness)
    assert seen.quantity == "rho at orders up to 4"
    assert seen.needed > seen.claimed == 0.1
    assert "N(0.5, 1)" in seen.pair


BAD = [
    ({}, "claim.epsilon, claim.delta"),
    ({"epsilon": 1.0}, "claim.delta"),
    ({"rho": 0.1, "mu": 1.0}, "claim.mu"),
    ({"rho": 0.1, "delta": 1.5}, "claim.delta"),
    ({"rho": 0.1, "delta": 1e-5, "orders_up_to": 8}, "claim.delta_at_least"),
    ({"mu": 0.1, "delta": 1e-5, "fpr_at_least": 0.1}, "claim.delta_at_least"),
    ({"advantage": 0.1, "delta": 1e-5}, "claim.delta"),
    ({"epsilon": 0.1, "delta": 1e-5, "delta_at_least": 1e-5}, "claim.delta_at_least"),
    ({"mu": 1.0, "orders_up_to": 8}, "claim.orders_up_to"),
    ({"rho": -1.0}, "claim.rho"),
    ({"mu": math.nan}, "claim.mu"),
    ({"mu": 1.0, "fpr_at_least": 0.7}, "claim.fpr_at_least"),
    ({"rho": 1.0, "orders_up_to": 1}, "claim.orders_up_to"),
    ({"renyi": {"order": 1.0, "epsilon": 1.0}}, "claim.renyi.order"),
    ({"renyi": {"order": 2.0}}, "claim.renyi.epsilon"),
    ({"curve": []}, "claim.curve"),
    ({"curve": [[1.0, 1.0]]}, "claim.curve"),
    ({"tpr_at_fpr": {"fpr": 0.0, "tpr": 0.5}}, "claim.tpr_at_fpr.fpr"),
    ({"advantage": 1.0}, "claim.advantage"),
    ({"epsilon": 1.0, "delta": 1.0}, "claim.delta"),
]


@pytest.mark.parametrize(("stated", "field"), BAD)
def test_contradictions_are_named(stated: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as refused:
        claim(stated)
    assert refused.value.field == field


def test_no_certificate_says_so(tmp_path: Path) -> None:
    sampling = {"scheme": "poisson", "sampling_rate": 0.1}
    result = verify(claim({"mu": 1.1, "group": 2}, sampling=sampling), certificates=tmp_path)
    assert result.certificate is None
    assert any(finding.id == "no-certificate" for finding in result.findings)
