"""docs/trainers/algorithm-1-to-code.md names functions that exist, and few enough lines to read."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "trainers" / "algorithm-1-to-code.md"
MOST = 150
LONGEST = 250


def lines_of(file: Path, name: str) -> int:
    """Of a function, or a method written Class.method."""
    nodes = ast.parse(file.read_text(encoding="utf-8")).body
    for part in name.split("."):
        (found,) = [node for node in nodes if getattr(node, "name", None) == part]
        nodes = getattr(found, "body", [])
    return found.end_lineno - found.lineno + 1


def test_the_path_is_there_and_short():
    steps = []
    for row in re.findall(r"\| ([^|]*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE):
        for file, names in re.findall(r"`(trainers/[\w/]+\.py)`: ((?:`[\w.]+`(?:, )?)+)", row):
            steps += [lines_of(ROOT / file, name) for name in re.findall(r"`([\w.]+)`", names)]
    assert len(steps) == 13
    assert sum(steps) < MOST


def test_files_of_the_engine_are_short():
    found = {file.name: file.read_text().count("\n") for file in (ROOT / "trainers" / "engine").glob("*.py")}
    assert {name: lines for name, lines in found.items() if lines >= LONGEST} == {}
