"""Certificates of rho, mu, Renyi divergences and rates, attacked by meaning: every field of true ones changed, every
method of evidence put under false numbers, all of them sealed anew. What is true is known from currency_truth.py."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from cases import few
from currency_truth import is_false
from forger import EVIDENCE, METHODS, Document, at_random, seal, tampered
from weakened_checker import weakened

from dpcert.proofs_checks.certificates.checker import check
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.verification.verify import verify

GAUSSIAN = {"mechanism": {"kind": "gaussian", "noise_multiplier": 5.0}, "composition": {"rounds": 4}}  # mu = .4
LAPLACE = {"mechanism": {"kind": "laplace", "noise_multiplier": 1.0}}
ANSWER = {"mechanism": {"kind": "randomized-response", "flip_probability": 0.25, "categories": 2}}
PURE = {"mechanism": {"kind": "pure-dp", "epsilon": 0.5}}
STATED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "mu holds": ({"mu": 0.4}, GAUSSIAN),
    "rho refuted": ({"rho": 0.54}, ANSWER),
    "tpr refuted": ({"tpr_at_fpr": {"fpr": 0.01, "tpr": 0.025}}, GAUSSIAN),
    "rho holds": ({"rho": 0.6}, ANSWER),
    "mu refuted": ({"mu": 0.39}, GAUSSIAN),
    "renyi holds": ({"renyi": {"order": 8, "epsilon": 0.65}}, GAUSSIAN),
    "renyi refuted": ({"renyi": {"order": 3, "epsilon": 0.6}}, LAPLACE),
    "mu holds, by lines": ({"mu": 1.35}, ANSWER),
    "mu refuted, by a line": ({"mu": 1.3, "fpr_at_least": 0.1}, ANSWER),
    "mu of deltas holds": ({"mu": 1.35, "delta": 1e-2}, ANSWER),
    "mu of deltas refuted": ({"mu": 0.39, "delta": 1e-3}, GAUSSIAN),
    "rho up to an order": ({"rho": 0.5, "orders_up_to": 16}, LAPLACE),
    "tpr refuted, by steps": ({"tpr_at_fpr": {"fpr": 0.01, "tpr": 0.02}}, LAPLACE),
    "pure": ({"rho": 0.13}, PURE),
}


@cache
def honest(name: str) -> Document:
    """A true certificate, as issued."""
    stated, run = STATED[name]
    relation = "replace-one" if run is ANSWER else "add-remove"
    claim = parse_claim({"claim": {"title": "T", "neighbouring": relation} | stated} | run)
    with TemporaryDirectory() as folder:
        found = verify(claim, certificates=Path(folder))
        assert found.certificate is not None, [finding.text for finding in found.findings]
        return dict(json.loads(Path(found.certificate).read_text()))


def rewritten(document: Document, seed: int, more: int) -> Iterator[Document]:
    """Numbers beyond the truth on the side that the verdict forbids, with every method of evidence in every point."""
    rng = random.Random(seed)
    for factor in (0.5, 0.8) if document["verdict"] == "holds" else (1.2, 3.0):
        false = copy.deepcopy(document)
        false["currency"]["number"] = repr(float(document["currency"]["number"]) * factor)
        yield seal(false)
        for method in METHODS if document["points"] else ():
            for found in (*EVIDENCE, *(at_random(rng, "0.5", 2) for _ in range(more))):
                other = copy.deepcopy(false)
                for point in other["points"]:
                    ends = [*(point["upper"] or []), *([point["lower"]] if point["lower"] else [])]
                    for end in ends:
                        end.update(found, method=method)
                yield seal(other)


@pytest.mark.parametrize("name", few(STATED, 10))
def test_what_is_issued_is_true_and_believed(name: str) -> None:
    assert check(honest(name)).ok
    assert not is_false(honest(name))


@pytest.mark.parametrize("name", few(STATED, 10))
def test_numbers_beyond_the_truth_are_not_believed_whatever_the_evidence(name: str) -> None:
    forged = list(filter(is_false, rewritten(honest(name), seed=1, more=0)))
    assert forged
    assert not [document for document in forged if check(document).ok]


@pytest.mark.nightly
@pytest.mark.parametrize("name", STATED)
def test_at_night_with_evidence_at_random(name: str) -> None:
    assert not [each for each in rewritten(honest(name), seed=2, more=2) if check(each).ok and is_false(each)]


@pytest.mark.parametrize(("name", "most"), [*few([(name, 2) for name in STATED], 10)])
def test_every_field_changed(name: str, most: int) -> None:
    """One at a time, with a new seal: what is then believed is true."""
    assert not [each for each in tampered(honest(name), 1, most) if check(each).ok and is_false(each)]


@pytest.mark.nightly
@pytest.mark.parametrize("name", STATED)
def test_every_field_changed_at_night(name: str) -> None:
    """More often; some changes leave the claim true and proved, or the attack would not reach the mathematics."""
    believed = [each for each in tampered(honest(name), 2, 8) if check(each).ok]
    assert believed
    assert not list(filter(is_false, believed))


DIAGONAL = 'require(bool(mu_of(alpha, alpha) <= arb(most)), "the diagonal is below the curve")'
STEPS = "for (epsilon, *_), (after, delta, *_) in pairwise(points):"
PLANTS = {
    "chords": (
        "rho holds",
        {
            'require(bool(first[1] <= arb(most * (first[0] - 1))), "the first order is not proved")': "pass",
            "require(all(below(most, *left, *right) for left, right in pairwise(moments)), ": "require(True, ",
        },
    ),
    "vertices": (
        "mu holds, by lines",
        {DIAGONAL: "pass", "require(bool(mu_of(alpha, top - x * alpha) <= arb(most)), ": "require(True, "},
    ),
    "steps": (
        "tpr refuted",
        {
            STEPS: STEPS.replace("pairwise(points)", "()"),
            "points[0][1] >= most": "True",
            "return bool(arb(points[-1][0]).exp() * fpr > arb(most))": "return True",
        },
    ),
}


@pytest.mark.parametrize("planted", PLANTS)
def test_a_checker_that_does_not_look_is_found_out(planted: str, tmp_path: Path) -> None:
    """By the same documents: some falsehood among them is believed."""
    name, replacements = PLANTS[planted]
    plant = weakened(tmp_path, replacements)
    forged = [*rewritten(honest(name), seed=1, more=0)]
    assert any(plant.check(document).ok and is_false(document) for document in forged)
    assert not any(check(document).ok for document in forged if is_false(document))
