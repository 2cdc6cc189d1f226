"""The README's links, commands and targets exist; tests/guides runs it from top to bottom, as printed."""

from __future__ import annotations

import re
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
