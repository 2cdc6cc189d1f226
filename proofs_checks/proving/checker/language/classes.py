"""Classes that are made of functions and constants: nothing of how Python looks up or sets attributes."""

from __future__ import annotations

import dataclasses
import types
from typing import Any

from ..refusals import Raises, Refused

CONSTANTS = (bool, int, float, str, type(None), tuple)
USUAL = {
    "__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__firstlineno__", "__static_attributes__",
    "__annotations__", "__annotate_func__", "__annotations_cache__", "__annotate__", "__init__", "__call__",
    "__match_args__", "__slots__", "__classdictcell__", "__dataclass_params__", "__dataclass_fields__", "__replace__",
}  # fmt: skip
OF_RECORDS = {"__repr__", "__eq__", "__hash__", "__getstate__", "__setstate__", "__lt__", "__le__", "__gt__", "__ge__"}
"""Those of dataclasses, which nothing in the language asks for."""
SET = "__setattr__", "__delattr__"
"""Those of frozen dataclasses, of which no attribute is set."""


def class_of(kind: type) -> type:
    """The class, if it is a plain one. Raises Refused."""
    from .tables import meaning

    if meaning(kind) is None:
        for each in kind.__mro__[:-1]:
            _plain(each)
    return kind


def _plain(kind: type) -> None:
    """One class of several that inherit."""
    record = dataclasses.is_dataclass(kind)
    frozen = record and getattr(kind, "__dataclass_params__").frozen  # noqa: B009
    if type(kind) is not type or kind.__module__ in ("builtins", "numpy"):
        raise Refused(f"{kind.__name__}, which is no plain class, is not in the language of proofs")
    for name, value in vars(kind).items():
        if name in USUAL or (frozen and name in SET) or (record and name in OF_RECORDS):
            continue
        held = value.__func__ if isinstance(value, staticmethod) else value
        member = isinstance(value, types.MemberDescriptorType) and name in vars(kind).get("__slots__", ())
        if name.startswith("__") or not (member or isinstance(held, (types.FunctionType, *CONSTANTS))):
            raise Refused(f"{kind.__name__}.{name}: classes in the language of proofs have methods and constants only")


def attribute(kind: type, name: str) -> Any:
    """What the class, or one that it inherits from, holds under that name. Raises Raises."""
    for each in kind.__mro__[:-1]:
        value = vars(each).get(name)
        if name in vars(each) and not isinstance(value, types.MemberDescriptorType):
            return value
    raise Raises(f"the function raises AttributeError: {kind.__name__} has no attribute {name}")


def initialiser(kind: type) -> types.FunctionType | None:
    """Its __init__, if it is one that was written."""
    found = next((vars(each)["__init__"] for each in kind.__mro__[:-1] if "__init__" in vars(each)), None)
    return found if isinstance(found, types.FunctionType) else None


def generated(kind: type) -> bool:
    """Whether its __init__ is the one that dataclasses generate, of fields without factories."""
    if not dataclasses.is_dataclass(kind):
        return False
    owner = next(each for each in kind.__mro__ if "__init__" in vars(each))
    params = vars(owner).get("__dataclass_params__")
    fields = dataclasses.fields(kind)
    return (
        params is not None
        and bool(params.init)
        and all(f.default_factory is dataclasses.MISSING and f.init for f in fields)
    )
