"""Looking up what Python objects, attributes and methods mean: by identity, in tables made when they are imported."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..refusals import Refused
from . import generator, library, methods, numpy_library
from .values import Generator, Native, of_records

_MEANINGS: dict[int, tuple[Any, Callable[..., Any]]] = {
    id(value): (value, entry) for table in (library.TABLE, numpy_library.TABLE) for value, entry in table
}
"""By the identity of the object (kept, so that its id stays its own)."""


def meaning(value: Any) -> Callable[..., Any] | None:
    """What a function, type or other object of Python's or numpy's does in the language; None where it is not in it."""
    found = _MEANINGS.get(id(value))
    return found[1] if found is not None and found[0] is value else None


OF_RECORDS = {id(value) for value in (
    len, sum, list, tuple, zip, enumerate, map, filter, reversed, print, math.sqrt, functools.reduce, operator.add,
    operator.sub, operator.mul, np.array, np.asarray, np.sum, np.mean, np.linalg.norm, np.zeros, np.zeros_like,
    np.square, np.sqrt, np.add, np.subtract, np.multiply, np.divide, np.power, np.negative, np.stack, np.vstack,
    np.concatenate, np.copy, np.shape, *methods.LISTS.values(), *methods.APPENDED.values(), *methods.DICTS.values(),
    *methods.RECORDS.values(), generator.TABLE["normal"], generator.TABLE["laplace"],
    generator.TABLE["standard_normal"],
)}  # fmt: skip
"""What takes records (records.py); of anything else they are refused."""


def takes_records(source: Any) -> bool:
    """Whether a function is known to do with records what it does with arrays."""
    return id(source) in OF_RECORDS


def constant_of(module: Any, name: str) -> Any:
    """module.name. Raises Refused where it is not in the language."""
    from .globals import admitted

    if not hasattr(module, name):
        raise Refused(f"{getattr(module, '__name__', 'it')} has no {name}")
    held = getattr(module, name)
    entry = meaning(held)
    return admitted(held, f"{getattr(module, '__name__', 'it')}.{name}") if entry is None else Native(entry, name, held)


def method_of(on: Any, name: str) -> Callable[..., Any] | None:
    """The method of a value, which takes the value first."""
    if isinstance(on, Generator):
        return generator.TABLE.get(name)
    if of_records(on):
        return methods.RECORDS.get(name)
    return next((table[name] for kinds, table in methods.TABLE if isinstance(on, kinds) and name in table), None)


def property_of(on: Any, name: str) -> Callable[[Any], Any] | None:
    """The attribute of a value that is no method."""
    if of_records(on):
        return methods.OF_RECORDS.get(name)
    return next((table[name] for kinds, table in methods.PROPERTIES if isinstance(on, kinds) and name in table), None)
