"""How entries of the registry were read, planted again: a true number is refuted, a part of a run taken for all."""

from __future__ import annotations

import pytest

from dpcert.proofs_checks import verify
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.registry import importing


def entry(epsilon: float, details: str) -> dict:
    loss = {"privacy_unit": "User-level", "privacy_unit_details": details, "privacy_parameters": {"epsilon": epsilon}}
    noise = "Laplace noise (sensitivity = 1, noise scale = 10)"
    told = {"dp_variant": {"variant_name": "Pure DP"}, "privacy_loss": loss, "implementation": {"mechanisms": noise}}
    return {"deployment": told | {"basic": {"name": "Reports"}}}


@pytest.mark.parametrize(
    ("guard", "fault", "read", "verdict"),
    [
        ("clip_sensitivity", lambda relation: 1.0, entry(0.1, "the change-one relation"), "refuted"),
        ("CLOSE", 1.0, entry(1.0, "adding or removing one user"), "holds"),
    ],
)
def test_what_an_entry_s_noise_is_taken_for(monkeypatch, guard, fault, read, verdict) -> None:
    assert not any(verify(parse_claim(one)).verdict == verdict for one in importing.imported(read, "x").claims.values())
    monkeypatch.setattr(importing, guard, fault)
    assert verify(parse_claim(importing.imported(read, "x").claims["x"])).verdict == verdict
