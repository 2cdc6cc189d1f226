"""A row of the register: a paper's statement, as parameters that a function puts to the test.

Nobody writes down what became of a statement. `judge` runs the row's check on the printed parameters, on those of
the repaired statement and on those of a spoilt one, and derives the status from what came out. Rows are data, in the
`paper.toml` of their paper's folder (folder.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from typing import Any, Literal

Cost = Literal["quick", "full"]


class Status(StrEnum):
    """What becomes of a statement."""

    HOLDS = "holds"
    CONDITION = "holds under an extra condition"
    FALSE = "false as printed"
    APPROXIMATION = "approximation only"
    NOT_CHECKABLE = "not checkable"


class Kind(StrEnum):
    """The kind of evidence, from proof to measurement."""

    BALLS = "ball arithmetic"
    INTERVAL = "certified accountant"
    SMT = "SMT proof"
    SYMBOLIC = "symbolic identity"
    COUNTEREXAMPLE = "exact counterexample"
    SIMULATION = "simulation with confidence"
    TRAINER = "trainer run"
    AUDIT = "audit"


class Undecided(Exception):
    """The evidence function could neither prove nor refute the statement that it was given."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement with its parameters.

    text: in our words. claim: what is asserted (constants, exponents, directions of inequalities, conventions).
    domain: for which parameters it is asserted. tolerance: the relative error that "is" leaves room for; 0 for an
    identity or a bound.
    """

    text: str
    claim: Mapping[str, Any] = field(default_factory=dict)
    domain: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float = 0.0


@dataclass(frozen=True, slots=True)
class Finding:
    """What an evidence function found out about one statement.

    holds: whether the statement passed. text: one sentence with the numbers found. numbers: those numbers by name
    (JSON values). witness: the counterexample or z3 model, re-run numerically. vacuous: passed because anything
    does: the proof used no property of the algorithm. error_probability: the chance that a statistical finding is
    false; 0 for proofs and computations with bounded error.
    """

    holds: bool
    text: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    witness: Mapping[str, Any] | None = None
    vacuous: bool = False
    error_probability: float = 0.0


Evidence = Callable[[Statement], Finding]


@dataclass(frozen=True, slots=True)
class Check:
    """A function from statements to findings by its name, `module:function`; imported when it is first called.

    module: absolute, or relative (with leading dots) to `package`, the paper's own.
    """

    package: str
    name: str

    def __call__(self, statement: Statement) -> Finding:
        module, function = self.name.split(":")
        found: Finding = getattr(import_module(module, self.package), function)(statement)
        return found

    @property
    def place(self) -> str:
        """The function's full name."""
        module, function = self.name.split(":")
        dots = len(module) - len(module.lstrip("."))
        parts = self.package.split(".")
        base = parts[: len(parts) - dots + 1] if dots else []
        return ".".join([*base, module.lstrip(".")]) + ":" + function


@dataclass(frozen=True, slots=True)
class Row:
    """One statement of a paper, and the function that decides it.

    printed: as the paper has it; several statements where the text can be read in several ways, or leaves open what
    the answer depends on. repaired: a true statement in its place where the printed one is false: the same claim on a
    smaller domain (an extra condition), the same claim with a tolerance (an approximation), or another claim.
    spoilt: for a statement that holds, a neighbouring one that must fail (a constant moved by a few percent, an
    inequality flipped). missing: what the paper would have to say, where the readings disagree.
    cost: quick rows together take less than a minute.
    """

    id: str
    paper: str
    place: str
    kind: Kind
    evidence: Evidence
    printed: Statement | tuple[Statement, ...]
    repaired: Statement | None = None
    spoilt: Statement | None = None
    missing: str = ""
    cost: Cost = "quick"

    @property
    def readings(self) -> tuple[Statement, ...]:
        """The printed statement, in each of its readings."""
        return self.printed if isinstance(self.printed, tuple) else (self.printed,)

    @property
    def function(self) -> str:
        """Where the evidence function is: module:name."""
        if isinstance(self.evidence, Check):
            return self.evidence.place
        return f"{self.evidence.__module__}:{self.evidence.__qualname__}"
