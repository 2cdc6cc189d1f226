"""The syntax of the very code that a function runs, and how code made of it is compiled again."""

from __future__ import annotations

import ast
import builtins
import inspect
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .columns import ARRAY, array_of
from .following import Refused

REFUSED = (
    ast.Global, ast.Nonlocal, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Try, ast.TryStar, ast.With,
    ast.AsyncWith, ast.AsyncFor, ast.Yield, ast.YieldFrom, ast.Await, ast.Delete, ast.Import, ast.ImportFrom, ast.Raise,
    ast.Match,
)  # fmt: skip

KNOWN = ("abs", "enumerate", "float", "int", "len", "list", "max", "min", "np", "numpy", "range", "round", "sum")
"""Names by which loops, sums and arrays over the data are known."""


def definition(function: types.FunctionType) -> ast.FunctionDef:
    """The syntax of the very code that the function runs."""
    code = function.__code__
    try:
        tree = ast.parse("".join(inspect.findsource(function)[0]))
        whole = compile(tree, code.co_filename, "exec", dont_inherit=True, flags=_future(function))
    except (OSError, TypeError, SyntaxError, ValueError) as problem:
        raise Refused(f"the function's source cannot be read ({problem})") from problem
    around = [node for node in tree.body if node.lineno <= code.co_firstlineno <= (node.end_lineno or 0)]
    found = [
        made
        for statement in around
        for node in ast.walk(statement)
        if isinstance(node, ast.Lambda | ast.FunctionDef) and node.lineno == code.co_firstlineno
        if (made := _as_def(node)).name == code.co_name
    ]
    if len(found) != 1:
        raise Refused("neither an undecorated `def` nor the only lambda in its line")
    if not any(_same(code, other) for other in _codes(whole)):
        raise Refused("the function's source is not what it runs")
    if isinstance(found[0].body[0], ast.Expr) and isinstance(found[0].body[0].value, ast.Constant):
        found[0].body = found[0].body[1:] or [ast.Pass()]
    return found[0]


def _as_def(node: ast.Lambda | ast.FunctionDef) -> ast.FunctionDef:
    """A `def`, or the lambda written as one."""
    if isinstance(node, ast.FunctionDef):
        return node
    made = ast.parse("def _(): return None").body[0]
    assert isinstance(made, ast.FunctionDef)
    made.name, made.args, made.lineno = "<lambda>", node.args, node.lineno
    made.body = [ast.copy_location(ast.Return(node.body), node.body)]
    return made


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code and all code inside it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _codes(inner)


def compiled(function: types.FunctionType, definitions: Iterable[ast.stmt], result: str) -> Any:
    """The definitions, with the function's globals and closed-over values (which nothing here may rebind)."""
    free = function.__code__.co_freevars
    outer = ast.parse(f"def _outer({', '.join(free)}):\n    return {result}").body[0]
    assert isinstance(outer, ast.FunctionDef)
    outer.body[:0] = list(definitions)
    module = ast.fix_missing_locations(ast.Module([outer], []))
    scope = function.__globals__ | {ARRAY: array_of}
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


def refuse_shadows(function: types.FunctionType) -> None:
    """Names that the cut goes by mean what they always do. Raises Refused."""
    code, scope = function.__code__, function.__globals__
    local = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    for name in KNOWN:
        meant = np if name in ("np", "numpy") else getattr(builtins, name)
        if name in local or scope.get(name, meant) is not meant:
            raise Refused(f"the name {name!r} means something else in the function")


def parameters(syntax: ast.FunctionDef) -> tuple[str, str]:
    given = syntax.args
    if len(given.args) != 2 or given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs:
        raise Refused("parameters other than (dataset, rng)")
    return given.args[0].arg, given.args[1].arg


def refuse_statements(syntax: ast.FunctionDef, given: tuple[str, str]) -> None:
    for node in (inner for statement in syntax.body for inner in ast.walk(statement)):
        if isinstance(node, REFUSED):
            raise Refused(f"{type(node).__name__.lower()} in the function")
        if isinstance(node, ast.arg) and node.arg in given:
            raise Refused(f"the name {node.arg!r} is a parameter again")
        stored = not isinstance(getattr(node, "ctx", None), ast.Load | None)
        if isinstance(node, ast.Attribute) and (stored or node.attr.startswith("__")):
            raise Refused(f"the attribute {node.attr!r} is set, or is one of Python's own")
        if isinstance(node, ast.Name) and ((stored and node.id in given) or node.id.startswith(("__", "_dpcert"))):
            raise Refused(f"the name {node.id!r} is set, or is one of Python's own")
