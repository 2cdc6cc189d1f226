"""Numbers that a script states: literals, signs, powers and quotients of them, infinities, and names of these."""

from __future__ import annotations

import ast
import math

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
