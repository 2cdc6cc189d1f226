"""For MkDocs: no page is too long to scroll.

A paper's register becomes several pages: an overview with the table of all statements, what is broken, and the
statements one by one, a score on each page. A table or block of code of many lines scrolls by itself (assets/site.css).
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

PAPERS = Path(__file__).parents[1] / "papers"
ROWS = "\n## Row by row\n"
BROKEN = "\n## What is broken, and does it matter\n"
ALL = "\n## All rows\n"
STATEMENTS, TABLE_ROWS, CODE_LINES = 20, 40, 45
"""Statements on a page; from so many rows or lines on a table or block scrolls."""


@cache
def split(name: str) -> dict[str, str]:
    """The pages of a paper's register by their names, the overview first; empty for another page."""
    text = (PAPERS / f"{name}.md").read_text(encoding="utf-8")
    if ROWS not in text or BROKEN not in text:
        return {}
    head, rows = text.split(ROWS)
    title = head.splitlines()[0].removeprefix("# ")
    about, broken = head.split(BROKEN)
    broken, table = broken.split(ALL)
    blocks = [f"### {block}" for block in re.split(r"^### ", rows, flags=re.MULTILINE)[1:]]
    parts = [blocks[start : start + STATEMENTS] for start in range(0, len(blocks), STATEMENTS)]
    pages = {f"{name}-broken": f"# What is broken, and does it matter\n\n{_way(name, title)}\n{broken}"}
    for number, part in enumerate(parts, 1):
        first, last = _id(part[0]), _id(part[-1])
        heading = f"# Statements {first} to {last}\n\n{_way(name, title)}\n\n"
        pages[f"{name}-rows-{number}"] = heading + "".join(part).replace("\n### ", "\n## ").replace("### ", "## ", 1)
    places = {_anchor(_id(block)): page for page, part in zip(list(pages)[1:], parts, strict=True) for block in part}
    places |= {anchor: name for anchor in re.findall(r"\]\(#([^)]+)\)", text) if anchor not in places}
    listed = ", ".join(f"[{number}]({name}-rows-{number}.md)" for number in range(1, len(parts) + 1))
    way = (
        f"\n[What is broken, and does it matter]({name}-broken.md). Each statement with its evidence: pages {listed}.\n"
    )
    pages = {name: f"{about}\n{way}{ALL}{table}"} | pages
    return {page: _linked(page, text, places) for page, text in pages.items()}


def _way(name: str, title: str) -> str:
    return f"Of the paper [{title}]({name}.md)."


def _id(block: str) -> str:
    return block.splitlines()[0].removeprefix("### ")


def _anchor(name: str) -> str:
    return re.sub(r"[^a-z0-9 _-]", "", name.casefold()).replace(" ", "-")


def _linked(page: str, text: str, places: dict[str, str]) -> str:
    """Links to a statement lead to its page."""

    def link(found: re.Match[str]) -> str:
        place = places[found[1]]
        return found[0] if place == page else f"]({place}.md#{found[1]})"

    return re.sub(r"\]\(#([^)]+)\)", link, text)


def on_files(files: Files, config: Any) -> Files:
    for path in sorted(PAPERS.glob("*.md")):
        for name, text in list(split(path.stem).items())[1:]:
            files.append(File.generated(config, f"papers/{name}.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    path = Path(page.file.src_uri)
    if path.parent.name != "papers" or not (PAPERS / path.name).is_file():
        return markdown
    return split(path.stem).get(path.stem, markdown)


def on_page_content(html: str, **_: Any) -> str:
    html = re.sub(
        r"<table>.*?</table>", lambda table: _scrolls(table[0], "<tr>", TABLE_ROWS, "table"), html, flags=re.S
    )
    code = r'<div class="[^"]*highlight">.*?</div>'
    return re.sub(code, lambda found: _scrolls(found[0], "\n", CODE_LINES, "code"), html, flags=re.S)


def _scrolls(html: str, line: str, most: int, what: str) -> str:
    return f'<div class="long-{what}">{html}</div>' if html.count(line) > most else html
