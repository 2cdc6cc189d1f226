"""What a function can reach without running: what it holds must not tell symbols from numbers, and must not change.

A value that outlives a call (a counter, a list as a default argument, an attribute, a generator of its own) may make
later calls do what no earlier one did.
"""

from __future__ import annotations

import builtins
import functools
import operator
import pickle
import random
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from .following import Refused
from .harmless import foreign
from .names import Module, own

MOST = 1000
"""Items of one container that are looked at one by one."""
PLAIN = (bool, int, float, complex, str, bytes, type(None))
TELLING = (operator.is_, operator.is_not, *(getattr(builtins, name) for name in (
    "isinstance", "issubclass", "type", "id", "hash", "getattr", "hasattr", "dir", "vars", "callable", "open", "input",
    "exec", "eval", "compile", "globals", "locals", "__import__", "repr", "ascii", "format", "str", "bytes",
    "bytearray", "memoryview",
)))  # fmt: skip

_CALLED = (
    types.ModuleType, types.MethodType, types.BuiltinFunctionType, functools._lru_cache_wrapper, functools.partial,
    types.GetSetDescriptorType, types.MemberDescriptorType, types.WrapperDescriptorType, types.MethodDescriptorType,
    types.ClassMethodDescriptorType, types.CodeType, property, staticmethod, classmethod,
)  # fmt: skip


class Reachable:
    """Everything that a function can reach, as it is now. Raises Refused for what tells symbols from numbers."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._objects: dict[int, Any] = {}
        self.numbers: set[float] = set()
        """Those in the code and in what it holds."""
        waiting = [function, *(_held_by(function) if isinstance(function, types.FunctionType) else ())]
        while waiting:
            value = waiting.pop()
            if isinstance(value, int | float) and abs(value) < 1e300:
                self.numbers.add(float(value))
            if id(value) in self._objects or isinstance(value, PLAIN):
                continue
            self._objects[id(value)] = value
            waiting += _held(value)
        self._before = self._state()

    def unchanged(self) -> None:
        """Raises Refused if something has become another."""
        if self._state() != self._before:
            raise Refused("something that outlives a call is changed by the function")

    def _state(self) -> list[Any]:
        return [_content(value) for value in self._objects.values()]


def _held(value: Any) -> Iterator[Any]:
    """The values that this one leads to."""
    if isinstance(value, types.FunctionType):
        if own(value.__module__ or ""):
            yield from _held_by(value)
    elif isinstance(value, type):
        if own(value.__module__):
            yield from value.__bases__
            yield from _allowed(vars(value).values())
    elif isinstance(value, types.MethodType):
        yield from (value.__func__, value.__self__)
    elif isinstance(value, property):
        yield from (value.fget, value.fset, value.fdel)
    elif isinstance(value, staticmethod | classmethod | functools._lru_cache_wrapper):
        yield value.__wrapped__
    elif isinstance(value, functools.partial):
        yield from _allowed([value.func, *value.args, *value.keywords.values()])
    elif isinstance(value, dict | types.MappingProxyType):
        yield from _allowed(_few([*value, *value.values()]))
    elif isinstance(value, list | tuple | set | frozenset | deque):
        yield from _allowed(_few(value))
    elif isinstance(value, types.BuiltinMethodType) and not isinstance(value.__self__, types.ModuleType):
        yield value.__self__
    elif not isinstance(value, types.ModuleType):
        if own(type(value).__module__):
            yield type(value)
        yield from _allowed(_attributes(value).values())


def _few(values: Any) -> Any:
    """The values, or none of many plain ones. Raises Refused for many others."""
    if len(values) <= MOST:
        return values
    if all(type(value) in PLAIN for value in values):
        return ()
    raise Refused(f"a container of more than {MOST} values that are no plain ones")


def _held_by(function: types.FunctionType) -> Iterator[Any]:
    """What its code says, what its names mean, what it closes over and its arguments begin with."""
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        codes += [inner for inner in code.co_consts if isinstance(inner, types.CodeType)]
        yield from (c for const in code.co_consts for c in (const if isinstance(const, tuple) else (const,)))
        for name in _named(code):
            value = function.__globals__.get(name)
            yield value
            module = value.module if isinstance(value, Module) else value
            if isinstance(module, types.ModuleType) and own(module.__name__):
                yield from (vars(module)[inner] for inner in _named(code) if inner in vars(module))
    cells = [cell.cell_contents for cell in function.__closure__ or () if _bound(cell)]
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    yield from _allowed([*cells, *defaults, *vars(function).values()])


def _allowed(values: Iterable[Any]) -> Iterator[Any]:
    """The values. Raises Refused for a function among them that symbols do not pass through."""
    for value in values:
        home = value.__name__ if isinstance(value, types.ModuleType) else str(getattr(value, "__module__", None) or "")
        made = isinstance(value, types.ModuleType | types.BuiltinFunctionType | types.FunctionType | type)
        numpys = home.split(".")[0] == "numpy" and made and not isinstance(value, type)
        telling = any(value is each for each in TELLING)
        if telling or numpys or (made and foreign(home)):
            raise Refused(f"the function holds {getattr(value, '__name__', value)}")
        yield value


def _attributes(value: Any) -> dict[str, Any]:
    slots = [name for kind in type(value).__mro__ for name in vars(kind).get("__slots__", ()) if isinstance(name, str)]
    return dict(getattr(value, "__dict__", {})) | {name: getattr(value, name) for name in slots if hasattr(value, name)}


def _content(value: Any) -> Any:
    """What would be another if the object were changed; objects in it by their identity."""
    if isinstance(value, types.FunctionType):
        names = [(name, _mark(value.__globals__.get(name))) for name in _named(value.__code__)]
        cells = [_mark(cell.cell_contents) for cell in value.__closure__ or () if _bound(cell)]
        return [names, cells, *_marks(value.__defaults__ or ()), *_marks(vars(value).values())]
    if isinstance(value, dict | types.MappingProxyType):
        return _marks([*value.keys(), *value.values()])
    if isinstance(value, list | tuple | deque):
        return _marks(value)
    if isinstance(value, set | frozenset):
        return {_mark(item) for item in value}
    if isinstance(value, type):
        return _marks(vars(value).values()) if own(value.__module__) else None
    if isinstance(value, random.Random):
        return value.getstate()
    if isinstance(value, np.random.Generator):
        return repr(value.bit_generator.state)
    if isinstance(value, Iterator | types.CoroutineType | types.AsyncGeneratorType):
        raise Refused("the function holds an iterator or a generator that outlives a call")
    if isinstance(value, _CALLED):
        return None
    attributes = [(name, _mark(each)) for name, each in _attributes(value).items()]
    try:
        return attributes, pickle.dumps(value)
    except Exception as problem:  # what cannot be written is known by its attributes
        if not attributes and not isinstance(value, _CALLED) and not own(type(value).__module__):
            raise Refused(
                f"the function holds a {type(value).__name__}, of which it is not seen whether it changes"
            ) from problem
        return attributes


def _marks(values: Iterable[Any]) -> list[Any]:
    return [_mark(value) for value in values]


def _mark(value: Any) -> Any:
    """A plain value itself, anything else by which object it is."""
    return (type(value), value if value == value else None) if isinstance(value, PLAIN) else id(value)


def _named(code: types.CodeType) -> set[str]:
    """The names that it and code in it mention, but for those of rewritten assertions (pytest)."""
    inner = [name for part in code.co_consts if isinstance(part, types.CodeType) for name in _named(part)]
    return {name for name in (*code.co_names, *inner) if not name.startswith("@")}


def _bound(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True
