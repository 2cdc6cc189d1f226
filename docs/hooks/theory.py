"""For MkDocs: each page of docs/theory ends with the files and the tests that rest on it: those that cite it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
ROOMS = ("mechanisms", "accounting", "trainers", "proofs_checks", "tests")


@cache
def _texts() -> dict[str, str]:
    """Every source file of the rooms and their tests, by its path from the root."""
    files = sorted(file for room in ROOMS for file in (ROOT / room).rglob("*.py"))
    return {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in files}


def rests_on(name: str) -> tuple[list[str], list[str]]:
    """(product files, test files) that cite the page of this name, or are tests that the page itself names."""
    citing = [path for path, text in _texts().items() if re.search(rf"(?<![\w/])(?:docs/)?(?:theory/)?{name}", text)]
    page = (ROOT / "docs" / "theory" / name).read_text(encoding="utf-8")
    named = {path for path in re.findall(r"\btests/[\w/]*test_\w+\.py", page) if (ROOT / path).is_file()}
    tests = {path for path in citing if path.startswith("tests/")} | named
    return [path for path in citing if not path.startswith("tests/")], sorted(tests)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    place = Path(page.file.src_uri)
    if place.parent.name != "theory" or not (ROOT / "docs" / place).is_file():
        return markdown
    files, tests = ("".join(f"- `{path}`\n" for path in found) for found in rests_on(place.name))
    return f"{markdown.rstrip()}\n\n## What rests on this page\n\nFiles:\n\n{files}\nTests:\n\n{tests}"
