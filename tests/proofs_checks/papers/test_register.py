"""Every row of the register as data; what its evidence gives is in test_pages.py."""

from __future__ import annotations

import pytest

from dpcert.proofs_checks.papers import Kind, Row, Statement, papers, register

ROWS = register()


def test_ids_are_unique() -> None:
    ids = [row.id.casefold() for row in ROWS]
    assert len(ids) == len(set(ids))


def test_every_paper_is_named() -> None:
    assert {row.paper for row in ROWS} <= set(papers())


def _parts(row: Row) -> list[Statement]:
    return [statement for statement in (*row.readings, row.repaired, row.spoilt) if statement is not None]


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in ROWS])
def test_statements_of_a_row_differ_in_more_than_words(row: Row) -> None:
    """The function never sees the text: what passes and what fails must differ in the parameters."""
    keys = [(dict(s.claim), dict(s.domain), s.tolerance) for s in _parts(row)]
    assert all(keys[i] != keys[j] for i in range(len(keys)) for j in range(i))
    assert len({s.text for s in _parts(row)}) == len(keys)
    assert row.place
    assert all(s.text.endswith((".", ")")) for s in _parts(row))


def test_what_fails_of_a_paper_has_a_severity() -> None:
    """Rows with a repaired statement are those that fail; see test_evidence_carries_a_status."""
    missing = [row.id for row in ROWS if row.kind is Kind.PRINTED and row.repaired and row.severity is None]
    assert missing == []


def test_kinds_of_rows_are_told_apart() -> None:
    """Attacks and our own corrections never count as statements of a paper."""
    for row in ROWS:
        ours = row.place.startswith("Our correction") or row.id.endswith(("-audit", "-corrected"))
        assert not ours or row.kind is not Kind.PRINTED, row.id
