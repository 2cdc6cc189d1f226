"""verify at the caller's tolerance: the interval is as narrow as asked for, or says that it is not."""

import json

import pytest
from typer.testing import CliRunner

from dpcert.accounting.cohorts import hidden_cohorts
from dpcert.cli import app
from dpcert.mechanisms import InputError
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.verification import kept
from dpcert.proofs_checks.verification.verify import verify

RUN = {
    "mechanism": {"kind": "gaussian", "noise_multiplier": 1.1},
    "sampling": {"scheme": "poisson", "sampling_rate": 0.01},
    "composition": {"rounds": 1000},
}
CURRENCIES = {
    "epsilon": {"epsilon": 1.6, "delta": 1e-5},
    "curve": {"curve": [[1.6, 1e-5], [1.2, 1e-4]]},
    "advantage": {"advantage": 0.2},
}


def claim(**stated):
    return parse_claim({"claim": {"title": "a run", "neighbouring": "add-remove"} | stated} | RUN)


@pytest.mark.parametrize("rtol", [1e-2, 1e-9])
@pytest.mark.parametrize("currency", CURRENCIES)
def test_the_interval_is_as_narrow_as_asked_for(currency, rtol):
    found = verify(claim(**CURRENCIES[currency]), rtol=rtol).certified
    assert found.narrower_than(2.0 * rtol)  # the quotients of a curve round once more
    assert found.lower > 0.0


@pytest.mark.parametrize("currency", CURRENCIES)
def test_reached_says_whether_it_is(currency):
    for rtol in (0.1, 1e-9):
        found = verify(claim(**CURRENCIES[currency]), rtol=rtol)
        assert found.certified.reached == found.certified.narrower_than(rtol)
        assert found.to_json()["reached"] == found.certified.reached


def test_every_width_holds_the_same_value():
    found = [verify(claim(epsilon=1.6, delta=1e-5), rtol=rtol).certified for rtol in (1e-2, 1e-4, 1e-8)]
    assert max(each.lower for each in found) <= min(each.upper for each in found)


def hidden(**stated):
    tables = {
        "mechanism": {"kind": "gaussian", "noise_multiplier": 8.0},
        "sampling": {"scheme": "fixed-size", "population": 400, "cohort": 100},
        "composition": {"rounds": 60},
    }
    about = {"title": "hidden cohorts", "neighbouring": "replace-one", "delta": 1e-5}
    return parse_claim({"claim": about | stated} | tables)


def test_hidden_cohorts_are_as_narrow_as_asked_for(monkeypatch):
    """A first bracket where none is named, as for everybody; below the finest width it is the finest, not the first."""
    asked = []

    def attempt(known, parts, question, at, accuracy):
        asked.append(accuracy)
        return known

    monkeypatch.setattr(hidden_cohorts, "_attempt", attempt)
    verify(hidden(epsilon=50.0))
    assert set(asked) == {hidden_cohorts.QUICK}
    asked.clear()
    verify(hidden(epsilon=50.0), rtol=3e-3)
    assert asked[:2] == [hidden_cohorts.QUICK, 3e-3]
    asked.clear()
    found = verify(hidden(epsilon=50.0), rtol=1e-7)
    assert hidden_cohorts.FINEST in asked
    assert not found.certified.reached


@pytest.mark.parametrize("rtol", [0.0, 1.0, -1e-3, float("nan"), "small"])
def test_bad_widths_are_refused_before_any_work(rtol, monkeypatch):
    monkeypatch.setattr("dpcert.proofs_checks.verification.verify.certified_interval", None)
    with pytest.raises(InputError, match="rtol"):
        verify(claim(epsilon=1.6, delta=1e-5), rtol=rtol)


TEXT = """
[claim]
title = "a run"
neighbouring = "add-remove"
epsilon = 1.6
delta = 1e-5
[mechanism]
kind = "gaussian"
noise_multiplier = 1.1
[sampling]
scheme = "poisson"
sampling_rate = 0.01
[composition]
rounds = 1000
"""


def test_the_command_takes_it_and_kept_verdicts_are_of_one_width(tmp_path):
    file, cache = tmp_path / "a.toml", str(tmp_path / "kept")
    file.write_text(TEXT)

    def certified(*options):
        answer = CliRunner().invoke(app, ["verify", str(file), "--json", "--cache", cache, *options])
        assert answer.exit_code == 0, answer.output
        return json.loads(answer.stdout)["claims"][0]

    wide, narrow = certified("--rtol", "0.05"), certified("--rtol", "1e-9")
    assert narrow["reached"]
    assert narrow["certified"]["epsilon_upper"] - narrow["certified"]["epsilon_lower"] < 1e-8
    assert certified("--rtol", "0.05") == wide
    assert kept.key(b"claim") != kept.key(b"claim", 1e-9) != kept.key(b"claim", 1e-3)


def test_the_command_refuses_a_bad_width(tmp_path):
    file = tmp_path / "a.toml"
    file.write_text(TEXT)
    answer = CliRunner().invoke(app, ["verify", str(file), "--rtol", "2"])
    assert isinstance(answer.exception, InputError)
    assert "--rtol" in str(answer.exception)


@pytest.mark.parametrize(
    "command",
    [
        ["risk", "--noise-multiplier", "3", "--fpr", "0.01"],
        ["calibrate", "--tpr", "0.1", "--fpr", "0.01", "--solve-for", "noise-multiplier", "--rounds", "9"],
        ["calibrate", "--epsilon", "1", "--delta", "1e-5", "--solve-for", "noise-multiplier", "--rounds", "9"],
        ["epsilon", "--delta", "1e-5", "--noise-multiplier", "3"],
        ["delta", "--epsilon", "1", "--noise-multiplier", "3"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_every_command_with_intervals_takes_it(command):
    answer = CliRunner().invoke(app, [*command, "--rtol", "1e-3", "--json"])
    assert answer.exit_code == 0, answer.output
    refused = CliRunner().invoke(app, [*command, "--rtol", "1", "--json"])
    assert isinstance(refused.exception, InputError)
    assert "rtol" in str(refused.exception)
