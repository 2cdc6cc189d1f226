"""The engineer's loop, started again over its own ledger: the budget is that of all runs together."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from dpcert.accounting.ledger import Ledger

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "engineer.md"


def test_a_second_run_stops_where_the_first_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r'```python title="loop.py"\n(.*?)```', PAGE.read_text("utf-8"), re.DOTALL)
    (tmp_path / "loop.py").write_text(code, "utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path("loop.py")
    once = len(Ledger("training.sqlite"))
    runpy.run_path("loop.py")
    with_both = Ledger("training.sqlite")
    assert len(with_both) == once  # it printed 0.9829 as the cost of twice the rounds, which cost 1.26
    assert with_both.epsilon(1e-6).upper <= 1.0
