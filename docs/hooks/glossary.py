"""For MkDocs: where a term of the glossary first occurs on a page in its sense, it is a link to its definition."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path, PurePosixPath
from posixpath import relpath
from typing import Any

PAGE = "glossary.md"
APART = ("reference/", "papers/", "record/", PAGE, "changes")
"""Pages without such links: what programs write, and long tables."""

COMMON = {"convention", "delta", "epoch", "epsilon", "opacus", "release"}
"""Terms that are also everyday words, or that every page has: found by the search alone."""

FORMS = {
    "bracket": "(?<!in )(?<!can )(?<!and )brackets?",
    "canary": "canary|canaries",
    "clipping bound": "clipping bounds?|clip(?:ping)? norms?",
    "coalition": "coalitions?",
    "mu, Gaussian DP": "Gaussian DP",
    "neighbouring relation": "neighbouring (?:relation|data sets)|neighbours",
    "norm": r"(?<!clip )(?<!clipping )(?<!trace )(?<!\$ )norms?",
    "rho, zCDP": "zCDP|zero-concentrated DP",
    "Rényi divergence, RDP": "R[ée]nyi (?:divergences?|differential privacy)",
    "trade-off curve": "trade-off curves?",
    "false-positive rate": "(?:false|true)-positive rates?",
    "joint differential privacy": "joint (?:differential )?privacy",
    "billboard": "billboard(?: privacy)?",
    "unit": r"(?<!in )(?<!\d )units?(?! of (?:its|rounding)| normal)",
    "witness": "witness(?:es)?",
}
"""How a term is written in prose, where that is not the term itself or its plural, or also has another sense."""

ELSEWHERE = {
    "bracket": ("theory/",),
    "certificate": ("mocha.md",),
    "norm": ("theory/", "trainers.md"),
    "unit": ("theory/dpfedmtl.md", "theory/lattices.md"),
    "witness": ("auditing-methods.md",),
}
"""Pages on which a term has another sense."""

KEPT = re.compile(
    r"^```.*?^```$|^~~~.*?^~~~$|^ {4,}.*?$|^---\n.*?^---$|^#.*?$|^--8<--.*?$"  # code, headings, other files
    r"|`[^`]*`|!?\[[^\]]*\]\([^)]*\)|\$[^$\n]+\$|<[^>\n]+>|\\.",  # code, links, formulas, HTML
    re.MULTILINE | re.DOTALL,
)


@cache
def terms() -> dict[str, re.Pattern[str]]:
    """Each term's address on the page, and how it is found."""
    text = (Path(__file__).parents[1] / PAGE).read_text(encoding="utf-8")
    found = {}
    for heading in re.findall(r"^## (.+)$", text, re.MULTILINE):
        address = re.sub(r"[^\w]+", "-", heading.lower().replace("é", "e")).strip("-")
        if heading.lower() not in COMMON:
            form = FORMS.get(heading, f"{re.escape(heading)}s?")
            found[address] = re.compile(rf"(?<![\w-])(?:{form})(?![\w-]|\.\w)", re.IGNORECASE)
    return found


def linked(markdown: str, page: str) -> str:
    """The text with a link at the first occurrence of each term in prose. page: its path from docs/."""
    place = relpath(PAGE, str(PurePosixPath(page).parent))
    for address, form in terms().items():
        if page.startswith(ELSEWHERE.get(address, ())):
            continue
        start = 0
        for kept in [*KEPT.finditer(markdown), None]:
            end = kept.start() if kept else len(markdown)
            found = form.search(markdown, start, end)
            if found is not None:
                link = f"[{found.group()}]({place}#{address})"
                markdown = markdown[: found.start()] + link + markdown[found.end() :]
                break
            start = kept.end() if kept else end
    return markdown


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    path = page.file.src_uri
    return markdown if path.startswith(APART) else linked(markdown, path)
