"""Settings that a file's dataclasses give by default and nothing in the file sets otherwise."""

from __future__ import annotations

import ast
from collections.abc import Sequence


class Settings:
    """The fields of a file's classes, from its syntax tree's nodes."""

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
        self._defaults = [_defaults(node) for node in classes]
        names = {node.name for node in classes}
        calls = [node for node in nodes if isinstance(node, ast.Call) and _name(node.func) in names]
        self._set = {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
        self._set |= {given.arg for call in calls for given in call.keywords if given.arg is not None}
        self._all_set = any(call.args or any(given.arg is None for given in call.keywords) for call in calls)

    def default_of(self, node: ast.expr) -> list[ast.expr | None]:
        """cfg.poisson: what a class of this file gives that field by default; nothing where it may be set elsewhere."""
        if self._all_set or not isinstance(node, ast.Attribute) or node.attr in self._set:
            return []
        return [fields[node.attr] for fields in self._defaults if node.attr in fields]


def _defaults(node: ast.ClassDef) -> dict[str, ast.expr]:
    return {
        part.target.id: part.value
        for part in node.body
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name) and part.value is not None
    }


def _name(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) else None
