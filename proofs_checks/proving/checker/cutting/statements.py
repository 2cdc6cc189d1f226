"""Questions about syntax, and syntax that is written otherwise."""

from __future__ import annotations

import ast
from typing import Any

from ..refusals import Refused


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


def expression(text: str) -> ast.expr:
    """The expression that the text is."""
    return ast.parse(text, mode="eval").body


class Replaced(ast.NodeTransformer):
    """Expressions that are read, by their text, as others, by theirs. count: of how many that was done."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts, self.count = texts, 0

    def visit(self, node: ast.AST) -> Any:
        """The node, or what stands in its place."""
        read = isinstance(node, ast.Call | ast.Subscript) and isinstance(getattr(node, "ctx", None), ast.Load | None)
        text = self.texts.get(ast.unparse(node)) if read else None
        if text is None:
            return super().visit(node)
        self.count += 1
        return ast.copy_location(expression(text), node)


def with_first_steps(body: list[ast.stmt], data: str) -> list[ast.stmt]:
    """A loop from the second entry on, and what was done with the first one before, as a loop over all entries.

        best = data[0] + rng.laplace(0, 2)
        for i in range(1, len(data)):
            ...

    becomes a loop over range(len(data)) whose first step is another one.
    """
    made: list[ast.stmt] = []
    for statement in body:
        from_one = isinstance(statement, ast.For) and ast.unparse(statement.iter) == f"range(1, len({data}))"
        if from_one and isinstance(statement, ast.For) and isinstance(statement.target, ast.Name):
            at = next((i for i, former in enumerate(made) if mentions(former, data)), len(made))
            moved, made = made[at:], made[:at]
            if not all(isinstance(former, ast.Assign) for former in moved):
                raise Refused("what comes before a loop over range(1, len(data)) is more than assignments")
            names = sorted({n.id for former in moved for n in ast.walk(former)
                            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)})  # fmt: skip
            made += parsed("_dpcert_first = True", *(f"{name} = None" for name in names))
            whole = parsed(f"for _ in range(len({data})):\n if _dpcert_first:\n  _dpcert_first = False")[0]
            assert isinstance(whole, ast.For)
            chosen = whole.body[0]
            assert isinstance(chosen, ast.If)
            first = Replaced({f"{data}[0]": f"{data}[{statement.target.id}]"})
            chosen.body += [first.visit(former) for former in moved]
            whole.target, chosen.orelse, whole.orelse = statement.target, statement.body, statement.orelse
            statement = whole
        made.append(statement)
    return made
