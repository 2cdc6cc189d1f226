"""The list of what the language has, in docs/prove.md, is made from its tables."""

from __future__ import annotations

from pathlib import Path

from dpcert.proofs_checks.proving.checker.language import numpy_library
from dpcert.proofs_checks.proving.checker.language.described import described, in_page

PAGE = Path(__file__).parents[3] / "docs" / "prove.md"


def test_the_page_lists_what_the_tables_hold():
    """To make it anew: write `in_page(page)` to the page."""
    page = PAGE.read_text("utf-8")
    assert in_page(page) == page
    assert "`np.argsort`" in page


def test_a_new_entry_would_be_missed(monkeypatch):
    import numpy as np

    before = described()
    monkeypatch.setattr(numpy_library, "TABLE", [*numpy_library.TABLE, (np.hypot, max)])
    assert described() != before
