"""The readers' pages in docs/papers/ are those that the register gives now. `make papers` writes them anew."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cases import at_night, few
from matplotlib import rcdefaults
from matplotlib.testing.compare import compare_images

from dpcert.proofs_checks.papers import Row, Status, figures, judge, papers, register
from dpcert.proofs_checks.papers.pages import overview, section, sections, shown

PAGES = Path(__file__).parents[3] / "docs" / "papers"
STALE = "docs/papers is stale: make papers"
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
LAST_DIGITS = 0.01
"""Numbers may differ by this relatively between machines, and by TINY: an error of rounding is any number."""
TINY = 1e-9
UNLIKE = 0.2
"""Root mean square difference of pixels, of 255, above which two figures differ. The same plot gives 0."""


def _text(paper: str) -> str:
    return (PAGES / f"{paper}.md").read_text()


def same(page: str, now: str) -> bool:
    """The same words, and the same numbers but for their last digits."""
    if NUMBER.sub("#", page) != NUMBER.sub("#", now):
        return False
    pairs = zip(NUMBER.findall(page), NUMBER.findall(now), strict=True)
    return all(float(a) == pytest.approx(float(b), rel=LAST_DIGITS, abs=TINY) for a, b in pairs)


@pytest.mark.parametrize("paper", papers())
def test_pages_have_the_rows_of_the_register(paper: str) -> None:
    assert list(sections(_text(paper))) == [row.id for row in register(paper)], STALE


def _rows() -> list[Row]:
    """A tenth of the quick rows by day, the others and the full ones by night."""
    quick, full = ([row for row in register() if row.cost == cost] for cost in ("quick", "full"))
    return [*few(quick, 20), *map(at_night, full)]


@pytest.mark.parametrize("row", _rows(), ids=lambda row: row.id)
def test_pages_say_what_the_register_finds(row: Row) -> None:
    """Every line: claim, status, what was found, correction, evidence, command.

    judge raises where evidence is missing, undecided, or comes out the same on every statement of the row.
    """
    judged = judge(row)
    outcomes = {found.holds for found in (*judged.printed, judged.repaired, judged.spoilt) if found is not None}
    assert outcomes == {True, False}
    assert (judged.repaired is None) == (judged.printed[0].holds or judged.status is Status.OPEN)
    page, now = sections(_text(row.paper))[row.id], section(judged)
    assert same(page, now), f"{STALE}\n{page}\n{now}"


@pytest.mark.parametrize(
    ("printed", "changed"),
    [
        ("): false.", "): no longer false."),
        ("PMTL-A1-27", "PMTL-A1-28"),
        ("proved", "tested"),
        ("- Found: ", "- Found: 1 "),
    ],
)
def test_a_changed_word_is_noticed(printed: str, changed: str) -> None:
    page = sections(_text("pmtl"))["PMTL-A1-27"]
    assert printed in page
    assert not same(page.replace(printed, changed), page)


def test_a_changed_number_is_noticed_but_not_its_last_digit() -> None:
    assert same("at 2.4801 and 3e-17", "at 2.4802 and 8e-16")
    assert not same("at 2.48 and 3e-17", "at 2.52 and 3e-17")
    assert not same("at 2.48", "at 2.48 and 2.48")


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, figures.Figures]:
    folder = tmp_path_factory.mktemp("figures")
    rcdefaults()
    return folder, figures.draw(folder, papers())


def test_figures_and_captions_are_those_that_are_drawn_now(drawn: tuple[Path, figures.Figures]) -> None:
    folder, figures_by_paper = drawn
    for paper, named in figures_by_paper.items():
        for name, caption in named:
            assert shown(name, caption) in _text(paper), STALE
            assert compare_images(str(PAGES / name), str(folder / name), UNLIKE) is None, STALE
    named_anywhere = {name for named in figures_by_paper.values() for name, _ in named}
    assert {file.name for file in PAGES.glob("*.png")} == named_anywhere


def test_a_changed_number_in_a_figure_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = {name: {**setting, "end": setting["end"] * 1.03} for name, setting in figures.FIGURE_2.items()}
    monkeypatch.setattr(figures, "FIGURE_2", changed)
    figures._draw(tmp_path / "pmtl-epsilon.png", figures._epsilons)
    assert compare_images(str(PAGES / "pmtl-epsilon.png"), str(tmp_path / "pmtl-epsilon.png"), UNLIKE) is not None


def test_the_overview_counts_what_the_pages_say(tmp_path: Path) -> None:
    assert (PAGES / "README.md").read_text() == overview(PAGES), STALE
    for paper in papers():
        said = re.search(r"^The paper prints (\d+) statements", _text(paper), re.M)
        assert said
        assert f"]({paper}.md) | {said[1]} |" in overview(PAGES)
    for paper in papers():
        (tmp_path / f"{paper}.md").write_text(
            _text(paper).replace("- Verdict (printed statement): holds", "- Verdict (printed statement): false", 1)
        )
    assert overview(tmp_path) != overview(PAGES)
    for paper in papers():
        now = re.search(
            r"^The paper prints (\d+) statements [^.]*\. Verdicts: ([^.]*)\.(?: Rows that we add: (.*)\.)?$",
            _text(paper),
            flags=re.MULTILINE,
        )
        assert now
        counts = [sum(map(int, re.findall(r"\d+", part or ""))) for part in (now[2], now[3])]
        assert int(now[1]) == counts[0]
        assert sum(counts) == len(sections(_text(paper)))


def test_every_row_names_the_command_that_reproduces_it() -> None:
    for paper in papers():
        for row in register(paper):
            assert f"`dpcert papers --only {row.id}`" in sections(_text(paper))[row.id]


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in register() if row.proof])
def test_a_prose_proof_names_its_row(row: Row) -> None:
    """By its id, or by its last part after another row of the same line of results."""
    name, _, date = row.proof.partition(", ")
    assert re.fullmatch(r"(written|read) \d{4}-\d\d-\d\d", date)
    text = (PAGES.parent / name).read_text()
    assert row.id in text or f"`-{row.id.rpartition('-')[2]}`" in text or f"-{row.id.partition('-')[2]}" in text
