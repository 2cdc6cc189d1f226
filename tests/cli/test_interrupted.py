"""Ctrl-C in training: what is known, and what was spent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from dpcert.accounting import epsilon
from dpcert.cli import run
from dpcert.mechanisms import FixedSize, Gaussian, Repeat
from dpcert.trainers.engine.trainer import Trainer
from dpcert.trainers.mocha.private_run import PrivateRun

TRAIN = ["train", "dp-fedavg", "--data", "synthetic:related,population=8,samples=10", "--noise-multiplier", "2"]
TRAIN += [
    "--clip-norm",
    "1",
    "--rounds",
    "9",
    "--cohort",
    "4",
    "--sampling",
    "fixed-size",
    "--quiet",
    "--delta",
    "1e-3",
]


def _stopped(monkeypatch: pytest.MonkeyPatch, kind: Any, method: str, at: int) -> None:
    """Ctrl-C in that part of a round: before it is paid for (compute), or when it is paid and not done (publish)."""
    real = getattr(kind, method)

    def stopped(trainer: Any, *given: Any) -> Any:
        if trainer.rounds == at:
            raise KeyboardInterrupt
        return real(trainer, *given)

    monkeypatch.setattr(kind, method, stopped)


@pytest.mark.parametrize(("method", "paid"), [("compute", 3), ("publish", 4)])
def test_what_was_paid_for_is_spent(
    method: str, paid: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _stopped(monkeypatch, Trainer, method, at=3)
    assert run([*TRAIN, "--json"]) == 130
    said = json.loads(capsys.readouterr().out)
    truth = epsilon(Repeat(FixedSize(Gaussian(2.0), 8, 4), paid), 1e-3, "add-remove")
    assert (said["rounds"], said["of_rounds"], said["releases"]) == (3, 9, paid)
    assert said["privacy"]["epsilon_lower"] <= truth.upper
    assert said["privacy"]["epsilon_upper"] >= truth.lower


def test_a_checkpoint_is_named_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    resumable = [*TRAIN, "--checkpoint", str(tmp_path / "kept")]
    with monkeypatch.context() as patched:
        _stopped(patched, Trainer, "publish", at=3)
        assert run(resumable) == 130
    said = capsys.readouterr().out
    assert "interrupted after 3 of 9 rounds" in said
    assert "4 releases)" in said
    assert str(tmp_path / "kept") in said.replace("\n", "")
    assert run([*resumable, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["releases"] == 9  # the fourth is published once more, at no cost


def test_private_mocha(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    _stopped(monkeypatch, PrivateRun, "compute", at=2)
    command = ["mocha", "mocha", "--noise-multiplier", "2", "--clip-norm", "1", "--rounds", "5", "--quiet"]
    assert run(command) == 130
    said = capsys.readouterr().out
    assert "interrupted after 2 of 5 rounds" in said
    assert "2 releases)" in said
