"""The record's pages: what they say, that their links lead somewhere, and that no text of a claim becomes markup."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("jinja2")

from dpcert.cli import run
from dpcert.mechanisms import InputError
from dpcert.mechanisms.digits import rounded_up
from dpcert.record.badge import badge
from dpcert.record.entry import Entry, entry
from dpcert.record.pages import write_pages

CLAIM = """
[claim]
title = "{title}"
author = "{author}"
year = 2024
source = "a paper, Table 1"
neighbouring = "add-remove"
epsilon = {epsilon}
delta = 1e-5
convention = "none"
[mechanism]
kind = "gaussian"
noise_multiplier = 2.0
"""
HOSTILE = "<script>alert(1)</script> *and* [x](y)"


class Links(HTMLParser):
    """Every address that a page names, and every element."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.tags: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.targets += [value for name, value in attributes if name in ("href", "src") and value]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of three claims, the second by another author with a hostile name."""
    root = tmp_path_factory.mktemp("record")
    entries = []
    for name, author, epsilon in (("high", "A", 9.0), ("low", HOSTILE, 1.0), ("also", "A", 3.0)):
        path = root / "papers" / f"{name}.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(CLAIM.format(title=f"{name} {HOSTILE}", author=author, epsilon=epsilon))
        one = entry(path, "papers", root / "cache")
        assert isinstance(one, Entry)
        entries.append(one)
    write_pages(entries, root / "pages")
    return root / "pages"


def test_every_link_leads_somewhere(made: Path) -> None:
    pages = sorted(made.rglob("*.md"))
    assert len(pages) == 3 + 2 + 3
    for page in pages:
        for target in Links(page.read_text()).targets:
            if target.startswith("https://") or "glossary.html" in target:  # the site's, checked when it is built
                continue
            file = (page.parent / target).resolve()
            assert file.exists() or file.with_suffix(".md").exists(), (page.name, target)


def test_no_text_of_a_claim_becomes_markup(made: Path) -> None:
    for page in made.rglob("*.md"):
        front, body = page.read_text().split("---\n\n", 1)
        assert json.loads(front.splitlines()[1].removeprefix("title: "))
        assert "<script>alert" not in body, page
        assert body.startswith('<div class="record">')
        assert not re.search(r"\n\s*\n", body.rstrip("\n")), "a blank line would give the rest to Markdown"


def test_a_page_says_what_was_found(made: Path) -> None:
    page = (made / "claims" / "low.md").read_text()
    assert "refuted" in page
    assert "Table 1" in page
    assert "dpcert check low.json" in page
    assert page.count("<tr><td>0.") == 3, "risks at three error rates"
    assert "To object" in page
    held = (made / "claims" / "high.md").read_text()
    assert "record-verdict record-holds" in held
    assert "Witness" not in held


def test_its_certificate_is_proved(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", *map(str, sorted((made / "certificates").iterdir()))]) == 0
    assert capsys.readouterr().out.count("proved:") == 3


def test_the_table_has_every_claim_and_its_factor(made: Path) -> None:
    rows = re.findall(
        r'<tr data-verdict="(\w+)".*?data-value="([\d.]*)".*?</tr>', (made / "index.md").read_text(), re.S
    )
    assert [verdict for verdict, _ in rows] == ["holds", "refuted", "holds"]
    for (verdict, times), claimed in zip(rows, (9.0, 1.0, 3.0), strict=True):
        assert (float(times) > 1) == (verdict == "refuted")
        assert 1.9 < float(times) * claimed < 2.1


def test_a_run_of_many_phases_has_all_of_it(tmp_path: Path) -> None:
    """Phases of one claim once broke the page; its certificate and its risks were left out."""
    path = tmp_path / "papers" / "phases.toml"
    path.parent.mkdir()
    phase = '[[phase]]\nmechanism = {{kind = "gaussian", noise_multiplier = {}}}\ncomposition = {{rounds = 2}}\n'
    head = CLAIM.format(title="seven", author="A", epsilon=9.0).partition("[mechanism]")[0]
    path.write_text(head + "".join(phase.format(8.0 + number) for number in range(7)))
    one = entry(path, "papers", tmp_path / "cache")
    assert isinstance(one, Entry)
    write_pages([one], tmp_path / "pages")
    page = (tmp_path / "pages" / "claims" / "phases.md").read_text()
    assert page.count("noise_multiplier") == 7
    assert page.count("<tr><td>0.") == 3, "risks at three error rates"
    assert "record-band" in page
    assert run(["check", str(tmp_path / "pages" / "certificates" / "phases.json")]) == 0


def test_no_end_is_shown_beyond_the_number_that_it_holds(tmp_path: Path) -> None:
    """The double 2.64 is a little more than 2.64, and stands for 2.64; 2.6400004 is rounded up beyond 2.6400005."""
    path = tmp_path / "sum.toml"
    pure = CLAIM.format(title="sum", author="A", epsilon=2.64).replace('"gaussian"', '"pure-dp"')
    path.write_text(pure.replace("noise_multiplier = 2.0", "epsilon = 2.64").replace("1e-5", "0"))
    one = entry(path, "papers", tmp_path / "cache")
    assert isinstance(one, Entry)
    assert (rounded_up(2.64, 6), rounded_up(2.6400004, 6)) == ("2.64", "2.64001")
    assert (one.data["verdict"], one.data["interval"]) == ("holds", "[0, 2.64]")
    path.write_text(
        path.read_text()
        .replace("epsilon = 2.64\ndelta", "epsilon = 2.6400005\ndelta")
        .replace("epsilon = 2.64\n", "epsilon = 2.6400004\n")
    )
    longer = entry(path, "papers", tmp_path / "cache")
    assert isinstance(longer, Entry)
    assert (longer.data["verdict"], longer.data["interval"]) == ("holds", "[0, 2.6400005]")


def test_errors_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "sampled.toml"
    weak = CLAIM.format(title="delta", author="A", epsilon=9.0).replace("1e-5", "0.1")
    path.write_text(weak + '[sampling]\nscheme = "poisson"\npopulation = 100\ncohort = 10\n')
    one = entry(path, "papers", tmp_path / "cache")
    assert isinstance(one, Entry)
    write_pages([one], tmp_path / "pages")
    assert "delta not small: 1" in (tmp_path / "pages" / "errors.md").read_text()


def test_an_entry_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "claim.toml"
    path.write_text(CLAIM.format(title="once", author="A", epsilon=9.0))
    first = entry(path, "papers", tmp_path / "cache")
    monkeypatch.setattr("dpcert.record.entry.verify", lambda *_, **__: pytest.fail("judged again"))
    assert entry(path, "papers", tmp_path / "cache") == first
    path.write_text("[claim]")
    assert isinstance(entry(path, "papers", tmp_path / "cache"), InputError)


@pytest.mark.parametrize("verdict", ["holds", "refuted", "undecided"])
def test_a_badge_says_the_verdict_and_nothing_more(verdict: str) -> None:
    picture = badge("epsilon <3>", verdict, "../certificates/a.json")
    assert verdict in picture
    assert "epsilon &lt;3&gt;" in picture
    assert 'href="../certificates/a.json"' in picture
    assert not re.search("private|certified|safe", picture)
    assert "http" not in picture.replace("http://www.w3.org/2000/svg", "")
