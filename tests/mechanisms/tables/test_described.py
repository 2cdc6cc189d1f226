"""Tables made from descriptions go to other processes and come back, as verdicts of several files do."""

from __future__ import annotations

import multiprocessing
import pickle

import pytest
import tightness_table as tightness

from dpcert.mechanisms.tables import described
from dpcert.mechanisms.tables.kinds import KINDS
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


def claim_of(kind):
    tables = {
        "claim": {"title": kind, "neighbouring": "replace-one", "epsilon": 1.0, "delta": 1e-5},
        "mechanism": {"kind": kind} | tightness.EXAMPLES[kind],
    }
    if kind in ("gaussian-mean", "per-client-gaussian"):
        tables["sampling"] = {"scheme": "none", "population": 10}
    return parse_claim(tables)


@pytest.mark.parametrize("kind", tightness.EXAMPLES)
def test_a_claim_of_every_kind_is_the_same_elsewhere(kind):
    claim = claim_of(kind)
    assert pickle.loads(pickle.dumps(claim)) == claim


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
