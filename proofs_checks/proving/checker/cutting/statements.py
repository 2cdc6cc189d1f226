"""Questions about syntax."""

from __future__ import annotations

import ast


def mentions(node: ast.AST, name: str) -> bool:
    """Whether the name occurs."""
    return any(isinstance(inner, ast.Name) and inner.id == name for inner in ast.walk(node))


def times_set(body: list[ast.stmt], name: str) -> int:
    """How often the name is set, anywhere in the statements."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    return sum(isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load) for n in nodes)


def is_loop(statement: ast.stmt, data: str) -> bool:
    """Whether the statement is a loop over the data."""
    return isinstance(statement, ast.For) and mentions(statement.iter, data)


def parsed(*lines: str) -> list[ast.stmt]:
    """The statements that these lines are."""
    return ast.parse("\n".join(lines)).body
