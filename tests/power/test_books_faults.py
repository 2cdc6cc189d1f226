"""What 0.2.0's trainers did with lost books, planted again: shown to be overspent, or one noise on two sums."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from paid_runs import ROUNDS, TRAINERS, Shown, another_device, finish

from dpcert.trainers.engine.checkpoint import RECORD, Checkpoint
from dpcert.trainers.engine.spent import Spent, SpentRecord


def last_one_only(self: SpentRecord, round_index: int) -> Spent | None:
    """Only the last entry of the journal is compared with what is computed again."""
    last = self.entries[-1] if self.entries else None
    return last if last is not None and last.round == round_index else None


@pytest.mark.parametrize("name", TRAINERS)
def test_only_the_last_release_compared_on_another_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    board = Shown()
    finish(TRAINERS[name](tmp_path, board))
    for state in tmp_path.glob("state-*"):
        state.unlink()
    monkeypatch.setattr(SpentRecord, "latest", last_one_only)
    monkeypatch.setattr(SpentRecord, "_record", SpentRecord._take)  # a journal that takes a round twice
    with another_device(monkeypatch), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        finish(TRAINERS[name](tmp_path, board))
    assert board.reuses_noise


@pytest.mark.parametrize("name", TRAINERS)
def test_a_lost_record_that_nobody_misses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    board = Shown()
    finish(TRAINERS[name](tmp_path, board, 4), 4)
    for file in tmp_path.glob(f"{RECORD}*"):
        file.unlink()
    monkeypatch.setattr(Checkpoint, "_require_paid", lambda *_: None)
    monkeypatch.setattr(Checkpoint, "_recorded", lambda *_: SpentRecord.in_memory())
    outcome = finish(TRAINERS[name](tmp_path, board))
    assert outcome.spent < board.different == ROUNDS
