"""For MkDocs: no page is too long to scroll.

A paper's register becomes several pages: an overview with the table of all statements, those that fail, and the
statements one by one, a score on each page. Other long pages become one page for each section, and an index of them. A
table or block of code of many lines scrolls by itself (assets/site.css).
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
PAPERS = ROOT / "docs" / "papers"
SECTIONS = {
    "limits": ROOT / "KNOWN_LIMITS.md",
    "changes": ROOT / "CHANGELOG.md",
    "certificates": ROOT / "docs" / "certificates.md",
    "theory/dominating_pairs": ROOT / "docs" / "theory" / "dominating_pairs.md",
}
"""The pages that become one page for each section, without their suffix, and where their text is."""

ROWS = "\n## Row by row\n"
BROKEN = "\n## Which statements fail, and what follows\n"
ALL = "\n## All rows\n"
STATEMENTS, FINDINGS, TABLE_ROWS, CODE_LINES = 20, 40, 40, 45
"""Statements, or findings, on a page; from so many rows or lines on a table or block scrolls."""


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
    pages = _broken(name, title, broken)
    groups = len(pages)
    for number, part in enumerate(parts, 1):
        first, last = _id(part[0]), _id(part[-1])
        heading = f"# Statements {first} to {last}\n\n{_way(name, title)}\n\n"
        pages[f"{name}-rows-{number}"] = heading + "".join(part).replace("\n### ", "\n## ").replace("### ", "## ", 1)
    places = {
        _anchor(_id(block)): page for page, part in zip(list(pages)[groups:], parts, strict=True) for block in part
    }
    places |= {anchor: name for anchor in re.findall(r"\]\(#([^)]+)\)", text) if anchor not in places}
    listed = ", ".join(f"[{number}]({name}-rows-{number}.md)" for number in range(1, len(parts) + 1))
    fail = f"[Which statements fail, and what follows]({name}-broken.md)"
    way = f"\n{fail}. Each statement with its evidence: pages {listed}.\n"
    pages = {name: f"{about}\n{way}{ALL}{table}"} | pages
    return {page: _linked(page, text, places) for page, text in pages.items()}


def _broken(name: str, title: str, broken: str) -> dict[str, str]:
    """What is broken: one page, or where that is long an index and one page for each kind."""
    heading = f"# Which statements fail, and what follows\n\n{_way(name, title)}\n"
    _, *kinds = re.split(r"^\*\*(.+)\*\*$", broken, flags=re.MULTILINE)
    pages = {f"{name}-broken": heading + broken}
    if len(re.findall("^- ", broken, re.MULTILINE)) > FINDINGS:
        listed = ""
        for number, (kind, found) in enumerate(zip(kinds[::2], kinds[1::2], strict=True), 1):
            pages[f"{name}-broken-{number}"] = f"# {kind}\n\n{_way(name, title)}\n{found}"
            listed += f"- [{kind}]({name}-broken-{number}.md): {len(re.findall('^- ', found, re.MULTILINE))}\n"
        pages[f"{name}-broken"] = f"{heading}\n{listed}"
    return pages


@cache
def sections(name: str) -> dict[str, str]:
    """The pages of a page with long sections by their names, the index first."""
    before, *parts = re.split(r"^## ", SECTIONS[name].read_text(encoding="utf-8"), flags=re.MULTILINE)
    title, folder = before.splitlines()[0].removeprefix("# "), name.rpartition("/")[0]
    pages, listed = {}, ""
    for part in parts:
        heading, _, text = part.partition("\n")
        page = f"{name}-{_anchor(heading)}".rstrip("-")
        way = f"Part of [{title}]({PurePosixPath(name).name}.md)."
        pages[page] = f"# {heading}\n\n{way}\n{text}".replace("\n### ", "\n## ")
        listed += f"- [{heading}]({PurePosixPath(page).relative_to(folder)}.md)\n"
    return {name: f"{before}\n{listed}"} | pages


def _way(name: str, title: str) -> str:
    return f"These are statements of the paper [{title}]({name}.md)."


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


def on_config(config: Any) -> Any:
    config.nav = _with_sections(config.nav)
    return config


def _with_sections(nav: Any) -> Any:
    """The navigation, with the parts of a page below it."""
    if isinstance(nav, list):
        return [_with_sections({_title(entry): entry} if _name(entry) in SECTIONS else entry) for entry in nav]
    if isinstance(nav, dict):
        return {title: _with_sections(entry) for title, entry in nav.items()}
    return [f"{page}.md" for page in sections(_name(nav))] if _name(nav) in SECTIONS else nav


def _name(entry: Any) -> str:
    return entry.removesuffix(".md") if isinstance(entry, str) else ""


def _title(page: str) -> str:
    return SECTIONS[_name(page)].read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")


def on_files(files: Files, config: Any) -> Files:
    pages = [(f"papers/{name}", text) for path in PAPERS.glob("*.md") for name, text in [*split(path.stem).items()][1:]]
    pages += [page for name in SECTIONS for page in list(sections(name).items())[1:]]
    for name, text in sorted(pages):
        files.append(File.generated(config, f"{name}.md", content=text))
    return files


def on_nav(nav: Any, files: Files, **_: Any) -> Any:
    """The pages of a paper's register follow one another, though the navigation lists the overview alone."""
    for path in sorted(PAPERS.glob("*.md")):
        pages = [files.get_file_from_path(f"papers/{name}.md").page for name in split(path.stem)]  # type: ignore[union-attr]
        for before, after in pairwise(pages):
            after.previous_page = before
            if before is not pages[0]:
                before.next_page = after
    return nav


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    name = page.file.src_uri.removesuffix(".md")
    if name in SECTIONS:
        return sections(name)[name]
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
