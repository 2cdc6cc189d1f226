"""The checker's symbolic run: all ways through a function, as a tree of tests. A way is left out only when multipliers
show that it is impossible."""

from __future__ import annotations

import dataclasses
import json
import os
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np

from .farkas import Prover
from .forms import _FOLLOWED, Form, Refused, Sign, refuse
from .pairs import Data, Point
from .tables import table

LIMIT = 20_000
DEEPEST = 500


def noise_index(name: str) -> int | None:
    """k for the k-th noise variable, nk."""
    return int(name[1:]) if name[0] == "n" and name[1:].isdigit() else None


def noisy(form: Form) -> bool:
    return any(noise_index(name) is not None for name in form.slopes)


@dataclasses.dataclass(frozen=True)
class Leaf:
    """The end of one way: what was drawn, the discrete part of the output as text, its numbers, and the tests."""

    draws: tuple[tuple[str, str], ...]
    key: str
    reals: tuple[Form, ...]
    tests: tuple[Sign, ...]


@dataclasses.dataclass
class Branch:
    """A test in the tree. None: that answer was shown to be impossible."""

    sign: Sign
    yes: Branch | Leaf | None = None
    no: Branch | Leaf | None = None


class Tracer:
    """One run. script: the answers of its first tests."""

    def __init__(self, prover: Prover, data: Data, script: list[tuple[str, bool]]) -> None:
        self.prover = prover
        self.data = data
        self.script = script
        self.trail: list[tuple[Sign, bool, bool]] = []
        self.assumed: list[Sign] = []
        self.draws: list[tuple[str, str]] = []
        self.spoilt: str | None = None
        self.entries: list[str] = []

    def answer(self, sign: Sign) -> bool:
        position = len(self.trail)
        if position >= DEEPEST:
            raise refuse("a run without an end")
        if position < len(self.script):
            name, chosen = self.script[position]
            if name != sign.name():
                raise refuse("the function does not do the same when it is run again")
            open_ = False
        else:
            known = [*self.data.facts, *self.assumed]
            chosen = not self.prover.contradictory([*known, sign])
            open_ = chosen and not self.prover.contradictory([*known, sign.negation()])
        self.trail.append((sign, chosen, open_))
        self.assumed.append(sign if chosen else sign.negation())
        return chosen

    def merged_sign(self, sign: Sign) -> Form | None:
        if not self.data.merging or noisy(sign.form):
            return None
        name = f"[{sign.name()}]"
        form, strict = sign.form, sign.strict
        self.data.merged[name] = lambda point: Fraction(form.value(point) > 0 if strict else form.value(point) >= 0)
        return self.data.declare(name, Fraction(0), Fraction(1), whole=True)

    def merged_extreme(self, which: str, left: Form, right: Form) -> Form | None:
        """max or min of data, one of them a constant, as a variable of which the range is known."""
        if not self.data.merging or noisy(left) or noisy(right):
            return None
        (low, high), (least, most) = self.data.between(left), self.data.between(right)
        if low is not None and most is not None and low >= most:
            return left if which == "max" else right
        if least is not None and high is not None and least >= high:
            return right if which == "max" else left
        if left.slopes and right.slopes:
            return None
        choose = max if which == "max" else min
        name = f"{which}({';'.join(sorted((left.name(), right.name())))})"
        self.data.merged[name] = lambda point: choose(left.value(point), right.value(point))
        return self.data.declare(name, _end(which, "max", low, least), _end(which, "min", high, most))

    def noise(self, kind: str, scale: Any) -> Form:
        exact = Form.lift(scale).concrete()
        if exact <= 0 or (kind == "geometric" and exact >= 1):
            raise refuse(f"{kind} noise with parameter {exact}")
        return self.atom(kind, exact)

    def atom(self, kind: str, parameter: Fraction) -> Form:
        value = Form.variable(f"n{len(self.draws)}")
        self.draws.append((kind, str(parameter)))
        self.assumed += support(kind, value)
        return value


def _end(which: str, certain: str, a: Fraction | None, b: Fraction | None) -> Fraction | None:
    """An end of max(a-side, b-side): of a max one finite lower end suffices, of a min one finite upper end."""
    if a is not None and b is not None:
        return max(a, b) if which == "max" else min(a, b)
    return (a if a is not None else b) if which == certain else None


def support(kind: str, value: Form) -> list[Sign]:
    """Where a noise has mass."""
    if kind == "exponential":
        return [Sign(value, False)]
    if kind == "uniform":
        return [Sign(value, False), Sign(1 - value, False)]
    return [Sign(value - 1, False)] if kind == "geometric" else []


