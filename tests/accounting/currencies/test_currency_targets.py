"""Noise and rounds for a rho or a mu: what is found meets the target, what is next to it misses, digits are printed."""

from __future__ import annotations

import math
import re

import pytest

from dpcert import Gaussian, Laplace, Poisson, Repeat, calibrate_to, mu, rho
from dpcert.accounting.calibration import solve_for
from dpcert.cli import run
from dpcert.mechanisms import InputError, Mechanism

SAMPLED = ["--sampling", "poisson", "--sampling-rate", "0.02", "--rounds", "50"]


def sampled(noise_multiplier: float) -> Mechanism:
    return Repeat(Poisson(Gaussian(noise_multiplier), 0.02), 50)


@pytest.mark.parametrize("rounds", [1, 3, 7, 16])
def test_gaussian_noise_is_known_in_closed_form(rounds: int) -> None:
    """sqrt(rounds) / mu, and sqrt(rounds / (2 rho)); the very decimal where there is a short one."""
    found = calibrate_to(lambda z: Repeat(Gaussian(z), rounds), mu, solve_for="noise_multiplier", target=0.5)
    exact = 2 * math.sqrt(rounds)
    assert exact * (1 - 1e-15) <= found.value <= exact * (1 + 1e-4)
    assert found.value == exact or rounds in (3, 7)
    assert found.amount.at_most(0.5)
    assert found.beyond is not None
    assert found.beyond < exact
    found = calibrate_to(lambda z: Repeat(Gaussian(z), rounds), rho, solve_for="noise_multiplier", target=0.3)
    exact = math.sqrt(rounds / 0.6)
    assert exact * (1 - 1e-15) <= found.value <= exact * (1 + 1e-4)


def test_rounds_of_laplace_noise() -> None:
    """Whole numbers: one more round misses, by the other end of the bracket too."""
    found = calibrate_to(lambda n: Repeat(Laplace(4.0), int(n)), rho, solve_for="rounds", target=0.3)
    assert found.beyond == found.value + 1
    assert rho(Repeat(Laplace(4.0), int(found.value))).at_most(0.3)
    assert rho(Repeat(Laplace(4.0), int(found.value) + 1)).exceeds(0.3)


@pytest.mark.parametrize("bad", [{"target": 0.0}, {"target": math.nan}, {"solve_for": "noise"}, {"rtol": 0.0}])
def test_bad_targets(bad: dict[str, object]) -> None:
    asked = {"solve_for": "noise_multiplier", "target": 1.0} | bad
    with pytest.raises(InputError):
        calibrate_to(Gaussian, mu, **asked)  # type: ignore[arg-type]


def printed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[float, str]:
    assert run(["calibrate", "--solve-for", "noise-multiplier", *arguments]) == 0
    said = capsys.readouterr().out
    value = re.match(r"noise-multiplier = (\S+) meets ", said)
    assert value is not None
    return float(value[1]), said


def test_what_is_printed_meets_the_target(capsys: pytest.CaptureFixture[str]) -> None:
    value, said = printed(["--mu", "0.37", "--rounds", "3"], capsys)
    assert mu(Repeat(Gaussian(value), 3)).at_most(0.37)
    assert "range" not in said
    value, said = printed(["--mu", "0.2", "--fpr", "0.01", "--rtol", "0.02", *SAMPLED], capsys)
    assert mu(sampled(value), error_rates_at_least=0.01).at_most(0.2)
    assert mu(sampled(value * 0.97), error_rates_at_least=0.01).exceeds(0.2)
    assert "mu at error rates from 0.01 on in [" in said
    assert "Without that range mu is in [" in said


@pytest.mark.nightly
def test_what_is_printed_beside_a_delta_meets_the_target(capsys: pytest.CaptureFixture[str]) -> None:
    value, _ = printed(["--mu", "0.5", "--delta", "1e-4", *SAMPLED], capsys)
    assert mu(sampled(value), deltas_at_least=1e-4).at_most(0.5)
    assert mu(sampled(value * (1 - 3e-3)), deltas_at_least=1e-4).exceeds(0.5)
    value, said = printed(["--rho", "0.2", "--delta", "1e-4", *SAMPLED], capsys)
    order = re.search(r"orders up to ([\d.]+)", said)
    assert order is not None
    assert rho(sampled(value), orders_up_to=float(order[1])).at_most(0.2)
    assert rho(sampled(value * (1 - 3e-3)), orders_up_to=float(order[1])).exceeds(0.2)


def test_digits_rounded_to_the_nearest_would_miss(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plant, with three digits: some of these miss."""
    monkeypatch.setattr(solve_for, "rounded_up", lambda value, digits: f"{value:.3g}")
    missed = 0
    for rounds in range(2, 6):
        value, _ = printed(["--mu", "0.37", "--rounds", str(rounds)], capsys)
        missed += mu(Repeat(Gaussian(value), rounds)).exceeds(0.37)
    assert missed


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--mu", "1", "--rho", "1"], "--mu"),
        (["--mu", "0"], "--mu"),
        (["--mu", "1", "--epsilon", "1"], "--epsilon"),
        (["--mu", "1", "--tpr", "0.5"], "--mu"),
        (["--mu", "1", "--fpr", "0.6"], "--fpr"),
        (["--mu", "1", "--fpr", "0.1", "--delta", "1e-5"], "--delta"),
        (["--rho", "1", "--fpr", "0.1"], "--fpr"),
        (["--rho", "1", "--delta", "1"], "--delta"),
        (["--rho", "1", "--accountant", "rdp"], "--accountant"),
    ],
)
def test_bad_input_on_the_command_line(arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["calibrate", "--solve-for", "noise-multiplier", "--rounds", "2", *arguments]) == 2
    assert f"error: {named} = " in capsys.readouterr().err
