"""From a row to its status: run the check on each statement of the row, and derive the rest.

- The printed statement passes and the spoilt one fails: it holds, or no violation was found, by the evidence's grade.
- The printed statement fails and the repaired one passes: it is false, or was violated in tests, by the grade.
- The readings of the printed statement disagree: the paper leaves it open; the row says what is missing.

In each case the same function has passed one statement and failed another: evidence that cannot fail gives no status.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..convergence import UnlikeTheTrainer
from .row import Evidence, Finding, Grade, Means, Row, Statement, Status, Undecided


class EvidenceError(Exception):
    """The row's evidence does not carry a status: it was undecided, cannot fail, or refutes the repaired statement."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A row, its derived status, and every finding behind it.

    printed: one finding a reading. repaired, spoilt: None where the row's status did not need them.
    """

    row: Row
    status: Status
    printed: tuple[Finding, ...]
    repaired: Finding | None
    spoilt: Finding | None
    seconds: float

    @property
    def why(self) -> str:
        """One sentence: the finding, the condition or the correction, or what is missing."""
        if self.status is Status.OPEN:
            return self.row.missing
        return self.printed[0].text

    @property
    def grade(self) -> Grade:
        """That of the weakest finding on the printed statement; a prose proof counts where no violation was found."""
        if self.status is Status.HOLDS and self.row.proof:
            return Grade.PROVED
        return max((found.grade for found in self.printed), key=list(Grade).index)

    @property
    def remedy(self) -> str:
        """In which way the repaired statement differs from the printed one; empty where there is none."""
        before, after = self.row.readings[0], self.row.repaired
        if self.repaired is None or after is None:
            return ""
        if dict(after.claim) != dict(before.claim):
            return "instead"
        return "approximately" if after.tolerance != before.tolerance else "under a condition"

    @property
    def instead(self) -> str:
        """The true statement in its place; empty where the printed one stands."""
        return self.row.repaired.text if self.repaired is not None and self.row.repaired else ""

    @property
    def vacuous(self) -> bool:
        """The printed statement holds, of anything whatever."""
        return self.printed[0].holds and self.printed[0].vacuous

    @property
    def evidence(self) -> str:
        """The grade of the evidence, with what it rests on."""
        basis = self.printed[0].basis
        return f"{self.grade}: {f'{basis.instances}, ' if basis.instances else ''}{basis.how}"

    def __str__(self) -> str:
        """The statements that were put to the row's function, and what it found of each."""
        row = self.row
        vacuous = " (vacuous: anything whatever satisfies it)" if self.vacuous else ""
        about = f"{row.kind}; evidence: {self.evidence}; by {row.function}, {self.seconds:.2f} s"
        parts = [f"{row.id}  {row.place}\n{self.status}{vacuous}\n{about}", row.note]
        parts += [_said("printed", each, found) for each, found in zip(row.readings, self.printed, strict=True)]
        parts.append(f"not said in the paper: {row.missing}" if row.missing else "")
        parts.append(_said(self.remedy, row.repaired, self.repaired))
        parts.append(_said("spoilt on purpose", row.spoilt, self.spoilt))
        return "\n\n".join(filter(None, parts))

    def to_json(self) -> dict[str, Any]:
        """Every field that `dpcert papers --json` prints for a row."""
        row = self.row
        return {
            "id": row.id,
            "paper": row.paper,
            "place": row.place,
            "statement": row.readings[0].text,
            "status": str(self.status),
            "vacuous": self.vacuous,
            "why": self.why,
            "instead": self.instead,
            "remedy": self.remedy,
            "kind": str(row.kind),
            "grade": str(self.grade),
            "how": self.printed[0].basis.how,
            "instances": self.printed[0].basis.instances,
            "formula": row.formula,
            "note": row.note,
            "severity": None if row.severity is None else str(row.severity),
            "proof": row.proof,
            "function": row.function,
            "cost": row.cost,
            "printed": [_finding(s, f) for s, f in zip(row.readings, self.printed, strict=True)],
            "repaired": _finding(row.repaired, self.repaired),
            "spoilt": _finding(row.spoilt, self.spoilt),
            "seconds": self.seconds,
        }


