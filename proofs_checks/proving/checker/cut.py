"""A function with loops over its data, cut: what comes before the first, one step of each, what comes after each.

    def mechanism(dataset, rng):
        BEFORE
        for entry in dataset:       # or enumerate(dataset), or range(len(dataset)) with dataset[i]; or what is computed
            STEP                    # of the data without a loop (sums.py, columns.py)
        AFTER                       # which may have another loop over the data

A loop's state are the local variables that are surely set before it and used from it on. Anything else that could carry
something from one step to the next (other locals, attributes, globals, nonlocals, exceptions, iterators) is refused in
source.py or in surroundings.py. Where neighbours have as many entries, len(dataset) is a number that both know.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .columns import as_loops
from .following import Refused
from .source import compiled, definition, parameters, refuse_shadows, refuse_statements
from .statements import is_loop, mentions

STATE, ENTRY, INDEX, LENGTH = "_dpcert_state", "_dpcert_entry", "_dpcert_index", "_dpcert_length"
NEXT, BREAK, RETURN = "next", "break", "return"


@dataclass(frozen=True)
class Loop:
    """step(state, index, entry, length, rng) -> (control, state or output).

    after(state, length, rng) -> (NEXT, the next loop's state) or (RETURN, output).

    A state is a tuple of the values of `names`. indexed: whether a step may know how many there were before it.
    """

    step: Callable[..., Any]
    after: Callable[..., Any]
    names: tuple[str, ...]
    indexed: bool


@dataclass(frozen=True)
class Cut:
    """before(length, rng) -> (NEXT, the first loop's state). sized: whether the function asks for len(dataset)."""

    before: Callable[..., Any]
    loops: tuple[Loop, ...]
    sized: bool


def cut(function: Callable[..., Any], relation: str) -> Cut:
    """The function at its loops. Raises Refused with what stands in the way."""
    if not isinstance(function, types.FunctionType):
        raise Refused("not a plain Python function")
    refuse_shadows(function)
    syntax = definition(function)
    data, rng = parameters(syntax)
    refuse_statements(syntax, (data, rng))
    length = _Length(data)
    body = as_loops(syntax.body, data, rng, ENTRY, relation == "add-remove")
    if relation != "add-remove":
        body = [length.visit(statement) for statement in body]
    places = [i for i, statement in enumerate(body) if mentions(statement, data)]
    if not places or not all(is_loop(body[place], data) for place in places):
        raise Refused(f"{data!r} is used otherwise than in loops over it")
    before, parts = body[: places[0]], []
    if any(isinstance(node, ast.Return) for statement in before for node in ast.walk(statement)):
        raise Refused("a return before the loop")
    local = [*function.__code__.co_varnames, *function.__code__.co_cellvars]
    known = [ast.parse(f"if False: {name} = None").body[0] for name in local if name not in (data, rng)]
    names = [_names(body, place) for place in places] + [()]
    parts.append(_defined("before", f"{LENGTH}, {rng}", [*before, _leave(NEXT, names[0])]))
    indexed = []
    for k, place in enumerate(places):
        loop = body[place]
        assert isinstance(loop, ast.For)
        binding, stepping, index = _entry(loop, data)
        indexed.append(index)
        unpacked = ast.parse(f"({', '.join([*names[k], ''])}) = {STATE}" if names[k] else "pass").body
        stepped = [_Leaving(names[k]).visit(statement) for statement in stepping]
        until = places[k + 1] if k + 1 < len(places) else len(body)
        after = [_Leaving(()).visit(statement) for statement in body[place + 1 : until]]
        end = _leave(NEXT, names[k + 1]) if k + 1 < len(places) else _Leaving(()).visit(ast.Return(None))
        given = f"{STATE}, {INDEX}, {ENTRY}, {LENGTH}, {rng}"
        parts += [
            _defined(f"step{k}", given, [*known, *unpacked, *binding, *stepped, _leave(NEXT, names[k])]),
            _defined(f"after{k}", f"{STATE}, {LENGTH}, {rng}", [*known, *unpacked, *after, end]),
        ]
    listed = ", ".join(f"step{k}, after{k}" for k in range(len(places)))
    made = compiled(function, parts, f"(before, {listed})")
    loops = [Loop(made[2 * k + 1], made[2 * k + 2], names[k], indexed[k]) for k in range(len(places))]
    return Cut(made[0], tuple(loops), length.count > 0)


def _names(body: list[ast.stmt], place: int) -> tuple[str, ...]:
    """What is surely set before the loop there, and used from it on."""
    surely = {name for statement in body[:place] for name in _surely(statement)}
    return tuple(sorted(name for name in surely if any(mentions(statement, name) for statement in body[place:])))


class _Length(ast.NodeTransformer):
    """len(dataset) as a name, other than in range(len(dataset)) of a loop over the data."""

    def __init__(self, data: str) -> None:
        self.data = data
        self.count = 0

    def visit_For(self, node: ast.For) -> ast.AST:
        if is_loop(node, self.data):
            node.body = [self.visit(statement) for statement in node.body]
            return node
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if ast.unparse(node) == f"len({self.data})":
            self.count += 1
            return ast.copy_location(ast.Name(LENGTH, ast.Load()), node)
        return self.generic_visit(node)


def _entry(loop: ast.For, data: str) -> tuple[list[ast.stmt], list[ast.stmt], bool]:
    """How a step gets its entry; its body; whether it gets its index."""
    if loop.orelse:
        raise Refused("an else of the loop")
    iterated, target = ast.unparse(loop.iter), loop.target
    uses = sum(isinstance(node, ast.Name) and node.id == data for part in loop.body for node in ast.walk(part))
    if iterated == data and not uses:
        return [_set(target, ENTRY)], loop.body, False
    if iterated == f"enumerate({data})" and not uses:
        return [_set(target, f"({INDEX}, {ENTRY})")], loop.body, True
    if iterated != f"range(len({data}))" or not isinstance(target, ast.Name):
        raise Refused(f"a loop over {iterated}")
    chosen = _Chosen(data, target.id)
    body = [chosen.visit(statement) for statement in loop.body]
    moved = any(isinstance(n, ast.Name) and n.id == target.id and isinstance(n.ctx, ast.Store)
                for part in loop.body for n in ast.walk(part))  # fmt: skip
    if chosen.count != uses or moved:
        raise Refused(f"{data} is used otherwise than as {data}[{target.id}]")
    return [_set(target, INDEX)], body, True


class _Chosen(ast.NodeTransformer):
    """dataset[i] is the entry."""

    def __init__(self, data: str, index: str) -> None:
        self.wanted = f"{data}[{index}]"
        self.count = 0

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if ast.unparse(node) == self.wanted and isinstance(node.ctx, ast.Load):
            self.count += 1
            return ast.copy_location(ast.Name(ENTRY, ast.Load()), node)
        return self.generic_visit(node)


class _Leaving(ast.NodeTransformer):
    """break, continue and return of the cut loop as returns of the step; those of inner loops stay."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.depth = 0

    def _inside(self, node: Any) -> Any:
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1
        return node

    visit_For = visit_While = _inside

    def visit_Break(self, node: ast.Break) -> ast.AST:
        return node if self.depth else _leave(BREAK, self.names)

    def visit_Continue(self, node: ast.Continue) -> ast.AST:
        return node if self.depth else _leave(NEXT, self.names)

    def visit_Return(self, node: ast.Return) -> ast.AST:
        made = ast.parse(f"return ('{RETURN}', None)").body[0]
        assert isinstance(made, ast.Return)
        assert isinstance(made.value, ast.Tuple)
        if node.value is not None:
            made.value.elts[1] = node.value
        return ast.copy_location(made, node)


def _leave(control: str, names: tuple[str, ...]) -> ast.stmt:
    return ast.parse(f"return ('{control}', ({', '.join([*names, '']) if names else ''}))").body[0]


def _set(target: ast.expr, value: str) -> ast.stmt:
    made = ast.parse(f"_ = {value}").body[0]
    assert isinstance(made, ast.Assign)
    made.targets = [target]
    return made


def _defined(name: str, parameters: str, body: list[ast.stmt]) -> ast.stmt:
    made = ast.parse(f"def {name}({parameters}): pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    made.body = body or [ast.Pass()]
    return made


def _surely(statement: ast.stmt) -> set[str]:
    """The names that a statement of BEFORE surely sets."""
    if isinstance(statement, ast.AnnAssign) and statement.value is None:
        return set()
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return set()
    names = [node.id for target in targets for node in ast.walk(target)  # type: ignore[arg-type]
             if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]  # fmt: skip
    return set(names)
