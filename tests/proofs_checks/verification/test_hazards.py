"""The table of hazards: its documentation says the same, and what nobody covers is among the known limits."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from dpcert.proofs_checks.claims.claim import load_claim
from dpcert.proofs_checks.claims.findings import Finding
from dpcert.proofs_checks.verification.hazards import ADDED, HAZARDS, Evidence, hazards

ROOT = Path(__file__).parents[3]
EVIDENCE = [
    Evidence(claim, (), proved=proved)
    for claim in map(load_claim, sorted(ROOT.glob("claims/**/*.toml"))[::40])
    for proved in (False, True)
]


def first_cells(page: str) -> set[str]:
    return {line.split("|")[1].strip() for line in (ROOT / page).read_text().splitlines() if line.startswith("|")}


@pytest.mark.parametrize("evidence", EVIDENCE)
def test_what_nobody_covers_is_a_known_limit(evidence):
    uncovered = [row for row in hazards(evidence) if row.basis == "not covered"]
    named = {re.search(r"\(Known limits: (.+)\.\)$", row.how)[1] for row in uncovered}
    assert len(uncovered) >= 7
    assert named <= first_cells("KNOWN_LIMITS.md")


def test_the_documentation_has_the_same_rows():
    cells = [line.split("|")[1:3] for line in (ROOT / "docs/attestation.md").read_text().splitlines() if "|" in line]
    documented = {(where.strip(), hazard.strip()) for where, hazard in cells}
    for section, hazard, _ in HAZARDS:
        where = section if section == ADDED else re.sub("^sections? ", "", section).replace(" and ", ", ")
        assert any(where == place and hazard.startswith(told) for place, told in documented), (section, hazard)


def test_findings_speak_where_they_belong():
    evidence = replace(EVIDENCE[0], findings=(Finding("norm-not-stated", "warning", "Which norm?"),))
    said = {row.hazard: row.how for row in hazards(evidence)}
    assert said["sensitivity, clipping and bounded contributions"].endswith("Which norm?")
    assert sum("Which norm?" in how for how in said.values()) == 1
