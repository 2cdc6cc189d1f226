"""The engineer's training loop, killed and started again: model and ledger go on, and one budget holds for all runs."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from dpcert.accounting.ledger import Ledger

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "torch_training.py"


def test_the_guide_shows_the_example() -> None:
    page = (ROOT / "docs" / "how-to" / "engineer.md").read_text("utf-8")
    (shown,) = re.findall(r'```python title="train.py"\n(.*?)```', page, re.DOTALL)
    assert shown == EXAMPLE.read_text("utf-8")


def test_a_run_that_was_killed_goes_on_with_its_model_and_its_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    record = Ledger.record

    def killed(ledger: Ledger, *release: object, **named: object) -> object:
        if len(ledger) == 5:
            raise KeyboardInterrupt
        return record(ledger, *release, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Ledger, "record", killed)
    with pytest.raises(KeyboardInterrupt):
        runpy.run_path(str(EXAMPLE), run_name="__main__")
    saved = torch.load("model.pt")
    monkeypatch.setattr(Ledger, "record", record)
    loaded: list[dict[str, object]] = []
    load = torch.nn.Module.load_state_dict
    monkeypatch.setattr(
        torch.nn.Module, "load_state_dict", lambda model, state: (loaded.append(state), load(model, state))
    )
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    assert all(torch.equal(loaded[0][name], saved[name]) for name in saved)
    said = capsys.readouterr().out
    assert "resumed after 5 rounds" in said
    ledger = Ledger("training.sqlite")
    assert len(ledger) == 37  # as many as in one run, not five more
    assert ledger.epsilon(1e-5).upper <= 3.0
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    again = capsys.readouterr().out
    assert "resumed after 37 rounds" in again
    assert again.splitlines()[-1] == said.splitlines()[-1]  # accuracy: the model was resumed, too
