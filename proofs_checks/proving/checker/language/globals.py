"""What is around a function: globals, closed-over values and Python's builtins, admitted when they are asked for."""

from __future__ import annotations

import builtins
import dataclasses
import functools
import sys
import types
from typing import Any

import numpy as np

from ..invariant import is_annotating
from ..refusals import Raises, Refused
from .black_boxes import box, epsilon_of
from .classes import class_of
from .grammar import names_bound
from .source import cells_of, defaults_of, definition, file_of
from .values import Array, Class, Function, Module, Native, Object

PLAIN = (bool, int, float, str, type(None))
MOST = 100_000
"""Cells of a constant array."""


class Outside:
    """The names around one Python function; each is looked up when the function first asks for it."""

    def __init__(self, function: types.FunctionType) -> None:
        self._scope = function.__globals__
        self._cells = cells_of(function)
        self._known: dict[str, Any] = {}

    def get(self, name: str) -> Any:
        """The value of the name. Raises Refused, Raises."""
        if name not in self._known:
            self._known[name] = admitted(self._found(name), name)
        return self._known[name]

    def _found(self, name: str) -> Any:
        if name in self._cells:
            try:
                return self._cells[name].cell_contents
            except ValueError:
                raise Raises(f"the function raises NameError: {name} is not set") from None
        if name in self._scope:
            return self._scope[name]
        if hasattr(builtins, name) and self._scope.get("__builtins__") in (builtins, vars(builtins)):
            return getattr(builtins, name)
        raise Raises(f"the function raises NameError: name {name!r} is not defined")


def admitted(value: Any, name: str) -> Any:
    """A Python value as one of the language: containers are copies that may not be written to. Raises Refused."""
    from .tables import meaning

    if type(value) in PLAIN:
        return value
    if isinstance(value, np.generic) and type(value.item()) in PLAIN:
        return value.item()
    entry = meaning(value)
    if entry is not None:
        return Native(entry, name, value)
    if type(value) in (tuple, list, dict, set, frozenset):
        return _constant(value, name)
    if type(value) is np.ndarray and value.dtype.kind in "bif" and value.size <= MOST:
        return _constant_array(value)
    if isinstance(value, types.ModuleType) or is_annotating(value):
        return Module(value)
    return _callable(value, name)


def _constant(value: Any, name: str) -> Any:
    """A container of constants. Raises Refused, also where Python or a library may change it: that tells who runs."""
    each = [*value.values()] if isinstance(value, dict) else [*value]
    if _of_a_library(value) or any(isinstance(one, types.ModuleType) for one in each):
        raise Refused(f"{name}, which Python or a library may change, is not in the language of proofs")
    if isinstance(value, dict):
        made: Any = Constants({_key(key, name): admitted(each, name) for key, each in value.items()})
    elif isinstance(value, set | frozenset):
        made = frozenset(_key(each, name) for each in value)
    else:
        cells = [admitted(each, name) for each in value]
        made = tuple(cells) if isinstance(value, tuple) else ConstantList(cells)
    return made


def _of_a_library(value: Any) -> bool:
    """Whether it may be changed, and a module of Python's own or of a library holds it, such as sys.argv."""
    if not isinstance(value, list | dict | set):
        return False
    return (
        any(held is value for held in vars(sys).values())
        or _held_by_libraries(len(sys.modules)).get(id(value)) is value
    )


@functools.lru_cache(1)
def _held_by_libraries(count: int) -> dict[int, Any]:
    """By identity what modules of Python's own and of libraries hold, when so many modules are known."""
    modules = [module for name, module in tuple(sys.modules.items()) if foreign(name)]
    held = [value for module in modules for value in tuple(getattr(module, "__dict__", {}).values())]
    return {id(value): value for value in held if issubclass(type(value), list | dict | set)}  # asks nothing of it


def _key(value: Any, name: str) -> Any:
    if type(value) is tuple:
        return tuple(_key(each, name) for each in value)
    if type(value) not in PLAIN:
        raise Refused(f"{name}, which has keys that are no numbers or texts")
    return value


def _constant_array(value: np.ndarray[Any, Any]) -> Array:
    cells = np.empty(value.size, object)
    for place, cell in enumerate(value.ravel().tolist()):
        cells[place] = cell
    cells = cells.reshape(value.shape)
    cells.flags.writeable = False
    return Array(cells, value.dtype.kind)


class ConstantList(list[Any]):
    """A list that outlives the call: to be read only."""


class Constants(dict[Any, Any]):
    """A dict that outlives the call: to be read only."""


def not_in_language(value: Any, name: str) -> Refused:
    """What is said of a function, class or object of others."""
    home = (getattr(value, "__module__", None) or type(value).__module__).removeprefix("_")
    full = f"{home}.{getattr(value, '__name__', type(value).__name__)}"
    return Refused(f"{name if full.endswith(name) else f'{name} ({full})'} is not in the language of proofs")


def foreign(module: str | None) -> bool:
    """Whether a module is Python's own, or one of a library whose code is not followed."""
    root = (module or "builtins").split(".")[0]
    return root in sys.stdlib_module_names or root in ("numpy", "scipy", "pandas", "torch", "z3", "builtins")


def _callable(value: Any, name: str) -> Any:
    from .calls import called

    if isinstance(value, types.FunctionType):
        if foreign(value.__module__) and value.__module__ != "__main__":
            raise not_in_language(value, name)
        price = epsilon_of(value)
        return function_of(value) if price is None else box(price)
    if isinstance(value, functools.partial) and type(value) is functools.partial:
        inner = admitted(value.func, name)
        first = [admitted(each, name) for each in value.args]
        named = {key: admitted(each, name) for key, each in value.keywords.items()}
        return Native(lambda *a, **k: called(inner, [*first, *a], named | k), name)
    if isinstance(value, types.MethodType):
        inner, on = admitted(value.__func__, name), admitted(value.__self__, name)
        return Native(lambda *a, **k: called(inner, [on, *a], k), name)
    home = value.__module__ if isinstance(value, type) else type(value).__module__
    if foreign(home):
        raise not_in_language(value, name)
    if isinstance(value, type):
        return Class(class_of(value))
    instance = _instance(value, name)
    if instance is not None:
        return instance
    raise not_in_language(value, name)


def _instance(value: Any, name: str) -> Object | None:
    """An object of a plain class, whose attributes are constants."""
    kind = type(value)
    if type(kind) is not type or kind.__module__ in ("builtins", "numpy"):
        return None
    class_of(kind)
    slots = [slot for each in kind.__mro__ for slot in each.__dict__.get("__slots__", ()) if hasattr(value, slot)]
    held = dict(getattr(value, "__dict__", {})) | {slot: getattr(value, slot) for slot in slots}
    fields = {key: admitted(each, f"{name}.{key}") for key, each in held.items()}
    return Object(kind, fields, True, dataclasses.is_dataclass(kind))


def function_of(function: types.FunctionType) -> Function:
    """A Python function as one of the language: its syntax, and what is around it. Raises Refused."""
    if any(not key.startswith("__") for key in vars(function)) or function.__code__.co_flags & 0x2A0:
        raise Refused(f"{function.__qualname__}, which has attributes, or is a generator or coroutine")
    made, file = definition(function), file_of(function)
    bound = names_bound(made, file)
    defaults = {name: admitted(value, name) for name, value in defaults_of(function).items()}
    return Function(function.__name__, made.args, made.body, Outside(function), bound, defaults, file)
