"""Claims on balls in bins and b-min-sep sampling with correlated noise: refuted by draws, never proved by them.

Draws are seeded and err with probability 1e-6. Plain noise (one coefficient) is where the truth is known.
"""

from __future__ import annotations

import json

import pytest

from dpcert.accounting import epsilon
from dpcert.cli import run
from dpcert.mechanisms import Gaussian, InputError, Poisson, RandomAllocation, Repeat
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.verification import kept, simulated
from dpcert.proofs_checks.verification.verify import verify

BINS = {"scheme": "balls-in-bins", "bins": 20}
COINS = {"scheme": "min-separated", "sampling_rate": 0.1}


def claim(stated: float, sampling: dict, relation: str = "add-remove", rounds: int = 60, **noise):
    noise = {"kind": "matrix-factorisation", "noise_multiplier": 1.5, "coefficients": [1.0]} | noise
    tables = {"title": "sampled", "neighbouring": relation, "epsilon": stated, "delta": 1e-6}
    return {"claim": tables, "mechanism": noise, "sampling": sampling, "composition": {"rounds": rounds}}


def truth(sampling: dict) -> float:
    known = (
        RandomAllocation(Gaussian(1.5 * 3**-0.5), 20) if sampling is BINS else Repeat(Poisson(Gaussian(1.5), 0.1), 60)
    )
    return epsilon(known, 1e-6).upper


@pytest.fixture(autouse=True)
def _fewer_draws(monkeypatch):
    monkeypatch.setattr(simulated, "DRAWS", 20_000)


@pytest.mark.parametrize("sampling", [BINS, COINS])
def test_what_is_too_low_is_refuted_and_the_rest_undecided(sampling):
    for share, verdict in ((0.95, "refuted"), (1.0, "undecided"), (1.02, "undecided")):
        found = verify(parse_claim(claim(share * truth(sampling), sampling)))
        assert found.verdict == verdict
        assert found.certified.lower <= truth(sampling) < found.certified.upper
        (told,) = [finding.text for finding in found.findings if finding.id == "simulated"]
        assert ("does not refute" in told) is (verdict == "undecided")
    high = verify(parse_claim(claim(100.0, sampling)))
    assert (high.verdict, high.witness) == ("holds", None)  # by the interval, not by draws


def test_the_witness_is_evidence_and_says_so(tmp_path):
    tables = claim(0.9 * truth(BINS), BINS)
    found = verify(parse_claim(tables))
    seen = found.witness.to_json()
    assert (seen["certified"], seen["error"], seen["draws"]) == (False, 1e-6, 20_000)
    assert seen["delta_at_claimed_epsilon"] > seen["delta"] == 1e-6
    assert "probability of error 1e-06" in found.why
    kept.write(tmp_path, "name", found)
    assert kept.read(tmp_path, "name", parse_claim(tables)).witness == found.witness


def test_an_upper_bound_of_draws_proves_nothing(monkeypatch):
    """The plant: a simulation that sees no loss at all; the claim stays undecided."""
    monkeypatch.setattr(simulated, "estimate_delta", lambda *_, **__: _nothing())
    found = verify(parse_claim(claim(0.9 * truth(BINS), BINS)))
    assert found.verdict == "undecided"


def _nothing():
    from dpcert.proofs_checks.simulation.estimates import DeltaEstimate

    return DeltaEstimate(1.0, 0.0, 0.0, 0.0, 1e-6, 10**9, 0)


def test_nothing_is_simulated_for_who_sees_less_or_more():
    for statement in ({"notion": "billboard"}, {"group": 2}, {"delta": 0.0}):
        tables = claim(3.0, BINS, "replace-one")
        tables["claim"] |= statement
        assert not [finding for finding in verify(parse_claim(tables)).findings if finding.id == "simulated"]


def test_cohorts_and_epochs_say_the_same():
    """180 of 3,600 units, at least 4 rounds apart: a coin of .05/(1 - 3 * .05) for those who may flip one."""
    coins = {"scheme": "min-separated", "population": 3600, "cohort": 180}
    by_size = parse_claim(claim(3.0, coins, min_separation=4))
    by_rate = parse_claim(claim(3.0, COINS | {"sampling_rate": 0.05 / 0.85}, min_separation=4))
    assert by_size.run == by_rate.run
    passes = claim(3.0, BINS) | {"composition": {"epochs": 3}}
    assert parse_claim(passes).run == parse_claim(claim(3.0, BINS)).run


@pytest.mark.parametrize(
    ("sampling", "noise", "field"),
    [
        ({"scheme": "balls-in-bins"}, {}, "sampling.bins"),
        (BINS | {"cohort": 3}, {}, "sampling.cohort"),
        ({"scheme": "poisson", "sampling_rate": 0.1, "bins": 3}, {}, "sampling.bins"),
        (BINS | {"bins": 61}, {}, "bins"),
        (BINS, {"coefficients": None, "column_norms": [1.0], "bands": 1}, "coefficients"),
        (COINS, {"coefficients": [1.0, 0.5]}, "min_separation"),
        ({"scheme": "min-separated", "population": 100, "cohort": 40}, {"min_separation": 3}, "sampling.cohort"),
        (BINS, {"kind": "gaussian", "coefficients": None}, "sampling.scheme"),
        (BINS, {"kind": "tree-aggregation", "coefficients": None}, "sampling.scheme"),
    ],
)
def test_bad_input(sampling, noise, field):
    tables = claim(3.0, sampling, **noise)
    tables["mechanism"] = {key: value for key, value in tables["mechanism"].items() if value is not None}
    with pytest.raises(InputError) as problem:
        parse_claim(tables)
    assert problem.value.field == field


def test_the_commands_tell_the_estimate(capsys):
    noise = ["--mechanism", "matrix-factorisation", "--set", "coefficients=[1.0]", "--noise-multiplier", "1.5"]
    bins = [*noise, "--rounds", "60", "--sampling", "balls-in-bins", "--bins", "20"]
    assert run(["epsilon", "--delta", "1e-6", *bins, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["estimate"]["lower"] <= truth(BINS) <= 1.01 * found["estimate"]["epsilon"]
    assert found["epsilon_lower"] < 0.98 * truth(BINS) < found["estimate"]["lower"]
    assert not found["estimate"]["certified"]
    assert run(["delta", "--epsilon", "3", *bins]) == 0
    assert "proves none" in capsys.readouterr().out
    assert run(["epsilon", "--delta", "1e-6", *bins, "--participation", "visible", "--neighbouring", "zero-out"]) == 0
    assert "simulated" not in capsys.readouterr().out
    assert (
        run(["epsilon", "--delta", "1e-6", "--noise-multiplier", "2", "--sampling", "balls-in-bins", "--bins", "3"])
        == 2
    )
    assert "random-allocation" in capsys.readouterr().err
