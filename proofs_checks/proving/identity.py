"""What code may not ask: a symbol is another object, of another type, than the number or truth value it stands for."""

from __future__ import annotations

import dis
import functools
import linecache
import types
from pathlib import Path

from .unsupported import Unsupported

TELLING = {
    "is_", "is_not", "attrgetter", "methodcaller", "isinstance", "issubclass", "getrefcount", "cache_info",
    "dtype", "itemsize", "nbytes", "strides", "flags", "base", "ctypes", "view", "tobytes", "tofile", "dumps",
    "byteswap", "getfield", "setflags", "encode", "to_bytes", "from_bytes", "frombytes",
    "format", "format_map", "vformat", "get_field",
}  # fmt: skip
"""Attributes that tell an array of symbols from one of numbers, compare by identity, or lead to bytes (which an array's
memory may be read as)."""
CATCHING = (
    "__getattr__", "__getattribute__", "__del__", "__exit__", "__aexit__", "__len__", "__length_hint__", "__missing__",
)  # fmt: skip
"""Methods during or after which Python drops exceptions, which may be ones that numbers raise and symbols do not."""
HARMLESS = {"__init__", "__post_init__", "__setattr__", "__name__", "__qualname__", "__doc__", "__module__"}
"""Of Python's own attributes: they tell nothing about a value."""
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM", "LOAD_SUPER_ATTR")


@functools.lru_cache(4096)
def no_identity(code: types.CodeType) -> None:
    """Raises Unsupported where the code looks at what a value is, not at its value, or catches exceptions.

    An exception may be one that symbols raise and numbers do not.
    """
    if code.co_name in CATCHING or any(isinstance(constant, bytes) for constant in code.co_consts):
        what = f"the method {code.co_name}" if code.co_name in CATCHING else "a text of bytes"
        raise Unsupported(f"{Path(code.co_filename).name}, line {code.co_firstlineno}: {what} is not supported")
    before: dis.Instruction | None = None
    line = code.co_firstlineno
    for step in dis.get_instructions(code):
        line = (step.positions.lineno if step.positions else None) or line
        what = _telling(step, before)
        if what:
            text = linecache.getline(code.co_filename, line).strip()[:80]
            raise Unsupported(f"{Path(code.co_filename).name}, line {line} (`{text}`): {what} is not supported")
        before = step


def telling(attribute: str) -> bool:
    """Whether the attribute tells what a value is."""
    own = attribute.startswith("__") and attribute.endswith("__") and attribute not in HARMLESS
    return own or attribute in TELLING


def _telling(step: dis.Instruction, before: dis.Instruction | None) -> str:
    """What is wrong with the instruction, in words; or nothing."""
    if step.opname in ("MATCH_CLASS", "MATCH_SEQUENCE", "MATCH_MAPPING"):
        return "a match by type"
    if step.opname == "IS_OP" and not (before is not None and _none(before)):
        return "`is` other than with None (compare by ==)"
    if step.opname == "PUSH_EXC_INFO":
        return "`try` or `with`"
    if step.opname in _ATTRIBUTES and telling(str(step.argval)):
        return f"the attribute {step.argval}"
    return ""


def _none(step: dis.Instruction) -> bool:
    """Whether None is what it loads, or a mark that dataclasses make for a field that was not given."""
    return (step.opname == "LOAD_CONST" and step.argval is None) or "HAS_DEFAULT_FACTORY" in str(step.argval)
