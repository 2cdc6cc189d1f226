"""Noise for a risk target, and the Gaussian curve that describes a run."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from typer.testing import CliRunner

from dpcert import TradeOff, calibrate_risk, gaussian_fit, risk, tradeoff
from dpcert.accounting.currencies.gaussian_fit import fit_curve
from dpcert.cli import app
from dpcert.mechanisms import Gaussian, InputError, Laplace, Poisson, Repeat


@pytest.mark.parametrize(("tpr", "fpr"), [(0.1, 0.01), (0.02, 1e-4), (0.9, 0.1)])
def test_gaussian_noise_for_two_error_rates(tpr: float, fpr: float) -> None:
    """Phi^-1(tpr) - Phi^-1(fpr) is the mu that is allowed."""
    found = calibrate_risk(Gaussian, solve_for="noise_multiplier", tpr=tpr, fpr=fpr)
    exact = 1 / (ndtri(tpr) - ndtri(fpr))
    assert exact * (1 - 1e-9) <= found.value <= exact * (1 + 2e-4)
    assert found.true_positive_rate.at_most(tpr)
    assert found.beyond is not None
    assert found.beyond < exact


def test_rounds_of_sampled_noise() -> None:
    def build(rounds: float) -> Repeat:
        return Repeat(Poisson(Gaussian(1.0), 0.02), int(rounds))

    found = calibrate_risk(build, solve_for="rounds", tpr=0.05, fpr=0.01)
    assert found.true_positive_rate.at_most(0.05)
    assert found.beyond == found.value + 1
    (row,) = risk(build(found.value + 1), false_positive_rates=[0.01]).rates
    assert row.true_positive_rate.upper > 0.05 * (1 - 1e-3)


@pytest.mark.parametrize(("tpr", "fpr"), [(0.01, 0.1), (0.1, 0.1), (1.0, 0.1), (0.9, 0.6), (0.5, 0.0)])
def test_bad_targets(tpr: float, fpr: float) -> None:
    with pytest.raises(InputError, match=r"tpr|fpr"):
        calibrate_risk(Gaussian, solve_for="noise_multiplier", tpr=tpr, fpr=fpr)


def test_a_fit_is_above_and_says_how_far() -> None:
    """Laplace noise: its curve is known in closed form."""
    level, least = 1.0, 0.01
    fit = gaussian_fit(Laplace(1.0 / level), error_rates_at_least=least)
    rates = np.linspace(least, 1 - least, 20_001)
    beta = np.where(
        rates < np.exp(-level) / 2,
        1 - np.exp(level) * rates,
        np.where(rates < 0.5, np.exp(-level) / (4 * rates), np.exp(-level) * (1 - rates)),
    )
    power, allowed = 1 - beta, ndtr(ndtri(rates) + fit.mu.upper)
    assert np.all(allowed >= power - 1e-9)
    worst = float(np.max(allowed - power))
    assert fit.off.lower - 1e-9 <= worst <= fit.off.upper + 1e-9
    assert fit.off.upper < worst + 0.01
    smaller = ndtr(ndtri(rates) + 0.99 * fit.mu.lower)  # planted: any smaller curve is below somewhere
    assert np.any(smaller < power)


def test_how_far_off_counts_what_few_points_leave_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Laplace noise, by nine points of its profile. Planted: the run's power at least is taken for that at most."""
    rates = np.linspace(0.01, 0.99, 20_001)
    lines = [1 - np.exp(1.0) * rates, np.exp(-1.0) / (4 * rates), np.exp(-1.0) * (1 - rates)]
    beta = np.select([rates < np.exp(-1.0) / 2, rates < 0.5], lines[:2], lines[2])
    curve = tradeoff(Laplace(1.0), points=9)

    def honest() -> bool:
        fit = fit_curve(curve, 0.01)
        worst = float(np.max(ndtr(ndtri(rates) + fit.mu.upper) - 1 + beta))
        return fit.off.lower - 1e-9 <= worst <= fit.off.upper + 1e-9

    assert honest()
    band = TradeOff.band
    monkeypatch.setattr(TradeOff, "band", lambda curve, alphas: (band(curve, alphas)[1],) * 2)
    assert not honest()


def test_a_table_has_its_fit_without_another_question() -> None:
    """Of sampled noise: between the ends that the search finds, and planted ones beyond them are not."""
    run = Repeat(Poisson(Gaussian(1.1), 0.02), 100)
    table = risk(run, false_positive_rates=[1e-2, 1e-4])
    fit, searched = table.gaussian(), gaussian_fit(run, error_rates_at_least=1e-4)
    assert fit.error_rates_at_least == 1e-4
    assert fit.mu.lower <= searched.mu.upper
    assert searched.mu.lower <= fit.mu.upper < 1.01 * fit.mu.lower
    assert fit.off.lower <= searched.off.upper
    assert searched.off.lower <= fit.off.upper < 0.1
    rates = np.geomspace(1e-4, 0.5, 400)
    power = np.array([table.curve.power(rate).lower for rate in rates])
    assert np.all(ndtr(ndtri(rates) + fit.mu.upper) >= power)
    assert np.any(ndtr(ndtri(rates) + 0.99 * fit.mu.lower) < power)  # planted: a smaller curve is below somewhere


def test_a_loss_with_a_bound_has_a_fit_at_all_rates() -> None:
    """The last line goes on to the smallest rate. Laplace noise is furthest from guessing where alpha = beta."""
    fit = risk(Laplace(1.0), false_positive_rates=[1e-6]).gaussian()
    exact = -2 * float(ndtri(np.exp(-0.5) / 2))
    assert fit.mu.lower - 1e-9 <= exact <= fit.mu.upper + 1e-12
    assert fit.mu.upper < 1.01 * exact


def test_on_the_command_line() -> None:
    asked = ["calibrate", "--tpr", "0.1", "--fpr", "0.01", "--solve-for", "noise-multiplier", "--rounds", "1"]
    run = CliRunner().invoke(app, [*asked, "--json"])
    assert run.exit_code == 0, run.output
    found = json.loads(run.stdout)
    assert found["value"] == pytest.approx(1 / (ndtri(0.1) - ndtri(0.01)), rel=2e-4)
    assert found["true_positive_rate_upper"] <= 0.1
    assert "noise-multiplier = 0.95" in CliRunner().invoke(app, asked).stdout
    assert isinstance(CliRunner().invoke(app, [*asked, "--epsilon", "1"]).exception, InputError)
    fitted = CliRunner().invoke(app, ["risk", "--noise-multiplier", "2", "--fpr", "0.01", "--mu", "--json"])
    assert json.loads(fitted.stdout)["mu"][1] == pytest.approx(0.5)
