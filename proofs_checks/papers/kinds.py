"""The shared kinds of checks that need no code of their own: a paper.toml says the formula, the kind decides it.

`check = "reals"`: true of all real numbers, by z3. `check = "boxes"`: true on a box of parameters, in ball arithmetic.
`check = "numbers"`: true of these numbers, by exact arithmetic. `check = "wording"`: what is printed, against what has
to stand there. How formulas, constants and definitions are written: stated.py.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from . import loose
from .balls import ARB, decide, ratio_at
from .formula import EXACT as FRACTIONS
from .formula import evaluated, exactly, parsed
from .row import EXACT, WORDS, Z3, Finding, Statement, Undecided
from .smt import Question
from .stated import Stated, stated


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
        return Finding(True, text, {"z3": "unsat"}, vacuous=vacuous, basis=Z3, loose=loose.over_reals(question))
    if claim.exists:
        return Finding(False, f"{_shown(claim)}: refuted, by elimination of quantifiers", {"z3": "sat"}, basis=Z3)
    values = claim.values({name: found.get(name, Fraction(0)) for name in claim.free}, FRACTIONS)
    if evaluated(claim.formula, values):
        raise Undecided(f"z3's counterexample does not survive exact arithmetic: {found}")
    point = ", ".join(f"{name} = {float(value):.6g}" for name, value in found.items())
    sides = {name: float(value) for name, value in _sides(claim.formula, values).items()}
    said = ", ".join(f"{name} = {value:.6g}" for name, value in sides.items())
    text = f"{claim.formula} fails at {point}" + (f", where {said}" if said else "")
    return Finding(False, text, {"z3": "sat"} | sides, {name: float(v) for name, v in found.items()}, basis=Z3)


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
    ratios = loose.on_grid(lambda at: ratio_at(ratio, claim, at), ranges) if ranges else None
    return Finding(True, found.text, found.numbers, basis=found.basis, loose=ratios)


def _compared(formula: str) -> tuple[str, str, bool]:
    """Both sides, and whether the right one is said to be the larger."""
    node = parsed(formula)
    assert isinstance(node, ast.Compare), formula
    return ast.unparse(node.left), ast.unparse(node.comparators[0]), isinstance(node.ops[0], ast.Lt | ast.LtE)


def numbers(statement: Statement) -> Finding:
    """claim.formula of the numbers in domain and claim, as printed, in exact decimal arithmetic."""
    values = {
        name: exactly(value) for name, value in {**statement.domain, **statement.claim}.items() if name != "formula"
    }
    formula = statement.claim["formula"]
    holds = bool(evaluated(formula, values))
    sides = {name: _float(value) for name, value in _sides(formula, values).items()}
    said = ", ".join(f"{name} = {_listed(value)}" for name, value in sides.items())
    return Finding(
        holds, f"{formula} is {'true' if holds else 'false'}" + (f": {said}" if said else ""), sides, basis=EXACT
    )


def wording(statement: Statement) -> Finding:
    """Whether what is printed (claim.printed) is what has to stand there (claim.needed): a matter of reading."""
    printed, needed = statement.claim["printed"], statement.claim["needed"]
    text = f"it says {printed}" + ("" if printed == needed else f", where {needed} has to stand")
    return Finding(printed == needed, text, basis=WORDS)


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
