"""The pages of docs/theory name files and folders that exist, and begin by saying what they show and for whom."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "theory").glob("*.md"))
ROOMS = ("accounting", "mechanisms", "trainers", "proofs_checks", "src", "tests", "benchmarks")
FILES = ["/" + file.relative_to(ROOT).as_posix() for room in ROOMS for file in (ROOT / room).rglob("*.py")]


def _missing(text: str) -> list[str]:
    named = sorted(set(re.findall(r"[\w/]+\.py\b", text)))
    folders = sorted(set(re.findall(rf"`((?:{'|'.join(ROOMS)})/[\w/]*\w)/?`", text)))
    return [
        *(name for name in named if not any(file.endswith("/" + name) for file in FILES)),
        *(name for name in folders if not any(f"/{name}/" in file for file in FILES)),
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_that_a_page_names_exist(page: Path) -> None:
    assert _missing(page.read_text(encoding="utf-8")) == []


def test_a_file_that_is_gone_is_noticed() -> None:
    assert _missing("as in `losses/line.py` and `losses/no_line.py`") == ["losses/no_line.py"]
    assert _missing("`accounting/losses/`, `accounting/losses` and `accounting/no_losses`") == ["accounting/no_losses"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_begins_with_what_it_shows_for_whom_and_where_it_is_used(page: Path) -> None:
    _, first, *_ = page.read_text(encoding="utf-8").split("\n\n")
    words = " ".join(first.split())
    assert "This page" in words
    assert "matters" in words
    assert re.search(r"`[\w/.]+/[\w/.]*`", words)
