"""The list of what the language has, in docs/prove.md, is made from its tables."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
from language_in_words import described, in_page

from dpcert.proofs_checks.proving.checker.language import generator, numpy_library

PAGE = Path(__file__).parents[3] / "docs" / "prove.md"


def test_the_page_lists_what_the_tables_hold():
    """To make it anew: write `in_page(page)` to the page."""
    page = PAGE.read_text("utf-8")
    assert in_page(page) == page
    assert "`np.argsort`" in page


def test_a_new_entry_would_be_missed(monkeypatch):
    before = described()
    monkeypatch.setattr(numpy_library, "TABLE", [*numpy_library.TABLE, (np.hypot, max)])
    assert described() != before


def positional(function):
    """The parameters that a function takes by position; none where Python does not tell."""
    try:
        given = inspect.signature(function).parameters.values()
    except ValueError:
        return []
    return [each for each in given if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]


def otherwise(table):
    """The entries that take by position what numpy takes at another one: np.sum(x, 0, True) has a dtype third."""
    return {
        function.__name__: (ours.name, numpys.name)
        for function, entry in table
        for ours, numpys in zip(positional(entry), positional(function), strict=False)
        if ours.name != numpys.name and numpys.default is not numpys.empty and numpys.default is not np._NoValue
    }


def test_entries_take_their_arguments_in_numpy_s_order():
    of_generators = [(getattr(np.random.Generator, name), entry) for name, entry in generator.TABLE.items()]
    assert otherwise(numpy_library.TABLE) == {}
    assert otherwise(of_generators) == {}
    assert otherwise([(np.sum, lambda value, axis=None, keepdims=False: value)]).keys() == {"sum"}
