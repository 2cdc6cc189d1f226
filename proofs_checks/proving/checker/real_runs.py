"""The function itself, on real numbers, puts out what the symbolic run says: for a point of every way through it, and
for random ones, wherever they lead.

This does not prove anything by itself; it catches a symbolic run that means something else than Python does.
"""

from __future__ import annotations

import json
import math
import random
import types
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ....mechanisms import samplers
from .farkas import Prover
from .following import Refused
from .forms import Form, Sign
from .landmarks import landmarks
from .pairs import Neighbours, Point
from .runs import Branch, Leaf, complete, leaves, parts
from .tracer import noisy

MARGINS = (Fraction(1, 4), Fraction(1, 64), Fraction(1, 4096))
"""How far inside of a way a point is wanted, in this order: floats must not leave it by rounding."""
MOST = 1024
RANDOM = 12
MARKED = 24
CLOSE = Fraction(1, 10**6)
"""Nearer to another way than this, a random point is left out: floats may take that one."""
TOLERANCE = 1e-9


class Recorded(np.random.Generator):
    """A generator that hands out given noise, in order, and insists on the stated kinds and scales."""

    def __init__(self, draws: tuple[tuple[str, str], ...], noise: list[float]) -> None:
        super().__init__(np.random.PCG64(0))
        self._left = list(zip(draws, noise, strict=True))

    def __getattribute__(self, name: str) -> Any:
        if name not in Recorded.__dict__ and name in np.random.Generator.__dict__ and not name.startswith("_"):
            raise Refused(f"the real function asks for rng.{name}, the symbolic run does not")
        return super().__getattribute__(name)

    def _next(self, kind: str, loc: Any, scale: Any, size: Any) -> Any:
        if size is None and not np.ndim(scale) and not np.ndim(loc):
            return loc + self._one(kind, scale)
        shape = np.broadcast_shapes(np.shape(loc), np.shape(scale)) if size is None else size
        scales = np.broadcast_to(np.asarray(scale, float), shape)
        cells = [self._one(kind, float(s)) for s in scales.ravel()]
        whole = kind in ("geometric",)
        return np.array(cells, int if whole else float).reshape(scales.shape) + np.asarray(loc)

    def _one(self, kind: str, scale: float) -> Any:
        if not self._left:
            raise Refused("the real function draws more noise than the symbolic run")
        (expected, parameter), value = self._left.pop(0)
        if expected != kind or Fraction(scale) != Fraction(parameter):
            raise Refused(
                f"the real function draws {kind} noise of {scale}, the symbolic run {expected} of {parameter}"
            )
        return int(value) if kind in ("geometric", "discrete-laplace") else value

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._next("laplace", loc, scale, size)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._next("gumbel", loc, scale, size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._next("gaussian", loc, scale, size)

    def standard_normal(self, size: Any = None) -> Any:  # type: ignore[override]
        return self._next("gaussian", 0, 1, size)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return self._next("exponential", 0, scale, size)

    def standard_exponential(self, size: Any = None) -> Any:  # type: ignore[override]
        return self._next("exponential", 0, 1, size)

    def geometric(self, p: Any, size: Any = None) -> Any:
        return self._next("geometric", 0, p, size)

    def random(self, size: Any = None) -> Any:  # type: ignore[override]
        return self._next("uniform", 0, 1, size)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return low + self._next("uniform", 0, 1, size) * (high - low)

    def part(self, dataset: Any, epsilon: float) -> Any:
        return self._one("part", epsilon)

    def finished(self) -> bool:
        return not self._left


def replayed(
    function: Callable[..., Any], case: Neighbours, ways: list[Leaf], prover: Prover, other: bool = False
) -> int:
    """How many ways were tried. Raises Refused where the real output is another one."""
    dataset = case.neighbour if other else case.dataset
    tried = 0
    step = max(1, len(ways) // MOST)
    for leaf in ways[::step]:
        point = _inside(case, leaf, prover)
        if point is not None:
            _compare(function, case, dataset, leaf, point)
            tried += 1
    return tried


def at_random(function: Callable[..., Any], case: Neighbours, root: Branch | Leaf, other: bool = False) -> int:
    """How many random points were tried. Raises Refused where the function does not do what the tree says of them.

    After those, one number of the point is set to one that the function's code may compare it with, or to one between
    two such numbers: what a symbolic run does not see is seldom seen at other places.
    """
    dataset = case.neighbour if other else case.dataset
    chance, tried = random.Random(len(dataset)), 0
    draws = next(leaves(root)).draws
    names = [*(name for name in case.data.ends if name not in case.data.merged), *(f"n{k}" for k in range(len(draws)))]
    marked = [(name, value) for name in names for value in landmarks(function)]
    for fixed in [None] * RANDOM + chance.sample(marked, min(MARKED, len(marked))):
        data = _data_point(case, chance)
        if fixed is not None and fixed[0] in data:
            data |= _within(case, *fixed)
        point = complete(data, case.data)
        for _ in range(3):
            point |= {f"n{k}": _noise(kind, chance) for k, (kind, _) in enumerate(draws)}
            if fixed is not None and fixed[0] not in data:
                point |= _drawn(draws, *fixed)
            leaf = _leaf_of(root, point)
            if leaf is None:
                break
            if leaf.draws == draws:
                _compare(function, case, dataset, leaf, point)
                tried += 1
                break
            draws = leaf.draws
    return tried


def _within(case: Neighbours, name: str, value: Fraction) -> Point:
    """The number at that value, if it may be there."""
    low, high = case.data.ends[name]
    inside = (low is None or low <= value) and (high is None or value <= high)
    return {name: value} if inside and (value.denominator == 1 or name not in case.data.whole) else {}


def _drawn(draws: tuple[tuple[str, str], ...], name: str, value: Fraction) -> Point:
    """The noise at that value, likewise."""
    kind = draws[int(name[1:])][0] if int(name[1:]) < len(draws) else "none"
    least = {"laplace": None, "gumbel": None, "gaussian": None, "exponential": 0, "uniform": 0}.get(kind, math.inf)
    inside = (least is None or value > least) and (kind != "uniform" or value < 1)
    return {name: value} if inside else {}


def _data_point(case: Neighbours, chance: random.Random) -> Point:
    """Anything in the ranges of the variables that are not made of others."""
    point = {}
    for name, (low, high) in case.data.ends.items():
        if name not in case.data.merged:
            least = Fraction(-3) if low is None else low
            most = max(least + 3, Fraction(3)) if high is None else high
            share = Fraction(chance.randint(0, 1024), 1024)
            value = least + (most - least) * share
            point[name] = Fraction(round(value)) if name in case.data.whole else value
    return point


def _noise(kind: str, chance: random.Random) -> Fraction:
    if kind in _WHOLE:
        return Fraction(chance.randint(1 if kind == "geometric" else -4, 4))
    share = Fraction(chance.randint(1, 2047), 2048)
    return share if kind == "uniform" else 4 * share if kind == "exponential" else 8 * share - 4


def _leaf_of(node: Branch | Leaf | None, point: Point) -> Leaf | None:
    """Where the point leads; None where it is too near to another way for floats, or needs noise that it has not."""
    while isinstance(node, Branch):
        values = [[(sign, _value(sign.form, point)) for sign in way] for way in node.ways]
        if any(value is None or abs(value) < CLOSE for way in values for _, value in way):
            return None
        held = [k for k, way in enumerate(values) if all(value is not None and value > 0 for _, value in way)]
        if len(held) != 1 or node.ends[held[0]] is None:
            raise Refused("a way that was left out, or two ways, at a point of the data")
        node = node.ends[held[0]]
    return node


def _value(form: Form, point: Point) -> Fraction | None:
    return form.value(point) if form.slopes.keys() <= point.keys() else None


def _inside(case: Neighbours, leaf: Leaf, prover: Prover) -> Point | None:
    """A point well inside of the way; merged values are those of its entries."""
    for margin in MARGINS:
        tests = [Sign(t.form - margin, False) if noisy(t.form) else t for t in (*case.data.facts, *leaf.tests)]
        rough = prover.point(tests)
        if rough is None:
            continue
        nothing = {f"n{k}": Fraction(0) for k in range(len(leaf.draws))}
        point = nothing | {name: Fraction(0) for name in case.data.ends} | rough
        if not case.data.merged:
            return point
        for name, value in case.data.merged.items():
            point[name] = value(point)
        known = {name: Form({}, point[name]) for name in case.data.ends}
        fixed = [Sign(test.form.inserted(known), test.strict) for test in tests]
        if any(not sign.form.slopes and not sign.decided() for sign in fixed):
            continue
        noise = Prover().point(fixed)
        if noise is not None:
            return point | noise
    return None


def _compare(function: Callable[..., Any], case: Neighbours, dataset: list[Form], leaf: Leaf, point: Point) -> None:
    """Whole entries as integers, too: what numpy makes like an array of integers keeps no fractions."""
    values = [entry.value(point) for entry in dataset]
    kinds: list[type] = [float]
    if all(entry.slopes.keys() <= case.data.whole for entry in dataset) and all(abs(v) < 2**53 for v in values):
        kinds.append(int)
    for kind in kinds:
        _same_output(function, [kind(value) for value in values], leaf, point)


def _same_output(function: Callable[..., Any], entries: list[Any], leaf: Leaf, point: Point) -> None:
    noise = [float(point[f"n{k}"]) for k in range(len(leaf.draws))]
    if any(value != int(value) for value, (kind, _) in zip(noise, leaf.draws, strict=True) if kind in _WHOLE):
        return
    rng = Recorded(leaf.draws, noise)
    try:
        output = _fed(function, leaf, rng)(np.array(entries), rng)
    except Refused:
        raise
    except Exception as problem:
        raise Refused(f"the real function raises {type(problem).__name__} ({problem}) on {entries}") from problem
    if not rng.finished():
        raise Refused("the real function draws less noise than the symbolic run")
    expected = [float(form.value(point)) for form in leaf.reals]
    found: list[float] = []
    if not _alike(json.loads(leaf.key), json.loads(json.dumps(parts(output)[0])), found):
        raise Refused(f"on {entries} with noise {noise} the real output is {output!r:.100}, not {leaf.key}")
    if any(abs(a - b) > TOLERANCE * (1 + abs(a) + abs(b)) for a, b in zip(expected, found, strict=True)):
        raise Refused(f"on {entries} with noise {noise} the real output is {output!r:.100}, not {expected}")


_WHOLE = ("geometric", "discrete-laplace")


def _fed(function: Callable[..., Any], leaf: Leaf, rng: Recorded) -> Callable[..., Any]:
    """The function; where it calls dpcert's exact sampler, which takes no generator, over a sampler that is fed too."""
    if not any(kind == "discrete-laplace" for kind, _ in leaf.draws) or not isinstance(function, types.FunctionType):
        return function

    def fed(scale: Any, source: Any = None) -> Any:
        return rng._one("discrete-laplace", scale)

    scope = {n: fed if v is samplers.discrete_laplace else v for n, v in function.__globals__.items()}
    return types.FunctionType(function.__code__, scope, None, function.__defaults__, function.__closure__)


def _alike(expected: Any, real: Any, numbers: list[float]) -> bool:
    """Whether the real output has this form; collects the numbers at the places of symbols."""
    if expected == "real":
        number = isinstance(real, list) and len(real) == 2 and real[0] in ("float", "int")
        if number:
            numbers.append(float(real[1]))
        return number
    if isinstance(expected, list) and isinstance(real, list) and len(expected) == len(real):
        return all(_alike(a, b, numbers) for a, b in zip(expected, real, strict=True))
    return bool(expected == real)
