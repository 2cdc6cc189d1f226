"""A loop from the second entry on, and what was done with the first one before, as a loop over all entries.

    best = data[0] + rng.laplace(0, 2)
    for i in range(1, len(data)):
        ...

becomes a loop over range(len(data)) whose first step is another one.
"""

from __future__ import annotations

import ast

from ..refusals import Refused
from .statements import mentions, parsed


def with_first_steps(body: list[ast.stmt], data: str) -> list[ast.stmt]:
    """A loop from the second entry on, and what was done with the first one before, as a loop over all entries."""
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
            whole, chosen = (
                parsed(f"for _ in range(len({data})):\n if _dpcert_first:\n  _dpcert_first = False")[0],
                None,
            )
            assert isinstance(whole, ast.For)
            chosen = whole.body[0]
            assert isinstance(chosen, ast.If)
            chosen.body += [_First(data, statement.target.id).visit(former) for former in moved]
            whole.target, chosen.orelse, whole.orelse = statement.target, statement.body, statement.orelse
            statement = whole
        made.append(statement)
    return made


class _First(ast.NodeTransformer):
    """data[0] is data[i], where i is 0."""

    def __init__(self, data: str, index: str) -> None:
        self.wanted = f"{data}[0]"
        self.index = index

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if ast.unparse(node) == self.wanted:
            node.slice = ast.Name(self.index, ast.Load())
            return node
        return self.generic_visit(node)
