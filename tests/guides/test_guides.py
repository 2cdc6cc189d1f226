"""Tutorials, how-to pages, the gallery and the README run from top to bottom and print what they show.

A page that is stale is written anew by `python tests/guides/transcripts.py PAGE`: read the difference first.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import transcripts

DOCS = transcripts.ROOT / "docs"
PAGES = sorted(
    [*DOCS.glob("tutorial/*.md"), *DOCS.glob("how-to/*.md"), DOCS / "gallery.md", transcripts.ROOT / "README.md"]
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_runs_and_prints_what_it_shows(page: Path, tmp_path: Path) -> None:
    (tmp_path / "figures" / "gallery").mkdir(parents=True)
    for step, printed in transcripts.follow(page.read_text(encoding="utf-8"), tmp_path):
        assert transcripts.same(step.printed, printed), f"$ {step.command}\n{printed}"


def test_a_wrong_output_is_seen(tmp_path: Path) -> None:
    """The plant: one digit."""
    shown = "$ dpcert convert --mu 0.376 --to epsilon --delta 1e-5\nmu = 0.376: epsilon <= 1.4519955 at ..."
    page = f"```console\n{shown}\n```\n"
    ((step, printed),) = transcripts.follow(page, tmp_path)
    assert not transcripts.same(step.printed, printed)
    assert transcripts.same(step.printed.replace("1.4519955", "1.4519954"), printed)


def test_every_page_of_the_site_is_there_and_no_other() -> None:
    """MkDocs checks links when the site is built (`make docs`); this is its table of contents, without MkDocs."""
    contents = (transcripts.ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = set(re.findall(r"(?<![\w*/.-])([\w/][\w/.-]*\.md)$", contents, re.M))
    assert listed == {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
