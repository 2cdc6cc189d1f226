"""Planted: what once left an empty interval, or none, far out."""

from importlib import import_module

import pytest

from dpcert import delta, epsilon
from dpcert.accounting.bracket import EmptyBracket
from dpcert.mechanisms import Gaussian, PiecewiseMechanism, PureDp, StableHistogram

cells = import_module("dpcert.accounting.measures.lattices.cells")
laws = import_module("dpcert.accounting.measures.lattices.laws")
profiles = import_module("dpcert.accounting.profiles")


def test_a_lower_law_with_mass_where_there_is_none(monkeypatch):
    honest = cells.optimistic
    monkeypatch.setattr(laws, "optimistic", lambda of: cells.Atoms(*(lambda a: (a.loss, a.mass, 5e-324))(honest(of))))
    with pytest.raises(EmptyBracket):
        delta(StableHistogram(Gaussian(1.0), 10.0, 3), 1.0)


def test_a_root_that_is_not_found(monkeypatch):
    def none(*arguments, **options):
        raise RuntimeError("no root")

    monkeypatch.setattr("scipy.optimize.bisect", none)
    with pytest.raises(RuntimeError, match="no root"):
        epsilon(PureDp(9.449934238321082e-4), 5.0759215584793925e-251, "replace-one")


def test_few_bits_of_a_tiny_delta(monkeypatch):
    run = PiecewiseMechanism(0.16676667029982783)
    assert epsilon(run, 1e-294, "replace-one").narrower_than(1e-6)
    monkeypatch.setattr(profiles, "_MOST_BITS", 256)
    assert not epsilon(run, 1e-294, "replace-one").narrower_than(1e-6)
