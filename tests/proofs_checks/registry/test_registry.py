"""Entries of the OpenDP registry as claims and back: every gap, contradiction and wrong field in a sentence."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from dpcert.cli import run
from dpcert.proofs_checks import verify
from dpcert.proofs_checks.claims.claim import load_claim, parse_claim
from dpcert.proofs_checks.registry.importing import imported
from dpcert.proofs_checks.registry.schema import problems

yaml = pytest.importorskip("yaml")

ENTRY: dict[str, Any] = {
    "url_slug": "counts-of-editors",
    "status": "Draft",
    "tier": 3,
    "deployment": {
        "basic": {
            "name": "Counts of editors",
            "data_curators": ["A Foundation"],
            "intended_use": "research",
            "data_product_type": "Summary statistics",
            "data_product_region": "Global",
            "description": "counts",
            "publication_date": "2023-01-01",
        },
        "dp_variant": {"variant_name": "Pure DP"},
        "privacy_loss": {
            "privacy_unit": "Account-month-level",
            "privacy_unit_details": "adding or removing one account",
            "privacy_parameters": {"epsilon": 0.1},
        },
        "implementation": {"mechanisms": "Laplace noise (\\(\\epsilon\\)=0.1; sensitivity = 1, noise scale = 10)"},
    },
}


def changed(place: str, value: Any) -> dict[str, Any]:
    document = copy.deepcopy(ENTRY)
    *folders, last = place.split(".")
    table = document
    for name in folders:
        table = table[name]
    if value is None:
        del table[last]
    else:
        table[last] = value
    return document


def test_an_entry_that_says_what_ran_is_a_claim() -> None:
    found = imported(ENTRY, "editors")
    assert (found.gaps, found.contradictions, found.problems, found.drafts) == ([], [], [], {})
    claim = found.claims["editors"]
    assert claim["mechanism"] == {"kind": "laplace", "noise_multiplier": 10.0}
    assert (claim["claim"]["epsilon"], claim["claim"]["delta"]) == (0.1, 0.0)
    assert (claim["claim"]["author"], claim["claim"]["year"]) == ("A Foundation", 2023)
    assert (claim["claim"]["unit"], claim["claim"]["neighbouring"]) == ("account-month", "add-remove")


def test_a_budget_alone_is_no_run() -> None:
    found = imported(changed("deployment.implementation.mechanisms", "Laplace mechanism"), "editors")
    assert found.claims == {}
    assert "mechanism" not in found.drafts["editors"]
    assert any("[mechanism] is missing" in gap for gap in found.gaps)


def test_a_sensitivity_is_between_the_entry_s_own_neighbours() -> None:
    """A report whose value may be replaced by another: epsilon is sensitivity / scale, not twice as much."""
    replaced = changed("deployment.privacy_loss.privacy_unit_details", "the change-one relation")
    tables = imported(replaced, "reports").claims["reports"]
    assert tables["claim"]["neighbouring"] == "replace-one"
    assert verify(parse_claim(tables)).verdict == "holds"


def test_one_of_several_releases_is_not_what_ran() -> None:
    """Ten releases of epsilon = 0.1 are registered as 1: of one of them the claim would always hold."""
    found = imported(changed("deployment.privacy_loss.privacy_parameters", {"epsilon": 1.0}), "editors")
    assert found.claims == {}
    assert "mechanism" not in found.drafts["editors"]
    dearer = imported(changed("deployment.privacy_loss.privacy_parameters", {"epsilon": 0.05}), "editors")
    assert dearer.claims["editors"]["mechanism"] == {"kind": "laplace", "noise_multiplier": 10.0}


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        ("deployment.implementation.mechanisms", "Laplace (epsilon = 0.9; sensitivity = 1, noise scale = 10)", "0.9"),
        ("deployment.privacy_loss.privacy_parameters", {"epsilon": 0.1, "delta": 1e-6}, "Pure DP"),
    ],
)
def test_contradictions_inside_an_entry(place: str, value: Any, said: str) -> None:
    """The first is that of Wikimedia's Russian editors."""
    assert any(said in sentence for sentence in imported(changed(place, value), "x").contradictions)
    assert imported(ENTRY, "x").contradictions == []


def test_mu_and_rho_of_one_mechanism() -> None:
    """As in the entry of Facebook's URLs, whose mu of 0.376 has rho 0.0707."""
    loss = {
        "privacy_unit": "User-level",
        "privacy_parameters": {"epsilon": 1.453, "delta": 1e-5, "rho": 0.0728},
        "privacy_parameters_details": "under \\(\\mu\\)-GDP is about 0.376. The epsilon decreases",
    }
    document = changed("deployment.privacy_loss", loss)
    document["deployment"]["dp_variant"]["variant_name"] = "Zero-concentrated DP"
    document["deployment"]["implementation"]["mechanisms"] = "Gaussian"
    found = imported(document, "urls")
    assert any("0.07069" in sentence for sentence in found.contradictions)
    assert found.claims["urls"]["mechanism"] == {"kind": "zcdp", "rho": 0.0728}
    assert found.drafts["urls-rho"]["claim"]["rho"] == 0.0728
    right = loss | {"privacy_parameters_details": "under \\(\\mu\\)-GDP is about 0.3816."}
    document["deployment"]["privacy_loss"] = right
    assert imported(document, "urls").contradictions == []


