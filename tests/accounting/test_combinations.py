"""docs/combinations.md has every combination that the product accepts, and no other."""

import combination_table as combinations

from dpcert import mechanisms
from dpcert.mechanisms import Mechanism
from dpcert.mechanisms.serialise import _kinds


def test_the_table_is_what_the_product_accepts():
    written = combinations.DOCS.read_text("utf-8")
    assert written == combinations.document(), "write it anew (python tests/oracles/combination_table.py), and prove it"


def test_every_kind_of_mechanism_has_its_rows():
    named = (*combinations.OTHERS.values(), *combinations.CORRELATED.values(), *combinations.TOGETHER.values())
    known = {type(part).__name__ for part in named}
    for noise in combinations.NOISES:
        known.add(type(combinations.World(noise, "none", "", "").base()).__name__)
    for scheme in combinations.SCHEMES:
        step = combinations.World("gaussian", scheme, "", "", cohort=2, rounds=3).run()
        while isinstance(step, Mechanism):
            known.add(type(step).__name__)
            step = getattr(step, "mechanism", None)
    abstract = {"CorrelatedGaussian"}
    shipped = {name for name, kind in _kinds().items() if kind.__module__.startswith("dpcert.")}  # not other tests' own
    assert shipped - known - abstract <= {"Sequence"}
    assert issubclass(mechanisms.TreeAggregation, mechanisms.CorrelatedGaussian)


def test_an_accepted_combination_that_is_missing_is_noticed(monkeypatch):
    """The plant: a scheme that the table refuses is answered."""
    real = combinations.status
    monkeypatch.setattr(
        combinations, "status", lambda run, r, v: "E" if (r, v) == ("add-remove", "visible") else real(run, r, v)
    )
    assert combinations.table(combinations.costs(), "noise") not in combinations.DOCS.read_text("utf-8")
