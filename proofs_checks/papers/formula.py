"""Statements written as formulas, such as `eta <= 2/(L + lam)`: one text for the page, for z3 and for exact numbers.

Names stand for real numbers; `a < b <= c`, `and`, `or`, `not`, powers by whole numbers (of exact numbers, also by the
name of one), `abs`, `min`, `max`, and over lists of numbers `sum`, `len`, `mean`, `all` and `any` with elementwise
comparisons. Decimals are exact: 0.1 is 1/10.

In a paper.toml: `claim = {formula = "x <= c*y", c = 2}` and `domain = {given = "x >= 0", where = "y = x + 1"}`. Numbers
of claim and domain are constants; pairs of domain are ranges; the other names are variables.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

from ...mechanisms import InputError
from .row import Statement

BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
COMPARE: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
HIGHEST_POWER = 20


@dataclass(frozen=True, slots=True)
class Algebra:
    """What the numbers and the truth values of a formula are. number: of a decimal, or a fraction, as it is written."""

    number: Callable[[str], Any]
    functions: Mapping[str, Callable[..., Any]]
    both: Callable[[Any, Any], Any]
    either: Callable[[Any, Any], Any]
    negated: Callable[[Any], Any]


_EXACT: dict[str, Callable[..., Any]] = {each.__name__: each for each in (abs, min, max, sum, all, any, len)}
EXACT = Algebra(
    Fraction,
    _EXACT | {"mean": lambda values: sum(values) / len(values)},
    lambda first, second: bool(first) and bool(second),
    lambda first, second: bool(first) or bool(second),
    operator.not_,
)
"""Fractions, truth values, and tuples of them."""


def parsed(text: str) -> ast.expr:
    """Raises InputError for what is no formula."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise InputError("formula", text, "a formula such as 'x**2 <= 2*y'") from error


def names(text: str) -> list[str]:
    """The names of real numbers in the formula, in order of appearance."""
    nodes = list(ast.walk(parsed(text)))
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    found = [node for node in nodes if isinstance(node, ast.Name) and id(node) not in called]
    return list(dict.fromkeys(n.id for n in sorted(found, key=lambda n: (n.lineno, n.col_offset))))


def evaluated(text: str, values: Mapping[str, Any], algebra: Algebra = EXACT) -> Any:
    """The formula's value where its names have these values."""
    return _value(parsed(text), text, values, algebra)


def conditions(text: str) -> list[str]:
    """The formulas of a list separated by commas; empty for an empty text."""
    if not text.strip():
        return []
    node = parsed(text)
    return [ast.unparse(each) for each in node.elts] if isinstance(node, ast.Tuple) else [ast.unparse(node)]


def _value(node: ast.expr, text: str, values: Mapping[str, Any], algebra: Algebra) -> Any:
    def of(each: ast.expr) -> Any:
        return _value(each, text, values, algebra)

    match node:
        case ast.Constant(value=int() | float()):
            return algebra.number(ast.get_source_segment(text.strip(), node) or repr(node.value))
        case ast.Name(id=name) if name in values:
            return values[name]
        case ast.BinOp(op=ast.Pow(), left=base, right=ast.Constant() | ast.Name() as right):
            return reduce(operator.mul, [of(base)] * _power(right, values))
        case ast.BinOp(op=op, left=left, right=right) if type(op) in BINARY:
            return _elementwise(BINARY[type(op)], of(left), of(right))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -of(operand)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return algebra.negated(of(operand))
        case ast.BoolOp(op=op, values=parts):
            return reduce(algebra.both if isinstance(op, ast.And) else algebra.either, [of(part) for part in parts])
        case ast.Compare(left=left, ops=ops, comparators=others):
            ends = [of(each) for each in (left, *others)]
            steps = [_elementwise(COMPARE[type(op)], a, b) for op, a, b in zip(ops, ends[:-1], ends[1:], strict=True)]
            return reduce(algebra.both, steps) if len(steps) > 1 else steps[0]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in algebra.functions:
            return algebra.functions[name](*[of(each) for each in args])
    raise InputError("formula", ast.unparse(node), f"names out of {', '.join(values)}, numbers and + - * / ** < <= ==")


def _power(node: ast.Constant | ast.Name, values: Mapping[str, Any]) -> int:
    power = node.value if isinstance(node, ast.Constant) else values.get(node.id)
    if not isinstance(power, int | Fraction) or power not in range(1, HIGHEST_POWER + 1):
        raise InputError("formula", ast.unparse(node), f"a power that is a whole number from 1 to {HIGHEST_POWER}")
    return int(power)


def _elementwise(operation: Callable[[Any, Any], Any], first: Any, second: Any) -> Any:
    if isinstance(first, tuple) and isinstance(second, tuple):
        return tuple(operation(a, b) for a, b in zip(first, second, strict=True))
    if isinstance(first, tuple):
        return tuple(operation(a, second) for a in first)
    if isinstance(second, tuple):
        return tuple(operation(first, b) for b in second)
    return operation(first, second)


def exactly(value: Any) -> Any:
    """A number of a paper.toml as the decimal that was written; lists as tuples."""
    if isinstance(value, list | tuple):
        return tuple(exactly(each) for each in value)
    return Fraction(str(value))


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
