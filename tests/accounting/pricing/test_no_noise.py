"""A noise of 0: infinite, but for those who seldom take part; against the probability of taking part."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from dpcert.accounting import delta, epsilon, renyi, rho
from dpcert.cli import run as command
from dpcert.mechanisms import (
    Cyclic,
    FixedSize,
    Gaussian,
    Group,
    InputError,
    Mechanism,
    NoNoise,
    Poisson,
    RandomAllocation,
    Repeat,
    Sequence,
    Shuffled,
)
from dpcert.proofs_checks import verify
from dpcert.proofs_checks.claims.claim import parse_claim

CASES: list[tuple[Mechanism, str, float]] = [
    (NoNoise(), "add-remove", 1.0),
    (Repeat(NoNoise(), 5), "replace-one", 1.0),
    (Repeat(Poisson(NoNoise(), 0.1), 3), "add-remove", 1 - 0.9**3),
    (Repeat(Poisson(NoNoise(), 0.1), 3), "replace-one", 1 - 0.9**3),
    (Repeat(Poisson(NoNoise(), 0.999), 100), "add-remove", 1.0),
    (Repeat(Poisson(NoNoise(), 0.1), 3), "zero-out", 1 - 0.9**3),
    (Repeat(FixedSize(NoNoise(), 10, 2), 3), "zero-out", 1 - 0.8**3),
    (Repeat(FixedSize(NoNoise(), 10, 2), 3), "replace-one", 1 - 0.8**3),
    (Shuffled(NoNoise(), 5), "replace-one", 1.0),
    (Cyclic(NoNoise(), 5), "add-remove", 1.0),
    (RandomAllocation(NoNoise(), 5, 2), "add-remove", 1.0),
    (Sequence(Gaussian(1.0), NoNoise()), "add-remove", 1.0),
    (Group(NoNoise(), 2), "add-remove", 1.0),
]


@pytest.mark.parametrize(("run", "relation", "taking_part"), CASES)
def test_delta_is_the_probability_of_taking_part(run: Mechanism, relation: str, taking_part: float) -> None:
    found = delta(run, 20.0, relation)
    assert found.lower <= taking_part * (1 + 1e-12)
    assert found.upper >= taking_part * (1 - 1e-12)
    assert found.upper - found.lower < 1e-9
    assert found.upper <= 1.0
    assert epsilon(run, 0.99 * taking_part, relation).lower == math.inf
    if taking_part < 1:
        assert epsilon(run, taking_part * 1.01, relation).upper == 0.0


def test_other_currencies() -> None:
    for run in (NoNoise(), Poisson(NoNoise(), 0.1)):
        assert renyi(run, 2.0).lower == math.inf
        assert rho(run).lower == math.inf


@pytest.mark.parametrize(
    "mechanism",
    [
        {"kind": "gaussian", "noise_multiplier": 0},
        {"kind": "gaussian-mean", "noise_std": 0, "clip_norm": 1.0},
        {"kind": "laplace", "noise_multiplier": 0.0},
        {"kind": "truncated-laplace", "noise_multiplier": 0, "bound": 2},
        {"kind": "discrete-gaussian", "sigma": 0},
        {"kind": "discrete-laplace", "scale": 0},
        {"kind": "gaussian", "noise_multiplier": 0, "norm": "linf", "dimension": 9},
        {"kind": "per-client-gaussian", "noise_std": 0.0, "clip_norm": 1.0},
        {"kind": "stable-histogram", "noise": "laplace", "noise_multiplier": 0.0, "threshold": 3.0},
        {"kind": "bounded-laplace", "scale": 0.0, "width": 3.0},
        {"kind": "truncated-gaussian", "sigma": 0, "width": 3.0},
        {"kind": "skellam", "variance": 0, "clip": 1, "dimension": 4},
        {"kind": "distributed-discrete-gaussian", "sigma": 0, "clients": 2, "clip": 1, "dimension": 4},
    ],
)
def test_a_claim_without_noise_is_refuted_and_says_why(mechanism: dict[str, object]) -> None:
    claim = {"title": "none", "epsilon": 3.0, "delta": 1e-5, "neighbouring": "zero-out"}
    tables = {"claim": claim, "mechanism": mechanism, "sampling": {"scheme": "none", "population": 10}}
    found = verify(parse_claim(tables))
    assert found.verdict == "refuted"
    assert "no-noise" in [finding.id for finding in found.findings]
    sampled = {"scheme": "poisson", "population": 1000, "cohort": 100}
    assert verify(parse_claim(tables | {"sampling": sampled})).verdict == "refuted"
    seldom = {"scheme": "poisson", "population": 10**9, "cohort": 1}
    assert verify(parse_claim(tables | {"sampling": seldom})).verdict == "holds"


CLAIM = {"title": "none", "epsilon": 3.0, "delta": 0.17, "neighbouring": "zero-out"}
COEFFICIENTS = {"kind": "matrix-factorisation", "noise_multiplier": 0, "coefficients": [1.0, 0.5]}
NORMS = {"kind": "matrix-factorisation", "noise_multiplier": 0, "column_norms": [1.0], "bands": 2, "min_separation": 2}


@pytest.mark.parametrize(
    ("mechanism", "sampling", "rounds"),
    [
        ({"kind": "tree-aggregation", "noise_multiplier": 0}, {}, 8),
        (COEFFICIENTS, {}, 8),
        (COEFFICIENTS, {"scheme": "balls-in-bins", "bins": 4}, 8),
        (NORMS, {"scheme": "cyclic-poisson", "sampling_rate": 0.1}, 4),  # two coins: .19
        (COEFFICIENTS | {"min_separation": 2}, {"scheme": "min-separated", "sampling_rate": 0.1}, 2),
    ],
)
def test_correlated_noise_of_0(mechanism: dict[str, object], sampling: dict[str, object], rounds: int) -> None:
    tables = {"mechanism": mechanism, "sampling": sampling, "composition": {"rounds": rounds}}
    found = verify(parse_claim(tables | {"claim": CLAIM}))
    assert found.verdict == "refuted"
    assert "no-noise" in [finding.id for finding in found.findings]
    more = verify(parse_claim(tables | {"claim": CLAIM | {"delta": 0.2}}))
    assert more.verdict == ("holds" if "sampling_rate" in sampling else "refuted")


@pytest.mark.parametrize("about", [{"observer": "server"}, {"notion": "billboard"}])
@pytest.mark.parametrize(
    "mechanism",
    [
        {"kind": "gaussian", "noise_multiplier": 0.0},
        {"kind": "per-client-gaussian", "noise_std": 0.0, "clip_norm": 1.0},
    ],
)
def test_no_observer_is_kept_out_without_noise(mechanism: dict[str, object], about: dict[str, object]) -> None:
    tables = {"claim": CLAIM | about, "mechanism": mechanism, "sampling": {"scheme": "none", "population": 10}}
    assert verify(parse_claim(tables)).verdict == "refuted"


def test_a_certificate_says_that_there_is_no_noise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claim = tmp_path / "claim.toml"
    claim.write_text(
        '[claim]\ntitle = "t"\nepsilon = 1\ndelta = 0.1\nneighbouring = "zero-out"\n'
        '[mechanism]\nkind = "gaussian"\nnoise_multiplier = 0.0\n'
    )
    assert command(["verify", str(claim), "--certificate", str(tmp_path)]) == 1
    assert "without noise" in " ".join(capsys.readouterr().out.split())


def test_the_command_line_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["epsilon", "--noise-multiplier", "0", "--delta", "1e-5"]) == 0
    said = capsys.readouterr().out
    assert "inf" in said
    assert "there is no noise" in said
    assert command(["delta", "--noise-multiplier", "0", "--epsilon", "1", "--json"]) == 0
    assert '"reason"' in capsys.readouterr().out
    client = ["--mechanism", "per-client-gaussian", "--noise-std", "0", "--clip-norm", "1", "--population", "9"]
    assert command(["epsilon", *client, "--neighbouring", "zero-out", "--delta", "1e-5"]) == 0
    assert "there is no noise" in capsys.readouterr().out
    assert command(["risk", "--noise-multiplier", "0"]) == 2
    assert "infinite" in capsys.readouterr().err
    with pytest.raises(InputError):
        Gaussian(0.0)
