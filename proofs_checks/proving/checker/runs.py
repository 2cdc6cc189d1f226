"""The checker's symbolic run: all ways through a function, as a tree of tests. A way is left out only when multipliers
show that it is impossible."""

from __future__ import annotations

import dataclasses
import json
import os
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np

from .dice import Dice
from .entered import Entered
from .farkas import Prover
from .following import Raises, Refused, followed, refuse
from .forms import Form, Sign
from .names import entered
from .order import Order
from .pairs import Data, Point
from .tables import Table, table
from .tracer import Tracer, Ways

LIMIT = 20_000


@dataclasses.dataclass(frozen=True)
class Leaf:
    """The end of one way: what was drawn, the discrete part of the output as text, its numbers, and the tests."""

    draws: tuple[tuple[str, str], ...]
    key: str
    reals: tuple[Form, ...]
    tests: tuple[Sign, ...]


@dataclasses.dataclass
class Branch:
    """A fork in the tree: what holds on each way, and where it leads to. None: it was shown to be impossible."""

    ways: Ways
    ends: list[Branch | Leaf | None]


def tree(function: Callable[..., Any], dataset: list[Form], data: Data, prover: Prover) -> Branch | Leaf:
    """All ways through function(dataset, rng). Raises Refused."""
    root: Branch | Leaf | None = None
    waiting: list[list[tuple[Ways, int]]] = [[]]
    reader, count = entered(), 0
    while waiting:
        tracer = Tracer(prover, data, waiting.pop())
        leaf = _one(function, dataset, tracer, reader)
        root = _planted(root, tracer.trail, leaf)
        taken = [(ways, chosen) for ways, chosen, _ in tracer.trail]
        for i in range(len(tracer.script), len(taken)):
            waiting += [[*taken[:i], (taken[i][0], other)] for other in tracer.trail[i][2]]
        count += 1
        if count > LIMIT:
            raise Refused("too many ways through the function")
    if root is None:
        raise Refused("no way through the function")
    return root


def _planted(root: Branch | Leaf | None, trail: Sequence[tuple[Ways, int, Any]], leaf: Leaf) -> Branch | Leaf:
    """The tree with this run in it."""
    if not trail:
        return leaf
    (ways, chosen, _), *rest = trail
    branch = root if isinstance(root, Branch) else Branch(ways, [None] * len(ways))
    branch.ends[chosen] = _planted(branch.ends[chosen], rest, leaf)
    return branch


def _one(function: Callable[..., Any], dataset: list[Form], tracer: Tracer, reader: Entered) -> Leaf:
    before = _generators()
    tracer.entries = [entry.name() for entry in dataset]
    sealed = patch.object(os, "urandom", _chance), patch.object(np.random, "default_rng", _chance)
    try:
        symbols, dice = table(dataset), Dice(tracer)
        with followed(tracer), sealed[0], sealed[1], reader.reading():
            key, reals = parts(function(symbols, dice))
    except Exception as problem:
        raise Raises(f"the function raises {type(problem).__name__}: {problem}") from problem
    if tracer.spoilt is not None:
        raise Refused(tracer.spoilt)
    if before != _generators():
        raise Refused("the function draws from a global generator")
    return Leaf(tuple(tracer.draws), json.dumps(key), tuple(reals), tuple(tracer.assumed))


def _generators() -> Any:
    """Where the global generators stand."""
    state: Any = np.random.get_state()  # noqa: NPY002 (the global one is watched)
    return random.getstate(), state[1].tobytes(), state[2:]


def _chance(*_: Any, **__: Any) -> Any:
    raise refuse("the function draws from another source than rng")


def parts(output: Any) -> tuple[Any, list[Form]]:
    """The discrete part, as JSON, and the real numbers of an output, real or symbolic."""
    if isinstance(output, Sign):
        output = bool(output)
    if isinstance(output, Form):
        if output.slopes:
            return "real", [output]
        output = float(output)
    if isinstance(output, np.generic):
        output = output.item()
    if isinstance(output, Order):
        output = np.asarray(output)
    if output is None or type(output) in (bool, int, float, str, bytes):
        return [type(output).__name__, repr(output)], []
    cells: list[Any]
    head: Any
    if type(output) in (np.ndarray, Table):
        head, cells = ["array", list(output.shape)], output.ravel().tolist()
    elif type(output) in (list, tuple):
        head, cells = type(output).__name__, list(output)
    elif type(output) is dict:
        head, cells = "dict", [cell for item in output.items() for cell in item]
    elif dataclasses.is_dataclass(output) and not isinstance(output, type):
        head = ["dataclass", type(output).__qualname__]
        named = [each.name for each in dataclasses.fields(output)]
        if not set(getattr(output, "__dict__", ())).issubset(named):
            raise refuse("an output that holds more than its fields")
        cells = [getattr(output, name) for name in named]
    else:
        raise refuse(f"an output of type {type(output).__name__}")
    split = [parts(cell) for cell in cells]
    return [head, *[key for key, _ in split]], [real for _, reals in split for real in reals]


def leaves(node: Branch | Leaf | None) -> Iterator[Leaf]:
    """All of them."""
    if isinstance(node, Leaf):
        yield node
    elif node is not None:
        for end in node.ends:
            yield from leaves(end)


def reached(node: Branch | Leaf | None, premises: list[Sign], prover: Prover) -> Iterator[tuple[Leaf, list[Sign]]]:
    """The leaves that may be reached where the premises hold, each with what is known there."""
    if isinstance(node, Leaf):
        yield node, premises
    elif node is not None:
        for end, way in zip(node.ends, node.ways, strict=True):
            if end is not None and not prover.contradictory([*premises, *way]):
                yield from reached(end, [*premises, *way], prover)


def complete(point: Point, data: Data) -> Point:
    """The point with merged values computed from the entries."""
    full = dict(point)
    for name, value in data.merged.items():  # in the order in which they were made: later ones may need earlier ones
        full[name] = value(full)
    return full