@pytest.mark.parametrize(
    ("place", "value", "named"),
    [
        ("status", None, "status"),
        ("tier", 4, "tier"),
        ("surprise", 1, "surprise"),
        ("deployment.basic.publication_date", 2023, "publication_date"),
        ("deployment.basic.publication_date", "1/1/2026", "publication_date"),
        ("deployment.basic.publication_date", "2026-02-30", "publication_date"),
        ("deployment.basic.data_curators", [], "data_curators"),
        ("deployment.dp_variant.variant_name", "pure", "variant_name"),
        ("deployment.privacy_loss.privacy_parameters", {"epsilon": "small"}, "privacy_parameters.epsilon"),
        ("deployment.privacy_loss.privacy_parameters", {"epsilon": 1, "delta": 2}, "privacy_parameters.delta"),
        ("deployment.privacy_loss", [], "privacy_loss"),
        ("deployment.dp_varaint", {}, "dp_variant"),
    ],
)
def test_one_sentence_a_field(place: str, value: Any, named: str) -> None:
    (problem,) = imported(changed(place, value), "x").problems
    assert named in str(problem)


@pytest.mark.parametrize("document", [None, [], "text", 3, {}, {"deployment": []}, {"deployment": {"basic": 3}}])
def test_what_is_no_entry_says_so(document: Any) -> None:
    assert imported(document, "x").problems


def test_a_wrong_field_does_not_take_the_others_along(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.yaml").write_text(yaml.safe_dump(changed("tier", 4)))
    (tmp_path / "b.yaml").write_text(yaml.safe_dump(ENTRY))
    (tmp_path / "c.yaml").write_text("a: [")
    assert run(["registry", "import", str(tmp_path), "--into", str(tmp_path / "claims"), "--json"]) == 2
    told = {Path(one["file"]).stem: one for one in json.loads(capsys.readouterr().out)["entries"]}
    assert told["a"]["claims"] == ["a"]
    assert [problem["field"] for problem in told["a"]["problems"]] == ["tier"]
    assert told["b"]["problems"] == []
    assert told["c"]["problems"][0]["field"] == "file"
    assert run(["verify", str(tmp_path / "claims")]) == 0
    capsys.readouterr()


def test_there_and_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What export writes, import gives back: the claim with everything that ran, and the entry's other fields."""
    shipped = Path(__file__).parents[3] / "claims" / "papers" / "bu20-mnist-sigma1.06.toml"
    (tmp_path / "entry.yaml").write_text(yaml.safe_dump(ENTRY))
    assert run(["registry", "export", str(shipped), "--entry", str(tmp_path / "entry.yaml")]) == 0
    text = capsys.readouterr().out
    document = yaml.safe_load(text)
    assert list(problems(document)) == []
    assert document["deployment"]["basic"] == ENTRY["deployment"]["basic"]
    assert document["deployment"]["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.34, "delta": 1e-5}
    (tmp_path / "back.yaml").write_text(text)
    assert run(["registry", "import", str(tmp_path / "back.yaml"), "--into", str(tmp_path / "claims")]) in (0, 3)
    capsys.readouterr()
    one, other = load_claim(shipped), load_claim(tmp_path / "claims" / "back.toml")
    assert (one.statement, one.phases, one.run) == (other.statement, other.phases, other.run)


def test_export_names_what_the_registry_still_asks_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shipped = Path(__file__).parents[3] / "claims" / "papers" / "bu20-mnist-sigma1.06.toml"
    assert run(["registry", "export", str(shipped)]) == 3
    err = capsys.readouterr().err
    assert "deployment.basic.intended_use" in err
    assert run(["registry", "export", str(shipped.with_name("bu20-mnist-sigma1.06-mu.toml"))]) == 2
    assert "claim.mu" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("details", "contradicts"),
    [
        ("The final budget has epsilon = 0.1; the earlier epsilon = 9 was superseded.", False),
        ("An incorrect epsilon = 9 was printed at first. The final one is in the table.", False),
        ("The final epsilon = 0.1 (previously epsilon = 9).", False),
        ("The final epsilon = 9 is what was spent.", True),
        ("The earlier epsilon = 7 is incorrect: the final epsilon = 9.", True),
    ],
)
def test_a_number_that_holds_no_more_contradicts_nothing(details: str, contradicts: bool) -> None:
    found = imported(changed("deployment.privacy_loss.privacy_parameters_details", details), "x")
    assert any("name 9 " in said for said in found.contradictions) == contradicts
