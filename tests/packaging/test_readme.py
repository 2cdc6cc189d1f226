"""What the README shows is run: its Python as written, its claim as a file, its commands for their exit codes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_the_embedding_example_runs(tmp_path: Path) -> None:
    code = blocks("python")[0]
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    numbers = re.search(r"lies in \[([\d.]+), ([\d.]+)\]", done.stdout)
    assert numbers is not None
    assert 0 <= float(numbers[1]) <= float(numbers[2]) < 10


def test_the_claim_of_the_readme_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from dpcert.cli import run

    (claim,) = blocks("toml")
    path = tmp_path / "my_claim.toml"
    path.write_text(claim)
    assert run(["verify", str(path)]) == 0
    capsys.readouterr()


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_the_commands_of_the_readme_exist(capsys: pytest.CaptureFixture[str]) -> None:
    from dpcert.cli import run

    for command in sorted(set(re.findall(r"dpcert ([a-z]+) ", README))):
        if command in ("takes", "itself"):
            continue
        assert run([command, "--help"]) == 0, command
    capsys.readouterr()


def test_the_make_targets_of_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in ("verify", "test"):
        assert f"\n{target}:" in makefile
        assert f"make {target}" in README
