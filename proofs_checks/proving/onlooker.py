"""Every Python function that runs while a mechanism is run on symbols is looked at, whatever way it was reached.

A copy of the mechanism has other names for what tells symbols from numbers (instrument.py), and so do the functions
that it names. A method, a property, a default argument, a function in a dict or out of another function runs over the
usual names: there it must not use those that are replaced.
"""

from __future__ import annotations

import builtins
import dis
import gc
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import z3

from . import state
from .identity import no_identity
from .unsupported import HERE, Unsupported, where

_LIBRARY = tuple(sysconfig.get_path(kind) + "/" for kind in ("stdlib", "platstdlib"))
TRUSTED = (HERE, str(Path(np.__file__).parent), str(Path(z3.__file__).parent))
_NAMES = ("LOAD_GLOBAL", "LOAD_NAME")
CONVERTING = ("float", "int", "max", "min")
"""Replaced, but right for symbols, or refused by them, without that."""


class Onlooker:
    """Looks at every code once. names: what builtins are called in copies; replaced: what other values become there;
    outside: whether a module of the standard library must not be called."""

    def __init__(self, names: dict[str, Any], replaced: Callable[[Any], Any], outside: Callable[[str], bool]) -> None:
        self._known = names, replaced, outside
        self._seen: dict[tuple[int, bool], Any] = {}

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Inside, frames are looked at before they go on, and exceptions must end the run: some are dropped."""
        names, seen, raised = self._known[0], self._seen, list[str]()

        def inside(frame: types.FrameType, event: str, argument: Any) -> Any:
            if event == "exception" and not issubclass(argument[0], StopIteration | GeneratorExit):
                raised.append(f"{where(frame)}{argument[0].__name__} is raised, and dropped")
            return inside

        def entered(frame: types.FrameType, event: str, argument: Any) -> Any:
            code = frame.f_code
            met = id(code), frame.f_builtins is names
            if met not in seen and _look(frame, met[1], *self._known):
                seen[met] = code  # which keeps its id from being another's
            if code.co_filename.startswith(TRUSTED) or _of_library(code.co_filename):
                return None
            frame.f_trace_lines = False
            return inside

        former = sys.gettrace()
        with _without_collections():
            sys.settrace(entered)
            try:
                yield
                if sys.gettrace() is not entered:
                    raise Unsupported("the function changes how it is traced")
                if raised:
                    raise Unsupported(raised[0])
            finally:
                sys.settrace(former)


@contextmanager
def _without_collections() -> Iterator[None]:
    """Inside, no garbage is collected: others' callbacks, such as Hypothesis's, would seem to be the mechanism's."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


@contextmanager
def looking_away() -> Iterator[None]:
    """Inside, nothing of the mechanism runs: solvers are quicker unwatched."""
    former = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(former)


def _look(frame: types.FrameType, ours: bool, names: dict[str, Any], replaced: Any, outside: Any) -> bool:
    """Whether the frame's code needs no second look. Raises Unsupported."""
    file = frame.f_code.co_filename
    if file.startswith(TRUSTED):
        return True
    try:
        if _of_library(file):
            return _library_may_run(frame, outside)
        no_identity(frame.f_code)
        if not ours:
            _usual_names(frame, names, replaced)
    except Unsupported as problem:
        if state.active():
            state.current().failure = problem
        raise
    return True


def _of_library(file: str) -> bool:
    return file.startswith("<frozen") or (file.startswith(_LIBRARY) and "site-packages" not in file)


def _library_may_run(frame: types.FrameType, outside: Callable[[str], bool]) -> bool:
    """Whether it may, whoever calls it. Raises Unsupported where the mechanism calls what it must not."""
    if frame.f_code.co_name == "<module>" or "_bootstrap" in str(frame.f_globals.get("__name__")):
        return True
    caller: types.FrameType | None = frame.f_back
    called = frame
    while caller is not None and _of_library(caller.f_code.co_filename):
        called, caller = caller, caller.f_back
    module, name = str(called.f_globals.get("__name__")), called.f_code.co_qualname
    if caller is None or caller.f_code.co_filename.startswith(TRUSTED):
        return False
    if outside(module) or name.startswith("singledispatch"):
        raise Unsupported(f"{module}.{name} is not supported")
    return False


def _usual_names(frame: types.FrameType, names: dict[str, Any], replaced: Any) -> None:
    """Raises Unsupported where a function over the usual names uses one that has another meaning in copies."""
    code = frame.f_code
    for step in dis.get_instructions(code):
        name, known = str(step.argval), step.argval in frame.f_globals if step.opname in _NAMES else False
        if step.opname == "IMPORT_NAME":
            raise _unnamed(code, "import")
        if known and _renamed(frame.f_globals[name], replaced):
            raise _unnamed(code, name)
        usual = step.opname in _NAMES and not known and name not in CONVERTING and name in names
        if usual and names[name] is not getattr(builtins, name, None):
            raise _unnamed(code, name)
    for name in code.co_freevars:
        if _renamed(frame.f_locals.get(name), replaced):
            raise _unnamed(code, name)


def _renamed(value: Any, replaced: Callable[[Any], Any]) -> bool:
    """Whether it means something else in copies; of functions the frames are looked at."""
    return not isinstance(value, types.FunctionType) and replaced(value) is not value


def _unnamed(code: types.CodeType, name: str) -> Unsupported:
    place = f"{Path(code.co_filename).name}, line {code.co_firstlineno}"
    return Unsupported(f"{place}: {name} is not supported in {code.co_name}(), which is not called by its own name")
