"""`dpcert verify` shows its findings in every format, and none of them changes an exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpcert.cli import run

LOOSE_DELTA = """
[claim]
title = "A delta that lets one person's data out"
neighbouring = "replace-one"
epsilon = 12.0
delta = 1e-2
[mechanism]
kind = "gaussian"
noise_multiplier = 1.0
[sampling]
scheme = "fixed-size"
population = 200
cohort = 20
[composition]
rounds = 10
"""
SHUFFLED = LOOSE_DELTA.replace('"fixed-size"', '"shuffle"').replace("1e-2", "1e-5").replace("12.0", "120.0")
WEIGHTED = """
[claim]
title = "Weights"
neighbouring = "replace-one"
epsilon = 100.0
delta = 1e-5
[mechanism]
kind = "{kind}"
noise_std = 1.0
clip_norm = 1.0
{more}
[sampling]
population = 4
"""
FOUND = {
    "delta-not-small": LOOSE_DELTA,
    "shuffled-not-poisson": SHUFFLED,
    "weighted-mean": WEIGHTED.format(kind="gaussian-mean", more="weights = [1, 2, 3, 4]"),
    "noise-before-averaging": WEIGHTED.format(kind="per-client-gaussian", more=""),
}
FORMATS = ["table", "wide", "json", "junit", "sarif", "markdown", "github", "report"]


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_has_every_finding(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in FOUND.items():
        (tmp_path / f"{name}.toml").write_text(text)
    if form == "wide":
        monkeypatch.setenv("COLUMNS", "200")
    page = tmp_path / "page.html"
    chosen = ["--report", str(page)] if form == "report" else ["--format", form.replace("wide", "table")]
    assert run(["verify", str(tmp_path), *chosen]) == 0
    said = page.read_text() if form == "report" else capsys.readouterr().out
    known = {"delta-not-small": "publishes the data of one random", "shuffled-not-poisson": "Batches are shuffled"}
    known |= {"weighted-mean": "heaviest client's weight", "noise-before-averaging": "average of all clients' noise"}
    for name in FOUND:
        assert known[name] in " ".join(said.split()).replace("&#39;", "'"), name
        assert name in said or form == "report"


def test_of_many_claims_the_refuted_ones_come_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(6):
        text = SHUFFLED.replace("120.0", "1.0" if number == 4 else "120.0").replace("A delta", f"{number}: a delta")
        (tmp_path / f"{number}.toml").write_text(text)
    assert run(["verify", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert "refuted    4:" in said
    assert "\nholds" not in said
    assert "(5 of them with a warning or an error in the claim); --all lists them." in " ".join(said.split())
    assert run(["verify", str(tmp_path), "--all"]) == 1
    verdicts = [
        line.split()[:2] for line in capsys.readouterr().out.splitlines() if line.startswith(("holds", "refuted"))
    ]
    assert verdicts == [["refuted", "4:"], *(["holds", f"{number}:"] for number in (0, 1, 2, 3, 5))]
    assert run(["verify", str(tmp_path), "--format", "markdown"]) == 1
    assert "| 4: " in capsys.readouterr().out.splitlines()[2]
    assert run(["verify", str(tmp_path), "--json"]) == 1
    assert [entry["verdict"] for entry in json.loads(capsys.readouterr().out)["claims"]].index("refuted") == 4
