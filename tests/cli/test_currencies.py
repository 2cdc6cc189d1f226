"""dpcert convert and dpcert risk, as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpcert import convert
from dpcert.cli import run

RUN = ["--noise-multiplier", "1", "--sampling", "poisson", "--sampling-rate", "0.01", "--rounds", "1000"]
CLAIM = """
[claim]
title = "a run"
neighbouring = "add-remove"
epsilon = 2.0
delta = 1e-5
[mechanism]
kind = "gaussian"
noise_multiplier = 2.0
"""


def test_convert_says_which_way_it_is_a_bound(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["convert", "--rho", "2.56", "--to", "epsilon", "--delta", "1e-10"]) == 0
    said = capsys.readouterr().out
    assert "epsilon <= 17.158309 at delta = 1e-10" in said
    assert "upper bound" in said
    assert run(["convert", "--mu", "0.376", "--to", "epsilon", "--delta", "1e-5", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["direction"] == "tight"
    assert 1.45199 < document["at_most"] < 1.452
    assert run(["convert", "--rho", "1", "--to", "mu", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["at_most"] == "inf"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--to", "rho"], "--rho is required: instead of it you may give --mu, --epsilon or --renyi."),
        (["--rho", "1", "--mu", "1", "--to", "rho"], "rho, --mu"),
        (["--rho", "1", "--to", "privacy"], "--to"),
        (["--rho", "1", "--to", "epsilon"], "--delta"),
        (["--rho", "1", "--to", "delta"], "--at-epsilon"),
        (["--rho", "-1", "--to", "epsilon", "--delta", "1e-5"], "--rho"),
        (["--epsilon", "1", "--known-delta", "1", "--to", "rho"], "--known-delta"),
    ],
)
def test_convert_with_bad_input(arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["convert", *arguments]) == 2
    assert named in capsys.readouterr().err


def test_convert_to_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["convert", "--rho", "2.56", "--delta", "1e-10", "--json"]) == 0
    found = {each["asked"]: each for each in json.loads(capsys.readouterr().out)["conversions"]}
    assert 17.15 < found["epsilon"]["at_most"] < 17.16
    assert found["epsilon"]["at"] == {"delta": 1e-10}
    directions = {asked: each["direction"] for asked, each in found.items()}
    loose = "upper bound"
    expected = {"epsilon": loose, "delta": loose, "rho": "tight", "mu": "no bound", "tpr": loose, "advantage": loose}
    assert directions == expected


def test_epsilon_of_what_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["epsilon", "--mu", "0.376", "--delta", "1e-5"]) == 0
    said = capsys.readouterr().out
    assert "epsilon <= 1.4519954 at delta = 1e-05, from mu = 0.376" in said
    assert "tight" in said
    assert run(["epsilon", "--rho", "0.1", "--rounds", "12", "--delta", "1e-6", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["epsilon_upper"] == convert("rho", 1.2, "epsilon", delta=1e-6).at_most
    assert document["epsilon_lower"] == 0.0  # nothing is known from below of what has this rho
    assert document["direction"] == "upper bound"


def test_delta_of_what_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["delta", "--mu", "0.25", "--rounds", "4", "--epsilon", "1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["delta_upper"] == convert("mu", 0.5, "delta", epsilon=1.0).at_most
    assert (document["delta_lower"], document["epsilon"], document["direction"]) == (0.0, 1.0, "tight")
    assert run(["delta", "--rho", "0.1", "--epsilon", "2"]) == 0
    assert "at epsilon = 2, from rho = 0.1" in capsys.readouterr().out
    assert run(["delta", "--mu", "0.25", "--sampling", "poisson", "--epsilon", "1"]) == 2
    assert "--sampling" in capsys.readouterr().err
    assert run(["delta", "--mu", "0.25"]) == 2
    assert "--epsilon" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--rho", "0.1", "--mu", "1", "--delta", "1e-6"], "--rho, --mu"),
        (["--rho", "0.1", "--noise-multiplier", "2", "--delta", "1e-6"], "--noise-multiplier"),
        (["--rho", "0.1", "--set", "sigma=3", "--delta", "1e-6"], "--set"),
        (["--rho", "0.1"], "--delta"),
        (["--mu", "nan", "--delta", "1e-6"], "--mu"),
        (["--rho", "0.1", "--rounds", "0", "--delta", "1e-6"], "--rounds"),
    ],
)
def test_epsilon_of_what_is_known_with_bad_input(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["epsilon", *arguments]) == 2
    assert named in capsys.readouterr().err


def test_risk_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["risk", *RUN, "--fpr", "1e-3", "--fpr", "1e-5"]) == 0
    said = capsys.readouterr().out
    assert "true-positive rate" in said
    assert "0.001" in said
    assert run(["risk", *RUN, "--fpr", "1e-3", "--prior", "0.1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    low, high = document["rates"][0]["true_positive_rate"]
    assert 1e-3 < low <= high < low * (1 + 1e-4)
    assert document["certified"] is True
    assert document["bayes_success"][1] < 0.9 + 0.1 * document["advantage"][1]


def test_risk_of_a_claim_with_a_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    claim, plot = tmp_path / "claim.toml", tmp_path / "risk.png"
    claim.write_text(CLAIM)
    assert run(["risk", str(claim), "--fpr", "0.01", "--plot", str(plot)]) == 0
    assert plot.read_bytes().startswith(b"\x89PNG")
    capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([*RUN, "--fpr", "0.7"], "--fpr"),
        ([*RUN, "--prior", "0"], "--prior"),
        (["--rounds", "3"], "--noise-multiplier"),
        (["no/such/claim.toml"], "no/such/claim.toml"),
        ([*RUN, "--plot", "risk.nothing"], "--plot"),
    ],
)
def test_risk_with_bad_input(arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["risk", *arguments]) == 2
    assert named in capsys.readouterr().err
