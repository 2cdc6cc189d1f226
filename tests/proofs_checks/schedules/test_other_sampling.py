"""A schedule log is of a claim's sampling, in whatever words both say it; and of no other one."""

from __future__ import annotations

import json

import pytest

from dpcert.mechanisms import InputError
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.schedules.logged import audited, other_sampling, read_log

PLAIN = {"kind": "gaussian", "noise_multiplier": 1.0}
FACTORED = {"kind": "matrix-factorisation", "noise_multiplier": 2.0, "coefficients": [1.0, 0.5]}
BANDED = {"kind": "matrix-factorisation", "noise_multiplier": 2.0, "column_norms": [1.0], "bands": 2}
EVERYBODY = {"population": 50, "cohort": 10}
ABOUT = {"title": "t", "neighbouring": "zero-out", "epsilon": 3.0, "delta": 1e-5}

SAME = {
    "poisson": (PLAIN, {"sampling_rate": 0.2}, {"sampling_rate": 0.2}, {"sampling_rate": 0.3}),
    "poisson, of sizes": (PLAIN, EVERYBODY, {"sampling_rate": 0.2}, {"sampling_rate": 0.3}),
    "poisson, cut": (PLAIN, EVERYBODY | {"max_cohort": 20}, {"cohort": 10, "max_cohort": 20}, {"cohort": 10}),
    "fixed-size": (PLAIN, EVERYBODY, {"cohort": 10}, {"cohort": 5}),
    "shuffle": (PLAIN, EVERYBODY, {"cohort": 10}, {"cohort": 5}),
    "cyclic": (PLAIN, EVERYBODY, {"cohort": 10}, {"cohort": 5}),
    "random-allocation": (PLAIN, {"block": 4}, {"block": 4}, {"block": 5}),
    "balls-in-bins": (FACTORED, {"bins": 10, "population": 50}, {"bins": 10}, {"bins": 5}),
    "min-separated": (
        FACTORED | {"min_separation": 3},
        {"sampling_rate": 0.2},
        {"min_separation": 3, "sampling_rate": 0.2},
        {"min_separation": 2, "sampling_rate": 0.2},
    ),
    "cyclic-poisson": (
        BANDED | {"min_separation": 2},
        {"sampling_rate": 0.2},
        {"groups": 2, "sampling_rate": 0.2},
        {"groups": 5, "sampling_rate": 0.2},
    ),
    "min-separated, of sizes": (
        FACTORED | {"min_separation": 3},
        EVERYBODY,
        {"min_separation": 3, "sampling_rate": 1 / 3},
        {"min_separation": 3, "sampling_rate": 0.2},
    ),
    "cyclic-poisson, of sizes": (
        BANDED | {"min_separation": 2},
        EVERYBODY,
        {"groups": 2, "sampling_rate": 0.4},
        {"groups": 2, "sampling_rate": 0.2},
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_the_claim_s_own_and_another(name: str) -> None:
    mechanism, stated, same, other = SAME[name]
    scheme = {"scheme": name.partition(",")[0]}
    claim = parse_claim(
        {"claim": ABOUT, "mechanism": mechanism, "sampling": scheme | stated, "composition": {"rounds": 20}}
    )

    def said(sampling: dict, rounds: int = 20, population: int = 50) -> str:
        log = {"population": population, "sampling": sampling, "rounds": [[]] * rounds}
        return other_sampling(log, claim.phases)

    assert said(scheme | same) == ""
    assert said(scheme | same, rounds=12) == ""
    assert "it is of another" in said(scheme | other)
    assert "it is of another" in said({"scheme": "with-replacement", "cohort": 10})
    assert "at most the 20 rounds" in said(scheme | same, rounds=21)
    if "population" in stated:
        assert "its population is 60" in said(scheme | same, population=60)


@pytest.mark.parametrize(
    ("stated", "field"),
    [
        ({"rounds": 5}, "rounds"),
        ({"rounds": [5]}, "rounds"),
        ({"sampling": {"scheme": "poisson", "sampling_rate": "x"}}, "sampling_rate"),
        ({"sampling": {"scheme": "poisson", "rate": 0.1}}, "rate"),
    ],
)
def test_a_log_that_cannot_be_read_is_refused_by_its_key(stated, field, tmp_path) -> None:
    log, path = {"population": 3, "sampling": {"scheme": "poisson", "sampling_rate": 0.1}, "rounds": [[1]]}, "log.json"
    (tmp_path / path).write_text(json.dumps(log | stated))
    claim = parse_claim(
        {
            "claim": ABOUT,
            "mechanism": PLAIN,
            "sampling": {"scheme": "poisson", "sampling_rate": 0.1},
            "composition": {"rounds": 2},
        }
    )
    for read in (
        lambda: other_sampling(read_log(tmp_path / path), claim.phases),
        lambda: audited(tmp_path / path, 0.1),
    ):
        with pytest.raises(InputError) as problem:
            read()
        assert problem.value.field == field
