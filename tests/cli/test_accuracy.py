"""dpcert accuracy: a distance for noise, and noise for a distance."""

from __future__ import annotations

import json

import pytest

from dpcert import accuracy, noise_within
from dpcert.cli import run
from dpcert.mechanisms import Gaussian, Laplace


def document(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    assert run(["accuracy", *arguments, "--json"]) == 0
    return dict(json.loads(capsys.readouterr().out))


def test_a_distance(capsys: pytest.CaptureFixture[str]) -> None:
    found = accuracy(Laplace(2.0), 0.9, clip_norm=10.0, numbers=3)
    options = ["--noise-multiplier", "2", "--clip-norm", "10", "--confidence", "0.9", "--numbers", "3"]
    assert document(["--mechanism", "laplace", *options], capsys) == found.to_json()
    assert run(["accuracy", "--mechanism", "laplace", *options]) == 0
    assert "all 3 released numbers are within" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        (["gaussian"], "noise_multiplier"),
        (["laplace"], "noise_multiplier"),
        (["truncated-laplace", "--set", "bound=20"], "noise_multiplier"),
        (["discrete-gaussian"], "sigma"),
        (["discrete-laplace"], "scale"),
        (["staircase"], "epsilon"),
        (["skellam", "--set", "clip=1", "--set", "dimension=1"], "variance"),
        (
            ["distributed-discrete-gaussian", "--set", "clients=4", "--set", "clip=1", "--set", "dimension=1"],
            "sigma",
        ),
        (["bounded-laplace", "--set", "width=10"], "scale"),
        (["clamped-gaussian", "--set", "width=10"], "sigma"),
        (["truncated-gaussian", "--set", "width=10"], "sigma"),
    ],
)
def test_the_noise_for_five_with_95_percent_and_back(
    kind: list[str], key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = document(["--mechanism", *kind, "--within", "5"], capsys)
    noise = dict(found["mechanism"])  # type: ignore[call-overload]
    size = ["--noise-multiplier", repr(noise[key])] if key == "noise_multiplier" else ["--set", f"{key}={noise[key]!r}"]
    back = document(["--mechanism", *kind, *size], capsys)
    assert back["mechanism"] == noise
    assert float(str(back["distance"])) == pytest.approx(5.0, rel=1e-9)
    if kind == ["laplace"]:
        assert found == noise_within(Laplace, 5.0).to_json()


def test_noise_that_is_stated_by_its_deviation(capsys: pytest.CaptureFixture[str]) -> None:
    """On a mean, and each client's own: in the units of the distance."""
    assert document(["--mechanism", "gaussian-mean", "--noise-std", "0.3"], capsys) == accuracy(Gaussian(0.3)).to_json()
    shares = ["--mechanism", "per-client-gaussian", "--cohort", "100"]
    found = document([*shares, "--noise-std", "2"], capsys)
    assert 0 <= float(str(found["distance"])) / accuracy(Gaussian(20.0)).distance - 1 < 1e-14
    within = document([*shares, "--within", str(found["distance"])], capsys)
    assert dict(within["mechanism"])["noise_multiplier"] == pytest.approx(20.0)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "--noise-multiplier"),
        (["--within", "0"], "--within"),
        (["--within", "5", "--noise-multiplier", "2"], "--noise-multiplier"),
        (["--within", "5", "--confidence", "1.5"], "--confidence"),
        (["--noise-multiplier", "2", "--numbers", "0"], "--numbers"),
        (["--mechanism", "zcdp"], "--mechanism"),
        (["--mechanism", "discrete-laplace", "--set", "scale=2", "--clip-norm", "3"], "--clip-norm"),
        (["--mechanism", "laplace", "--within", "5", "--set", "norm=l2"], "--set norm"),
        (["--mechanism", "truncated-laplace", "--set", "bound=3", "--within", "5"], "--within"),
        (["--mechanism", "truncated-gaussian", "--set", "width=5", "--within", "5"], "--within"),
        (["--mechanism", "clamped-gaussian", "--within", "5"], "--set width"),
        (["--mechanism", "gaussian-mean"], "--noise-std"),
        (["--mechanism", "gaussian-mean", "--noise-std", "1", "--cohort", "3"], "--cohort"),
        (["--mechanism", "gaussian-mean", "--noise-std", "1", "--clip-norm", "3"], "--clip-norm"),
        (["--mechanism", "per-client-gaussian", "--noise-std", "1"], "--cohort"),
        (["--mechanism", "per-client-gaussian", "--noise-std", "1", "--cohort", "3", "--set", "clip=1"], "--set clip"),
        (["--noise-std", "1"], "--noise-std"),
    ],
)
def test_bad_input_is_named(arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["accuracy", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"error: {named}")
