"""Where noise is added to gradients, and whether a loop runs over parameters, examples or batches."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from .noise_draws import DRAWS
from .script import Loop, Script, mentions

GRADIENT = r"grad|update|^gs?$"
PARAMETERS = r"param|grad|variable|weight|layer|state_dict|^vars$"


@dataclass(frozen=True, slots=True)
class Addition:
    """`node` adds `noise` (an expression that draws it) to `base`."""

    node: ast.AST
    base: ast.expr
    noise: ast.expr


def noise_on_gradients(script: Script) -> list[Addition]:
    """base + noise, base += noise and base.add_(noise), where base is a gradient or an update by its name."""
    return [
        Addition(node, base, drawn)
        for node in script.nodes
        for base, term in _sums(node)
        if (drawn := _drawn(script, term)) is not None and _is_gradient(script, base, node)
    ]


def _sums(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        yield node.target, node.value
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield node.left, node.right
        yield node.right, node.left
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("add_", "add"):
        yield from ((node.func.value, term) for term in node.args[:1])


def _drawn(script: Script, term: ast.expr) -> ast.expr | None:
    """The expression that draws the noise, behind the term or behind a name in it."""
    for part in ast.walk(term):
        if isinstance(part, ast.Call) and script.tail(part) in DRAWS:
            return term
        if isinstance(part, ast.Name):
            behind = script.resolved(part)
            if any(isinstance(call, ast.Call) and script.tail(call) in DRAWS for call in ast.walk(behind)):
                return behind
    return None


def _is_gradient(script: Script, base: ast.expr, node: ast.AST) -> bool:
    """By its own name, by that of what a loop takes it from, or by the name that the sum gets."""
    if mentions(base, GRADIENT):
        return True
    names = (part for part in ast.walk(base) if isinstance(part, ast.Name))
    if any(mentions(source, GRADIENT) for name in names for source in script.looped_over(name)):
        return True
    return any(mentions(target, GRADIENT) for target in script.bound_to(node))


def data_loops(script: Script, node: ast.AST) -> list[Loop]:
    """The loops around a node, innermost first, without those over parameters."""
    return [loop for loop in script.loops(node) if not _is_over_parameters(loop)]


def _is_over_parameters(loop: Loop) -> bool:
    return isinstance(loop, ast.For | ast.AsyncFor) and mentions(loop.iter, PARAMETERS)
