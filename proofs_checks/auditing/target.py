"""From "package.module:callable" to a mechanism with neighbouring datasets to run it on.

Where the pair comes from, in this order: the one that is named; the callable's attribute `pair`; its module's
`PAIR`; those of worst_pairs.py. A pair is a tuple (dataset, neighbour), or a function without arguments that returns
one; it is named as MODULE:NAME, or written out (literals.py).
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from ...mechanisms import InputError, Relation, neighbouring_relation
from ..worst_pairs import worst_pairs
from .literals import read

Pair = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class Target:
    """What to audit. generic: no pair was supplied, and `pairs` are those of worst_pairs.py."""

    name: str
    mechanism: Callable[..., Any]
    pairs: tuple[Pair, ...]
    generic: bool


def load(
    name: str, pair: str | None = None, neighbouring: str = Relation.ADD_REMOVE, field: str = "MODULE:CALLABLE"
) -> Target:
    """The callable called `name`, "package.module:callable" or "path/to/file.py:callable", and its pairs.

    Raises InputError when something by these names cannot be imported, or is not what it should be.
    """
    relation = neighbouring_relation(neighbouring)
    module, mechanism = _named(field, name)
    if not callable(mechanism):
        raise InputError(field, name, "a callable mechanism(dataset, rng) -> output")
    stated = _stated(pair) if pair is not None else getattr(mechanism, "pair", getattr(module, "PAIR", None))
    if stated is None:
        return Target(name, mechanism, worst_pairs(mechanism, relation), True)
    found = stated() if callable(stated) else stated
    if not isinstance(found, tuple | list) or len(found) != 2:
        raise InputError("pair", found, "two neighbouring datasets, (dataset, neighbour), or a function returning them")
    return Target(name, mechanism, ((found[0], found[1]),), False)


def imported(name: str, pair: str | None) -> None:
    """Import the modules of the mechanism and of the pair, in a worker process that is no copy of the one that did."""
    where = name.rpartition(":")[0]
    if sys.modules.keys().isdisjoint({where, Path(where).stem}):
        _module("MODULE:CALLABLE", where)
        if pair is not None:
            _stated(pair)


def _stated(pair: str) -> Any:
    """The pair of this name, or of these literals, such as ([0.0], [1.0])."""
    try:
        return read(pair)
    except ValueError:
        return _named("pair", pair)[1]


def _named(field: str, name: str) -> tuple[ModuleType, Any]:
    where, colon, what = name.rpartition(":")
    if not colon or not where or not what:
        raise InputError(field, name, "MODULE:NAME, such as package.module:noisy_sum")
    module = _module(field, where)
    found: Any = module
    for part in what.split("."):
        if not hasattr(found, part):
            raise InputError(field, name, f"a name in {where}; it has no {part!r}")
        found = getattr(found, part)
    return module, found


def _module(field: str, where: str) -> ModuleType:
    """Imports a module by its name, as `python -m` would from here, or from a file."""
    try:
        if where.endswith(".py"):
            return _from_file(field, Path(where))
        here = str(Path.cwd())
        if here not in sys.path:
            sys.path.insert(0, here)
        return importlib.import_module(where)
    except InputError:
        raise
    except Exception as problem:  # whatever the module's own code raises
        reason = " ".join(f"{type(problem).__name__}: {problem}".split())[:160]
        raise InputError(field, where, f"a module that can be imported ({reason})") from None


def _from_file(field: str, path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError(field, str(path), "an existing Python file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InputError(field, str(path), "a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module
