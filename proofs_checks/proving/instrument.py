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
from .arrays import Symbols, symbolic
from .identity import no_identity, telling
from .linear import Condition, Linear
from .noise import SymbolicGenerator, discrete_laplace
from .onlooker import Onlooker
from .order import Order, largest_of, least_of
from .stand_ins import Float, Int, of_numpy
from .unsupported import unsupported
from .whole import is_whole

_OUTSIDE = (
    "random", "_random", "secrets", "time", "os", "posix", "nt", "uuid", "datetime", "sys", "inspect", "gc", "ctypes",
    "threading", "_thread", "concurrent", "multiprocessing", "asyncio", "subprocess", "signal", "atexit", "weakref",
    "builtins", "_operator", "importlib", "ast", "dis", "code", "codeop", "traceback", "tracemalloc", "linecache", "io",
    "_io", "pathlib", "tempfile", "shutil", "glob", "socket", "pickle", "_pickle", "marshal", "json", "pprint",
    "reprlib", "platform", "getpass", "resource", "select", "sqlite3", "urllib", "http", "mmap", "fileinput", "logging",
)  # fmt: skip
"""Modules by which a function decides by chance, by the clock, by who runs it or by what a value is, or writes."""
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
    if telling(name):
        raise unsupported(f"the attribute {name}")
    return replaced(getattr(value, name, *default))


def _hasattr(value: Any, name: str) -> bool:
    if isinstance(value, Linear | Condition | Symbols | Order | SymbolicGenerator):
        raise unsupported("hasattr() of the generator, or of a value that depends on the data or on noise")
    return hasattr(value, name)


def _issubclass(kind: Any, kinds: Any) -> bool:
    if kind in (Float, Int) or kinds in (Float, Int):
        raise unsupported("issubclass() with float or int")
    return issubclass(kind, kinds)


def _refused(name: str) -> Callable[..., Any]:
    def refused(*_: Any, **__: Any) -> Any:
        raise unsupported(f"{name}() is not supported")

    return refused


def _extreme(builtin: Callable[..., Any], merged: Callable[..., Any]) -> Callable[..., Any]:
    def extreme(*values: Any, **options: Any) -> Any:
        if options:
            return builtin(*values, **options)
        listed = list(values[0]) if len(values) == 1 else list(values)
        if len(listed) > 1 and any(isinstance(value, Linear) for value in listed):
            return merged(*listed)
        return builtin(listed)

    return extreme


class _Numpy:
    """numpy, except that arrays made of symbols are arrays of symbols, and new ones can hold them."""

    def __getattr__(self, name: str) -> Any:
        if name in _MADE:
            return _MADE[name]
        found = getattr(np, name)
        if name == "random":
            return _Random()
        return _passing(found) if callable(found) and not isinstance(found, type) else found


