"""The readers' pages in docs/papers/ are those that the register gives now. `make papers` writes them anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dpcert.proofs_checks.papers import PAPERS, Judgement, Row, judge, register
from dpcert.proofs_checks.papers.pages import Entry, entries, entry

PAGES = Path(__file__).parents[3] / "docs" / "papers"
STALE = "docs/papers is stale: make papers"
LARGEST_FIGURE = 150_000


def _page(paper: str) -> list[Entry]:
    return entries((PAGES / f"{paper}.md").read_text())


@pytest.mark.parametrize("paper", PAPERS)
def test_pages_have_the_rows_of_the_register(paper: str) -> None:
    assert [found.id for found in _page(paper)] == [row.id for row in register(paper)], STALE


def _rows() -> list[object]:
    marks = {"quick": (), "full": (pytest.mark.nightly,)}
    return [pytest.param(row, id=row.id, marks=marks[row.cost]) for row in register()]


@pytest.mark.parametrize("row", _rows())
def test_pages_say_what_the_register_finds(row: Row) -> None:
    """Status, statement and correction; the numbers may differ in their last digits between machines."""
    (found,) = (each for each in _page(row.paper) if each.id == row.id)
    assert found == entry(judge(row)), STALE


def test_a_changed_status_or_statement_is_noticed() -> None:
    judged: Judgement = judge(register(only="PMTL-A1-27")[0])
    (page,) = (each for each in _page("pmtl") if each.id == "PMTL-A1-27")
    assert page == entry(judged)
    assert page != replace(entry(judged), status="holds")
    assert page != replace(entry(judged), statement="Something else.")
    assert page != replace(entry(judged), instead="")


def test_figures_are_there_and_small() -> None:
    named = {name for paper in PAPERS for name in _figures(paper)}
    assert {f"{paper}-epsilon.png" for paper in ("pmtl", "dpfedmtl")} <= named
    for name in named:
        assert 1_000 < (PAGES / name).stat().st_size < LARGEST_FIGURE


def _figures(paper: str) -> list[str]:
    page = (PAGES / f"{paper}.md").read_text()
    return [line.split("](")[1].rstrip(")") for line in page.splitlines() if line.startswith("![")]


def test_every_row_names_the_command_that_reproduces_it() -> None:
    for paper in PAPERS:
        page = (PAGES / f"{paper}.md").read_text()
        for row in register(paper):
            assert f"`dpcert papers --only {row.id}`" in page
