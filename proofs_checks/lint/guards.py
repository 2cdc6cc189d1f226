"""Bounds that a script itself enforces: assert and raise."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .loaders import last_name
from .numbers import number
from .script import Script


def is_at_most(script: Script, node: ast.expr, limit: float) -> bool:
    """Is the value stated to be at most the limit, or does the script stop where it is larger?"""
    found = number(script, node)
    if found is not None:
        return found <= limit
    name = last_name(node)
    return name != "" and any(bound <= limit for bound in _bounds(script, name))


def _bounds(script: Script, name: str) -> Iterator[float]:
    """Every number above which `assert name < number`, or `if name > number: raise`, stops the script."""
    for node in script.nodes:
        if isinstance(node, ast.Assert):
            yield from _upper(script, node.test, name)
        elif isinstance(node, ast.If) and any(isinstance(part, ast.Raise) for part in node.body):
            yield from _lower(script, node.test, name)


def _upper(script: Script, test: ast.expr, name: str) -> Iterator[float]:
    """The upper bounds that hold where the test does: name < 1, 0 < name <= 1, and either side of an `and`."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for part in test.values:
            yield from _upper(script, part, name)
    for left, operator, right in _comparisons(test):
        if isinstance(operator, ast.Lt | ast.LtE) and last_name(left) == name:
            yield from _stated(script, right)
        elif isinstance(operator, ast.Gt | ast.GtE) and last_name(right) == name:
            yield from _stated(script, left)


def _lower(script: Script, test: ast.expr, name: str) -> Iterator[float]:
    """The upper bounds that hold where the test fails: name > 1, not name < 1, and either side of an `or`."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        for part in test.values:
            yield from _lower(script, part, name)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _upper(script, test.operand, name)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        for left, operator, right in _comparisons(test):
            if isinstance(operator, ast.Gt | ast.GtE) and last_name(left) == name:
                yield from _stated(script, right)
            elif isinstance(operator, ast.Lt | ast.LtE) and last_name(right) == name:
                yield from _stated(script, left)


def _comparisons(test: ast.expr) -> Iterator[tuple[ast.expr, ast.cmpop, ast.expr]]:
    if isinstance(test, ast.Compare):
        yield from zip([test.left, *test.comparators], test.ops, test.comparators, strict=False)


def _stated(script: Script, node: ast.expr) -> Iterator[float]:
    found = number(script, node)
    if found is not None:
        yield found