class Dice:
    """The generator that the function sees."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def _many(self, kind: str, loc: Any, scale: Any, size: Any) -> Any:
        shape = np.broadcast_shapes(np.shape(np.asarray(loc, object)), np.shape(np.asarray(scale, object)))
        if size is not None:
            stated = (int(size),) if isinstance(size, int | np.integer) else tuple(size)
            if np.broadcast_shapes(shape, stated) != stated:
                raise refuse("noise parameters that do not fit its size")
            shape = stated
        if not shape:
            return self._tracer.noise(kind, scale) + loc
        scales = np.broadcast_to(np.asarray(scale, object), shape)
        drawn = [self._tracer.noise(kind, s) for s in scales.ravel().tolist()]
        return table(drawn).reshape(shape) + (np.asarray(loc, object) if isinstance(loc, list | tuple) else loc)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._many("laplace", loc, scale, size)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._many("gumbel", loc, scale, size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._many("gaussian", loc, scale, size)

    def standard_normal(self, size: Any = None) -> Any:
        return self._many("gaussian", 0, 1, size)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return self._many("exponential", 0, scale, size)

    def standard_exponential(self, size: Any = None) -> Any:
        return self._many("exponential", 0, 1, size)

    def geometric(self, p: Any, size: Any = None) -> Any:
        return self._many("geometric", 0, p, size)

    def random(self, size: Any = None) -> Any:
        return self._many("uniform", 0, 1, size)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return low + self._many("uniform", 0, 1, size) * (high - low)

    def part(self, dataset: Any, epsilon: float) -> Any:
        """The output of a black box that was given the whole dataset."""
        if [Form.lift(cell).name() for cell in dataset] != self._tracer.entries:
            raise refuse("a part that is not given the whole dataset")
        return self._tracer.atom("part", Form.lift(epsilon).concrete())

    def __getattr__(self, name: str) -> Any:
        raise refuse(f"rng.{name} is not supported")


def tree(function: Callable[..., Any], dataset: list[Form], data: Data, prover: Prover) -> Branch | Leaf:
    """All ways through function(dataset, rng). Raises Refused."""
    root: Branch | Leaf | None = None
    waiting: list[list[tuple[str, bool]]] = [[]]
    count = 0
    while waiting:
        tracer = Tracer(prover, data, waiting.pop())
        leaf = _one(function, dataset, tracer)
        root = _planted(root, tracer.trail, leaf)
        answers = [(sign.name(), chosen) for sign, chosen, _ in tracer.trail]
        for i in range(len(tracer.script), len(answers)):
            if tracer.trail[i][2]:
                waiting.append([*answers[:i], (answers[i][0], not answers[i][1])])
        count += 1
        if count > LIMIT:
            raise Refused("too many ways through the function")
    if root is None:
        raise Refused("no way through the function")
    return root


def _planted(root: Branch | Leaf | None, trail: list[tuple[Sign, bool, bool]], leaf: Leaf) -> Branch | Leaf:
    """The tree with this way in it."""
    if not trail:
        return leaf
    (sign, chosen, _), *rest = trail
    branch = root if isinstance(root, Branch) else Branch(sign)
    if chosen:
        branch.yes = _planted(branch.yes, rest, leaf)
    else:
        branch.no = _planted(branch.no, rest, leaf)
    return branch


def _one(function: Callable[..., Any], dataset: list[Form], tracer: Tracer) -> Leaf:
    before = _generators()
    tracer.entries = [entry.name() for entry in dataset]
    _FOLLOWED.append(tracer)
    try:
        with patch.object(os, "urandom", _chance), patch.object(np.random, "default_rng", _chance):
            key, reals = parts(function(table(dataset), Dice(tracer)))
    except Exception as problem:
        raise Refused(f"the function raises {type(problem).__name__}: {problem}") from problem
    finally:
        _FOLLOWED.pop()
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
    if output is None or type(output) in (bool, int, float, str, bytes):
        return [type(output).__name__, repr(output)], []
    cells: list[Any]
    head: Any
    if isinstance(output, np.ndarray):
        head, cells = ["array", list(output.shape)], output.ravel().tolist()
    elif type(output) in (list, tuple):
        head, cells = type(output).__name__, list(output)
    elif type(output) is dict:
        head, cells = "dict", [cell for item in output.items() for cell in item]
    elif dataclasses.is_dataclass(output) and not isinstance(output, type):
        head = ["dataclass", type(output).__qualname__]
        cells = [getattr(output, each.name) for each in dataclasses.fields(output)]
    else:
        raise refuse(f"an output of type {type(output).__name__}")
    split = [parts(cell) for cell in cells]
    return [head, *[key for key, _ in split]], [real for _, reals in split for real in reals]


def leaves(node: Branch | Leaf | None) -> Iterator[Leaf]:
    """All of them."""
    if isinstance(node, Leaf):
        yield node
    elif node is not None:
        yield from leaves(node.yes)
        yield from leaves(node.no)


def reached(node: Branch | Leaf | None, premises: list[Sign], prover: Prover) -> Iterator[tuple[Leaf, list[Sign]]]:
    """The leaves that may be reached where the premises hold, each with what is known there."""
    if isinstance(node, Leaf):
        yield node, premises
    elif node is not None:
        for child, sign in ((node.yes, node.sign), (node.no, node.sign.negation())):
            if child is not None and not prover.contradictory([*premises, sign]):
                yield from reached(child, [*premises, sign], prover)


def complete(point: Point, data: Data) -> Point:
    """The point with merged values computed from the entries."""
    full = dict(point)
    for name, value in data.merged.items():  # in the order in which they were made: later ones may need earlier ones
        full[name] = value(full)
    return full
