"""Spend, publish, commit: killed at every step, and with every part of the books lost, cut, older, or from elsewhere.

What must be true of either trainer: everything that was ever shown is paid for; no noise is ever on two sums; what is
lost is said (docs/ledger.md, "What survives what").
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from cases import few
from paid_runs import GOAL, ROUNDS, TRAINERS, Shown, another_device, copied, course, finish

from dpcert.mechanisms import InputError
from dpcert.trainers.engine.checkpoint import RECORD, Checkpoint, LostRounds
from dpcert.trainers.engine.paid_round import Paid
from dpcert.trainers.engine.privacy import PrivacyGoal
from dpcert.trainers.engine.processes import Processes
from dpcert.trainers.engine.spent import OLD, SpentRecord
from dpcert.trainers.engine.trainer import Trainer
from dpcert.trainers.mocha.private_run import PrivateRun

torch.set_num_threads(1)
STEPS = {
    "spend": (Paid, "spend"),
    "publish": (None, "publish"),
    "commit": (Checkpoint, "commit"),
    "settle": (Checkpoint, "settle"),
}


KILLS = [
    (name, moment, step, device)
    for name in TRAINERS
    for device in ("the same device", "another device")
    for step in STEPS
    for moment in ("before", "after")
]


@pytest.mark.parametrize(("name", "moment", "step", "device"), few(KILLS, 6))
def test_killed_at_every_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, moment: str, step: str, device: str
) -> None:
    """An exception stands for the kill: what is on disk at that moment is the same."""
    plain, board = TRAINERS[name](None, Shown()), Shown()
    finish(plain)
    holder, method = STEPS[step]
    holder = holder or (Trainer if name == "federated" else PrivateRun)
    original, calls = getattr(holder, method), []

    def killed(*arguments: Any) -> Any:
        calls.append(method)
        if len(calls) == 3 and moment == "before":
            raise KeyboardInterrupt
        found = original(*arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return found

    with monkeypatch.context() as patch:
        patch.setattr(holder, method, killed)
        with pytest.raises(KeyboardInterrupt):
            finish(TRAINERS[name](tmp_path / "run", board))
    if device == "the same device":
        resumed = TRAINERS[name](tmp_path / "run", board)
        outcome = finish(resumed)
        assert course(resumed) == course(plain)
    else:
        with another_device(monkeypatch):
            outcome = finish(TRAINERS[name](tmp_path / "run", board))
    assert board.different <= outcome.spent <= ROUNDS + 1
    assert not board.reuses_noise


def without(folder: Path, pattern: str) -> None:
    for file in folder.glob(pattern):
        file.unlink()


def halved(folder: Path, pattern: str) -> None:
    for file in folder.glob(pattern):
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def put_back(folder: Path, older: Path, pattern: str) -> None:
    without(folder, pattern)
    for file in older.glob(pattern):
        (folder / file.name).write_bytes(file.read_bytes())


STATE, NOTE, PLACES = "state-*", f"{RECORD}.head", f"{RECORD}*"
REFUSED, TOLD, UNHARMED = "refused", "told", "unharmed"
LOSSES: dict[str, tuple[str, Any]] = {
    "nothing": (UNHARMED, lambda folder, older: None),
    "state lost": (TOLD, lambda folder, older: without(folder, STATE)),
    "state cut": (REFUSED, lambda folder, older: halved(folder, STATE)),
    "state older": (TOLD, lambda folder, older: put_back(folder, older, "rows-*") or put_back(folder, older, STATE)),
    "record lost": (REFUSED, lambda folder, older: without(folder, RECORD)),
    "record and note lost": (REFUSED, lambda folder, older: without(folder, PLACES)),
    "record cut": (REFUSED, lambda folder, older: halved(folder, RECORD)),
    "record older": (REFUSED, lambda folder, older: put_back(folder, older, RECORD)),
    "record and note older": (REFUSED, lambda folder, older: put_back(folder, older, PLACES)),
    "record, note and state lost": (REFUSED, lambda folder, older: without(folder, PLACES) or without(folder, STATE)),
    "note lost": (UNHARMED, lambda folder, older: without(folder, NOTE)),
    "note older": (UNHARMED, lambda folder, older: put_back(folder, older, NOTE)),
    "note cut": (REFUSED, lambda folder, older: halved(folder, NOTE)),
    "seed lost": (REFUSED, lambda folder, older: without(folder, "run.json")),
    "seed cut": (REFUSED, lambda folder, older: halved(folder, "run.json")),
}


@pytest.fixture(scope="module", params=TRAINERS)
def stopped(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, Path, Shown]:
    """A run that was stopped after four rounds, its folder after two, and what it has shown."""
    folder, board = tmp_path_factory.mktemp("stopped") / "run", Shown()
    finish(TRAINERS[request.param](folder, board, 2), 2)
    older = copied(folder, folder.with_name("older"))
    finish(TRAINERS[request.param](folder, board, 4), 4)
    assert board.different == 4
    return request.param, folder, older, board


@pytest.mark.parametrize("device", ["the same device", "another device"])
@pytest.mark.parametrize("loss", LOSSES)
def test_what_is_lost_is_said_and_nothing_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopped: Any, loss: str, device: str
) -> None:
    name, kept, older, before = stopped
    expected, lose = LOSSES[loss]
    folder, board = copied(kept, tmp_path / "run"), Shown(list(before.seen))
    lose(folder, older)
    if expected == REFUSED:
        with pytest.raises(InputError, match="checkpoint"):
            TRAINERS[name](folder, board)
        return
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        run = TRAINERS[name](folder, board)
    assert [warning.category for warning in told] == ([LostRounds] if expected == TOLD else [])
    if device == "the same device":
        outcome = finish(run)
        plain = TRAINERS[name](None, Shown())
        finish(plain)
        if loss != "state older":  # personal models are of later rounds then
            assert course(run) == course(plain)
    else:
        with another_device(monkeypatch):
            outcome = finish(run)
    assert board.different <= outcome.spent
    assert not board.reuses_noise


@pytest.mark.parametrize("lose", [without, halved])
def test_lost_personal_models_are_said(tmp_path: Path, lose: Any) -> None:
    finish(TRAINERS["federated"](tmp_path / "run", Shown(), 2), 2)
    lose(tmp_path / "run", "personal.bin")
    with pytest.raises(InputError, match=r"personal\.bin.*missing or cut|all personal models"):
        TRAINERS["federated"](tmp_path / "run", Shown())


@pytest.mark.parametrize("name", TRAINERS)
def test_a_lost_record_does_not_give_the_budget_back(tmp_path: Path, name: str) -> None:
    """0.2.0 went on to twice the rounds that the budget allows."""
    limit = TRAINERS[name](None, Shown()).cost.spent(4)
    assert limit is not None
    goal = PrivacyGoal(GOAL.delta, budget=limit.upper)
    for _ in range(2):
        outcome = finish(TRAINERS[name](tmp_path / "run", Shown(), goal=goal))
        assert (outcome.spent, outcome.stopped_by_budget) == (4, True)
    without(tmp_path / "run", RECORD)
    with pytest.raises(InputError, match=r"spent\.sqlite is missing"):
        TRAINERS[name](tmp_path / "run", Shown(), goal=goal)


def test_the_folder_of_a_run_that_was_killed_while_it_was_made_is_new(tmp_path: Path) -> None:
    SpentRecord.at(tmp_path / RECORD, Processes())
    (tmp_path / "run.tmp").write_text("{")
    assert finish(TRAINERS["mocha"](tmp_path, Shown())).spent == ROUNDS
    without(tmp_path, "run.json")
    with pytest.raises(InputError, match="an empty folder"):
        TRAINERS["mocha"](tmp_path, Shown())


def as_0_2_0_kept_it(folder: Path) -> None:
    """The same checkpoint in the files of 0.2.0: a line of JSON for each release, states that say nothing of them."""
    lines = [
        json.dumps({"round": each.round, "attempt": each.attempt, "digest": each.digest}) + "\n"
        for each in SpentRecord.at(folder / RECORD, Processes()).entries
    ]
    without(folder, PLACES)
    (folder / OLD).write_text("".join(lines))
    about = json.loads((folder / "run.json").read_text())
    del about["spent"]
    (folder / "run.json").write_text(json.dumps(about))


def test_a_checkpoint_of_0_2_0_goes_on(tmp_path: Path, stopped: Any) -> None:
    name, kept, _, before = stopped
    folder, board = copied(kept, tmp_path / "run"), Shown(list(before.seen))
    as_0_2_0_kept_it(folder)
    with (folder / OLD).open("a") as journal:
        journal.write('{"round": 4, "att')  # never forced to disk
    run = TRAINERS[name](folder, board)
    assert not (folder / OLD).exists()
    assert finish(run).spent == board.different == ROUNDS
    assert TRAINERS[name](folder, board).spent == ROUNDS


def test_a_checkpoint_of_0_2_0_that_has_forgotten_is_refused(tmp_path: Path, stopped: Any) -> None:
    name, kept, _, _ = stopped
    for lost in (0, 1):
        folder = copied(kept, tmp_path / str(lost))
        as_0_2_0_kept_it(folder)
        lines = (folder / OLD).read_text().splitlines(keepends=True)
        (folder / OLD).write_text("".join(lines[:lost]))
        with pytest.raises(InputError, match=f"lacks the release of round {lost}"):
            TRAINERS[name](folder, Shown())
        (folder / OLD).unlink()
        with pytest.raises(InputError, match="lacks the release of round 0"):
            TRAINERS[name](folder, Shown())


def test_two_processes_of_one_run_do_not_both_spend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, board = TRAINERS["mocha"](tmp_path / "run", Shown()), Shown()
    second = TRAINERS["mocha"](tmp_path / "run", board)
    finish(first)
    with another_device(monkeypatch), pytest.raises(InputError, match="taken by another event"):
        finish(second)
    assert not board.seen
