"""The shared kinds of checks that need no code of their own: a paper.toml says the formula, the kind decides it.

`check = "reals"`: true of all real numbers, by z3. `check = "boxes"`: true on a box of parameters, in ball arithmetic.
`check = "numbers"`: true of these numbers, by exact arithmetic. `check = "wording"`: what is printed, against what has
to stand there. How formulas, constants and definitions are written: formula.py.

Of a bound `truth <= bound` that is true also how loose it is over its domain: the smallest and the median ratio of
bound to truth. The smallest of a formula over the reals is what z3 proves: the bound is still one after the truth is
multiplied by it. Medians, and the smallest on a box, are those of points: drawn at random, or of a grid of the box.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ...mechanisms.arrays import Floats
from .balls import ARB, decide, ratio_at
from .formula import EXACT as FRACTIONS
from .formula import Algebra, Stated, evaluated, exactly, parsed, stated
from .row import EXACT, WORDS, Z3, Finding, Statement, Undecided, resting_on
from .smt import Question


@resting_on(Z3)
def reals(statement: Statement) -> Finding:
    """claim.formula for all reals under domain.given, with the definitions domain.where ("K = L + lam, ...").

    domain.exists: names ("C") for which there have to be values, the same for all values of the others. A
    counterexample is computed again in exact fractions (algebraic numbers: to 25 digits); raises Undecided where it is
    none. domain.anything: whatever satisfies the assumptions satisfies it too, so that a proof says nothing of the
    algorithm.
    """
    claim = stated(statement)
    question = Question(claim)
    found = question.counterexample(claim.formula)
    if found is None:
        vacuous = bool(statement.domain.get("anything", False))
        text = f"{_shown(claim)}: proved for all reals"
        return Finding(True, text, {"z3": "unsat"}, vacuous=vacuous, loose=over_reals(question))
    if claim.exists:
        return Finding(False, f"{_shown(claim)}: refuted, by elimination of quantifiers", {"z3": "sat"})
    values = claim.values({name: found.get(name, Fraction(0)) for name in claim.free}, FRACTIONS)
    if evaluated(claim.formula, values):
        raise Undecided(f"z3's counterexample does not survive exact arithmetic: {found}")
    point = ", ".join(f"{name} = {float(value):.6g}" for name, value in found.items())
    sides = {name: float(value) for name, value in _sides(claim.formula, values).items()}
    said = ", ".join(f"{name} = {value:.6g}" for name, value in sides.items())
    text = f"{claim.formula} fails at {point}" + (f", where {said}" if said else "")
    return Finding(False, text, {"z3": "sat"} | sides, {name: float(v) for name, v in found.items()})


def boxes(statement: Statement) -> Finding:
    """claim.formula, one comparison, on the box of domain's pairs; definitions and constants as for `reals`.

    Functions: exp, log, sqrt, cos, erf, and of the Gaussian pair of shift mu: delta(epsilon, mu), excess(g, c, mu) and
    shift(epsilon, delta), the largest mu that is (epsilon, delta)-DP (balls.py). domain.ratio: bound over truth where
    it is not the ratio of the two sides.
    """
    claim = stated(statement)
    left, right, rises = _compared(claim.formula)
    ranges = {name: claim.ranges[name] for name in claim.free}

    def margin(at: Mapping[str, Any]) -> Any:
        values = claim.values(at, ARB)
        apart = evaluated(right, values, ARB) - evaluated(left, values, ARB)
        return apart if rises else -apart

    formula = claim.formula.replace("{", "").replace("}", "")
    found = decide(
        margin,
        ranges,
        proof=f"{formula} with {{margin}} to spare at least, on the whole box ({{cells}} pieces)",
        refutation=f"{formula} fails at {{point}}, by {{margin}}",
    )
    if not found.holds or claim.bound is None:
        return found
    ratio = statement.domain.get("ratio", f"({right})/({left})")
    ratios = on_grid(lambda at: ratio_at(ratio, claim, at), ranges) if ranges else None
    return Finding(True, found.text, found.numbers, basis=found.basis, loose=ratios)


def _compared(formula: str) -> tuple[str, str, bool]:
    """Both sides, and whether the right one is said to be the larger."""
    node = parsed(formula)
    assert isinstance(node, ast.Compare), formula
    return ast.unparse(node.left), ast.unparse(node.comparators[0]), isinstance(node.ops[0], ast.Lt | ast.LtE)


@resting_on(EXACT)
def numbers(statement: Statement) -> Finding:
    """claim.formula of the numbers in domain and claim, as printed, in exact decimal arithmetic."""
    values = {
        name: exactly(value) for name, value in {**statement.domain, **statement.claim}.items() if name != "formula"
    }
    formula = statement.claim["formula"]
    holds = bool(evaluated(formula, values))
    sides = {name: _float(value) for name, value in _sides(formula, values).items()}
    said = ", ".join(f"{name} = {_listed(value)}" for name, value in sides.items())
    return Finding(holds, f"{formula} is {'true' if holds else 'false'}" + (f": {said}" if said else ""), sides)


@resting_on(WORDS)
def wording(statement: Statement) -> Finding:
    """Whether what is printed (claim.printed) is what has to stand there (claim.needed): a matter of reading."""
    printed, needed = statement.claim["printed"], statement.claim["needed"]
    text = f"it says {printed}" + ("" if printed == needed else f", where {needed} has to stand")
    return Finding(printed == needed, text)


def _shown(claim: Stated) -> str:
    some = f"some {', '.join(claim.exists)}: " if claim.exists else ""
    return some + claim.formula + (f" where {', '.join(claim.given)}" if claim.given else "")


def _sides(formula: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Both sides of a formula that compares two things, where they are more than a name."""
    node = parsed(formula)
    if not isinstance(node, ast.Compare):
        return {}
    sides = [ast.unparse(side) for side in (node.left, *node.comparators) if not isinstance(side, ast.Constant)]
    return {side: evaluated(side, values) for side in sides}


