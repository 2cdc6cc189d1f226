"""An estimate by the central limit is printed as one, with what the Berry-Esseen theorem leaves around it."""

from __future__ import annotations

import json

import pytest

from dpcert import delta
from dpcert.accounting.currencies import gdp
from dpcert.cli import run
from dpcert.mechanisms import Gaussian, Poisson, Repeat

RUN = ["--rounds", "1000", "--noise-multiplier", "1.1", "--sampling", "poisson", "--sampling-rate", "0.01"]
LIMIT = [*RUN, "--accountant", "gdp-clt"]


def told(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert run(arguments) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("asked", [["delta", "--epsilon", "1"], ["epsilon", "--delta", "1e-5"]])
def test_the_truth_is_within_the_error_bar(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(told([*asked, *LIMIT, "--json"], capsys))
    bar = document["error_bar"]
    assert not document["certified"]
    assert not bar["certified"]
    truth = delta(Repeat(Poisson(Gaussian(1.1), 0.01), 1000), bar["epsilon"])
    assert bar["delta_lower"] <= truth.lower <= truth.upper <= bar["delta_upper"]
    assert truth.lower > document.get("delta_upper", 1e-5), "the estimate itself is too small"
    assert "error bar (Berry-Esseen" in told([*asked, *LIMIT], capsys)


@pytest.mark.parametrize("arguments", [RUN, ["--rounds", "9", "--noise-multiplier", "4", "--accountant", "gdp-clt"]])
def test_what_is_certified_has_none(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(told(["epsilon", "--delta", "1e-5", *arguments, "--json"], capsys))
    assert document["certified"]
    assert "error_bar" not in document


def test_planted_a_bar_without_its_distance(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gdp, "_EQUAL_ROUNDS", 0.0)
    with pytest.raises(AssertionError):
        test_the_truth_is_within_the_error_bar(["delta", "--epsilon", "1"], capsys)
