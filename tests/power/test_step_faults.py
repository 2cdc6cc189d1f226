"""A language that means something else than Python from the 42nd entry on: steps that are run for real notice it."""

from __future__ import annotations

import functools

import misread
import numpy as np
import pytest

from dpcert.proofs_checks.proving import prove
from dpcert.proofs_checks.proving.checker.inductions.real_steps import RealSteps
from dpcert.proofs_checks.proving.checker.language import arithmetic, expressions, library, methods, numpy_made, tables


def replaced(monkeypatch, function, entry):
    """Another meaning of a function of Python's or numpy's."""
    monkeypatch.setitem(tables._MEANINGS, id(function), (function, entry))


def no_list(monkeypatch):
    right = library.is_instance
    replaced(monkeypatch, isinstance, lambda value, kinds: type(value).__name__ != "Appended" and right(value, kinds))


def copied_values(monkeypatch):
    monkeypatch.setitem(methods.DICTS, "values", lambda held: list(held.values()))


def reversed_at_once(monkeypatch):
    replaced(monkeypatch, reversed, lambda values: iter(list(values)[::-1]))


def in_rows(monkeypatch):
    replaced(monkeypatch, np.zeros_like, lambda a: numpy_made.zeros(0)(a.cells.shape))


def never_equal(monkeypatch):
    right = arithmetic.comparison

    def careless(operation, a, b):
        return (
            operation.__name__ == "ne" if type(a).__name__ in ("Text", "Object", "Weight") else right(operation, a, b)
        )

    for module in (arithmetic, expressions):
        monkeypatch.setattr(module, "comparison", careless)


PLANTED = [
    (no_list, misread.appended_is_a_list),
    (copied_values, misread.views_late),
    (reversed_at_once, misread.reversed_late),
    (in_rows, misread.like_late),
    (never_equal, misread.odd_equality),
    (never_equal, misread.late_text),
]


@pytest.mark.parametrize(("plant", "function"), PLANTED)
def test_a_late_misreading_is_noticed_by_real_steps_alone(plant, function, monkeypatch):
    plant(monkeypatch)
    proved = functools.partial(prove, function, epsilon=1, entries=1)
    proof = proved()
    assert not proof.every_size
    assert "a real step" in proof.bounded
    monkeypatch.setattr(RealSteps, "compare", lambda *_: None)
    assert proved().every_size
