"""Claims about groups, about disjoint phases, and about selection, local reports and the shuffle model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpcert import epsilon
from dpcert.mechanisms import (
    Disjoint,
    Gaussian,
    Group,
    InputError,
    Laplace,
    Poisson,
    PureDp,
    RandomizedResponse,
    Repeat,
    ReportNoisyMax,
    ShuffledReports,
    SparseVector,
    Staircase,
    UnaryEncoding,
)
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.verification.verdict import Verification
from dpcert.proofs_checks.verification.verify import verify


def claim(mechanism: dict[str, Any] | None = None, **keys: Any) -> dict[str, Any]:
    statement = {"title": "a claim", "neighbouring": "add-remove", "epsilon": 1.0, "delta": 1e-5} | keys
    return {"claim": statement} | ({} if mechanism is None else {"mechanism": mechanism})


def verdict(tables: dict[str, Any], **options: Any) -> Verification:
    return verify(parse_claim(tables), **options)


DPSGD = {
    "mechanism": {"kind": "gaussian", "noise_multiplier": 1.1},
    "sampling": {"scheme": "poisson", "sampling_rate": 0.01},
    "composition": {"rounds": 200},
}


def test_a_user_with_several_examples(tmp_path: Path) -> None:
    tables = claim(group=3) | DPSGD
    read = parse_claim(tables)
    assert read.run == read.attained_run == Group(Repeat(Poisson(Gaussian(1.1), 0.01), 200), 3)
    found = verify(read, certificates=tmp_path)
    assert found.verdict == "refuted"
    assert found.certified.lower == pytest.approx(epsilon(read.run, 1e-5).lower)
    assert found.witness is not None
    assert "3 units more" in found.witness.neighbours
    assert found.certificate is None
    assert any(finding.id == "no-certificate" for finding in found.findings)
    assert verdict(claim(epsilon=3.0, group=3) | DPSGD).verdict == "holds"
    assert verdict(claim(epsilon=1.0) | DPSGD).verdict == "holds"  # planted: what one example costs is not enough


def test_groups_in_other_currencies() -> None:
    table = {"kind": "laplace", "noise_multiplier": 10.0}
    assert verdict(claim(table, epsilon=0.3, delta=0.0, group=3)).verdict == "holds"
    refuted = verdict(claim(table, epsilon=0.29, delta=0.0, group=3))
    assert refuted.verdict == "refuted"
    gaussian = {"kind": "gaussian", "noise_multiplier": 10.0}
    stated = {"title": "rho", "neighbouring": "add-remove", "rho": 0.02, "group": 2}
    assert verdict({"claim": stated, "mechanism": gaussian}).verdict == "holds"
    assert verdict({"claim": stated | {"rho": 0.019}, "mechanism": gaussian}).verdict == "refuted"


def test_disjoint_phases() -> None:
    """Three regions, each unit in one of them; a unit that moves is in two."""
    phases = [{"mechanism": {"kind": "laplace", "noise_multiplier": scale}} for scale in (2.0, 2.0, 4.0)]
    tables = claim(epsilon=0.5, delta=0.0, phases_per_unit=1) | {"phase": phases}
    read = parse_claim(tables)
    assert read.run == Disjoint([Repeat(Laplace(2.0), 1)] * 2 + [Repeat(Laplace(4.0), 1)], at_most=1)
    assert verify(read).verdict == "holds"
    replaced = claim(epsilon=0.5, delta=0.0, phases_per_unit=1, neighbouring="replace-one") | {"phase": phases}
    assert verdict(replaced).verdict == "refuted"
    assert verdict(claim(epsilon=1.0, delta=0.0, phases_per_unit=2) | {"phase": phases}).verdict == "holds"
    assert verdict(claim(epsilon=0.99, delta=0.0) | {"phase": phases}).verdict == "refuted"
    groups = claim(epsilon=1.0, delta=0.0, phases_per_unit=1, group=2) | {"phase": phases}
    assert verdict(groups).verdict == "holds"
    with pytest.raises(InputError, match="at most 3 phases"):
        parse_claim(claim(phases_per_unit=4) | {"phase": phases})


RESPONSE = {"kind": "randomized-response", "flip_probability": 0.25}


@pytest.mark.parametrize(
    ("table", "mechanism"),
    [
        ({"kind": "noisy-max", "epsilon": 1.0, "noise": "laplace"}, ReportNoisyMax(1.0, "laplace")),
        ({"kind": "exponential-mechanism", "epsilon": 1.0}, ReportNoisyMax(1.0, "gumbel")),
        ({"kind": "permute-and-flip", "epsilon": 1.0}, ReportNoisyMax(1.0, "exponential")),
        ({"kind": "sparse-vector", "threshold_scale": 2.0, "query_scale": 8.0}, SparseVector(2.0, 8.0)),
        ({"kind": "staircase", "epsilon": 1.0, "gamma": 0.3}, Staircase(1.0, 0.3)),
        ({"kind": "unary-encoding", "keep": 0.5, "false": 0.25}, UnaryEncoding(0.5, 0.25)),
        (
            {"kind": "shuffled-reports", "reports": 20, "report": RESPONSE},
            ShuffledReports(RandomizedResponse(0.25), 20),
        ),
        (
            {"kind": "shuffled-reports", "reports": 20, "report": {"kind": "pure-dp", "epsilon": 1.0}},
            ShuffledReports(PureDp(1.0), 20),
        ),
    ],
)
def test_tables(table: dict[str, Any], mechanism: Any) -> None:
    assert parse_claim(claim(table, neighbouring="replace-one")).run == Repeat(mechanism, 1)


@pytest.mark.parametrize("kind", ["hadamard-response", "piecewise", "duchi"])
def test_local_reports(kind: str) -> None:
    table = {"kind": kind, "epsilon": 0.7}
    assert verdict(claim(table, epsilon=0.7, delta=0.0, neighbouring="replace-one")).verdict == "holds"
    assert verdict(claim(table, epsilon=0.69, delta=0.0, neighbouring="replace-one")).verdict == "refuted"
    hashed = {"kind": "local-hash", "epsilon": 0.7, "buckets": 4}
    assert verdict(claim(hashed, epsilon=0.7, delta=0.0, neighbouring="replace-one")).verdict == "holds"


def test_the_exponential_mechanism_against_its_zcdp() -> None:
    stated = {"title": "a selection", "neighbouring": "replace-one", "rho": 0.125}
    table = {"kind": "exponential-mechanism", "epsilon": 1.0}
    assert verdict({"claim": stated, "mechanism": table}).verdict in ("holds", "undecided")
    held = verdict({"claim": stated | {"rho": 0.1251}, "mechanism": table})
    assert held.verdict == "holds"


@pytest.mark.parametrize(
    ("keys", "field"),
    [
        ({"group": 0}, "group"),
        ({"group": 2, "notion": "joint"}, "group"),
        ({"phases_per_unit": 1, "observer": "server"}, "phases_per_unit"),
    ],
)
def test_bad_input(keys: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError, match=field):
        parse_claim(claim(**keys) | DPSGD)
    weighted = {"kind": "gaussian-mean", "noise_std": 1.0, "clip_norm": 1.0, "weights": [1.0, 2.0]}
    with pytest.raises(InputError, match="weights"):
        parse_claim(claim(weighted, group=2, neighbouring="zero-out"))
