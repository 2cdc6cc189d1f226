"""dpcert plan: every entry of the table meets its target, and hardly more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cases import few

from dpcert.accounting import epsilon
from dpcert.cli import run
from dpcert.mechanisms import FixedSize, Gaussian, Poisson, Repeat

SETTING = ["--population", "1000", "--rounds", "200", "--delta", "1e-4", "--epsilons", "1,4", "--cohorts", "50,300"]


@pytest.mark.parametrize("sampling", few(["poisson", "fixed-size"], 4))
def test_entries_meet_their_targets_and_barely(sampling: str, capsys: pytest.CaptureFixture[str]) -> None:
    relation = "replace-one"
    asked = ["plan", *SETTING, "--sampling", sampling, "--neighbouring", relation, "--clip-norm", "0.5", "--json"]
    assert run(asked) == 0
    document = json.loads(capsys.readouterr().out)
    assert [(row["cohort"], row["target_epsilon"]) for row in document["options"]] == [
        (50, 1),
        (50, 4),
        (300, 1),
        (300, 4),
    ]
    for row in document["options"]:
        for factor, fits in ((1.0, True), (1 - 1e-6, False)):
            base, cohort = Gaussian(row["noise_multiplier"] * factor), row["cohort"]
            step = Poisson(base, cohort / 1000) if sampling == "poisson" else FixedSize(base, 1000, cohort)
            found = epsilon(Repeat(step, 200), 1e-4, relation)
            if fits or found.method != "cohorts":  # which is narrower than what plans ask
                assert (found.upper <= row["target_epsilon"]) is fits
        assert row["noise_std"] == pytest.approx(0.5 * row["noise_multiplier"] / row["cohort"])


def test_the_table_and_the_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "plan.png"
    assert run(["plan", *SETTING, "--plot", str(picture)]) == 0
    assert "epsilon 4" in capsys.readouterr().out
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_on_a_narrow_terminal_targets_stand_below_each_other(capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert run(["plan", *SETTING]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 40
    assert "…" not in shown
    assert [shown.count(word) for word in ("cohort", "epsilon 1", "epsilon 4")] == [2, 1, 1]
    assert sum(line.startswith("     50") for line in shown.splitlines()) == 2


def test_default_cohorts_fit_small_populations(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "--population", "20", "--rounds", "50", "--delta", "1e-3", "--epsilons", "2", "--json"]) == 0
    assert [row["cohort"] for row in json.loads(capsys.readouterr().out)["options"]] == [1, 2, 6]


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        (["--population", "0"], "--population"),
        (["--rounds", "0.5"], "--rounds"),
        (["--delta", "1"], "--delta"),
        (["--epsilons", "1,x"], "--epsilons"),
        (["--epsilons", "-1"], "--epsilons"),
        (["--cohorts", "2000"], "--cohort"),
        (["--cohorts", ""], "--cohorts"),
        (["--sampling", "shuffle"], "--sampling"),
        (["--clip-norm", "nan"], "--clip-norm"),
        (["--neighbouring", "swap"], "--neighbouring"),
        (["--plot", "/no/such/folder/plan.png"], "--plot"),
        (["--plot", "plan.xyz"], "--plot"),
    ],
)
def test_bad_options_are_named(changed: list[str], named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", *SETTING, *changed]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"{named}" in captured.err.splitlines()[-1]
