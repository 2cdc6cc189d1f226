"""Statements written as formulas, such as `eta <= 2/(L + lam)`: one text for the page, for z3 and for exact numbers.

Names stand for real numbers; `a < b <= c`, `and`, `or`, `not`, powers by whole numbers (of exact numbers, also by the
name of one), `abs`, `min`, `max`, and over lists of numbers `sum`, `len`, `mean`, `all` and `any` with elementwise
comparisons. Decimals are exact: 0.1 is 1/10.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from typing import Any, Protocol

from ...mechanisms import InputError

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


class Algebra(Protocol):
    """What the numbers and the truth values of a formula are."""

    functions: Mapping[str, Callable[..., Any]]

    def number(self, text: str) -> Any: ...
    def both(self, first: Any, second: Any) -> Any: ...
    def either(self, first: Any, second: Any) -> Any: ...
    def negated(self, value: Any) -> Any: ...


class Exact:
    """Fractions, truth values, and tuples of them."""

    functions: Mapping[str, Callable[..., Any]] = {
        "abs": abs,
        "min": min,
        "max": max,
        "sum": sum,
        "all": all,
        "any": any,
        "len": len,
        "mean": lambda values: sum(values) / len(values),
    }

    def number(self, text: str) -> Fraction:
        """The decimal as it is written."""
        return Fraction(text)

    def both(self, first: Any, second: Any) -> bool:
        """And."""
        return bool(first) and bool(second)

    def either(self, first: Any, second: Any) -> bool:
        """Or."""
        return bool(first) or bool(second)

    def negated(self, value: Any) -> bool:
        """Not."""
        return not value


EXACT = Exact()


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
