"""A mechanism as a function of dataset and rng, and what else it is given: defaults, a partial's values, its object."""

from __future__ import annotations

import ast
import builtins
import functools
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..language.grammar import bound_names
from ..language.source import cells_of, defaults_of, future
from ..language.tables import meaning
from ..refusals import Refused
from .statements import parsed, stored

KNOWN = ("abs", "enumerate", "float", "int", "len", "list", "max", "min", "np", "numpy", "range", "round", "sum")
"""Names by which loops, sums and arrays over the data are known."""
HOMES = {"np": np, "numpy": np, "np.linalg": np.linalg, "numpy.linalg": np.linalg}


@dataclass(frozen=True)
class Givens:
    """function: what was written. values: of its parameters that are not the dataset and rng."""

    function: types.FunctionType
    values: dict[str, Any]

    def parameters(self, syntax: ast.FunctionDef) -> tuple[str, str]:
        """The names of the dataset and of rng. Raises Refused."""
        given = syntax.args
        names = [
            each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs) if each.arg not in self.values
        ]
        if len(names) != 2 or given.vararg or given.kwarg:
            raise Refused("parameters other than dataset and rng, without a default")
        return names[0], names[1]

    def rebound(self, syntax: ast.FunctionDef) -> list[ast.stmt]:
        """Parameters that the function sets anew begin as what they are given."""
        names = sorted(bound_names(syntax.body) & self.values.keys())
        for name in names:
            self.values[f"_dpcert_given_{name}"] = self.values.pop(name)
        return parsed(*[f"{name} = _dpcert_given_{name}" for name in names]) if names else []

    def outside(self, body: list[ast.stmt], data: str, rng: str) -> Callable[[ast.AST], bool]:
        """Whether an expression is a constant number around the function: a name, or an attribute of one."""
        local = stored(body) | {data, rng}
        held = {name: cell.cell_contents for name, cell in cells_of(self.function).items() if _bound(cell)}
        known = self.function.__globals__ | held | self.values

        def is_constant(node: ast.AST) -> bool:
            if isinstance(node, ast.Attribute):
                on = node.value
                if not isinstance(on, ast.Name) or on.id in local:
                    return False
                return type(getattr(known.get(on.id), "__dict__", {}).get(node.attr)) in (int, float)
            return isinstance(node, ast.Name) and node.id not in local and type(known.get(node.id)) in (int, float)

        return is_constant

    def refuse_shadows(self, syntax: ast.FunctionDef) -> None:
        """Names that the cut goes by mean what they always do. Raises Refused."""
        code, scope = self.function.__code__, self.function.__globals__
        local = {*code.co_varnames, *code.co_cellvars, *code.co_freevars, *stored(syntax.body)}
        for name in KNOWN:
            meant = np if name in ("np", "numpy") else getattr(builtins, name)
            if name in local or scope.get(name, meant) is not meant:
                raise Refused(f"the name {name!r} means something else in the function")
        for node in (inner for statement in syntax.body for inner in ast.walk(statement)):
            home = HOMES.get(ast.unparse(node.value)) if isinstance(node, ast.Attribute) else None
            held = getattr(home, node.attr, None) if isinstance(node, ast.Attribute) else None
            own = isinstance(held, type) and held.__module__ == "numpy"
            if home is not None and callable(held) and not own and meaning(held) is None:
                raise Refused(f"{ast.unparse(node)} is not numpy's own, or not in the language of proofs")


def opened(function: Any) -> Givens:
    """What is behind a function, partial, method or object that is called. Raises Refused."""
    values: dict[str, Any] = {}
    if isinstance(function, functools.partial) and not function.args:
        values, function = dict(function.keywords), function.func
    if not isinstance(function, types.FunctionType | types.MethodType):
        found = next((vars(kind)["__call__"] for kind in type(function).__mro__ if "__call__" in vars(kind)), None)
        function = types.MethodType(found, function) if isinstance(found, types.FunctionType) else function
    on: list[Any] = []
    if isinstance(function, types.MethodType):
        on, function = [function.__self__], function.__func__
    if not isinstance(function, types.FunctionType):
        raise Refused("not a plain Python function")
    first = zip(function.__code__.co_varnames, on, strict=False)
    return Givens(function, defaults_of(function) | values | dict(first))


def _bound(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def compiled(givens: Givens, definitions: Iterable[ast.FunctionDef], more: dict[str, Any]) -> list[Any]:
    """The definitions, with the function's globals, closed-over values and givens. Raises Refused."""
    function = givens.function
    made = list(definitions)
    free = function.__code__.co_freevars
    listed = ", ".join(each.name for each in made)
    outer = ast.parse(f"def _outer({', '.join([*free, *givens.values])}):\n    return [{listed}]").body[0]
    assert isinstance(outer, ast.FunctionDef)
    outer.body[:0] = made
    module = ast.fix_missing_locations(ast.Module([outer], []))
    scope = function.__globals__ | more
    try:
        exec(compile(module, function.__code__.co_filename, "exec", dont_inherit=True, flags=future(function)), scope)
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        found: list[Any] = scope["_outer"](*cells, *givens.values.values())
    except (SyntaxError, ValueError) as problem:  # a break of the cut loop in an inner else; a closed-over name unset
        raise Refused(f"the function cannot be cut at its loop ({problem})") from problem
    return found
