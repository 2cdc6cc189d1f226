"""For MkDocs: the search shows the glossary and the guides first, and theory and the papers' registers last."""

from __future__ import annotations

from typing import Any

BOOSTS = {
    "glossary.md": 20,
    "install.md": 20,
    "tutorial/": 4,
    "how-to/": 4,
    "adapters.md": 8,
    "auditing-": 0.2,
    "benchmarks.md": 0.3,
    "certificates": 0.3,
    "combinations.md": 0.3,
    "conformance": 0.3,
    "dpfedmtl.md": 0.5,
    "mocha.md": 0.5,
    "theory/": 0.1,
    "papers/": 0.1,
    "record/": 0.2,
    "lint.md": 0.3,
    "reference/": 0.5,
    "changes": 0.2,
}
"""How much a page counts, by the beginning of its path; every other page counts once."""


def boost(path: str) -> float:
    return next((times for start, times in BOOSTS.items() if path.startswith(start)), 1)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    page.meta.setdefault("search", {"boost": boost(page.file.src_uri)})
    return markdown
