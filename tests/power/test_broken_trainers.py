"""Trainers with planted bugs: rows whose evidence is a trainer's notice, and so do tests; the page says which."""

from __future__ import annotations

import re

import bugs_noticed
import pytest
from cases import few
from trainer_bugs import BUGS, FAMILIES, Bug, Family

from dpcert.proofs_checks.papers import register

CASES = [(family, bug) for bug in BUGS for family in FAMILIES]
NAMES = [f"{family}-{bug.name}" for family, bug in CASES]


@pytest.mark.parametrize(("family", "bug"), few(CASES, every=16))
def test_a_row_notices(family: Family, bug: Bug) -> None:
    row = bugs_noticed.of_kind(bugs_noticed.CHEAP[family], bug)
    ((_, right),) = bugs_noticed.outcomes(family, None, [row]).items()
    ((_, found),) = bugs_noticed.outcomes(family, bug, [row]).items()
    assert not right.startswith("refused")
    assert found != right
    assert re.match("refused: EvidenceError: .*(undecided|needs a repaired statement|passes|fails)", found), found


@pytest.mark.nightly
@pytest.mark.parametrize(("family", "bug"), CASES, ids=NAMES)
def test_a_test_notices(family: Family, bug: Bug) -> None:
    assert bugs_noticed.red(family, bug)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_trainer_row_on_the_page_notices_a_bug_and_every_bug_is_noticed(family: Family) -> None:
    rows = _on_the_page(family)
    assert rows.keys() <= {row.id for paper in bugs_noticed.PAPERS[family] for row in register(paper)}
    assert all(any(marks) for marks in rows.values())
    assert all(any(marks) for marks in zip(*rows.values(), strict=True))


def _on_the_page(family: Family) -> dict[str, list[bool]]:
    text = bugs_noticed.PAGE.read_text(encoding="utf-8")
    table = text.split(f"## {bugs_noticed.TITLES[family]}: what each row notices\n")[1].split("\n## ")[0]
    lines = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")][1:]
    return {line[0].strip(): [cell.strip() == "x" for cell in line[1:]] for line in lines}


@pytest.mark.nightly
def test_the_page_is_what_the_rows_notice_now() -> None:
    found = {family: bugs_noticed.noticing(family) for family in FAMILIES}
    assert bugs_noticed.PAGE.read_text(encoding="utf-8") == bugs_noticed.page(found)
