"""dpcert verify takes folders, and a claim on standard input."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from dpcert.cli import run

CLAIM = """
[claim]
title = "a claim"
neighbouring = "add-remove"
epsilon = 6.0
delta = 1e-5
[mechanism]
kind = "gaussian"
noise_multiplier = 1.0
"""


def test_a_folder_is_read_with_its_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "b.toml").write_text(CLAIM)
    (tmp_path / "papers" / "a.toml").write_text(CLAIM.replace("6.0", "1.0"))
    (tmp_path / "notes.txt").write_text("not a claim")
    assert run(["verify", str(tmp_path), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert [claim["verdict"] for claim in document["claims"]] == ["holds", "refuted"]
    assert document["errors"] == []


def test_a_folder_without_claims_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", str(tmp_path)]) == 2
    assert "*.toml" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "code"), [(CLAIM, 0), (CLAIM.replace("6.0", "nan"), 2), ("", 2)])
def test_standard_input(
    text: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert run(["verify", "-"]) == code
    capsys.readouterr()
