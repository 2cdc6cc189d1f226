"""Tables made from descriptions go to other processes and come back, as verdicts of several files do."""

from __future__ import annotations

import multiprocessing
import pickle
from typing import Annotated

import pytest
import tightness_table as tightness

from dpcert import mechanisms
from dpcert.mechanisms import InputError
from dpcert.mechanisms.quantity import Quantity, quantities
from dpcert.mechanisms.tables import described
from dpcert.mechanisms.tables.fields import described_keys
from dpcert.mechanisms.tables.kinds import KINDS
from dpcert.mechanisms.validate import positive
from dpcert.proofs_checks.claims.claim import parse_claim
from dpcert.proofs_checks.verification.files import Asked, verify_files

CLAIM = """
[claim]
title = "zCDP"
neighbouring = "replace-one"
{stated}
[mechanism]
kind = "zcdp"
rho = 0.1
"""


def claim_of(kind, **keys):
    tables = {
        "claim": {"title": kind, "neighbouring": "replace-one", "epsilon": 1.0, "delta": 1e-5},
        "mechanism": {"kind": kind} | tightness.EXAMPLES[kind] | keys,
    }
    if kind in ("gaussian-mean", "per-client-gaussian"):
        tables["sampling"] = {"scheme": "none", "population": 10}
    return parse_claim(tables)


@pytest.mark.parametrize("kind", tightness.EXAMPLES)
def test_a_claim_of_every_kind_is_the_same_elsewhere(kind):
    claim = claim_of(kind)
    assert pickle.loads(pickle.dumps(claim)) == claim


BY_HAND = {
    "randomized-response": (mechanisms.RandomizedResponse,),
    "tree-aggregation": (mechanisms.TreeAggregation,),
    "matrix-factorisation": (mechanisms.ToeplitzFactorisation, mechanisms.BandedFactorisation),
}
OWN = {"gaussian-mean", "per-client-gaussian"}
"""Stated otherwise than any description: by the noise on a mean, or on each of its parts."""


def told_twice(tables):
    """Keys of which a table says something else than the description that it is of."""
    for kind, table in tables.items():
        of = (table.of,) if issubclass(table, described.DescribedTable) else BY_HAND.get(kind, ())
        assert bool(of) != (kind in OWN), kind
        for mechanism in of:
            known = quantities(mechanism)
            for key, quantity in described_keys(table).items():
                if key in known and quantity != known[key][1]:
                    yield kind, key


def test_every_key_is_told_once():
    assert list(told_twice(KINDS)) == []


def test_a_planted_key_with_a_limit_of_its_own_is_found():
    class Wider(described.DescribedTable):
        width: Annotated[float, Quantity(positive, "of the range")]

    planted = described.table_of("planted", mechanisms.BoundedLaplace, "", Wider)
    assert list(told_twice({"planted": planted})) == [("planted", "width")]


WIDER_TABLES_BEFORE = [
    ("bounded-laplace", {"width": 0.5}, r"mechanism\.width = 0\.5: expected a number of at least 1"),
    ("clamped-gaussian", {"sigma": 0, "width": 0.5}, r"mechanism\.width = 0\.5: expected a number of at least 1"),
    ("stable-histogram", {"threshold": 0.5}, r"mechanism\.threshold = 0\.5: expected a number of at least 1"),
    ("distributed-discrete-gaussian", {"sigma": 0.3}, r"mechanism\.sigma = 0\.3: expected at least 0\.5"),
    ("best-of-several", {"shape": -1}, r"mechanism\.shape = -1: expected a number above -1"),
    ("best-of-several", {"gamma": None, "poisson_mean": 3, "shape": 0.5}, "shape = 0.5: expected nothing beside"),
    ("best-of-several", {"gamma": None}, r"mechanism\.gamma is required: a number strictly between 0 and 1, or"),
    ("matrix-factorisation", {"coefficients": [0.0]}, "expected one above 0: this releases nothing"),
    (
        "matrix-factorisation",
        {"coefficients": None, "column_norms": [0], "bands": 1},
        "expected one above 0: this releases nothing",
    ),
    ("matrix-factorisation", {"coefficients": [1, -1]}, r"mechanism\.coefficients\[1\] = -1: expected a number of"),
]


@pytest.mark.parametrize(("kind", "keys", "sentence"), WIDER_TABLES_BEFORE)
def test_what_a_description_refuses_is_refused_where_it_is_read(kind, keys, sentence):
    with pytest.raises(InputError, match=sentence):
        claim_of(kind, **keys)


@pytest.mark.parametrize("kind", tightness.EXAMPLES)
def test_no_noise_may_be_stated_wherever_a_key_says_how_much_there_is(kind):
    for key in [key for key, quantity in described_keys(KINDS[kind]).items() if quantity.is_noise]:
        assert claim_of(kind, **{key: 0}).phases[0].mechanism.is_without_noise


def files(tmp_path):
    found = [tmp_path / "a.toml", tmp_path / "b.toml"]
    for file, stated in zip(found, ("epsilon = 9\ndelta = 1e-5", "epsilon = 0.1\ndelta = 1e-5"), strict=True):
        file.write_text(CLAIM.format(stated=stated))
    return found


def test_two_processes_judge_what_one_does(tmp_path):
    alone = verify_files(files(tmp_path), Asked(), jobs=1)
    shared = verify_files(files(tmp_path), Asked(), jobs=2)
    assert not shared.problems
    assert [each.verdict for each in shared.results] == [each.verdict for each in alone.results]


def test_a_verdict_that_does_not_come_back_takes_no_other_along(tmp_path, monkeypatch):
    """The plant, as the tables were: no module has the class by its name. Workers are copies, and have the plant."""
    copies = multiprocessing.get_context("fork")
    monkeypatch.setattr(multiprocessing, "get_context", lambda *_: copies)
    monkeypatch.delattr(described.DescribedTable, "__reduce__")
    found = verify_files(files(tmp_path), Asked(), jobs=2)
    assert not found.results
    assert len(found.problems) == 2
    assert "please report this" in str(found.problems[0][1])


def test_the_planted_class_is_found_by_its_kind(monkeypatch):
    claim = claim_of("zcdp")
    monkeypatch.delattr(described.DescribedTable, "__reduce__")
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(claim)
    assert KINDS["zcdp"].__module__ == described.__name__
