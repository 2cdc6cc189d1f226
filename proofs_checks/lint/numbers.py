"""Numbers that a script states, and bounds that it enforces.

Stated are literals, signs, powers and quotients of them, infinities, and names of these; enforced are bounds by assert
and raise.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from .loaders import last_name
from .script import Script, dotted

INFINITIES = ("math.inf", "numpy.inf", "torch.inf", "jax.numpy.inf", "float.inf")


DEPTH = 50
"""Of a sum in a sum, or a name behind a name: `x = x + 1` has no end."""


def number(script: Script, node: ast.expr, depth: int = DEPTH) -> float | None:
    """The value of an expression of literals, None for anything else."""
    if depth == 0:
        return None
    node = script.resolved(node)
    if isinstance(node, ast.Constant):
        stated = node.value
        return float(stated) if isinstance(stated, int | float) and not isinstance(stated, bool) else None
    if script.origin(node) in INFINITIES:
        return math.inf
    if isinstance(node, ast.Call) and dotted(node.func) == "float" and len(node.args) == 1:
        text = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
        return math.inf if isinstance(text, str) and text.lower() in ("inf", "infinity") else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = number(script, node.operand, depth - 1)
        return None if inner is None else -inner
    return _combined(script, node, depth - 1) if isinstance(node, ast.BinOp) else None


def _combined(script: Script, node: ast.BinOp, depth: int) -> float | None:
    left = number(script, node.left, depth)
    right = None if left is None else number(script, node.right, depth)
    if left is None or right is None:
        return None
    try:
        if isinstance(node.op, ast.Div):
            return left / right
        if isinstance(node.op, ast.Mult):
            return left * right
        return float(left**right) if isinstance(node.op, ast.Pow) else None
    except (ArithmeticError, TypeError):
        return None


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
