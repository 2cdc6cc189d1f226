"""A function with one loop over its data, cut into three: what comes before the loop, one step, what comes after.

    def mechanism(dataset, rng):
        BEFORE
        for entry in dataset:       # or enumerate(dataset), or range(len(dataset)) with dataset[i]; or sums (sums.py)
            STEP
        AFTER

The loop's state are the local variables that BEFORE surely sets. Anything else that could carry something from one
step to the next (other locals, attributes, globals, nonlocals, exceptions, iterators) is refused here or in state.py.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .following import Refused
from .sums import as_loop

STATE, ENTRY, INDEX = "_dpcert_state", "_dpcert_entry", "_dpcert_index"
NEXT, BREAK, RETURN = "next", "break", "return"
REFUSED = (
    ast.Global, ast.Nonlocal, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Try, ast.TryStar, ast.With,
    ast.AsyncWith, ast.AsyncFor, ast.Yield, ast.YieldFrom, ast.Await, ast.Delete, ast.Import, ast.ImportFrom, ast.Raise,
)  # fmt: skip


@dataclass(frozen=True)
class Cut:
    """before(rng) -> state; step(state, index, entry, rng) -> (control, state or output); after(state, rng) -> output.

    A state is a tuple of the values of `names`. indexed: whether a step may know how many there were before it.
    """

    before: Callable[..., Any]
    step: Callable[..., Any]
    after: Callable[..., Any]
    names: tuple[str, ...]
    indexed: bool


def cut(function: Callable[..., Any]) -> Cut:
    """The function at its one loop. Raises Refused with what stands in the way."""
    if not isinstance(function, types.FunctionType):
        raise Refused("not a plain Python function")
    definition = _definition(function)
    data, rng = _parameters(definition)
    _refuse_statements(definition, (data, rng))
    if not any(isinstance(s, ast.For) and _mentions(s, data) for s in definition.body):
        definition.body = as_loop(definition.body, data, ENTRY)
    loops = [i for i, statement in enumerate(definition.body) if _mentions(statement, data)]
    if len(loops) != 1 or not isinstance(definition.body[loops[0]], ast.For):
        raise Refused(f"{data!r} is used otherwise than in one loop over it")
    loop = definition.body[loops[0]]
    assert isinstance(loop, ast.For)
    before, after = definition.body[: loops[0]], definition.body[loops[0] + 1 :]
    if loop.orelse or any(isinstance(node, ast.Return) for statement in before for node in ast.walk(statement)):
        raise Refused("an else of the loop, or a return before it")
    binding, body, indexed = _entry(loop, data)
    names = tuple(sorted({name for statement in before for name in _surely(statement)}))
    local = [*function.__code__.co_varnames, *function.__code__.co_cellvars]
    known = [ast.parse(f"if False: {name} = None").body[0] for name in local if name not in (data, rng)]
    unpacked = ast.parse(f"({', '.join([*names, ''])}) = {STATE}" if names else "pass").body
    stepped = [_Leaving(names).visit(statement) for statement in body]
    parts = [
        _defined("before", rng, [*before, _leave(NEXT, names)]),
        _defined(
            "step", f"{STATE}, {INDEX}, {ENTRY}, {rng}", [*known, *unpacked, *binding, *stepped, _leave(NEXT, names)]
        ),
        _defined("after", f"{STATE}, {rng}", [*known, *unpacked, *after]),
    ]
    made = _compiled(function, parts, "(before, step, after)")
    return Cut(made[0], made[1], made[2], names, indexed)


def _definition(function: types.FunctionType) -> ast.FunctionDef:
    """The syntax of the very code that the function runs."""
    code = function.__code__
    try:
        text = "".join(inspect.findsource(function)[0])
        tree = ast.parse(text)
        whole = compile(text, code.co_filename, "exec", dont_inherit=True, flags=_future(function))
    except (OSError, TypeError, SyntaxError) as problem:
        raise Refused(f"the function's source cannot be read ({problem})") from problem
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and (node.name, node.lineno) == (code.co_name, code.co_firstlineno)
    ]
    if len(found) != 1:
        raise Refused("not one undecorated `def`")
    if not any(_same(code, other) for other in _codes(whole)):
        raise Refused("the function's source is not what it runs")
    if isinstance(found[0].body[0], ast.Expr) and isinstance(found[0].body[0].value, ast.Constant):
        found[0].body = found[0].body[1:] or [ast.Pass()]
    return found[0]


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code and all code inside it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _codes(inner)


def _compiled(function: types.FunctionType, definitions: Iterable[ast.stmt], result: str) -> Any:
    """The definitions, with the function's globals and closed-over values (which nothing here may rebind)."""
    free = function.__code__.co_freevars
    outer = ast.parse(f"def _outer({', '.join(free)}):\n    return {result}").body[0]
    assert isinstance(outer, ast.FunctionDef)
    outer.body[:0] = list(definitions)
    module = ast.fix_missing_locations(ast.Module([outer], []))
    scope = dict(function.__globals__)
    try:
        exec(compile(module, function.__code__.co_filename, "exec", dont_inherit=True, flags=_future(function)), scope)
        return scope["_outer"](*[cell.cell_contents for cell in function.__closure__ or ()])
    except (SyntaxError, ValueError) as problem:  # a break of the cut loop in an inner else; a closed-over name unset
        raise Refused(f"the function cannot be cut at its loop ({problem})") from problem


def _future(function: types.FunctionType) -> int:
    """`from __future__ import annotations` where the function's module has it."""
    import __future__

    return function.__code__.co_flags & __future__.annotations.compiler_flag


def _same(one: types.CodeType, other: types.CodeType) -> bool:
    def constants(code: types.CodeType) -> list[Any]:
        return [c for c in code.co_consts if not isinstance(c, types.CodeType)]

    def inner(code: types.CodeType) -> list[types.CodeType]:
        return [c for c in code.co_consts if isinstance(c, types.CodeType)]

    names = (
        "co_code",
        "co_names",
        "co_varnames",
        "co_freevars",
        "co_cellvars",
        "co_argcount",
        "co_flags",
        "co_firstlineno",
    )
    return (
        all(getattr(one, name) == getattr(other, name) for name in names)
        and repr(constants(one)) == repr(constants(other))
        and len(inner(one)) == len(inner(other))
        and all(_same(a, b) for a, b in zip(inner(one), inner(other), strict=True))
    )


def _parameters(definition: ast.FunctionDef) -> tuple[str, str]:
    given = definition.args
    if len(given.args) != 2 or given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs:
        raise Refused("parameters other than (dataset, rng)")
    return given.args[0].arg, given.args[1].arg


def _mentions(statement: ast.stmt, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(statement))


def _refuse_statements(definition: ast.FunctionDef, parameters: tuple[str, str]) -> None:
    for node in (inner for statement in definition.body for inner in ast.walk(statement)):
        if isinstance(node, REFUSED):
            raise Refused(f"{type(node).__name__.lower()} in the function")
        stored = not isinstance(getattr(node, "ctx", None), ast.Load | None)
        if isinstance(node, ast.Attribute) and (stored or node.attr.startswith("__")):
            raise Refused(f"the attribute {node.attr!r} is set, or is one of Python's own")
        if isinstance(node, ast.Name) and ((stored and node.id in parameters) or node.id.startswith(("__", "_dpcert"))):
            raise Refused(f"the name {node.id!r} is set, or is one of Python's own")


def _entry(loop: ast.For, data: str) -> tuple[list[ast.stmt], list[ast.stmt], bool]:
    """How a step gets its entry; its body; whether it gets its index."""
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