def _float(value: Any) -> Any:
    return [_float(each) for each in value] if isinstance(value, tuple) else float(value)


def _listed(value: Any) -> str:
    return "[" + ", ".join(_listed(each) for each in value) + "]" if isinstance(value, list) else f"{value:.6g}"


DRAWN, ENOUGH, WIDE = 40_000, 20, 1e3
"""Points drawn for a median, those that must lie in the domain, and how far on both sides of 1 they are drawn."""
TIGHT, LARGEST, HALVINGS = 1.001, 1e3, 14
"""A bound that fails with TIGHT times the truth is attained; a ratio beyond LARGEST is not looked for."""
A_MOMENT = 2
"""Seconds that z3 gets for a question; what it leaves open is not claimed."""
GRID = 5
"""Points a side of a box."""

Ratios = tuple[float, float | None]


def _double(text: str) -> float:
    """The nearest one."""
    first, _, second = text.partition("/")
    return float(first) / float(second or 1)


DOUBLES = Algebra(
    _double,
    {"abs": np.abs, "min": np.minimum, "max": np.maximum},
    operator.and_,
    operator.or_,
    operator.invert,
)
"""Arrays of floats."""


def over_reals(question: Question) -> Ratios | None:
    """Of a bound that was proved: the ratio that z3 proves, and the median over drawn points where enough are found."""
    claim = question.claim
    sides = claim.bound
    if sides is None or claim.exists:
        return None
    points, ratios = _drawn(claim, *sides)
    if points >= ENOUGH and not len(ratios):
        return None  # the truth is nowhere positive
    median = float(np.median(ratios)) if len(ratios) >= ENOUGH else None
    if not _still(question, *sides, TIGHT):
        return 1.0, median
    low, high = TIGHT, LARGEST
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _still(question, *sides, middle) else (low, middle)
    return low, median


def _still(question: Question, truth: str, bound: str, times: float) -> bool:
    """Whether the bound is proved for so many times the truth."""
    try:
        return question.follows(f"({truth})*{times!r} <= {bound}", A_MOMENT)
    except Undecided:
        return False


def _drawn(claim: Stated, truth: str, bound: str) -> tuple[int, Floats]:
    """How many drawn points lie in the domain, and bound over truth where the truth is positive."""
    rng, points = np.random.default_rng(0), {}
    for name in claim.free:
        size = np.exp(rng.uniform(-math.log(WIDE), math.log(WIDE), DRAWN))
        positive = any(re.match(rf"{name} >=? \d|0 <=? {name}\b|\d+ <=? {name}\b", each) for each in claim.given)
        points[name] = size if positive else size * rng.choice((-1.0, 1.0), DRAWN)
    with np.errstate(all="ignore"):
        values = claim.values(points, DOUBLES)
        inside = np.ones(DRAWN, dtype=bool)
        for each in claim.given:
            inside &= evaluated(each, values, DOUBLES)
        left, right = (np.broadcast_to(evaluated(side, values, DOUBLES), DRAWN)[inside] for side in (truth, bound))
    return len(left), np.asarray(right[left > 0] / left[left > 0])


def on_grid(ratio: Callable[[Mapping[str, float]], float], ranges: Mapping[str, Sequence[float]]) -> Ratios:
    """The smallest and the median of a ratio on GRID points a side, ends included."""
    sides = [np.linspace(low, high, GRID).tolist() for low, high in ranges.values()]
    found = sorted(ratio(dict(zip(ranges, point, strict=True))) for point in itertools.product(*sides))
    return found[0], found[len(found) // 2]
