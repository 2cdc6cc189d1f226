"""A statement that is a formula: its constants, its definitions, what is given, and over what its names range.

In a paper.toml: `claim = {formula = "x <= c*y", c = 2}` and `domain = {given = "x >= 0", where = "y = x + 1"}`. Numbers
of claim and domain are constants; pairs of domain are ranges; the other names are variables.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .formula import Algebra, conditions, evaluated, names, parsed
from .row import Statement

BOUND = (ast.Lt, ast.LtE)


@dataclass(frozen=True, slots=True)
class Stated:
    """where: (name, formula); a later definition may use an earlier one's name. exists: names that may be chosen."""

    formula: str
    given: tuple[str, ...]
    where: tuple[tuple[str, str], ...]
    exists: tuple[str, ...]
    constants: Mapping[str, Fraction]
    ranges: Mapping[str, tuple[float, float]]

    @property
    def free(self) -> tuple[str, ...]:
        """The variables, in order of appearance."""
        known = {*self.constants, *(name for name, _ in self.where)}
        texts = (self.formula, *(text for _, text in self.where), *self.given)
        return tuple(name for name in dict.fromkeys(n for text in texts for n in names(text)) if name not in known)

    @property
    def bound(self) -> tuple[str, str] | None:
        """(truth, bound) of `truth <= bound`, the first of several (`a <= b < c`); None where the left is a number."""
        node = parsed(self.formula)
        if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], BOUND):
            return None
        left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
        return (left, right) if names(left) else None

    def values(self, variables: Mapping[str, Any], algebra: Algebra) -> dict[str, Any]:
        """Variables, constants and what is defined by them, as numbers of the algebra."""
        found = {name: algebra.number(str(value)) for name, value in self.constants.items()} | dict(variables)
        for name, text in self.where:
            found[name] = evaluated(text, found, algebra)
        return found


def stated(statement: Statement) -> Stated:
    """Raises InputError for what is no formula."""
    claim, domain = statement.claim, statement.domain
    numbers = {name: _number(value) for name, value in {**domain, **claim}.items() if name != "formula"}
    return Stated(
        claim["formula"],
        tuple(conditions(domain.get("given", ""))),
        _definitions(domain.get("where", "")),
        tuple(name.strip() for name in domain.get("exists", "").split(",") if name.strip()),
        {name: value for name, value in numbers.items() if value is not None},
        {name: (float(ends[0]), float(ends[1])) for name, ends in domain.items() if isinstance(ends, tuple)},
    )


def _number(value: Any) -> Fraction | None:
    """A number as the decimal that was written."""
    try:
        return None if isinstance(value, bool | tuple) else Fraction(str(value))
    except ValueError:
        return None


def _definitions(text: str) -> tuple[tuple[str, str], ...]:
    """Of "a = 1/m, b = max(a, 2)": they are written as a call's keywords are."""
    call = parsed(f"where({text})")
    assert isinstance(call, ast.Call)
    return tuple((str(each.arg), ast.unparse(each.value)) for each in call.keywords)
