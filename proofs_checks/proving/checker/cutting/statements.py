"""Questions about syntax, and syntax that is written otherwise."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
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


class Apart(ast.NodeTransformer):
    """Variables of lambdas and comprehensions get names of their own, so that no name means two things."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.count = 0

    def _inside(self, names: set[str], parts: Callable[[], None]) -> None:
        """The parts are visited where these names are variables of their own."""
        self.count += 1
        former, self.names = self.names, self.names | {name: f"_dpcert_{name}_{self.count}" for name in names}
        parts()
        self.names = former

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Name(self.names.get(node.id, node.id), node.ctx), node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        given = node.args
        given.defaults = [self.visit(value) for value in given.defaults]
        given.kw_defaults = [None if value is None else self.visit(value) for value in given.kw_defaults]
        own = [each for each in ast.walk(given) if isinstance(each, ast.arg)]

        def parts() -> None:
            for each in own:
                each.arg = self.names[each.arg]
            node.body = self.visit(node.body)

        assigned = {each.target.id for each in ast.walk(node.body) if isinstance(each, ast.NamedExpr)}
        self._inside({each.arg for each in own} | assigned, parts)
        return node

    def _comprehension(self, node: Any) -> Any:
        first = node.generators[0]
        first.iter = self.visit(first.iter)  # in the scope around

        def parts() -> None:
            for loop in node.generators:
                loop.target, loop.ifs = self.visit(loop.target), [self.visit(test) for test in loop.ifs]
                loop.iter = loop.iter if loop is first else self.visit(loop.iter)
            for part in ("elt", "key", "value"):
                if hasattr(node, part):
                    setattr(node, part, self.visit(getattr(node, part)))

        self._inside(stored([loop.target for loop in node.generators]), parts)
        return node

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = _comprehension


def stored(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that are set anywhere in them, as variables or parameters."""
    inner = [each for node in nodes for each in ast.walk(node)]
    set_there = {each.id for each in inner if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)}
    return set_there | {each.arg for each in inner if isinstance(each, ast.arg)}


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
            refuse_mentions(made, statement.target.id)
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


def refuse_mentions(body: list[ast.stmt], name: str) -> None:
    """The variable of a loop over range(1, len(data)) is none before it: there it would be 0. Raises Refused."""
    if any(mentions(statement, name) for statement in body):
        raise Refused(f"{name!r}, which is also the variable of a loop over range(1, len(data))")
