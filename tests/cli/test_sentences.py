"""Sentences that misled: each says what is so."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path

import pytest

from dpcert.accounting.currencies.convert import convert
from dpcert.cli import run
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.verification import files
from dpcert.proofs_checks.verification.verify import verify

CLAIM = {"title": "t", "neighbouring": "zero-out", "epsilon": 6.0, "delta": 1e-5}
NOISE = {"mechanism": {"kind": "gaussian", "noise_multiplier": 1.0}}
TEXT = '[claim]\ntitle = "{0}"\nunit = "{1}"\nneighbouring = "add-remove"\nepsilon = 6.0\ndelta = 1e-5\n'
TEXT += '[mechanism]\nkind = "gaussian"\nnoise_multiplier = 1.0\n'


def test_the_server_reads_raw_uploads() -> None:
    found = verify(parse_claim({"claim": CLAIM | {"observer": "server"}} | NOISE))
    assert found.verdict == "refuted"
    assert "it reads what each unit uploads" in found.why
    assert "delta = 0" not in found.why
    pure = verify(parse_claim({"claim": CLAIM | {"delta": 0.0}} | NOISE))
    assert "No epsilon holds at delta = 0" in pure.why


def test_the_end_of_a_search_is_no_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["calibrate", "--epsilon", "1e106", "--delta", "1e-5", "--solve-for", "noise-multiplier"]) == 2
    assert "the search goes no further" in capsys.readouterr().err


def test_what_is_not_computed_is_not_called_impossible(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["convert", "--rho", ".15", "--to", "mu"]) == 0
    assert "not computed" in capsys.readouterr().out
    assert "computes no bound" in convert("rho", 0.15, "mu").words
    assert "no bound on rho follows" in convert("epsilon", 1.0, "rho", known_delta=1e-5).words  # it may be infinite


@pytest.mark.parametrize("known", [["--rho", ".15"], ["--mu", ".5"], ["--epsilon", "1", "--known-delta", "1e-5"]])
def test_conversions_say_more_than_what_is_known(known: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["convert", *known]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(" ")]
    assert len(lines) >= 2
    name = known[0].removeprefix("--")
    assert not any(f": {name} <= " in line or "inf" in line for line in lines)
    assert run(["convert", *known, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["conversions"]) == 6


def test_releases_about_different_units_have_no_total(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for unit in ("user", "example"):
        (tmp_path / f"{unit}.toml").write_text(TEXT.format(unit, unit))
    assert run(["verify", "--compare", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "Together" not in printed
    assert "differ in unit" in " ".join(printed.split())


def test_what_was_judged_before_an_interruption_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.toml").write_text(TEXT.format(name, "user"))
    known = files.verdict_on

    def interrupted(path: Path, *about: object) -> object:
        if path.stem == "b":
            raise KeyboardInterrupt
        return known(path, *about)  # type: ignore[arg-type]

    monkeypatch.setattr(files, "verdict_on", interrupted)
    assert run(["verify", str(tmp_path)]) == 130
    said = capsys.readouterr()
    assert "holds      a" in said.out
    assert "3 claims: 1 hold, 0 refuted, 0 undecided, 2 not judged" in said.out
    assert "2 of 3 claims were not judged" in said.err


def _slow_from_b_on(path: Path, *about: object) -> object:
    """In a worker, which a copy of the name reaches: only the first is ever done."""
    if path.stem != "a":
        threading.Event().wait(600)
    return KNOWN(path, *about)  # type: ignore[arg-type]


KNOWN = files.verdict_on


def test_ctrl_c_in_several_processes_tells_what_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The signal comes when the first verdict is there; the others would never come."""
    for name in ("a", "b", "c", "d"):
        (tmp_path / f"{name}.toml").write_text(TEXT.format(name, "user"))
    result = files._result

    def and_then_ctrl_c(*about: object) -> object:
        os.kill(os.getpid(), signal.SIGINT)
        return result(*about)  # type: ignore[arg-type]

    monkeypatch.setattr(files, "verdict_on", _slow_from_b_on)
    monkeypatch.setattr(files, "_result", and_then_ctrl_c)
    assert run(["verify", str(tmp_path), "--jobs", "2", "--json"]) == 130
    said = capsys.readouterr()
    assert [claim["verdict"] for claim in json.loads(said.out)["claims"]] == ["holds"]
    assert "3 of 4 claims were not judged" in said.err
    assert "Traceback" not in said.err


@pytest.mark.parametrize("known", ["rho", "mu", "epsilon"])
def test_how_much_of_a_guarantee_a_target_allows(known: str, capsys: pytest.CaptureFixture[str]) -> None:
    """And back: the amount meets the target, and the next one is not proved to."""
    own = ["--known-delta", "1e-6"] if known == "epsilon" else []
    assert run(["calibrate", "--epsilon", "3", "--delta", "1e-5", "--solve-for", known, *own, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    own_delta = told.get("known_delta", 0.0)

    def back(amount: float) -> float:
        return convert(known, amount, "epsilon", known_delta=own_delta, delta=1e-5).at_most  # type: ignore[arg-type]

    assert back(told["value"]) <= 3 < back(told["beyond"])
    assert told["beyond"] <= told["value"] * 1.000002


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--solve-for", "rho", "--rounds", "3"], "--rounds"),
        (["--solve-for", "mu", "--noise-multiplier", "3"], "--noise-multiplier"),
        (["--solve-for", "epsilon", "--known-delta", "1e-3"], "--known-delta"),
        (["--solve-for", "noise-multiplier", "--known-delta", "1e-6"], "--known-delta"),
    ],
)
def test_of_a_guarantee_nothing_ran(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["calibrate", "--epsilon", "3", "--delta", "1e-5", *arguments]) == 2
    assert capsys.readouterr().err.startswith(f"error: {said}")


def test_training_names_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    for option in ("--rounds", "--cohort"):
        assert run(["train", "pmtl", "--data", "synthetic", option, "-1"]) == 2
        assert f"error: {option} = -1" in capsys.readouterr().err


@pytest.mark.parametrize("noise", [["--noise-multiplier", "0"], ["--mechanism", "laplace", "--noise-multiplier", "0"]])
def test_without_noise_epsilon_is_infinite_and_why(noise: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["epsilon", "--delta", "1e-5", *noise]) == 0
    said = capsys.readouterr().out
    assert "epsilon in [inf, inf]" in said
    assert "there is no noise" in said


def test_the_end_of_the_search_for_rounds_is_no_answer(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["calibrate", "--epsilon", "1e106", "--delta", "1e-5", "--solve-for", "rounds", "--noise-multiplier", "1"]
    assert run(asked) == 2
    assert "the search goes no further" in capsys.readouterr().err
    assert (
        run(["calibrate", "--epsilon", "1", "--delta", "1e-5", "--solve-for", "rounds", "--noise-multiplier", "0"]) == 2
    )
    assert "epsilon is infinite" in capsys.readouterr().err
