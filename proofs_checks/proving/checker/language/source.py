"""The syntax of the very code that a function runs."""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..refusals import Refused

COMPARED = "code", "names", "varnames", "freevars", "cellvars", "argcount", "flags", "firstlineno"


def definition(function: types.FunctionType) -> ast.FunctionDef:
    """The syntax of the very code that the function runs now. Not to be changed. Raises Refused."""
    return _definition(function, function.__code__)


@functools.lru_cache(256)
def _definition(function: types.FunctionType, code: types.CodeType) -> ast.FunctionDef:
    try:
        tree = ast.parse("".join(inspect.findsource(function)[0]))
        whole = compile(tree, code.co_filename, "exec", dont_inherit=True, flags=future(function))
    except (OSError, TypeError, SyntaxError, ValueError) as problem:
        raise Refused(
            f"the source of {function.__qualname__} cannot be read ({problem}): write it into a file"
        ) from problem
    around = [node for node in tree.body if first_line(node) <= code.co_firstlineno <= (node.end_lineno or 0)]
    found = [
        made
        for statement in around
        for node in ast.walk(statement)
        if isinstance(node, ast.Lambda | ast.FunctionDef) and first_line(node) == code.co_firstlineno
        if (made := _as_def(node)).name == code.co_name
    ]
    if len(found) > 1:
        found = [node for node in found if _inside(node, code)]
    if len(found) != 1:
        raise Refused(f"the source of {function.__qualname__} is not found in its file")
    if not any(_same(code, other) for other in _codes(whole)):
        raise Refused(f"the source of {function.__qualname__} is not what it runs")
    made = copy.copy(found[0])
    if isinstance(made.body[0], ast.Expr) and isinstance(made.body[0].value, ast.Constant):
        made.body = made.body[1:] or [ast.copy_location(ast.Pass(), made.body[0])]
    return made


def first_line(node: Any) -> int:
    """Where a statement begins, its decorators included."""
    decorators = getattr(node, "decorator_list", [])
    return int(decorators[0].lineno if decorators else node.lineno)


def _inside(node: ast.FunctionDef, code: types.CodeType) -> bool:
    """Of several lambdas in a line: whether this is the one at the column of the code."""
    places = [(line, column) for line, _, column, _ in code.co_positions() if line and column]
    body = node.body[0]
    start, end = (body.lineno, body.col_offset), (body.end_lineno or 0, body.end_col_offset or 0)
    return all(start <= place <= end for place in places)


def _as_def(node: ast.Lambda | ast.FunctionDef) -> ast.FunctionDef:
    """A `def`, or the lambda written as one."""
    if isinstance(node, ast.FunctionDef):
        return node
    made = ast.parse("def _(): return None").body[0]
    assert isinstance(made, ast.FunctionDef)
    made.name, made.args, made.lineno = "<lambda>", node.args, node.lineno
    made.body = [ast.copy_location(ast.Return(node.body), node.body)]
    return made


def cells_of(function: types.FunctionType) -> dict[str, types.CellType]:
    """The closed-over variables by name; one that is not set yet has no contents."""
    return dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))


def defaults_of(function: types.FunctionType) -> dict[str, Any]:
    """The values that parameters have where none is given."""
    code, values = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    return dict(zip(names[len(names) - len(values) :], values, strict=True)) | dict(function.__kwdefaults__ or {})


def file_of(function: types.FunctionType) -> str:
    """The name of its file."""
    return Path(function.__code__.co_filename).name


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code and all code inside it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _codes(inner)


def future(function: types.FunctionType) -> int:
    """`from __future__ import annotations` where the function's module has it."""
    import __future__

    return function.__code__.co_flags & __future__.annotations.compiler_flag


def _same(one: types.CodeType, other: types.CodeType) -> bool:
    def constants(code: types.CodeType) -> list[Any]:
        return [c for c in code.co_consts if not isinstance(c, types.CodeType)]

    def inner(code: types.CodeType) -> list[types.CodeType]:
        return [c for c in code.co_consts if isinstance(c, types.CodeType)]

    return (
        all(getattr(one, f"co_{name}") == getattr(other, f"co_{name}") for name in COMPARED)
        and repr(constants(one)) == repr(constants(other))
        and len(inner(one)) == len(inner(other))
        and all(_same(a, b) for a, b in zip(inner(one), inner(other), strict=True))
    )
