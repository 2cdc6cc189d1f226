"""Planted: what once left an empty interval, or none, far out."""

from importlib import import_module

import pytest

from dpcert import delta, epsilon
from dpcert.accounting.bracket import EmptyBracket
from dpcert.mechanisms import Gaussian, PiecewiseMechanism, StableHistogram

cells = import_module("dpcert.accounting.losses.atoms.cells")
crossing = import_module("dpcert.accounting.losses.crossing")
laws = import_module("dpcert.accounting.losses.atoms.laws")


def test_a_lower_law_with_mass_where_there_is_none(monkeypatch):
    honest = cells.optimistic
    monkeypatch.setattr(laws, "optimistic", lambda of: cells.Atoms(*(lambda a: (a.loss, a.mass, 5e-324))(honest(of))))
    with pytest.raises(EmptyBracket):
        delta(StableHistogram(Gaussian(1.0), 10.0, 3), 1.0)


def test_a_search_that_ends_too_soon(monkeypatch):
    """Next to the largest loss the profile falls by a hundred powers of ten at once: only halving gets there."""
    run = PiecewiseMechanism(0.16676667029982783)
    assert epsilon(run, 1e-294, "replace-one").narrower_than(1e-6)
    monkeypatch.setattr(crossing, "_STEPS", 20)
    assert not epsilon(run, 1e-294, "replace-one").narrower_than(1e-6)
