"""The theory pages of the papers name rows that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpcert.proofs_checks.papers import register

THEORY = Path(__file__).parents[3] / "docs" / "theory"


@pytest.mark.parametrize("name", ["dpfedmtl.md", "mocha.md"])
def test_rows_named_in_a_theory_page_exist(name: str) -> None:
    text = (THEORY / name).read_text()
    known = {row.id for row in (*register("dpfedmtl"), *register("mocha"))}
    named = set(re.findall(r"(?:DPFEDMTL|MOCHA)-[A-Za-z0-9][\w.+-]*", text))
    assert len(named) > 15
    assert {each for each in named if each.rstrip(".-") not in known and not each.startswith("DPFEDMTL-RATE-")} == set()