def _finding(statement: Statement | None, found: Finding | None) -> dict[str, Any] | None:
    if statement is None or found is None:
        return None
    return {
        "statement": statement.text,
        "claim": dict(statement.claim),
        "domain": dict(statement.domain),
        "tolerance": statement.tolerance,
        "holds": found.holds,
        "found": found.text,
        "numbers": dict(found.numbers),
        "witness": None if found.witness is None else dict(found.witness),
        "error_probability": found.error_probability,
        "grade": str(found.grade),
        "bound over truth": None if found.loose is None else list(found.loose),
        "stated and measured exponent": None if found.rate is None else list(found.rate),
    }


def _said(name: str, statement: Statement | None, found: Finding | None) -> str:
    """What was found of a statement, with the numbers; nothing where there is none."""
    if statement is None or found is None:
        return ""
    lines = [f"{name}: {statement.text}", f"  {'passes' if found.holds else 'fails'}: {found.text}"]
    for title, values in (("numbers", found.numbers), ("counterexample", found.witness or {})):
        if values:
            lines.append(f"  {title}: {_listed(values)}")
    if found.error_probability:
        lines.append(f"  false with a probability of at most {found.error_probability:g}")
    return "\n".join(lines)


def _listed(values: Mapping[str, Any]) -> str:
    return "; ".join(f"{name} = {_shown(value)}" for name, value in values.items())


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_shown, value)) + "]"
    return "{" + _listed(value) + "}" if isinstance(value, Mapping) else str(value)


def judge(row: Row) -> Judgement:
    """The row's status with its evidence. Raises EvidenceError where the evidence does not carry one."""
    start = time.perf_counter()
    printed = tuple(_run(row, statement) for statement in row.readings)
    outcomes = {found.holds for found in printed}
    repaired = spoilt = None
    if len(outcomes) == 2:
        if not row.missing:
            raise EvidenceError(f"{row.id}: the readings disagree and the row does not say what is missing")
        status = Status.OPEN
    elif outcomes == {True}:
        spoilt = _must(row, row.spoilt, "spoilt", False)
        status = Status.HOLDS if row.proof else _status(printed, Status.HOLDS, Status.UNBROKEN)
    else:
        repaired = _must(row, row.repaired, "repaired", True)
        status = _status(printed, Status.FALSE, Status.BROKEN)
    return Judgement(row, status, printed, repaired, spoilt, time.perf_counter() - start)


def _run(row: Row, statement: Statement) -> Finding:
    try:
        return _found(row.evidence, _Parameters(statement))
    except (Undecided, UnlikeTheTrainer) as problem:
        raise EvidenceError(f"{row.id}: undecided on {statement.text!r}: {problem}") from problem


class _Parameters:
    """A statement as far as its function may know it: equal to any other with the same parameters."""

    def __init__(self, statement: Statement) -> None:
        self.statement = statement
        self._key = repr((sorted(statement.claim.items()), sorted(statement.domain.items()), statement.tolerance))

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Parameters) and self._key == other._key


@lru_cache(maxsize=2048)
def _found(evidence: Evidence, parameters: _Parameters) -> Finding:
    """Both versions of a paper share statements: what is the same is put to the test once."""
    return evidence(parameters.statement)


def _must(row: Row, statement: Statement | None, name: str, holds: bool) -> Finding:
    """The finding on the row's repaired or spoilt statement, which has to pass or to fail."""
    if statement is None:
        raise EvidenceError(f"{row.id}: needs a {name} statement, on which the evidence comes out the other way")
    found = _run(row, statement)
    if found.holds is not holds:
        came = "fails" if holds else "passes"
        raise EvidenceError(f"{row.id}: the {name} statement {came}: {statement.text!r}: {found.text}")
    return found


def _status(found: tuple[Finding, ...], decided: Status, seen: Status) -> Status:
    """By the weakest means: decided for every case or by certified numbers, seen in some cases, or read."""
    means = {each.basis.means for each in found}
    if Means.WORDS in means:
        return Status.READ
    return seen if Means.INSTANCES in means else decided
