"""Paths that cannot be read: one sentence, exit code 2, and no waiting."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cases import few

from dpcert.cli import run

CLAIM = """
[claim]
title = "t"
neighbouring = "add-remove"
epsilon = 6.0
delta = 1e-5
[mechanism]
kind = "gaussian"
noise_multiplier = 1.0
"""
NEW = ["--title", "t", "--epsilon", "1", "--noise-multiplier", "1"]


@pytest.fixture
def places(tmp_path: Path) -> Path:
    """Folders that may not be searched or listed, and pipes that nobody writes into."""
    for name in ("locked", "hidden", "open"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "claim.toml").write_text(CLAIM)
        (tmp_path / name / "script.py").write_text("x = 1\n")
    for ending in ("py", "ipynb", "json", "toml", "yaml"):
        os.mkfifo(tmp_path / f"pipe.{ending}")
    (tmp_path / "open" / "inner").mkdir()
    (tmp_path / "locked").chmod(0o600)
    (tmp_path / "hidden").chmod(0o000)
    (tmp_path / "open" / "inner").chmod(0o000)
    return tmp_path


def without_rights(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """The command as a user who may not read everything: root would be let in anyway."""
    rights: list[str] = []
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root without a way to drop its rights")
        rights = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    command = [*rights, sys.executable, "-m", "dpcert", *arguments]
    known = dict(os.environ)  # readline gives processes a COLUMNS that Python does not know of
    return subprocess.run(command, cwd=folder, env=known, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize(
    "arguments",
    few(
        [
            ["lint", "locked/script.py"],
            ["lint", "hidden"],
            ["lint", "open"],
            ["check", "locked/c.json"],
            ["new", "locked/n.toml", *NEW],
            ["registry", "import", "locked/e.yaml"],
            ["verify", "locked/claim.toml"],
            ["verify", "open"],
            ["verify", "open/claim.toml", "--report", "locked/r.html"],
            ["ledger", "show", "locked/l.sqlite"],
        ],
        3,
    ),
    ids=" ".join,
)
def test_places_that_may_not_be_read(arguments: list[str], places: Path) -> None:
    done = without_rights(arguments, places)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    said = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(said) == 1
    assert "ermission denied" in said[0]


@pytest.mark.parametrize(
    "arguments",
    [
        ["lint", "pipe.py"],
        ["lint", "pipe.ipynb"],
        ["check", "pipe.json"],
        ["registry", "import", "pipe.yaml"],
        ["verify", "pipe.toml"],
        ["explain", "pipe.toml"],
        ["audit", "--schedule", "pipe.json"],
    ],
    ids=" ".join,
)
def test_nobody_waits_for_a_pipe(
    arguments: list[str], places: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(places)
    assert run(arguments) == 2
    assert "pipe" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["verify"], ["lint"], ["check"], ["explain"], ["registry", "import"], ["new"]])
def test_an_empty_path_is_not_the_current_folder(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "claim.toml").write_text(CLAIM)
    assert run([*command, ""]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "expected a path; the current folder is ." in line
