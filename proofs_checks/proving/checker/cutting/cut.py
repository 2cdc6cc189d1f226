"""A function with loops over its data, cut: what comes before the first, one step of each, what comes after each.

    def mechanism(dataset, rng):
        BEFORE
        for entry in dataset:       # or enumerate(dataset), or range(len(dataset)) with dataset[i]; or what is computed
            STEP                    # of the data without a loop (sums.py, columns.py)
        AFTER                       # which may have another loop over the data

A loop's state are the local variables that are surely set before it and used from it on. Anything else that could carry
something from one step to the next (other locals, attributes that are set, inner functions) is refused; what is around
the function are constants (language/globals.py). Where neighbours have as many entries, len(dataset) is a number that
both know.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..language.arrays import array_of as made_array
from ..language.globals import Outside, admitted
from ..language.grammar import bound_names, check
from ..language.interpreter import Local
from ..language.records import zeros
from ..language.source import definition, file_of
from ..language.values import Function, Native
from ..refusals import Refused
from .columns import ARRAY, NUMBER, ZEROS, array_of, as_loops, number_of
from .elements import DIMENSION, DIVIDE
from .parameters import Givens, compiled, opened
from .reassigned_names import with_versions
from .shapes import OF_CONTAINERS
from .statements import Apart, Replaced, is_loop, mentions

STATE, ENTRY, INDEX, LENGTH = "_dpcert_state", "_dpcert_entry", "_dpcert_index", "_dpcert_length"
NEXT, BREAK, RETURN = "next", "break", "return"


@dataclass(frozen=True)
class Loop:
    """step(state, index, entry, length, dimension, rng) -> (control, state or output).

    after(state, length, dimension, rng) -> (NEXT, the next loop's state) or (RETURN, output).

    A state is a tuple of the values of `names`. indexed: whether a step may know how many there were before.
    real: both as functions of Python, for runs on real numbers.
    """

    step: Function
    after: Function
    names: tuple[str, ...]
    indexed: bool
    real: tuple[Callable[..., Any], Callable[..., Any]]


@dataclass(frozen=True)
class Cut:
    """before(length, dimension, rng) -> (NEXT, the first loop's state). sized: the function asks for len(dataset).

    dimension: how many entries a record has; None where entries are numbers.
    """

    before: Function
    loops: tuple[Loop, ...]
    sized: bool
    real_before: Callable[..., Any]


def cut(function: Callable[..., Any], relation: str, container: str) -> Cut:
    """The function at its loops. Raises Refused with what stands in the way."""
    givens = opened(function)
    syntax = copy.deepcopy(definition(givens.function))
    check(syntax, file_of(givens.function))
    data, rng = givens.parameters(syntax)
    written = with_versions(syntax.body, (data, rng))
    try:
        return _cut_at_loops(givens, syntax, (data, rng), relation, container)
    except Refused as refused:
        raise refused.renamed(written) from None


def _cut_at_loops(
    givens: Givens, syntax: ast.FunctionDef, given: tuple[str, str], relation: str, container: str
) -> Cut:
    data, rng = given
    _refuse_statements(syntax, given)
    apart = Apart()
    syntax.body = [apart.visit(statement) for statement in syntax.body]
    givens.refuse_shadows(syntax)
    length = _Length(data)
    body = [*givens.rebound(syntax), *syntax.body]
    shape = Replaced({f"{data}.shape[0]": f"len({data})", f"{data}.shape[1]": DIMENSION})
    body = [shape.visit(statement) for statement in body]
    outside = givens.outside(body, data, rng)
    body = as_loops(body, data, rng, ENTRY, relation == "add-remove", outside, OF_CONTAINERS[container])
    if relation != "add-remove":
        body = [length.visit(statement) for statement in body]
    places = [i for i, statement in enumerate(body) if mentions(statement, data)]
    if not places or not all(is_loop(body[place], data) for place in places):
        raise Refused(f"{data!r} is used otherwise than in loops over it")
    before = body[: places[0]]
    if any(isinstance(node, ast.Return) for statement in before for node in ast.walk(statement)):
        raise Refused("a return before the loop")
    known = [ast.parse(f"if False: {name} = None").body[0] for name in sorted(bound_names(syntax.body)) if name != data]
    names = [_names(body, place) for place in places] + [()]
    parts = [_defined("before", f"{LENGTH}, {DIMENSION}, {rng}", [*before, _leave(NEXT, names[0])])]
    indexed = []
    for k in range(len(places)):
        made, index = _loop(body, places, k, names, known, (data, rng))
        parts += made
        indexed.append(index)
    return _cut(givens, [ast.fix_missing_locations(part) for part in parts], names, indexed, length.count > 0)


def _loop(
    body: list[ast.stmt],
    places: list[int],
    k: int,
    names: list[tuple[str, ...]],
    known: list[ast.stmt],
    given: tuple[str, str],
) -> tuple[list[ast.FunctionDef], bool]:
    """The step of the k-th loop and what comes after it; whether a step gets its index."""
    data, rng = given
    loop = body[places[k]]
    assert isinstance(loop, ast.For)
    binding, stepping, index = _entry(loop, data)
    unpacked = ast.parse(f"({', '.join([*names[k], ''])}) = {STATE}" if names[k] else "pass").body
    stepped = [_Leaving(names[k]).visit(statement) for statement in stepping]
    until = places[k + 1] if k + 1 < len(places) else len(body)
    after = [_Leaving(()).visit(statement) for statement in body[places[k] + 1 : until]]
    end = _leave(NEXT, names[k + 1]) if k + 1 < len(places) else _Leaving(()).visit(ast.Return(None))
    step = [*known, *unpacked, *binding, *stepped, _leave(NEXT, names[k])]
    return [
        _defined(f"step{k}", f"{STATE}, {INDEX}, {ENTRY}, {LENGTH}, {DIMENSION}, {rng}", step),
        _defined(f"after{k}", f"{STATE}, {LENGTH}, {DIMENSION}, {rng}", [*known, *unpacked, *after, end]),
    ], index


def _cut(
    givens: Givens, parts: list[ast.FunctionDef], names: list[tuple[str, ...]], indexed: list[bool], sized: bool
) -> Cut:
    """The parts as functions of the language, and of Python."""
    file = file_of(givens.function)
    around = {name: admitted(value, name) for name, value in givens.values.items()}
    around[ARRAY] = Native(lambda items: made_array(items) if type(items) is list else items, "an array")
    around[NUMBER] = Native(number_of, "a number")
    around[ZEROS] = Native(zeros, "zeros")
    around[DIVIDE] = admitted(np.divide, "np.divide")
    outer = Local(Outside(givens.function), around, frozenset(), file)
    before, *made = [Function(p.name, p.args, p.body, outer, bound_names(p.body), {}, file) for p in parts]
    real_before, *real = compiled(
        givens, parts, {ARRAY: array_of, NUMBER: lambda value: value, ZEROS: np.zeros, DIVIDE: np.divide}
    )
    loops = [
        Loop(made[2 * k], made[2 * k + 1], names[k], indexed[k], (real[2 * k], real[2 * k + 1]))
        for k in range(len(indexed))
    ]
    return Cut(before, tuple(loops), sized, real_before)


REFUSED = (ast.FunctionDef, ast.Raise)


def _refuse_statements(syntax: ast.FunctionDef, given: tuple[str, str]) -> None:
    for node in (inner for statement in syntax.body for inner in ast.walk(statement)):
        if isinstance(node, REFUSED):
            raise Refused(f"{'an inner function' if isinstance(node, ast.FunctionDef) else 'raise'} in the function")
        if isinstance(node, ast.arg) and node.arg in given:
            raise Refused(f"the name {node.arg!r} is a parameter again")
        stored = not isinstance(getattr(node, "ctx", None), ast.Load | None)
        if isinstance(node, ast.Attribute) and stored:
            raise Refused(f"the attribute {node.attr!r} is set")
        if isinstance(node, ast.Name) and ((stored and node.id in given) or node.id.startswith(("__", "_dpcert"))):
            raise Refused(f"the name {node.id!r} is set, or is one of Python's own")


def _names(body: list[ast.stmt], place: int) -> tuple[str, ...]:
    """What is surely set before the loop there, and used from it on."""
    surely = {name for statement in body[:place] for name in _surely(statement)}
    return tuple(sorted(name for name in surely if any(mentions(statement, name) for statement in body[place:])))


class _Length(Replaced):
    """len(dataset) as a name, other than in range(len(dataset)) of a loop over the data."""

    def __init__(self, data: str) -> None:
        super().__init__({f"len({data})": LENGTH})
        self.data = data

    def visit_For(self, node: ast.For) -> ast.AST:
        if not is_loop(node, self.data):
            return self.generic_visit(node)
        node.body = [self.visit(statement) for statement in node.body]
        return node


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
    chosen = Replaced({f"{data}[{target.id}]": ENTRY})
    body = [chosen.visit(statement) for statement in loop.body]
    moved = any(isinstance(n, ast.Name) and n.id == target.id and isinstance(n.ctx, ast.Store)
                for part in loop.body for n in ast.walk(part))  # fmt: skip
    if chosen.count != uses or moved:
        raise Refused(f"{data} is used otherwise than as {data}[{target.id}]")
    return [_set(target, INDEX)], body, True


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


def _defined(name: str, parameters: str, body: list[ast.stmt]) -> ast.FunctionDef:
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
