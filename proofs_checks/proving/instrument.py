"""The user's function, unmodified, with names that symbols pass through: float, min, isinstance, numpy, math.

Only what the names in its globals and closure mean is changed, and that of functions that it reaches through them;
nothing outside of the copy is touched.
"""

from __future__ import annotations

import builtins
import functools
import math
import numbers
import operator
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ...mechanisms import samplers
from .arrays import Symbols
from .identity import no_identity, telling
from .linear import Condition, Linear
from .noise import SymbolicGenerator, discrete_laplace
from .numpy_stand_in import NUMPY
from .onlooker import Onlooker
from .order import Order, largest_of, least_of
from .stand_ins import Float, Int, Str
from .unsupported import refused, unsupported
from .whole import is_whole

_INSIDE = {
    "__future__", "abc", "bisect", "builtins", "collections", "copy", "dataclasses", "enum", "fractions",
    "functools", "heapq", "itertools", "keyword", "math", "numbers", "operator", "re", "statistics", "string",
    "textwrap", "types", "typing",
}  # fmt: skip
"""Modules of Python's own that may be used. Others decide by chance or the clock, tell what a value is, or write."""
_WHOLE = (int, numbers.Integral, np.integer, np.int64)
_REAL = (float, numbers.Number, np.floating, np.generic)


def _isinstance(value: Any, kinds: Any) -> bool:
    if isinstance(value, Condition | Order):
        raise unsupported("isinstance() of a truth value or an order that depends on the data or on noise")
    if not isinstance(value, Linear | SymbolicGenerator):
        return builtins.isinstance(value, kinds)
    flat = kinds if isinstance(kinds, tuple) else (kinds,)
    if isinstance(value, SymbolicGenerator):
        return any(kind in (object, np.random.Generator) for kind in flat)
    if any(isinstance(kind, tuple | types.UnionType) for kind in flat):
        raise unsupported("isinstance() with nested types, of a value that depends on the data or on noise")
    if any(kind in _WHOLE for kind in flat) and is_whole(value.terms, value.constant):
        raise unsupported("isinstance() with int, of a whole number that depends on the data or on noise")
    return any(kind in _REAL or kind is Float or kind in (object, numbers.Real, numbers.Complex) for kind in flat)


def _type(*arguments: Any) -> Any:
    if len(arguments) == 1 and isinstance(arguments[0], Linear | Condition | Symbols | Order | SymbolicGenerator):
        raise unsupported("type() of the generator, or of a value that depends on the data or on noise")
    return type(*arguments)


def _getattr(value: Any, name: str, *default: Any) -> Any:
    if isinstance(value, Linear | Condition):
        raise unsupported("getattr() of a value that depends on the data or on noise")
    if default and _is_property(value, name):
        raise unsupported("getattr() with a default, of a property (which may drop an exception)")
    if telling(name):
        raise unsupported(f"the attribute {name}")
    return replaced(getattr(value, name, *default))


def _hasattr(value: Any, name: str) -> bool:
    if isinstance(value, Linear | Condition | Symbols | Order | SymbolicGenerator):
        raise unsupported("hasattr() of the generator, or of a value that depends on the data or on noise")
    if _is_property(value, name):
        raise unsupported("hasattr() of a property (which drops exceptions)")
    return hasattr(value, name)


def _is_property(value: Any, name: str) -> bool:
    return _users(type(value).__module__) and hasattr(getattr(type(value), name, None), "__set__")


def _issubclass(kind: Any, kinds: Any) -> bool:
    if kind in (Float, Int) or kinds in (Float, Int):
        raise unsupported("issubclass() with float or int")
    return issubclass(kind, kinds)


def _extreme(builtin: Callable[..., Any], merged: Callable[..., Any]) -> Callable[..., Any]:
    def extreme(*values: Any, **options: Any) -> Any:
        if options:
            return builtin(*values, **options)
        listed = list(values[0]) if len(values) == 1 else list(values)
        if len(listed) > 1 and any(isinstance(value, Linear) for value in listed):
            return merged(*listed)
        return builtin(listed)

    return extreme


class _Math:
    def __getattr__(self, name: str) -> Any:
        return _MATH.get(name) or getattr(math, name)


_MATH: dict[str, Any] = {
    "fabs": abs,
    "fsum": sum,
    "isnan": lambda x: False if isinstance(x, Linear) else math.isnan(x),
    "isinf": lambda x: False if isinstance(x, Linear) else math.isinf(x),
    "isfinite": lambda x: True if isinstance(x, Linear) else math.isfinite(x),
}

_MATHS = _Math()
_WITHOUT = (
    "id", "hash", "open", "input", "exec", "eval", "compile", "globals", "locals", "vars", "dir", "callable",
    "breakpoint", "memoryview", "bytes", "bytearray",
)  # fmt: skip
_BUILTINS = {
    **vars(builtins),
    "float": Float,
    "int": Int,
    "str": Str,
    "isinstance": _isinstance,
    "type": _type,
    "getattr": _getattr,
    "hasattr": _hasattr,
    "issubclass": _issubclass,
    "max": _extreme(max, largest_of),
    "min": _extreme(min, least_of),
    **{name: refused(name) for name in _WITHOUT},
}


