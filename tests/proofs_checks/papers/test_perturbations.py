"""Rows that hold fail after a small change: a constant moved by a few percent, or an inequality turned round."""

from __future__ import annotations

from typing import Any

import pytest

from dpcert.proofs_checks.papers import Row, Statement, register

FEW = 0.1
"""The largest relative change of a constant; where it is 0, the largest change."""

HOLDING = [row for row in (*register("dpfedmtl"), *register("mocha")) if row.spoilt is not None]


def _leaves(value: Any, name: str = "") -> dict[str, Any]:
    """Numbers and words of a statement's parameters, by where they are; numbers in words are numbers."""
    if isinstance(value, dict):
        return {k: v for key, each in value.items() for k, v in _leaves(each, f"{name}/{key}").items()}
    if isinstance(value, list | tuple):
        return {k: v for place, each in enumerate(value) for k, v in _leaves(each, f"{name}/{place}").items()}
    try:
        return {name: float(value)}
    except (TypeError, ValueError):
        return {name: value}


def _too_large(before: Statement, after: Statement) -> list[str]:
    """The constants that move by more than FEW; neighbouring whole numbers are near."""
    first, second = (_leaves({"claim": dict(s.claim), "domain": dict(s.domain)}) for s in (before, after))
    found = []
    for name in first.keys() & second.keys():
        old, new = first[name], second[name]
        if not (isinstance(old, float) and isinstance(new, float)) or old == new:
            continue
        whole = old.is_integer() and new.is_integer() and old > 1
        if abs(new - old) > FEW * (abs(old) or 1.0) * (1 + 1e-9) and not (whole and abs(new - old) == 1):
            found.append(f"{name}: {old:g} to {new:g}")
    return found


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in HOLDING])
def test_perturbation_is_small(row: Row) -> None:
    assert row.spoilt is not None
    assert _too_large(row.readings[0], row.spoilt) == []


def test_a_crude_perturbation_is_noticed() -> None:
    assert _too_large(Statement("a", {"factor": 1.0}), Statement("b", {"factor": 2.5})) == ["/claim/factor: 1 to 2.5"]
    assert _too_large(Statement("a", {}, {"at": (0, "1")}), Statement("b", {}, {"at": (0, "0.97")})) == []
    assert _too_large(Statement("a", {"side": "at most"}), Statement("b", {"side": "at least"})) == []
