"""Mathematics on the pages of theory is set as formulas, `$…$`, and never typed as text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [*sorted((DOCS / "theory").glob("*.md")), *(DOCS / name for name in ("auditing-methods.md", "certificates.md"))]
NO_TEXT = re.compile(r"^```.*?^```|`[^`]*`|\$\$[^$]+\$\$|\$(?=\S)[^$]+?(?<=\S)\$|\]\([^)]*\)", re.DOTALL | re.MULTILINE)
TYPED = re.compile(
    r"\\[a-z]{2,}|\^|[<>]=|\bsqrt\b|\b[A-Za-z]_[\w{(]|\|\||\bE\(|\b(?:alpha|gamma|lambda|sigma|phi|theta) [=<>+*/-]"
)


def typed(text: str) -> list[str]:
    """Signs of mathematics outside formulas, code and links."""
    return TYPED.findall(NO_TEXT.sub(" ", text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_formula_is_typed_as_text(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert typed(text) == []
    # Planted: one formula that has lost its signs.
    formula = re.search(r"(?<!\$)\$([^$\n]*[_^][^$\n]*)\$(?!\$)", text)
    assert formula is None or typed(text.replace(formula[0], formula[1], 1))


@pytest.mark.parametrize(
    "text", ["E(X - gamma)_+", "e^(t-E)", "H_gamma(P||Q)", "at most sqrt 2", "a <= b", "sigma = 2"]
)
def test_what_was_typed_is_noticed(text: str) -> None:
    assert typed(text)
    assert not typed(f"`{text}`")
