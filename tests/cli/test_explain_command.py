"""dpcert explain: what it says of shipped claims, in text and as JSON, and of numbers that nothing reproduces."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpcert.cli import run
from dpcert.proofs_checks.claims.claim import load_claim
from dpcert.proofs_checks.reproduction.claimed import commonly_explained, explained
from dpcert.proofs_checks.verification.verify import verify

CLAIMS = Path(__file__).parents[2] / "claims"
FORMULA = "one round's Gaussian formula"


def claim_file(name: str) -> Path:
    (file,) = CLAIMS.rglob(f"{name}.toml")
    return file


def shown(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert run(["explain", str(claim_file(name))]) == 0
    return " ".join(capsys.readouterr().out.split())


def test_a_number_that_nothing_reproduces_is_said_to_be_one(capsys: pytest.CaptureFixture[str]) -> None:
    """Abadi et al.'s 2.55 for 400 epochs: their accountant gives 2.574, and nothing that was tried gives 2.55."""
    text = shown("abadi16-mnist-e400", capsys)
    found = explained(load_claim(claim_file("abadi16-mnist-e400")))
    assert f"none of the {len(found)} conventions tried gives its digits" in text
    assert "The nearest is 2.57366, from: RDP, classic conversion" in text
    assert "How likely is a chance match? " in text
    assert len(found) > 200


def test_verify_says_so_too() -> None:
    result = verify(claim_file("abadi16-mnist-e400"))
    (finding,) = (finding for finding in result.findings if finding.id == "digits-not-reproduced")
    assert result.reproduced_by == ()
    assert finding.severity == "info"
    assert "common conventions tried gives its digits" in finding.text
    assert "dpcert explain searches more" in finding.text
    assert not any(f.id == "digits-not-reproduced" for f in verify(claim_file("abadi16-mnist-e100")).findings)


def test_json_carries_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "--json", str(claim_file("abadi16-mnist-e100"))]) == 0
    document = json.loads(capsys.readouterr().out)
    conventions = document["conventions"]
    assert document["tried"] == len(conventions)
    assert document["matching"] == len(document["reproduced_by"]) == sum(c["reproduces"] for c in conventions)
    fields = {"name", "value", "reproduces", "detail", "covers", "changes", "rounding"}
    assert all(fields == set(convention) for convention in conventions)
    (plain, *_, last) = document["chances"]
    assert plain["changes_at_most"] == 0
    assert plain["tried"] == sum(not convention["changes"] for convention in conventions)
    assert last["tried"] == document["tried"]
    assert 0 < plain["any"] < last["any"] < 1
    assert last["any"] <= last["expected"]
    assert last["window"] == [0.63, 2.52]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dpfedmtl-celeba-sigma0.11-as-multiplier", f"{FORMULA}; noise chosen for the printed epsilon, then rounded"),
        ("dpfedmtl-femnist-sigma9.69-as-written", f"{FORMULA}; sensitivity 0.0344828, as the source takes it"),
        ("dpfedmtl-sigma-formula-epsilon45", f"{FORMULA}; noise chosen for the printed epsilon, then rounded"),
        ("pmtl-reference-code-femnist-weighted", "RDP, improved conversion; weights taken as equal"),
    ],
)
def test_readings_of_the_source_are_found_and_named(name: str, expected: str) -> None:
    found = commonly_explained(load_claim(claim_file(name)), None)
    assert any(convention.name.startswith(expected) for convention in found if convention.reproduces)


@pytest.mark.parametrize("name", ["dpfedmtl-celeba-sigma0.65-as-written", "dpfedmtl-sigma-formula-epsilon8"])
def test_the_formula_does_not_give_the_noise_0_65_for_epsilon_8(name: str) -> None:
    """sqrt(2 log(1.25e5)) / 8 is 0.6056; with the printed 0.65 epsilon is 7.45, which nobody rounds to 8."""
    found = explained(load_claim(claim_file(name)))
    formula = [convention for convention in found if convention.name.startswith(FORMULA)]
    assert any(convention.value == pytest.approx(7.4535, abs=1e-4) for convention in formula)
    assert not any(convention.reproduces for convention in formula)


def test_a_population_is_found_behind_a_rate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """De et al.'s CIFAR-10 noise with 45,000 of the 50,000 images: 1.108 by RDP."""
    text = (
        (CLAIMS / "papers" / "de22-cifar10-epsilon1.toml")
        .read_text(encoding="utf-8")
        .replace("epsilon = 1.0", "epsilon = 1.108")
    )
    (tmp_path / "smaller.toml").write_text(text, encoding="utf-8")
    assert run(["explain", "--json", str(tmp_path / "smaller.toml")]) == 0
    document = json.loads(capsys.readouterr().out)
    expected = "RDP, improved conversion, dp-accounting's orders; population 45000 instead of 50000 (9/10 of it)"
    assert expected in document["reproduced_by"]


@pytest.mark.nightly
def test_which_shipped_numbers_nothing_reproduces() -> None:
    """As docs/claims.md says."""
    without = {
        path.stem
        for path in CLAIMS.rglob("*.toml")
        if not any(convention.reproduces for convention in explained(load_claim(path)))
    }
    assert without == {"abadi16-mnist-e400", "dpfedmtl-celeba-sigma0.65-as-written"}


def test_every_point_of_a_curve_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "curve.toml"
    path.write_text(
        '[claim]\ntitle = "T"\nneighbouring = "add-remove"\ncurve = [[1.0, 1e-5], [1.2, 1e-6]]\n'
        '[mechanism]\nkind = "gaussian"\nnoise_multiplier = 4.0\n'
    )
    assert run(["explain", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [point["claimed"] for point in document["points"]] == [
        {"epsilon": 1.0, "delta": 1e-5},
        {"epsilon": 1.2, "delta": 1e-6},
    ]
    assert run(["explain", str(path)]) == 0
    said = capsys.readouterr().out
    assert "printed epsilon 1.0 at delta 1e-05" in said
    assert "printed epsilon 1.2 at delta 1e-06" in said
