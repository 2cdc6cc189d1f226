"""A row of the register: a paper's statement, as parameters that a function puts to the test.

Nobody writes down what became of a statement. `judge` runs the row's check on the printed parameters, on those of
the repaired statement and on those of a spoilt one, and derives the status from what came out. Rows are data, in the
`paper.toml` of their paper's folder (register.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import wraps
from importlib import import_module
from importlib.util import resolve_name
from typing import Any, Literal, ParamSpec

Cost = Literal["quick", "full"]
P = ParamSpec("P")


class Kind(StrEnum):
    """What a row is of. Only the first is a statement of the paper, and counts as one."""

    PRINTED = "printed statement"
    CORRECTION = "our correction"
    CONSEQUENCE = "consequence"
    AUDIT = "audit"
    CODE = "released code"


class Grade(StrEnum):
    """How good the evidence is. What is only tested is never said to hold, nor to be false."""

    PROVED = "proved"
    REFUTED = "refuted by a certified counterexample"
    NUMBER = "certified number"
    TESTED = "tested on instances"
    READ = "read"


class Status(StrEnum):
    """What becomes of a statement."""

    HOLDS = "holds"
    FALSE = "false"
    UNBROKEN = "no violation found"
    BROKEN = "violated in tests"
    OPEN = "left open"
    READ = "a matter of wording"


class Severity(StrEnum):
    """How much hangs on a statement that does not hold, the worst first."""

    RESULT = "result"
    CONSTANT = "constant"
    STEP = "step of a proof"
    SLIP = "slip"


class Means(StrEnum):
    """By what a check decides: every case of the statement, bounds on its numbers, some of its cases, its words."""

    EVERY_CASE = "every case"
    NUMBERS = "certified numbers"
    INSTANCES = "instances"
    WORDS = "words"


@dataclass(frozen=True, slots=True)
class Basis:
    """What a finding rests on. how: the tool. instances: how many cases were looked at, where not all were."""

    means: Means
    how: str
    instances: int = 0


Z3 = Basis(Means.EVERY_CASE, "z3")
EXACT = Basis(Means.EVERY_CASE, "exact arithmetic")
BALLS = Basis(Means.EVERY_CASE, "ball arithmetic")
CERTIFIED = Basis(Means.NUMBERS, "certified intervals")
WORDS = Basis(Means.WORDS, "reading")


def looseness(measured_over_bound: Iterable[float]) -> tuple[float, float]:
    """The smallest and the median ratio of a bound to what was measured; what is 0 counts as infinitely loose."""
    ratios = sorted(1 / ratio if ratio > 0 else math.inf for ratio in measured_over_bound)
    return ratios[0], ratios[len(ratios) // 2]


def on_instances(instances: int, how: str = "floating point") -> Basis:
    """The basis of a check that looked at this many cases."""
    return Basis(Means.INSTANCES, how, instances)


def resting_on(basis: Basis) -> Callable[[Callable[P, Finding]], Callable[P, Finding]]:
    """A check, or a part of one, all of whose findings rest on the same."""

    def stated(check: Callable[P, Finding]) -> Callable[P, Finding]:
        @wraps(check)
        def checked(*args: P.args, **kwargs: P.kwargs) -> Finding:
            return replace(check(*args, **kwargs), basis=basis)

        return checked

    return stated


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
    false; 0 for proofs and computations with bounded error. basis: what the finding rests on; without it, one case in
    floating point. loose: for a bound, the smallest and the median ratio of the bound to the truth; no median where too
    few points of the domain were met. rate: for an exponent, (stated, measured).
    """

    holds: bool
    text: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    witness: Mapping[str, Any] | None = None
    vacuous: bool = False
    error_probability: float = 0.0
    basis: Basis = field(default=Basis(Means.INSTANCES, "floating point", 1))
    loose: tuple[float, float | None] | None = None
    rate: tuple[float, float] | None = None

    @property
    def grade(self) -> Grade:
        """How good the evidence is, by what it rests on and how it came out."""
        match self.basis.means:
            case Means.EVERY_CASE:
                return Grade.PROVED if self.holds else Grade.REFUTED
            case Means.NUMBERS:
                return Grade.NUMBER
            case Means.INSTANCES:
                return Grade.TESTED
            case Means.WORDS:
                return Grade.READ


def of_a_bound(holds: bool, text: str, numbers: Mapping[str, Any], measured_over_bound: Iterable[float]) -> Finding:
    """A finding on a bound: of one that holds also how loose it is."""
    return Finding(holds, text, numbers, loose=looseness(measured_over_bound) if holds else None)


Evidence = Callable[[Statement], Finding]


@dataclass(frozen=True, slots=True)
class Check:
    """A function from statements to findings by its name, imported when it is first called.

    name: `module:function`, the module absolute or relative (with leading dots) to `package`, the paper's own; or the
    function's name alone for one of the shared kinds (kinds.py).
    """

    package: str
    name: str

    def __call__(self, statement: Statement) -> Finding:
        module, function = self.place.split(":")
        found: Finding = getattr(import_module(module), function)(statement)
        return found

    @property
    def place(self) -> str:
        """The function's full name."""
        if ":" not in self.name:
            return f"{__package__}.kinds:{self.name}"
        module, function = self.name.split(":")
        return resolve_name(module, self.package) + ":" + function


@dataclass(frozen=True, slots=True)
class Row:
    """One statement of a paper, and the function that decides it.

    printed: as the paper has it; several statements where the text can be read in several ways, or leaves open what
    the answer depends on. repaired: a true statement in its place where the printed one is false: the same claim on a
    smaller domain (an extra condition), the same claim with a tolerance (an approximation), or another claim.
    spoilt: for a statement that holds, a neighbouring one that must fail (a constant moved by a few percent, an
    inequality flipped). missing: what the paper would have to say, where the readings disagree. kind: what the row
    is of. formula: TeX as the paper has it. note: what the finding means. severity: how much hangs on it, where it does
    not hold. proof: where it is proved in prose, and when that was read last. cost: quick rows together take less than
    a minute of processor time.
    """

    id: str
    paper: str
    place: str
    evidence: Evidence
    printed: Statement | tuple[Statement, ...]
    repaired: Statement | None = None
    spoilt: Statement | None = None
    missing: str = ""
    kind: Kind = Kind.PRINTED
    formula: str = ""
    note: str = ""
    severity: Severity | None = None
    proof: str = ""
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
