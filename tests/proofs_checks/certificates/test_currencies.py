"""Certificates at delta = 0, and of the points that other currencies come to."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from forger import COIN, NONE, seal, statement
from weakened_checker import weakened

from dpcert.proofs_checks.certificates.certificate import NoCertificate, proved
from dpcert.proofs_checks.certificates.checker import check
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.verification.verify import verify

DP_SGD = {
    "mechanism": {"kind": "gaussian", "noise_multiplier": 1.1},
    "sampling": {"scheme": "poisson", "sampling_rate": 0.01},
    "composition": {"rounds": 100},
}
EVIDENCE = {"method": "largest-loss", "c": "0", "h": "0", "terms": 0, "beyond": "0", "split": None}


def verified(stated: dict[str, Any], run: dict[str, Any], folder: Path) -> Any:
    claim = {"title": "T", "neighbouring": "add-remove"} | stated
    return verify(parse_claim({"claim": claim} | run), certificates=folder)


def pure(*kinds: tuple[dict[str, Any], int], relation: str = "add-remove", sampling: Any = NONE) -> dict[str, Any]:
    """The statement of a claim at delta = 0."""
    one = statement("pure-dp", {"epsilon": "1"}, relation=relation, delta="0")
    phases = [{"mechanism": mechanism, "sampling": sampling, "rounds": rounds} for mechanism, rounds in kinds]
    return one | {"phases": phases}


def test_stated_decimals_add_up_exactly() -> None:
    """Twelve times .11 and six times .22, of Laplace noise stated by its scale and of stated epsilons."""
    document = proved(
        pure(({"kind": "laplace", "noise_multiplier": "100/11"}, 12), ({"kind": "pure-dp", "epsilon": "0.22"}, 6)),
        1.32,
        2.64,
    )
    assert document["interval"] == {"epsilon_lower": "1.32", "epsilon_upper": "2.64"}
    assert check(document).ok
    for end, wrong in (("epsilon_upper", "2.6399999999999997"), ("epsilon_lower", "1.3200000000000003")):
        moved = json.loads(json.dumps(document))
        moved["interval"][end] = wrong
        moved["verdict"] = "refuted"
        assert "not proved" in check(seal(moved)).reason


@pytest.mark.parametrize(
    ("mechanism", "sampling", "relation", "truth"),
    [
        (
            {"kind": "randomized-response", "flip_probability": "0.25", "categories": 3},
            NONE,
            "replace-one",
            math.log(6),
        ),
        ({"kind": "discrete-laplace", "scale": "4", "clip": 3}, NONE, "replace-one", 1.5),
        ({"kind": "laplace", "noise_multiplier": "2"}, COIN, "add-remove", math.log1p(0.2 * math.expm1(0.5))),
    ],
)
def test_largest_losses(mechanism: dict[str, Any], sampling: Any, relation: str, truth: float) -> None:
    ends = 3 * truth * (1 - 1e-12), 3 * truth * (1 + 1e-12)
    document = proved(pure((mechanism, 3), relation=relation, sampling=sampling), *ends)
    assert 3 * truth * (1 - 1e-9) <= float(document["interval"]["epsilon_lower"])
    assert float(document["interval"]["epsilon_upper"]) <= 3 * truth * (1 + 1e-9)


def test_gaussian_noise_is_refuted_at_any_claim_and_bounded_by_none() -> None:
    document = proved(pure(({"kind": "gaussian", "noise_multiplier": "4"}, 12)), math.inf, math.inf)
    assert document["interval"] == {"epsilon_lower": "1000.0", "epsilon_upper": "inf"}
    forged = json.loads(json.dumps(document))
    forged["interval"] = {"epsilon_lower": "0", "epsilon_upper": "1"}
    forged |= {"verdict": "holds", "evidence": {"upper": [EVIDENCE | {"direction": "both"}], "lower": None}}
    assert "without a bound" in check(seal(forged)).reason
    forged["phases"][0]["mechanism"] = {"kind": "approximate-dp", "epsilon": "0.01", "delta": "0.1"}
    assert "without a bound" in check(seal(forged)).reason


def test_planted_a_hidden_coin_taken_off_the_loss_is_caught(tmp_path: Path) -> None:
    """A checker that takes p times the loss: it accepts what is false, and the real one does not."""
    document = proved(pure(({"kind": "laplace", "noise_multiplier": "0.5"}, 1), sampling=COIN), 0.8, 0.9)
    low = json.loads(json.dumps(document))
    low["interval"] = {"epsilon_lower": "0", "epsilon_upper": "0.5"}
    low |= {"verdict": "holds", "evidence": {"upper": [], "lower": None}}
    low["evidence"]["upper"] = [EVIDENCE | {"direction": end["direction"]} for end in document["evidence"]["upper"]]
    right = "return pure((1 + p * (odds - 1))"
    plant = weakened(tmp_path, {right: "return pure(odds ** p if True else (1 + p * (odds - 1))"})
    assert plant.check(seal(low)).ok
    assert not check(seal(low)).ok
    assert math.log1p(0.2 * math.expm1(2.0)) > 0.5


def test_a_curve_is_proved_point_by_point(tmp_path: Path) -> None:
    found = verified({"curve": [[1.0, 1e-5], [0.1, 1e-6]]}, DP_SGD, tmp_path)
    files = sorted(tmp_path.glob("*.json"))
    assert len(files) == 2
    assert found.certificate in map(str, files)
    verdicts = {json.loads(file.read_text())["claim"]["epsilon"]: check(file) for file in files}
    assert all(result.ok for result in verdicts.values())
    assert "holds" in verdicts["1.0"].reason
    assert "refuted" in verdicts["0.1"].reason
    assert "point 1 of the 2 of a curve" in "".join(file.read_text() for file in files)


def test_risks_are_proved_by_one_point(tmp_path: Path) -> None:
    holding = verified({"advantage": 0.1}, DP_SGD, tmp_path / "advantage")
    assert "holds" in check(holding.certificate).reason
    rate = verified({"tpr_at_fpr": {"fpr": 1e-3, "tpr": 0.01}}, DP_SGD, tmp_path / "rate")
    claim = json.loads(Path(rate.certificate).read_text())["claim"]
    assert check(rate.certificate).ok
    assert math.exp(float(claim["epsilon"])) * 1e-3 + float(claim["delta"]) <= 0.01
    found = verified({"mu": 5.0}, DP_SGD, tmp_path / "none")  # refuted at error rates below any that a file writes
    assert found.verdict == "refuted"
    assert found.certificate is None
    assert any("no point of the curve shows it" in finding.text for finding in found.findings)


def test_selection_is_certified_by_its_pure_epsilon(tmp_path: Path) -> None:
    run = {"mechanism": {"kind": "exponential-mechanism", "epsilon": 0.1}, "composition": {"rounds": 3}}
    found = verified({"epsilon": 0.3, "delta": 0}, run, tmp_path)
    assert "it is at most 0.3" in check(found.certificate).reason
    assert any("pure epsilon" in finding.text for finding in found.findings)
    with pytest.raises(NoCertificate):
        proved(pure(({"kind": "laplace", "noise_multiplier": "1"}, 1)), 2.0, 1.0)


@pytest.mark.parametrize("stated", [{"rho": 0.5}, {"mu": 1.0}])
def test_what_the_format_does_not_sample_is_a_finding(stated: dict[str, Any], tmp_path: Path) -> None:
    """It raised, instead of the verdict."""
    run = {"mechanism": {"kind": "pure-dp", "epsilon": 0.3}, "sampling": {"scheme": "poisson", "sampling_rate": 0.5}}
    found = verified(stated | {"neighbouring": "zero-out"}, run, tmp_path)
    assert (found.verdict, found.certificate) == ("holds", None)
    (told,) = [finding.text for finding in found.findings if finding.id == "no-certificate"]
    assert "no bound for sampling under pure-dp" in told
