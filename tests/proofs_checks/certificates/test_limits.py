"""What a claim's reader refuses, a certificate's checker refuses, and the reverse; limits between fields, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from certificate_limits import AT, EVERYBODY, GAUSSIAN, LIMITS, MEAN, by_night, honest

from dpcert.mechanisms import InputError
from dpcert.proofs_checks.certificates.checker import check
from dpcert.proofs_checks.claims.claim import parse_claim


@pytest.mark.parametrize("name", by_night(LIMITS))
def test_reader_and_checker_have_the_same_limit(name: str) -> None:
    limit = LIMITS[name]
    assert check(honest(json.dumps(limit.tables()))).ok  # nothing but the limit is in the way
    with pytest.raises(InputError) as refused:
        parse_claim(limit.tables_beyond())
    assert limit.names in str(refused.value)
    assert not check(limit.certificate_beyond()).ok


def claimed(mechanism: dict[str, Any], sampling: dict[str, Any], **claim: Any) -> dict[str, Any]:
    return {
        "claim": {"title": "T", "neighbouring": "zero-out"} | AT | claim,
        "mechanism": mechanism,
        "sampling": sampling,
    }


COHORT = {"scheme": "fixed-size", "population": 10, "cohort": 5}
RESPONSE = {"kind": "randomized-response", "flip_probability": 0.25}
NOISE = {"kind": "distributed-discrete-gaussian", "sigma": 2.0, "clip": 1.0, "dimension": 3}


@pytest.mark.parametrize(
    ("within", "beyond", "field"),
    [
        (claimed(MEAN, EVERYBODY, group=10), claimed(MEAN, EVERYBODY, group=11), "group"),
        (
            claimed(GAUSSIAN, COHORT, notion="joint", observer="coalition", coalition_size=9),
            claimed(GAUSSIAN, COHORT, notion="joint", observer="coalition", coalition_size=10),
            "coalition_size",
        ),
        (claimed(NOISE | {"clients": 5}, COHORT), claimed(NOISE | {"clients": 6}, COHORT), "clients"),
        (
            claimed({"kind": "shuffled-reports", "reports": 10, "report": RESPONSE}, EVERYBODY),
            claimed({"kind": "shuffled-reports", "reports": 11, "report": RESPONSE}, EVERYBODY),
            "reports",
        ),
    ],
)
def test_nobody_is_counted_who_is_not_there(within: dict[str, Any], beyond: dict[str, Any], field: str) -> None:
    for tables in (within, beyond):
        tables["claim"]["neighbouring"] = "replace-one"
    parse_claim(within)
    with pytest.raises(InputError, match=field):
        parse_claim(beyond)


ISSUED = Path(__file__).parents[2] / "golden" / "certificates_0.2.0.json"
"""What 0.2.0 issued (commit 0334476) for claims at the limits: cohorts of everybody, a third, a rounded number."""


@pytest.mark.parametrize("document", json.loads(ISSUED.read_text("utf-8")), ids=lambda each: each["claim"]["title"])
def test_what_0_2_0_issued_still_checks(document: dict[str, Any]) -> None:
    assert check(document).ok, check(document).reason


@pytest.mark.parametrize("members", [3, 7, 205])
def test_one_in_n_may_be_written_as_a_double(members: int) -> None:
    tables = claimed(MEAN | {"weights": 1 / members}, EVERYBODY | {"population": members}, epsilon=30.0)
    assert check(honest(json.dumps(tables))).ok
    tables["mechanism"]["weights"] = round(1 / members - 5e-5, 4)
    with pytest.raises(InputError, match="rounded up"):
        parse_claim(tables)
