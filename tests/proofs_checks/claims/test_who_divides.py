"""Add-remove of a mean: what matters is by what it divides, and not what the sampling scheme is called."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import pytest

from dpcert.proofs_checks.claims.claim import Claim, parse_claim
from dpcert.proofs_checks.verification.verify import verify

POPULATION, STD, ROUNDS, DELTA = 10, 0.1, 3, 1e-5


def claim(epsilon: float = 15.0, relation: str = "add-remove", **sampling: Any) -> Claim:
    return parse_claim(
        {
            "claim": {"title": "T", "neighbouring": relation, "epsilon": epsilon, "delta": DELTA},
            "mechanism": {"kind": "gaussian-mean", "noise_std": STD, "clip_norm": 1.0},
            "sampling": {"population": POPULATION} | sampling,
            "composition": {"rounds": ROUNDS},
        }
    )


def of_move(move: float) -> float:
    """epsilon of ROUNDS means that move so far: Balle, Wang 2018, Theorem 8, at 30 digits."""
    with mp.workdps(30):
        mu = mp.sqrt(ROUNDS) * mp.mpf(repr(move)) / mp.mpf(repr(STD))

        def excess(epsilon: Any) -> Any:
            return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu) - DELTA

        low, high = mp.mpf(1), mp.mpf(60)
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        return float(low)


def farthest_mean(others: list[float]) -> float:
    """How far a mean over those present moves when a unit within [-1, 1] joins these others."""
    before = math.fsum(others) / len(others)
    return max(abs((math.fsum(others) + own) / (len(others) + 1) - before) for own in (-1.0, 1.0))


FALLS = [{"scheme": "none"}, {"scheme": "fixed-size", "cohort": 10}, {"scheme": "cyclic", "cohort": 10}]
STAYS = [{"scheme": "poisson", "cohort": 10}, {"scheme": "random-allocation", "block": 1}]


@pytest.mark.parametrize("sampling", FALLS)
def test_a_mean_over_those_present_moves_twice_as_far(sampling: dict[str, Any]) -> None:
    move = farthest_mean([-1.0] * (POPULATION - 1))
    assert move == pytest.approx(2 / POPULATION)
    found = verify(claim(**sampling))
    assert found.verdict == "undecided"
    assert found.certified.upper >= of_move(move) * (1 - 1e-9)
    assert found.certified.lower <= of_move(1 / POPULATION) * (1 + 1e-9)
    assert any(finding.id == "divisor-is-who-is-there" for finding in found.findings)
    refuted = verify(claim(5.0, **sampling))
    assert refuted.verdict == "refuted"
    assert refuted.witness is not None
    assert "All others contribute zero" in refuted.witness.neighbours


@pytest.mark.parametrize("sampling", STAYS)
def test_a_constant_divisor_stays_and_the_finding_says_so(sampling: dict[str, Any]) -> None:
    found = verify(claim(**sampling))
    assert found.verdict == "holds"
    assert found.certified.upper == pytest.approx(of_move(1 / POPULATION), rel=1e-6)
    (finding,) = [finding for finding in found.findings if finding.id == "divisor-is-constant"]
    assert "constant 10" in finding.text


def test_where_somebody_else_takes_the_place_the_divisor_stays() -> None:
    assert verify(claim(scheme="fixed-size", cohort=9)).verdict == "refuted"


@pytest.mark.parametrize("relation", ["zero-out", "replace-one"])
@pytest.mark.parametrize("sampling", [FALLS[1], FALLS[2]])
def test_a_cohort_of_everybody_is_no_sampling(relation: str, sampling: dict[str, Any]) -> None:
    assert (
        verify(claim(relation=relation, **sampling)).certified
        == verify(claim(relation=relation, scheme="none")).certified
    )
