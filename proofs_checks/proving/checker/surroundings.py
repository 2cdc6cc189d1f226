"""What a function could reach besides its arguments and locals, so that nothing but a loop's state outlives a step."""

from __future__ import annotations

import dis
import math
import pickle
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ....mechanisms import samplers
from .following import Refused
from .invariant import is_annotating
from .names import own

WRITING = ("STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL", "DELETE_GLOBAL")
BUILTINS = (
    "setattr", "delattr", "globals", "locals", "vars", "exec", "eval", "open", "input", "id", "hash", "isinstance",
    "type", "iter", "next", "__import__", "__build_class__", "compile", "super", "memoryview",
)  # fmt: skip


class Surroundings:
    """The constants that a function and its helpers can reach. Raises Refused where there is more than constants."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.constants: list[Any] = []
        """Lists, dicts and arrays: they must not change, and not become part of a state."""
        self._seen: set[int] = set()
        self._function(function)
        self._before = [_pickled(value) for value in self.constants]

    def unchanged(self) -> None:
        """Raises Refused if a run has changed one of the constants."""
        if [_pickled(value) for value in self.constants] != self._before:
            raise Refused("a global list, dict or array is changed by the function")

    def _function(self, function: Any) -> None:
        if id(function) in self._seen:
            return
        self._seen.add(id(function))
        names = self._code(function.__code__)
        if vars(function):
            raise Refused("a function with attributes")
        cells = [cell.cell_contents for cell in function.__closure__ or () if _bound(cell)]
        known = [function.__globals__[name] for name in sorted(names) if name in function.__globals__]
        for name in names & set(BUILTINS) - set(function.__globals__):
            raise Refused(f"{name}() in a loop over the data")
        defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        for value in (*known, *cells, *defaults):
            self._value(value)

    def _code(self, code: types.CodeType) -> set[str]:
        names: set[str] = set(code.co_names)
        former = None
        for step in dis.get_instructions(code):
            rebinding = step.opname in ("STORE_DEREF", "DELETE_DEREF") and step.argval in code.co_freevars
            if step.opname in WRITING or rebinding:
                raise Refused(f"{step.argval!r} is set outside of the function")
            if step.opname == "IS_OP" and (former is None or former.argval is not None):
                raise Refused("a comparison with `is` other than with None")
            former = step
        for inner in code.co_consts:
            names |= self._code(inner) if isinstance(inner, types.CodeType) else set()
        return names

    def _value(self, value: Any) -> None:
        plain = value is None or type(value) in (bool, int, float, complex, str, bytes) or isinstance(value, np.number)
        if plain or is_annotating(value) or any(value is known for known in (np, math, samplers.discrete_laplace)):
            return
        if isinstance(value, types.FunctionType) and own(value.__module__ or ""):
            self._function(value)
        elif type(value) in (tuple, frozenset):
            for part in value:
                self._value(part)
        elif type(value) in (list, dict) or (type(value) is np.ndarray and value.dtype != object):
            _flat(value)
            self.constants.append(value)
        elif not _library(value):
            raise Refused(f"a {type(value).__name__} outside of the function, which may carry something between steps")


def _flat(value: Any) -> None:
    """Constants hold numbers and texts only."""
    cells = [] if isinstance(value, np.ndarray) else [*value, *(value.values() if isinstance(value, dict) else ())]
    if not all(cell is None or type(cell) in (bool, int, float, str, bytes) for cell in cells):
        raise Refused("a global list or dict of more than numbers and texts")


def _library(value: Any) -> bool:
    """A function or type of numpy, of math, or built in: none of them remembers anything."""
    if isinstance(value, type):
        return value.__module__ in ("builtins", "numpy")
    module = getattr(value, "__module__", None) or ""
    functions = types.BuiltinFunctionType | types.FunctionType | np.ufunc | type(np.sum)
    return isinstance(value, functions) and (
        module.split(".")[0] in ("numpy", "math", "builtins") or type(value) is np.ufunc
    )


def _bound(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _pickled(value: Any) -> bytes:
    try:
        return pickle.dumps(value)
    except Exception as problem:
        raise Refused("a global list, dict or array holds what cannot be compared") from problem
