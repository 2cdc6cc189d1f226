"""A mean over a cohort of everybody, taken to divide by a constant as 0.2.0 did, is below the closed form."""

from __future__ import annotations

import math
from typing import Any

import pytest
from scipy.stats import norm

from dpcert.accounting import Bracket, epsilon
from dpcert.mechanisms import InputError
from dpcert.mechanisms.tables.cohort import SamplingTable
from dpcert.mechanisms.tables.phase import Phase, composed
from dpcert.proofs_checks.certificates.restated import NoCertificate
from dpcert.proofs_checks.certificates.stated import of_one_unit
from dpcert.proofs_checks.claims.assumptions import assumptions
from dpcert.proofs_checks.claims.claim import Claim, parse_claim
from dpcert.proofs_checks.claims.findings import findings
from dpcert.proofs_checks.verification.verify import certified_interval, verify

TABLES: dict[str, Any] = {
    "claim": {"title": "T", "neighbouring": "add-remove", "epsilon": 15.0, "delta": 1e-5},
    "mechanism": {"kind": "gaussian-mean", "noise_std": 0.1, "clip_norm": 1.0},
    "sampling": {"scheme": "fixed-size", "population": 10, "cohort": 10},
    "composition": {"rounds": 3},
}
SEARCH: dict[str, Any] = {
    "claim": TABLES["claim"],
    "mechanism": {
        "kind": "best-of-several",
        "gamma": 0.5,
        "run": {key: TABLES[key] for key in TABLES if key != "claim"},
    },
}


def needed(epsilon: float) -> float:
    """The delta of three means that move by 2/10 (Balle, Wang 2018, Theorem 8)."""
    mu = math.sqrt(3) * 0.2 / 0.1
    return float(norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))


def test_a_divisor_that_is_told_by_the_scheme_s_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert needed(certified_interval(parse_claim(TABLES))[0].upper) <= 1e-5 * (1 + 1e-9)
    monkeypatch.setattr(SamplingTable, "leaves_some_out", property(lambda sampling: sampling.scheme == "fixed-size"))
    assert needed(certified_interval(parse_claim(TABLES))[0].upper) > 1e-5


def test_a_search_among_runs_that_divide_by_who_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The best of several shows what one run does: all are equally good, and the first is kept."""
    with pytest.raises(InputError, match=r"claim\.neighbouring = 'add-remove': .* moves it up to twice as far"):
        parse_claim(SEARCH)
    monkeypatch.setattr(Phase, "with_searched_runs", property(lambda phase: (phase,)))
    assert needed(certified_interval(parse_claim(SEARCH))[0].upper) > 1e-5


def test_a_unit_that_moves_from_one_mean_to_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten units in each of two regions: one leaves the first, whose mean moves by 2/10, and enters the other's."""
    region = {key: TABLES[key] for key in ("mechanism", "sampling")}
    statement = TABLES["claim"] | {"neighbouring": "replace-one", "phases_per_unit": 1}
    tables = {"claim": statement, "phase": [region, region]}
    with pytest.raises(InputError, match=r"claim\.phases_per_unit = 1: expected noise on the sum"):
        parse_claim(tables)
    monkeypatch.setattr(Claim, "_refuse_moving_divisors", lambda _: None)
    mu = math.hypot(0.2, 2 / 11) / 0.1
    priced = certified_interval(parse_claim(tables))[0].upper
    assert norm.cdf(mu / 2 - priced / mu) - math.exp(priced) * norm.cdf(-mu / 2 - priced / mu) > 1e-5
    constant = {"mechanism": {"kind": "gaussian", "noise_multiplier": 1.0}}
    assert parse_claim(tables | {"phase": [constant, constant]}).run.at_most == 1  # type: ignore[attr-defined]


WEIGHTED = {"kind": "gaussian-mean", "noise_std": 0.5, "clip_norm": 1.0, "weights": [1.0] * 9 + [5.0]}


@pytest.mark.parametrize("relation", ["add-remove", "zero-out"])
def test_a_search_among_means_whose_weights_change(relation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused, as one run alone is or is bounded by replace-one; without that less than the run's own bound."""
    run = {"mechanism": WEIGHTED, "sampling": {"scheme": "fixed-size", "population": 10, "cohort": 2}}
    statement = TABLES["claim"] | {"neighbouring": relation}
    tables = {"claim": statement, "mechanism": SEARCH["mechanism"] | {"run": run}}
    with pytest.raises(InputError, match=r"claim\.neighbouring = .* weights"):
        parse_claim(tables)
    alone = certified_interval(parse_claim(run | {"claim": statement | {"neighbouring": "replace-one"}}))[0]
    monkeypatch.setattr(Phase, "with_searched_runs", property(lambda phase: (phase,)))
    priced = certified_interval(parse_claim(tables))[0]
    assert relation == "add-remove" or priced.upper < alone.upper


def test_what_is_to_be_said_of_a_run_inside_of_a_search() -> None:
    run = {"mechanism": {"kind": "laplace", "noise_multiplier": 2.0}, "composition": {"rounds": 2},
           "sampling": {"scheme": "shuffle", "population": 10, "cohort": 5}}  # fmt: skip
    statement = TABLES["claim"] | {"neighbouring": "replace-one"}
    read = parse_claim({"claim": statement, "mechanism": SEARCH["mechanism"] | {"run": run}})
    found = findings(read, Bracket(0.0, math.inf, True, "none"), "undecided", ())
    assert {"norm-not-stated", "shuffled-not-poisson"} <= {finding.id for finding in found}
    assert any("shuffling: a new uniform order" in sentence for sentence in assumptions(read))


def test_a_certificate_of_one_phase_where_moving_to_another_costs_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two parts of a thousand hidden cohorts: leaving one and entering the other are two thousand rounds."""
    part = {
        "mechanism": {"kind": "gaussian", "noise_multiplier": 2.0},
        "sampling": {"scheme": "fixed-size", "population": 100, "cohort": 2},
        "composition": {"rounds": 1000},
    }
    statement = TABLES["claim"] | {"neighbouring": "replace-one", "phases_per_unit": 1}
    read = parse_claim({"claim": statement, "phase": [part, part]})
    with pytest.raises(NoCertificate, match="may move it to another phase"):
        of_one_unit(read)
    monkeypatch.setattr("dpcert.proofs_checks.certificates.stated._STAYING_COSTS_MOST", {("gaussian", "fixed-size")})
    proved = composed([(phase, phase.described().upper) for phase in of_one_unit(read)])
    assert epsilon(proved, 1e-5, "replace-one", rtol=0.1).upper < epsilon(read.run, 1e-5, "replace-one").lower


def test_what_a_mean_over_those_present_is_without_its_range() -> None:
    """The finding spans both divisors, as the verdict does: it named the lower end alone."""
    ranged = TABLES["claim"] | {"mu": 1.5, "epsilon": None, "delta": 1e-5}
    tables = TABLES | {"claim": ranged, "composition": {"rounds": 1}}
    (told,) = [finding.text for finding in verify(parse_claim(tables)).findings if finding.id == "range-matters"]
    assert told.endswith("Without the range, mu is from 1 to 2.")
