"""docs/combinations.md has every combination that the product accepts, and no other."""

from dataclasses import dataclass

import combination_table as combinations
import nesting
import pytest

from dpcert import mechanisms


@pytest.mark.nightly
def test_the_table_is_what_the_product_accepts():
    written = combinations.DOCS.read_text("utf-8")
    assert written == combinations.document(), "write it anew (python tests/oracles/combination_table.py), and prove it"


def test_every_kind_of_mechanism_has_its_rows():
    """From the registry: what is about another mechanism is put around all others, the rest is put inside."""
    kinds = nesting.kinds()
    around = {name for name, kind in kinds.items() if nesting.nests(kind)}
    assert around == set(nesting.NESTING)
    assert {type(run).__name__ for run in nesting.leaves().values()} == set(kinds) - around
    assert issubclass(mechanisms.TreeAggregation, mechanisms.CorrelatedGaussian)


def test_a_kind_that_is_accepted_and_has_no_rows_is_noticed(monkeypatch):
    """The plants: a mechanism and a scheme that are registered, and known to nobody else."""
    real = nesting.registered()

    @dataclass(frozen=True)
    class NewNoise:
        epsilon: float

    @dataclass(frozen=True)
    class NewScheme:
        mechanism: mechanisms.Mechanism

    for planted in (NewNoise, NewScheme):
        planted.__module__ = "dpcert.mechanisms.new"
        monkeypatch.setattr(nesting, "registered", lambda planted=planted: real | {"New": planted})
        with pytest.raises(AssertionError):
            test_every_kind_of_mechanism_has_its_rows()


def test_an_accepted_combination_that_is_missing_is_noticed(monkeypatch):
    """The plant: a scheme that the table refuses is answered."""
    real = combinations.status
    monkeypatch.setattr(
        combinations, "status", lambda run, r, v: "E" if (r, v) == ("add-remove", "visible") else real(run, r, v)
    )
    assert combinations.table(combinations.costs(), "noise") not in combinations.DOCS.read_text("utf-8")


def test_an_accepted_nesting_that_is_missing_is_noticed(monkeypatch):
    """The plant: a sampled round of selections, which is refused, is answered."""
    real = nesting.status

    def accepts_more(run, relation, view):
        sampled = isinstance(run, mechanisms.Poisson) and isinstance(run.mechanism, mechanisms.SparseVector)
        return "U" if sampled else real(run, relation, view)

    monkeypatch.setattr(nesting, "NESTING", {"Poisson": nesting.NESTING["Poisson"]})
    before = nesting.nested()
    monkeypatch.setattr(nesting, "status", accepts_more)
    assert {key for key, cells in nesting.nested().items() if cells != before[key]} == {("Poisson(…)", "sparse-vector")}
