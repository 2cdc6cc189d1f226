"""Values under names: `name = value`, `f(name=value)` and `{"name": value}` alike."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .loaders import last_name
from .script import Script


def named_values(script: Script, pattern: re.Pattern[str]) -> Iterator[tuple[str, ast.expr]]:
    """Every (name, value) of the script whose name matches."""
    for node in script.nodes:
        for name, value in pairs(node):
            if pattern.search(name):
                yield name, value


def pairs(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The (name, value) that this node itself states."""
    if isinstance(node, ast.Assign):
        yield from ((last_name(target), node.value) for target in node.targets)
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr):
        if node.value is not None:
            yield last_name(node.target), node.value
    elif isinstance(node, ast.keyword) and node.arg is not None:
        yield node.arg, node.value
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, value
