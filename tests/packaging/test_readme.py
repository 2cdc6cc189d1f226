"""The README's links, commands and targets exist; tests/guides runs it from top to bottom, as printed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_the_commands_of_the_readme_exist(capsys: pytest.CaptureFixture[str]) -> None:
    from dpcert.cli import run

    for command in sorted(set(re.findall(r"(?:`|bin/)dpcert ([a-z]+)[ `]", README))):
        assert run([command, "--help"]) == 0, command
    capsys.readouterr()


def recipe(target: str) -> list[str]:
    """What make runs for it in an environment that is there already."""
    venv = Path(sys.executable).parent.parent
    made = [f"--old-file={venv}/{stamp}" for stamp in (".installed", ".installed-dev")]
    done = subprocess.run(
        ["make", "--dry-run", f"VENV={venv}", *made, target], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [line for line in done.stdout.replace("\\\n", " ").splitlines() if not line.startswith("make")]


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_the_two_commands_run_what_is_tested() -> None:
    """`make verify` is the command of the next test; `make test` is the run that this test is part of."""
    (verify,), (suite,) = recipe("verify"), recipe("test")
    venv = Path(sys.executable).parent.parent
    assert verify.startswith(f"{venv}/bin/dpcert verify claims --jobs 0;")
    assert suite.split() == [f"{venv}/bin/python", "-m", "pytest", "-n", "auto", "--dist", "worksteal"]


@pytest.mark.nightly
def test_make_verify_judges_every_claim(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from dpcert.cli import run

    monkeypatch.chdir(ROOT)
    assert run(["verify", "claims", "--jobs", "0"]) == 1  # refuted ones are part of the record
    last = capsys.readouterr().out.strip().splitlines()[-1]
    assert last.startswith(f"{len(list((ROOT / 'claims').rglob('*.toml')))} claims: ")


def test_what_needs_an_extra_says_so_before() -> None:
    """Every extra that the README names exists; its commands stand behind the name."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(re.findall(r"`\[(\w+)\]`", README)) <= set(extras)
    for extra, needing in (("test", "assert_private"), ("prove", "dpcert prove"), ("report", "--report")):
        assert 0 < README.index(f"`[{extra}]`") < README.index(needing)


def test_the_make_targets_of_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"make ([a-z]+)", README))
    assert named >= {"verify", "test"}
    for target in named:
        assert f"\n{target}:" in makefile


def test_the_cpu_build_of_torch_satisfies_the_extra() -> None:
    """Who has the CPU build keeps it: pip replaces nothing that meets the requirement."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    (pin,) = (Requirement(line) for line in pins if line.startswith("torch=="))
    (asked,) = (Requirement(line) for line in extras["train"] if line.startswith("torch"))
    assert asked.specifier.contains("2.13.0+cpu")
    assert pin.specifier.contains("2.13.0+cpu")
