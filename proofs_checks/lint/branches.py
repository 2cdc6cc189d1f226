"""Which parts of a script cannot both run."""

from __future__ import annotations

import ast

from .script import Script


def exclude_each_other(script: Script, earlier: ast.AST, later: ast.AST) -> bool:
    """Whether at most one of them runs: they are in different branches, or the earlier one's branch returns."""
    first, second = _branches(script, earlier), _branches(script, later)
    if any(parent in second and second[parent] is not branch for parent, branch in first.items()):
        return True
    together = script.scope(earlier) is script.scope(later)
    left = [branch for parent, branch in first.items() if parent not in second and together]
    return any(isinstance(branch[-1], ast.Return | ast.Raise) for branch in left)


def _branches(script: Script, node: ast.AST) -> dict[ast.If, list[ast.stmt]]:
    """The branch that the node is in, of each `if` around it."""
    found: dict[ast.If, list[ast.stmt]] = {}
    while (parent := script.parents.get(node)) is not None:
        if isinstance(parent, ast.If) and node is not parent.test:
            found[parent] = parent.body if node in parent.body else parent.orelse
        node = parent
    return found
