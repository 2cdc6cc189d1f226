"""How a status is derived, and what does not get one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpcert.proofs_checks.papers import EvidenceError, Finding, Grade, Row, Statement, Status, Undecided, judge
from dpcert.proofs_checks.papers.row import CERTIFIED, EXACT, WORDS, Basis, on_instances


def at_most(statement: Statement) -> Finding:
    """x^2 <= bound on [0, largest], up to the tolerance."""
    worst, bound = statement.domain["largest"] ** 2, statement.claim["bound"] * (1 + statement.tolerance)
    return Finding(worst <= bound, f"the largest square is {worst}", {"worst": worst}, basis=EXACT)


def says(bound: float, largest: float = 2.0, tolerance: float = 0.0) -> Statement:
    text = f"x^2 <= {bound} on [0, {largest}], tolerance {tolerance}."
    return Statement(text, {"bound": bound}, {"largest": largest}, tolerance)


ROW = Row("A-1", "pmtl", "nowhere", at_most, says(4.0), spoilt=says(3.9))


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, Status.HOLDS),
        ({"printed": says(1.0), "repaired": says(4.0)}, Status.FALSE),
        ({"printed": says(1.0), "repaired": says(1.0, largest=1.0)}, Status.FALSE),
        ({"printed": says(3.9), "repaired": says(3.9, tolerance=0.05)}, Status.FALSE),
        ({"printed": (says(1.0), says(4.0)), "missing": "which bound"}, Status.OPEN),
        ({"printed": (says(1.0), says(2.0)), "repaired": says(4.0)}, Status.FALSE),
    ],
)
def test_status_is_derived(changes: dict[str, object], status: Status) -> None:
    judged = judge(replace(ROW, **changes))  # type: ignore[arg-type]
    assert judged.status is status
    assert judged.to_json()["status"] == str(status)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"spoilt": None}, "needs a spoilt"),
        ({"spoilt": says(5.0)}, "spoilt statement passes"),
        ({"evidence": lambda _: Finding(True, "always")}, "spoilt statement passes"),
        ({"printed": says(1.0)}, "needs a repaired"),
        ({"printed": says(1.0), "repaired": says(2.0)}, "repaired statement fails"),
        ({"printed": (says(1.0), says(4.0))}, "does not say what is missing"),
    ],
)
def test_no_status_without_evidence_that_can_fail(changes: dict[str, object], reason: str) -> None:
    with pytest.raises(EvidenceError, match=reason):
        judge(replace(ROW, **changes))  # type: ignore[arg-type]


def test_undecided_evidence_gives_no_status() -> None:
    def gives_up(statement: Statement) -> Finding:
        raise Undecided("out of time")

    with pytest.raises(EvidenceError, match=r"A-1: undecided.*out of time"):
        judge(replace(ROW, evidence=gives_up))


def test_vacuous_statements_are_said_to_be() -> None:
    def anything(statement: Statement) -> Finding:
        return replace(at_most(statement), vacuous=True)

    judged = judge(replace(ROW, evidence=anything))
    assert judged.vacuous
    assert judged.to_json()["vacuous"] is True


@pytest.mark.parametrize(
    ("basis", "holding", "failing", "grades"),
    [
        (EXACT, Status.HOLDS, Status.FALSE, (Grade.PROVED, Grade.REFUTED)),
        (CERTIFIED, Status.HOLDS, Status.FALSE, (Grade.NUMBER, Grade.NUMBER)),
        (on_instances(7), Status.UNBROKEN, Status.BROKEN, (Grade.TESTED, Grade.TESTED)),
        (WORDS, Status.READ, Status.READ, (Grade.READ, Grade.READ)),
    ],
)
def test_what_is_only_tested_neither_holds_nor_is_false(
    basis: Basis, holding: Status, failing: Status, grades: tuple[Grade, Grade]
) -> None:
    """The same outcomes, with another basis returned by the check."""

    def check(statement: Statement) -> Finding:
        return replace(at_most(statement), basis=basis)

    held, failed = (
        judge(replace(ROW, evidence=check)),
        judge(replace(ROW, evidence=check, printed=says(1.0), repaired=says(4.0))),
    )
    assert (held.status, failed.status) == (holding, failing)
    assert (held.grade, failed.grade) == grades


def test_a_finding_that_does_not_say_what_it_rests_on_is_one_case() -> None:
    found = Finding(True, "somehow")
    assert found.grade is Grade.TESTED
    assert found.basis.instances == 1


def test_a_prose_proof_counts_only_where_no_violation_was_found() -> None:
    def check(statement: Statement) -> Finding:
        return replace(at_most(statement), basis=on_instances(7))

    proved = replace(ROW, evidence=check, proof="theory/somewhere.md, read 2026-11-22")
    assert judge(proved).status is Status.HOLDS
    assert judge(proved).grade is Grade.PROVED
    assert judge(replace(proved, printed=says(1.0), repaired=says(4.0))).status is Status.BROKEN


@pytest.mark.parametrize("moved", ["claim", "domain"])
def test_the_status_does_not_depend_on_where_the_author_puts_a_parameter(moved: str) -> None:
    """Whether the repair's parameter is part of the claim or of the domain is the author's choice."""

    def check(statement: Statement) -> Finding:
        bound = {**statement.claim, **statement.domain}["bound"]
        return Finding(bound >= 4, "the largest square is 4", basis=EXACT)

    def put(bound: float) -> Statement:
        return Statement(f"x^2 <= {bound}.", **{moved: {"bound": bound}})  # type: ignore[arg-type]

    judged = judge(replace(ROW, evidence=check, printed=put(1.0), repaired=put(4.0)))
    assert judged.status is Status.FALSE
    assert judged.remedy == {"claim": "instead", "domain": "under a condition"}[moved]
