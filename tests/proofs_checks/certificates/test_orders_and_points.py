"""Certificates of Renyi divergences, rho, mu and refuted true-positive rates, and what false ones would have to say."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path
from typing import Any

import pytest
from cases import few
from forger import seal
from weakened_checker import weakened

from dpcert.proofs_checks.certificates.checker import check
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.verification.verify import verify

GAUSSIAN = {"mechanism": {"kind": "gaussian", "noise_multiplier": 10.0}, "composition": {"rounds": 4}}
DP_SGD = {
    "mechanism": {"kind": "gaussian", "noise_multiplier": 1.1},
    "sampling": {"scheme": "poisson", "sampling_rate": 0.01},
    "composition": {"rounds": 100},
}
LAPLACE = {"mechanism": {"kind": "laplace", "noise_multiplier": 2.0}, "composition": {"rounds": 3}}
DISCRETE = {"mechanism": {"kind": "discrete-gaussian", "sigma": 4.0, "clip": 1}, "composition": {"rounds": 4}}
ANSWER = {"mechanism": {"kind": "randomized-response", "flip_probability": 0.25, "categories": 2}}


def certificate(stated: dict[str, Any], run: dict[str, Any], folder: Path) -> dict[str, Any]:
    relation = "replace-one" if run is ANSWER else "add-remove"
    tables = {"claim": {"title": "T", "neighbouring": relation} | stated} | run
    found = verify(parse_claim(tables), certificates=folder)
    assert found.certificate is not None, [finding.text for finding in found.findings]
    document = json.loads(Path(found.certificate).read_text())
    assert document["verdict"] == found.verdict
    return dict(document)


@pytest.mark.parametrize(
    ("stated", "run", "verdict"),
    few(
        [
            ({"rho": 0.02}, GAUSSIAN, "holds"),  # exactly the sum of 1 / (2 z^2)
            ({"rho": 0.0199}, GAUSSIAN, "refuted"),
            ({"mu": 0.2}, GAUSSIAN, "holds"),
            ({"mu": 0.199}, GAUSSIAN, "refuted"),
            ({"renyi": {"order": 8, "epsilon": 0.161}}, GAUSSIAN, "holds"),
            ({"renyi": {"order": 8, "epsilon": 0.159}}, GAUSSIAN, "refuted"),
            ({"tpr_at_fpr": {"fpr": 0.01, "tpr": 0.014}}, GAUSSIAN, "refuted"),
            ({"rho": 0.125}, DISCRETE, "holds"),
            ({"rho": 0.12}, DISCRETE, "refuted"),
            ({"rho": 41.4}, DP_SGD, "holds"),  # 100 / (2 z^2): no amplification at large orders
            ({"rho": 0.02, "orders_up_to": 8}, DP_SGD, "holds"),
            ({"rho": 0.2, "delta": 1e-5}, DP_SGD, "holds"),  # up to an order that is no double
            ({"rho": 0.005, "orders_up_to": 8}, DP_SGD, "refuted"),
            ({"renyi": {"order": 8, "epsilon": 0.06}}, DP_SGD, "holds"),
            ({"renyi": {"order": 8, "epsilon": 0.05}}, DP_SGD, "refuted"),
            ({"mu": 9.1}, DP_SGD, "holds"),
            ({"mu": 0.1, "fpr_at_least": 0.01}, DP_SGD, "refuted"),
            ({"mu": 0.2, "delta": 1e-5}, GAUSSIAN, "holds"),
            ({"mu": 0.199, "delta": 1e-5}, GAUSSIAN, "refuted"),
            ({"mu": 1.0, "delta": 1e-3}, LAPLACE, "holds"),
            ({"rho": 0.5}, LAPLACE, "holds"),
            ({"mu": 1.0}, LAPLACE, "holds"),
            ({"tpr_at_fpr": {"fpr": 0.01, "tpr": 0.02}}, LAPLACE, "refuted"),
            ({"rho": 0.6}, ANSWER, "holds"),
            ({"rho": 0.5}, ANSWER, "refuted"),
            ({"mu": 1.35}, ANSWER, "holds"),  # 1.34898, twice the quantile of 3/4
            ({"mu": 1.345}, ANSWER, "refuted"),
        ],
        8,
    ),
)
def test_written_and_proved(stated: dict[str, Any], run: dict[str, Any], verdict: str, tmp_path: Path) -> None:
    document = certificate(stated, run, tmp_path)
    assert document["verdict"] == verdict
    result = check(document)
    assert result.ok, result.reason
    assert verdict in result.reason


@pytest.mark.nightly
@pytest.mark.parametrize("stated", [{"mu": 0.15, "fpr_at_least": 1e-3}, {"tpr_at_fpr": {"fpr": 0.01, "tpr": 0.0115}}])
def test_many_points_of_sampled_noise(stated: dict[str, Any], tmp_path: Path) -> None:
    assert check(certificate(stated, DP_SGD, tmp_path)).ok


FALSE = [  # (a claim that is proved, its run, another number that is false, which verdict it would have)
    ({"rho": 0.02}, GAUSSIAN, "0.0199"),
    ({"mu": 0.2}, GAUSSIAN, "0.1999"),
    ({"renyi": {"order": 8, "epsilon": 0.161}}, GAUSSIAN, "0.159"),
    ({"rho": 0.02, "orders_up_to": 8}, DP_SGD, "0.006"),
    ({"renyi": {"order": 8, "epsilon": 0.06}}, DP_SGD, "0.056"),
    ({"mu": 9.1}, DP_SGD, "9.0"),
    ({"mu": 1.0, "delta": 1e-3}, LAPLACE, "0.84"),  # true: .8478
    ({"mu": 0.199, "delta": 1e-5}, GAUSSIAN, "0.2001"),
    ({"rho": 0.6}, ANSWER, "0.549"),
    ({"mu": 1.35}, ANSWER, "1.348"),
    ({"rho": 0.0199}, GAUSSIAN, "0.0201"),
    ({"mu": 0.199}, GAUSSIAN, "0.2001"),
    ({"tpr_at_fpr": {"fpr": 0.01, "tpr": 0.014}}, GAUSSIAN, "0.0175"),  # true: .01699
    ({"tpr_at_fpr": {"fpr": 0.01, "tpr": 0.02}}, LAPLACE, "0.045"),  # true: .0448
    ({"mu": 1.345}, ANSWER, "1.349"),
]


@pytest.mark.parametrize(("stated", "run", "number"), few(FALSE, 8))
def test_a_false_number_is_refused(stated: dict[str, Any], run: dict[str, Any], number: str, tmp_path: Path) -> None:
    """With the evidence of the true one; and with orders and points moved, left out, or exchanged."""
    document = certificate(stated, run, tmp_path)
    document["currency"]["number"] = number
    for changed in _mutants(document):
        assert not check(seal(changed)).ok, changed


def _mutants(document: dict[str, Any]) -> list[dict[str, Any]]:
    found = [document]
    for key in ("orders", "points"):
        for at in sorted({0, len(document[key]) // 2, len(document[key]) - 1} & set(range(len(document[key])))):
            without = copy.deepcopy(document)
            del without[key][at]
            found.append(without)
        found.append(document | {key: document[key][::-1]})
        found.append(document | {key: document[key][:1]})
    for at, point in list(enumerate(document["points"]))[:: max(1, len(document["points"]) // 2)]:
        for field, value in (("epsilon", "0"), ("delta", "0"), ("delta", "0.9"), ("upper", []), ("lower", None)):
            moved = copy.deepcopy(document)
            moved["points"][at] = point | {field: value}
            found.append(moved)
    found += [document | {"orders": orders} for orders in (["1.5"], ["1"], ["1000"], ["8", "2"], ["1.0001", "8"])]
    return found


def test_other_places_and_verdicts_are_refused(tmp_path: Path) -> None:
    document = certificate({"rho": 0.02, "orders_up_to": 8}, DP_SGD, tmp_path)
    for place in (None, "64", "100000"):  # without the range, or in a larger one
        moved = copy.deepcopy(document)
        moved["currency"]["place"] = place
        assert not check(seal(moved)).ok
    assert not check(seal(document | {"verdict": "refuted"})).ok
    assert not check(seal(document | {"verdict": "undecided"})).ok
    renamed = copy.deepcopy(document)
    for name in ("tpr_at_fpr", "mu at deltas", "mu"):
        renamed["currency"]["name"] = name
        assert not check(seal(renamed)).ok
    assert "digest" in check(document | {"verdict": "refuted"}).reason


def test_planted_a_chord_that_is_not_looked_at_is_caught(tmp_path: Path) -> None:
    """A checker that looks at orders only: for two that are far apart it believes a rho that is false in between."""
    document = certificate({"rho": 0.6}, ANSWER, tmp_path / "certificates")
    document["currency"]["number"] = "0.5"  # true: log(3)/2 tanh(log(3)/2) times 2, .5493, in the limit of order 1
    document["orders"] = ["3", "200"]
    first = 'require(bool(first[1] <= arb(most * (first[0] - 1))), "the first order is not proved")'
    chords = "require(all(below(most, *left, *right) for left, right in pairwise(moments)), "
    plant = weakened(tmp_path, {first: "pass", chords: "require(True, "})
    assert plant.check(seal(document)).ok
    assert not check(seal(document)).ok
    assert math.log(3) * math.tanh(math.log(3) / 2) > 0.5


def test_a_range_that_ends_before_its_delta_is_refused(tmp_path: Path) -> None:
    """And planted: a checker that looks at the first and last points only believes a mu that is false between them."""
    document = certificate({"mu": 1.0, "delta": 0.1}, LAPLACE, tmp_path / "certificates")
    for place in (None, "0.05", "1e-9"):
        moved = copy.deepcopy(document)
        moved["currency"]["place"] = place
        assert not check(seal(moved)).ok
    document["currency"]["number"] = "0.7"  # true: .8478
    cells = "return all(in_cell(most, left[:2], right[:2]) for left, right in pairwise(points))"
    assert weakened(tmp_path, {cells: "return True"}).check(seal(document)).ok
    assert "not proved" in check(seal(document)).reason


def test_planted_a_step_that_is_too_long_is_caught(tmp_path: Path) -> None:
    """A checker that does not ask how far the points are apart believes a true-positive rate that nobody has."""
    document = certificate({"tpr_at_fpr": {"fpr": 0.01, "tpr": 0.014}}, GAUSSIAN, tmp_path / "certificates")
    document["currency"]["number"] = "0.05"
    far = copy.deepcopy(document["points"][-1]) | {"epsilon": "1.7", "delta": "0"}
    document["points"] = [document["points"][0], far]
    step = "bool(arb(epsilon).exp() * fpr + arb(delta) >= arb(most))"
    assert weakened(tmp_path, {step: "True"}).check(seal(document)).ok
    assert "too far" in check(seal(document)).reason
