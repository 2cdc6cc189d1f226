"""What a function may run while it is run on symbols: every frame's code is read before it goes on.

Symbols are other objects than the numbers that they stand for, and of other types. Code that compares by identity,
looks at types or at how an array is stored, or catches exceptions (which symbols may raise where numbers do not) would
see another thing than it does in earnest. How it was reached does not matter.
"""

from __future__ import annotations

import builtins
import dis
import functools
import gc
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import z3

from .following import Refused, refuse
from .harmless import foreign

ROOM = str(Path(__file__).parents[1])
BELIEVED = (ROOM, str(Path(np.__file__).parent), str(Path(z3.__file__).parent))
STANDARD = str(Path(dis.__file__).parent)
OPERATIONS = {
    "MATCH_CLASS": "a match by type",
    "MATCH_SEQUENCE": "a match by structure",
    "MATCH_MAPPING": "a match by structure",
    "PUSH_EXC_INFO": "an exception that is caught, or a `with`",
}
UNSEEN = {
    "__getattr__",
    "__getattribute__",
    "__del__",
    "__exit__",
    "__aexit__",
    "__len__",
    "__length_hint__",
    "__missing__",
}
"""Methods by which Python goes on after an exception, which may be one of numbers that symbols do not raise."""
READ = {"LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "IMPORT_FROM"}
PRIVATE = {
    "dtype", "itemsize", "nbytes", "strides", "flags", "base", "ctypes", "view", "tobytes", "tofile", "dumps",
    "byteswap", "getfield", "setflags", "is_", "is_not", "attrgetter", "methodcaller", "isinstance", "issubclass",
    "getrefcount", "cache_info", "encode", "to_bytes", "from_bytes", "frombytes",
    "format", "format_map", "vformat", "get_field",
}  # fmt: skip
"""Attributes by which an array of symbols is told from one of numbers, or that compare by identity, or that lead to
bytes, by way of which an array's memory may be read, or that look up attributes which a text names."""
OPEN = {"__init__", "__post_init__", "__setattr__", "__name__", "__qualname__", "__doc__", "__module__"}
AS_THEY_ARE = ("float", "int", "max", "min")
"""They refuse symbols, or treat them rightly, without being replaced."""

Meaning = Callable[[Any], Any]


def betrays(attribute: str) -> bool:
    """Whether the attribute may say that a value is a symbol."""
    return attribute in PRIVATE or (attribute[:2] == "__" == attribute[-2:] and attribute not in OPEN)


@functools.lru_cache(4096)
def by_value_only(code: types.CodeType) -> None:
    """Symbols are other objects than the values that they stand for: only None may be told by `is`."""
    steps = list(dis.get_instructions(code))
    if code.co_name in UNSEEN:
        raise refuse(f"the method {code.co_name}")
    if any(isinstance(constant, bytes) for constant in code.co_consts):
        raise refuse("bytes in the code, by way of which an array's memory may be read")
    for former, step in zip([None, *steps], steps, strict=False):
        if step.opname in OPERATIONS:
            raise refuse(OPERATIONS[step.opname])
        if step.opname == "IS_OP" and not (former is not None and _mark(former)):
            raise refuse("`is` other than with None")
        if step.opname in READ and betrays(str(step.argval)):
            raise refuse(f"the attribute {step.argval}")


def _mark(step: dis.Instruction) -> bool:
    """None, or what the generated __init__ of a dataclass takes for a field that was not given."""
    return "HAS_DEFAULT_FACTORY" in str(step.argval) or (step.opname == "LOAD_CONST" and step.argval is None)


class Entered:
    """Reads code once. scope: the builtins of twins (names.py), meaning: what a value becomes in them."""

    def __init__(self, scope: Mapping[str, Any], meaning: Meaning) -> None:
        self._scope, self._meaning = scope, meaning
        self._read: dict[tuple[int, bool], tuple[types.CodeType, bool]] = {}
        """Code (kept, so that its id stays its own), and whether it is the function's, not a library's."""

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Inside, frames are read before they go on. An exception that a frame of the function's meets must end the
        run: Python and its libraries catch some without a word (`hasattr`, `__getattr__` after a property)."""
        scope, read, fine, met = self._scope, self._read, self._fine, list[str]()

        def watched(frame: types.FrameType, event: str, argument: Any) -> Any:
            if event == "exception" and not issubclass(argument[0], StopIteration | GeneratorExit):
                met.append(f"{argument[0].__name__} in {frame.f_code.co_name}()")
            return watched

        def hook(frame: types.FrameType, event: str, argument: Any) -> Any:
            code = frame.f_code
            key = id(code), frame.f_builtins is scope
            users = read[key][1] if key in read else not _library(code)
            if key not in read and fine(frame, key[1]):
                read[key] = code, users
            if not users:
                return None
            frame.f_trace_lines = False
            return watched

        before, collecting = sys.gettrace(), gc.isenabled()
        gc.disable()  # what others want to be told of a collection is not what the function runs
        sys.settrace(hook)
        try:
            yield
            if sys.gettrace() is not hook:
                raise Refused("the function is traced by something else")
            if met:
                raise Refused(f"an exception that is caught: {met[0]}")
        finally:
            sys.settrace(before)
            if collecting:
                gc.enable()

    def _fine(self, frame: types.FrameType, twin: bool) -> bool:
        """Whether this code is fine for good; False: this time. Raises Refused."""
        code = frame.f_code
        if code.co_filename.startswith(BELIEVED):
            return True
        if _standard(code):
            return self._standard(frame)
        by_value_only(code)
        if not twin:
            self._usual(frame)
        return True

    def _standard(self, frame: types.FrameType) -> bool:
        """Python's own modules: what the function calls of them must be harmless, what that calls may be anything."""
        code, module = frame.f_code, str(frame.f_globals.get("__name__", ""))
        importing = "importlib" in module and "_bootstrap" in module
        if importing or code.co_name == "<module>":
            return True
        asker: types.FrameType | None = frame.f_back
        called = frame
        while asker is not None and _standard(asker.f_code):
            called, asker = asker, asker.f_back
        home = str(called.f_globals.get("__name__", ""))
        by_type = called.f_code.co_qualname.startswith("singledispatch")
        if asker is None or asker.f_code.co_filename.startswith(BELIEVED) or not (foreign(home) or by_type):
            return False
        raise refuse(f"{home}.{called.f_code.co_name} is called")

    def _usual(self, frame: types.FrameType) -> None:
        """A function that is no twin: what it names must be what it would be in one."""
        code = frame.f_code
        held = [frame.f_locals.get(name) for name in code.co_freevars]
        for step in dis.get_instructions(code):
            if step.opname == "IMPORT_NAME":
                raise refuse(f"an import in {code.co_name}()")
            if step.opname not in ("LOAD_GLOBAL", "LOAD_NAME"):
                continue
            if step.argval in frame.f_globals:
                held.append(frame.f_globals[step.argval])
            elif step.argval not in AS_THEY_ARE:
                usual = getattr(builtins, step.argval, None)
                if self._scope.get(step.argval, usual) is not usual:
                    raise refuse(f"{step.argval} in {code.co_name}(), which is reached otherwise than by its name")
        for value in held:
            if not isinstance(value, types.FunctionType) and self._meaning(value) is not value:
                raise refuse(f"a library in {code.co_name}(), which is reached otherwise than by its name")


@contextmanager
def unread() -> Iterator[None]:
    """Inside, only the checker's own code runs."""
    before = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(before)


def _library(code: types.CodeType) -> bool:
    return code.co_filename.startswith(BELIEVED) or _standard(code)


def _standard(code: types.CodeType) -> bool:
    file = code.co_filename
    return file.startswith("<frozen") or (file.startswith(STANDARD) and "site-packages" not in file)
