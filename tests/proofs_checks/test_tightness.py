"""docs/tightness.md says of every kind of mechanism how near its two ends are."""

from __future__ import annotations

import pytest
import tightness_table as tightness
from cases import at_night

from dpcert.mechanisms.tables.kinds import KINDS, Described


def test_every_kind_has_its_row() -> None:
    assert set(tightness.EXAMPLES) == set(KINDS)


DAILY = ("laplace", "hadamard-response", "exponential-mechanism", "sparse-vector", "zcdp")


@pytest.mark.parametrize("kind", [kind if kind in DAILY else at_night(kind) for kind in tightness.EXAMPLES])
def test_the_table_is_what_verify_finds(kind: str) -> None:
    lines = tightness.DOCS.read_text("utf-8").splitlines()
    assert tightness.row(kind) in lines, "write it anew (python tests/oracles/tightness_table.py)"


def test_planted_a_kind_that_forgets_its_lower_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the sparse vector's table once did: no false claim of it was refuted."""
    table = KINDS["sparse-vector"]
    right = table.described
    monkeypatch.setattr(table, "described", lambda self, sampling: Described(right(self, sampling).upper, None))
    with pytest.raises(AssertionError, match="write it anew"):
        test_the_table_is_what_verify_finds("sparse-vector")
