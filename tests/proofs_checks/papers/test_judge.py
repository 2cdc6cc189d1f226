"""How a status is derived, and what does not get one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpcert.proofs_checks.papers import EvidenceError, Finding, Kind, Row, Statement, Status, Undecided, judge


def at_most(statement: Statement) -> Finding:
    """x^2 <= bound on [0, largest], up to the tolerance."""
    worst, bound = statement.domain["largest"] ** 2, statement.claim["bound"] * (1 + statement.tolerance)
    return Finding(worst <= bound, f"the largest square is {worst}", {"worst": worst})


def says(bound: float, largest: float = 2.0, tolerance: float = 0.0) -> Statement:
    text = f"x^2 <= {bound} on [0, {largest}], tolerance {tolerance}."
    return Statement(text, {"bound": bound}, {"largest": largest}, tolerance)


ROW = Row("A-1", "pmtl", "nowhere", Kind.SYMBOLIC, at_most, says(4.0), spoilt=says(3.9))


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, Status.HOLDS),
        ({"printed": says(1.0), "repaired": says(4.0)}, Status.FALSE),
        ({"printed": says(1.0), "repaired": says(1.0, largest=1.0)}, Status.CONDITION),
        ({"printed": says(3.9), "repaired": says(3.9, tolerance=0.05)}, Status.APPROXIMATION),
        ({"printed": (says(1.0), says(4.0)), "missing": "which bound"}, Status.NOT_CHECKABLE),
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
