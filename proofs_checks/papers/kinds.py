"""The shared kinds of checks that need no code of their own: a paper.toml says the formula, the kind decides it.

`check = "reals"`: true of all real numbers, by z3. `check = "numbers"`: true of these numbers, by exact arithmetic.
`check = "wording"`: what is printed, against what has to stand there.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import z3

from .formula import conditions, evaluated, exactly, names, parsed
from .row import EXACT, WORDS, Z3, Finding, Statement
from .smt import answer


class Reals:
    """z3's real numbers and formulas."""

    functions: Mapping[str, Callable[..., Any]] = {
        "abs": lambda x: z3.If(x < 0, -x, x),
        "min": lambda x, y: z3.If(x < y, x, y),
        "max": lambda x, y: z3.If(x < y, y, x),
    }

    def number(self, text: str) -> Any:
        """The decimal as it is written."""
        return z3.RealVal(text)

    def both(self, first: Any, second: Any) -> Any:
        """And."""
        return z3.And(first, second)

    def either(self, first: Any, second: Any) -> Any:
        """Or."""
        return z3.Or(first, second)

    def negated(self, value: Any) -> Any:
        """Not."""
        return z3.Not(value)


REALS = Reals()


def reals(statement: Statement) -> Finding:
    """claim.formula for all reals under domain.given, with the definitions domain.where ("K = L + lam, ...").

    domain.exists: names ("C") for which there have to be values, the same for all values of the others. A
    counterexample is computed again in exact fractions (algebraic numbers: to 25 digits). claim's other entries are
    constants that the formula names. domain.anything: whatever satisfies the assumptions satisfies it too, so that
    a proof says nothing of the algorithm.
    """
    formula, given = statement.claim["formula"], conditions(statement.domain.get("given", ""))
    exists = [name.strip() for name in statement.domain.get("exists", "").split(",") if name.strip()]
    shown = _shown(formula, given, exists)
    found = answer(
        _over_reals(formula, statement),
        [_over_reals(each, statement) for each in given],
        exists=[z3.Real(name) for name in exists],
    )
    vacuous = bool(statement.domain.get("anything", False))
    if found is None:
        return Finding(True, f"{shown}: proved for all reals", {"z3": "unsat"}, vacuous=vacuous, basis=Z3)
    if exists:
        return Finding(False, f"{shown}: refuted, by elimination of quantifiers", {"z3": "sat"}, basis=Z3)
    values = _defined(statement, found)
    point = ", ".join(f"{name} = {float(value):.6g}" for name, value in found.items())
    sides = {name: float(value) for name, value in _sides(formula, values).items()}
    said = ", ".join(f"{name} = {value:.6g}" for name, value in sides.items())
    text = f"{formula} fails at {point}" + (f", where {said}" if said else "")
    return Finding(False, text, {"z3": "sat"} | sides, {name: float(v) for name, v in found.items()}, basis=Z3)


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


def _shown(formula: str, given: list[str], exists: list[str]) -> str:
    some = f"some {', '.join(exists)}: " if exists else ""
    return some + formula + (f" where {', '.join(given)}" if given else "")


def _definitions(statement: Statement) -> list[tuple[str, str]]:
    """The definitions of domain.where, in their order: a later one may use an earlier one's name."""
    parts = [part for part in statement.domain.get("where", "").split(",") if part.strip()]
    return [(part.split("=")[0].strip(), part.split("=", 1)[1].strip()) for part in parts]


def _constants(statement: Statement) -> dict[str, Fraction]:
    return {name: exactly(value) for name, value in statement.claim.items() if name != "formula"}


def _over_reals(formula: str, statement: Statement) -> Any:
    values = {name: z3.RealVal(str(value)) for name, value in _constants(statement).items()}
    texts = [text for _, text in _definitions(statement)]
    defined = {name for name, _ in _definitions(statement)}
    for name in dict.fromkeys(name for text in (formula, *texts) for name in names(text)):
        if name not in values and name not in defined:
            values[name] = z3.Real(name)
    for name, text in _definitions(statement):
        values[name] = evaluated(text, values, REALS)
    return evaluated(formula, values, REALS)


def _defined(statement: Statement, found: Mapping[str, Fraction]) -> dict[str, Any]:
    """The counterexample with what is defined by it; raises where the formula or a definition cannot be computed."""
    values: dict[str, Any] = {**_constants(statement), **found}
    for name, text in _definitions(statement):
        values[name] = evaluated(text, values)
    return values


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
