"""A noise of 0: infinite, but for those who seldom take part; against the probability of taking part."""

from __future__ import annotations

import math

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


def test_the_command_line_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["epsilon", "--noise-multiplier", "0", "--delta", "1e-5"]) == 0
    said = capsys.readouterr().out
    assert "inf" in said
    assert "there is no noise" in said
    assert command(["delta", "--noise-multiplier", "0", "--epsilon", "1", "--json"]) == 0
    assert '"reason"' in capsys.readouterr().out
    with pytest.raises(InputError):
        Gaussian(0.0)