def _import(name: str, *arguments: Any, **options: Any) -> Any:
    if outside(name):
        raise unsupported(f"import {name} inside the function")
    return replaced(__import__(name, *arguments, **options))


_BUILTINS["__import__"] = _import


def outside(module: str) -> bool:
    """Whether it is a module of Python's own that a mechanism must not use: its parts in C are called _name."""
    root = module.split(".")[0]
    return root in sys.stdlib_module_names and _INSIDE.isdisjoint((root, root.removeprefix("_")))


def replaced(value: Any) -> Any:
    """What a name means inside the user's function."""
    if value is np:
        return NUMPY
    if value is math:
        return _MATHS
    if value is samplers.discrete_laplace:
        return discrete_laplace
    if isinstance(value, types.ModuleType):
        blocked = outside(value.__name__) or value.__name__.split(".")[0] == "numpy"
        return _Blocked(value.__name__) if blocked else _Followed(value)
    if any(value is kind for kind in (operator.is_, operator.is_not)):
        return refused("operator.is_")
    for name in ("isinstance", "issubclass", "type", "getattr", "hasattr", "str", *_WITHOUT):
        if value is getattr(builtins, name):
            return _BUILTINS[name]
    if isinstance(value, types.FunctionType) and _users(value.__module__):
        return instrumented(value)
    name, home = str(getattr(value, "__name__", "")), str(getattr(value, "__module__", None) or "")
    if name and vars(np).get(name) is value:
        return getattr(NUMPY, name)
    foreign = isinstance(value, types.BuiltinFunctionType | type) and outside(home)
    return _Blocked(f"{home}.{name}") if foreign else value


class _Followed:
    """A module: what it holds means what it would in the function itself."""

    def __init__(self, module: types.ModuleType) -> None:
        self._held = module

    def __getattr__(self, attribute: str) -> Any:
        return replaced(getattr(self._held, attribute))


class _Blocked:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        raise unsupported(f"{self._name}.{attribute} is not supported; only the data and `rng` may decide")

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise unsupported(f"{self._name}() is not supported; only the data and `rng` may decide")


def onlooker() -> Onlooker:
    """Who looks at what runs on symbols."""
    return Onlooker(_BUILTINS, replaced, outside)


def _users(module: str | None) -> bool:
    """Whether a function of that module is the user's, not a library's."""
    root = (module or "").split(".")[0]
    if root in sys.stdlib_module_names or root in ("numpy", "scipy", "pandas", "torch"):
        return False
    return not (module or "").startswith("dpcert.proofs_checks.proving")


def instrumented(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of the function that runs on symbols. Callables that are no Python functions stay as they are."""
    if isinstance(function, types.MethodType):
        return types.MethodType(instrumented(function.__func__), function.__self__)
    if isinstance(function, functools.partial):
        return functools.partial(instrumented(function.func), *function.args, **function.keywords)
    if not isinstance(function, types.FunctionType):
        return function
    copy: Callable[..., Any] = _copy(function, {})
    return copy


def _copy(function: types.FunctionType, known: dict[int, Any]) -> Any:
    """A copy; `known` holds those under way, since functions may call each other."""
    if id(function) in known:
        return known[id(function)]
    names = {"__builtins__": _BUILTINS, "__name__": function.__globals__.get("__name__")}
    cells = tuple(types.CellType() for _ in function.__closure__ or ())
    copy = types.FunctionType(function.__code__, names, function.__name__, None, cells or None)
    copy.__dict__.update(function.__dict__)
    known[id(function)] = copy
    copy.__defaults__ = tuple(_inner(value, known) for value in function.__defaults__ or ()) or None
    copy.__kwdefaults__ = {name: _inner(value, known) for name, value in (function.__kwdefaults__ or {}).items()}
    for code in _codes(function.__code__):
        no_identity(code)
    for name in _names(function.__code__):
        if name in function.__globals__:
            names[name] = _inner(function.__globals__[name], known)
    for cell, former in zip(cells, function.__closure__ or (), strict=True):
        try:
            cell.cell_contents = _inner(former.cell_contents, known)
        except ValueError:  # a cell that is still empty
            continue
    return copy


def _inner(value: Any, known: dict[int, Any]) -> Any:
    if isinstance(value, types.FunctionType) and _users(value.__module__) and value is not samplers.discrete_laplace:
        return _copy(value, known)
    return replaced(value)


def _names(code: types.CodeType) -> set[str]:
    """Every name that the code or code inside it may look up."""
    return {name for part in _codes(code) for name in part.co_names}


def _codes(code: types.CodeType) -> list[types.CodeType]:
    """The code and that inside it."""
    return [code, *(inner for part in code.co_consts if isinstance(part, types.CodeType) for inner in _codes(part))]