class _Random:
    """numpy.random: its types for annotations; anything that draws is refused."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(np.random, name)
        return found if isinstance(found, type) and name == "Generator" else _refused(f"numpy.random.{name}")


_OF_TYPES = {
    "result_type", "can_cast", "common_type", "min_scalar_type", "iscomplexobj", "isrealobj", "issubdtype", "isdtype",
    "shares_memory", "may_share_memory", "array_repr", "array_str", "array2string", "typename", "mintypecode",
}  # fmt: skip
"""Functions of numpy that tell how an array is stored."""


def _passing(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def passed(*arguments: Any, **options: Any) -> Any:
        if any(symbolic(a) for a in (*arguments, *options.values())):
            if function.__name__ in _OF_TYPES:
                raise unsupported(f"numpy.{function.__name__} of a value that depends on the data or on noise")
            arguments = tuple(_made(a) if isinstance(a, list | tuple) and symbolic(a) else a for a in arguments)
            options.pop("dtype", None)
            result = function(*arguments, **options)
            plain = isinstance(result, np.ndarray) and result.dtype == object and not isinstance(result, Symbols)
            return result.view(Symbols) if plain else result
        return function(*map(of_numpy, arguments), **{name: of_numpy(value) for name, value in options.items()})

    return passed


def _itself(value: Any, dtype: Any = None, **_: Any) -> Any:
    """numpy.asarray: an array is not copied."""
    return value if isinstance(value, Symbols) and dtype in (None, Float) else _made(value, dtype)


def _made(value: Any, dtype: Any = None, copy: Any = True, **_: Any) -> Any:
    """numpy.array for what may hold symbols."""
    if not copy:
        raise unsupported("numpy.array with copy=")
    if isinstance(value, Symbols):
        return value.copy() if dtype is None else value.astype(dtype)
    if not symbolic(value) and not (isinstance(value, list | tuple) and any(symbolic(v) for v in value)):
        return np.array(value) if dtype is None or dtype is Float else np.array(value, of_numpy(dtype))
    if isinstance(value, Linear | Condition):
        return value
    array = np.array([list(row) if isinstance(row, np.ndarray) else row for row in value], object).view(Symbols)
    return array if dtype is None else array.astype(dtype)


def _filled(value: Any) -> Callable[..., Any]:
    def filled(shape: Any, dtype: Any = float, **_: Any) -> Any:
        if dtype in (bool, int, np.int64, np.bool_):
            return np.full(shape, value, of_numpy(dtype))
        return np.full(shape, value, object).view(Symbols)

    return filled


def _filled_like(value: Any) -> Callable[..., Any]:
    return lambda other, dtype=float, **_: _filled(value)(np.shape(np.asarray(other, object)), dtype)


def _full(shape: Any, value: Any, dtype: Any = None, **_: Any) -> Any:
    if dtype in (bool, int, np.int64, np.bool_) or (dtype is None and isinstance(value, int)):
        return np.full(shape, value, of_numpy(dtype))
    array = np.empty(shape, object)
    array[...] = value
    return array.view(Symbols)


_MADE: dict[str, Any] = {
    "array": _made,
    "asarray": _itself,
    "asanyarray": _itself,
    "ascontiguousarray": _itself,
    "float64": Float,
    "zeros": _filled(0.0),
    "ones": _filled(1.0),
    "empty": _filled(0.0),
    "zeros_like": _filled_like(0.0),
    "ones_like": _filled_like(1.0),
    "empty_like": _filled_like(0.0),
    "full": _full,
    "mean": lambda a, axis=None, **_: _as_symbols(a).mean(axis) if symbolic(a) else np.mean(a, axis),
    "partition": lambda *_, **__: _refused("numpy.partition")(),
    "average": lambda a, **_: _as_symbols(a).mean(),
}


def _as_symbols(value: Any) -> Any:
    return value if isinstance(value, Symbols) else _made(value)


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

_NUMPY, _MATHS = _Numpy(), _Math()
_WITHOUT = (
    "id", "hash", "open", "input", "exec", "eval", "compile", "globals", "locals", "vars", "dir", "callable",
    "breakpoint", "memoryview",
)  # fmt: skip
_BUILTINS = {
    **vars(builtins),
    "float": Float,
    "int": Int,
    "isinstance": _isinstance,
    "type": _type,
    "getattr": _getattr,
    "hasattr": _hasattr,
    "issubclass": _issubclass,
    "max": _extreme(max, largest_of),
    "min": _extreme(min, least_of),
    **{name: _refused(name) for name in _WITHOUT},
}


def _import(name: str, *arguments: Any, **options: Any) -> Any:
    root = name.split(".")[0]
    if root in _OUTSIDE:
        raise unsupported(f"import {name} inside the function")
    return replaced(__import__(name, *arguments, **options))


_BUILTINS["__import__"] = _import


def replaced(value: Any) -> Any:
    """What a name means inside the user's function."""
    if value is np:
        return _NUMPY
    if value is math:
        return _MATHS
    if value is samplers.discrete_laplace:
        return discrete_laplace
    if isinstance(value, types.ModuleType) and value.__name__ in _OUTSIDE:
        return _Blocked(value.__name__)
    if any(value is kind for kind in (operator.is_, operator.is_not)):
        return _refused("operator.is_")
    for name in ("isinstance", "issubclass", "type", "getattr", "hasattr", *_WITHOUT):
        if value is getattr(builtins, name):
            return _BUILTINS[name]
    if isinstance(value, types.FunctionType) and _users(value.__module__):
        return instrumented(value)
    name = str(getattr(value, "__name__", ""))
    if not isinstance(value, type) and name and getattr(np, name, None) is value:
        return getattr(_NUMPY, name)
    return value


class _Blocked:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        raise unsupported(f"{self._name}.{attribute} is not supported; only the data and `rng` may decide")


def onlooker() -> Onlooker:
    """Who looks at what runs on symbols."""
    return Onlooker(_BUILTINS, replaced, _OUTSIDE)


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
