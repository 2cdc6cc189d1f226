"""Figure 3: the limit on the wrong side where epsilon is decided, a command that resumes, a picture that opens."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from dpcert.accounting.currencies.gdp import gdp_epsilon
from dpcert.cli import run
from dpcert.trainers.dpfedmtl.claimed import claimed_mu
from dpcert.trainers.experiments import figure3

CELEBA, FEMNIST = figure3.SETTINGS


@pytest.mark.nightly
def test_the_limit_is_below_the_certified_power_at_small_errors():
    """Row DPFEDMTL-CLT: CelebA, sigma = .65. At type I error 1e-7 a test exists that is three times as powerful as the
    limit allows any to be."""
    alphas = np.array([1e-7])
    lower, upper = figure3.certified(CELEBA, 0.65, alphas)[:, 0]
    assert lower <= upper
    assert 1 - upper > 3 * (1 - figure3.limit(CELEBA, 0.65, alphas)[0])
    # Where errors are large the limit is on the safe side: it overstates what can be told.
    middle = figure3.certified(CELEBA, 0.65, np.array([0.2]))[0, 0]
    assert figure3.limit(CELEBA, 0.65, np.array([0.2]))[0] < middle + 0.005


def test_the_server_can_tell_everything():
    """FEMNIST, largest sigma: both errors below 1e-6; CelebA: all but the clients that never took part."""
    assert figure3.shown_to_the_server(FEMNIST, 9.69, np.array([1e-6]))[1, 0] < 1e-6
    never = (1 - CELEBA.rate) ** CELEBA.rounds
    assert figure3.shown_to_the_server(CELEBA, 9.69, np.array([1e-6]))[1, 0] == pytest.approx(never, abs=1e-3)


def test_limit_is_the_claimed_gaussian_curve():
    mu = claimed_mu(2.42, FEMNIST.rate, FEMNIST.rounds)
    eps = gdp_epsilon(mu, 1e-5).upper
    alphas = np.array([1e-3, 0.1, 0.5])
    lines = 1 - 1e-5 - math.exp(eps) * alphas
    assert (figure3.limit(FEMNIST, 2.42, alphas) >= lines - 1e-12).all()
    np.testing.assert_allclose(figure3.limit(FEMNIST, 2.42, np.array([0.0, 1.0])), [1, 0])


def test_the_command_resumes_and_draws(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(figure3, "QUICK", figure3.Plan((2.42,), 9))
    monkeypatch.setattr(figure3, "SETTINGS", (FEMNIST, FEMNIST))
    asked = ["experiment", "dpfedmtl-figure3", "--quick", "--out", str(tmp_path), "--json"]
    assert run(asked) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert [cell["observer"] for cell in found["cells"]] == ["sum", "server"]
    assert captured.err.count("FEMNIST-2.42-9") == 2
    for cell in found["cells"]:
        assert (np.array(cell["type_2_lower"]) <= cell["type_2_upper"]).all()
    assert "| FEMNIST | 2.42 | Algorithm 1's server |" in found["table"]
    monkeypatch.setattr(figure3, "tradeoff", lambda *_, **__: pytest.fail("computed again"))
    assert run([*asked, "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["cells"] == found["cells"]
    pytest.importorskip("matplotlib")
    assert 10_000 < (tmp_path / "figure3.png").stat().st_size < 150_000


def test_the_command_refuses_what_it_has_no_use_for(capsys):
    assert run(["experiment", "dpfedmtl-figure3", "--rounds", "3"]) == 2
    assert "--rounds" in capsys.readouterr().err
