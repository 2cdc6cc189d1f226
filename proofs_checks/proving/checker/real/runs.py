"""The function itself, on real numbers, puts out what the symbolic run says: for a point of every way through it, and
for random ones, wherever they lead.

This does not prove anything by itself; it catches a symbolic run that means something else than Python does.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..farkas import Prover
from ..forms import Form, Point, Sign, noise_index
from ..noise import COMPUTED, KINDS, Draw
from ..outputs import alike, real_parts
from ..pairs import Neighbours, finite_range
from ..refusals import Refused
from ..runs import Leaf, Node, leaves
from ..tracer import complete
from .numbers_in_code import marks
from .recorded_noise import Recorded, quietly, with_sampler

MARGINS = (Fraction(1, 4), Fraction(1, 64), Fraction(1, 4096))
"""How far inside of a way a point is wanted, in this order: floats must not leave it by rounding."""
MOST = 1024
RANDOM = 12
MARKED = 24
MOST_COLUMNS, ZERO_RECORDS = 3, 0.1
CLOSE = Fraction(1, 10**6)
"""Nearer to another way than this, a random point is left out: floats may take that one."""
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Real:
    """The function itself, and what it takes: an "array" or a "list"."""

    function: Callable[..., Any]
    container: str = "array"

    def held(self, entries: list[Any], columns: int = 1) -> Any:
        """The entries as it takes them; records as a 2-d array of so many columns."""
        if self.container == "rows":
            return np.array([numbers(entry) for entry in entries], float).reshape(len(entries), columns)
        return list(entries) if self.container == "list" else np.array(entries)


def replayed(function: Real, case: Neighbours, ways: list[Leaf], prover: Prover, other: bool = False) -> int:
    """How many ways were tried. Raises Refused where the real output is another one."""
    dataset = case.neighbour if other else case.dataset
    tried, chance = 0, random.Random(len(dataset))
    step = max(1, len(ways) // MOST)
    for leaf in ways[::step]:
        point = _somewhere(case, leaf, chance) or _inside(case, leaf, prover)
        if point is not None:
            _compare(function, case, dataset, leaf, point)
            tried += 1
    return tried


def at_random(function: Real, case: Neighbours, root: Node, other: bool = False) -> int:
    """How many random points were tried. Raises Refused where the function does not do what the tree says of them.

    After those, one number of the point is set to one that the function's code may compare it with, or to one between
    two such numbers: what a symbolic run does not see is seldom seen at other places.
    """
    dataset = case.neighbour if other else case.dataset
    chance, tried = random.Random(len(dataset)), 0
    first = next(leaves(root)).draws
    names = [*(name for name in case.data.ends if name not in case.data.merged), *(f"n{k}" for k in range(len(first)))]
    marked = [(name, value) for name in names for value in marks(function.function)]
    for fixed in [None] * RANDOM + chance.sample(marked, min(MARKED, len(marked))):
        data = _data_point(case, chance)
        if fixed is not None and fixed[0] in data:
            held: Any = data[fixed[0]]
            data |= _within(case, *fixed) if not isinstance(held, np.ndarray) else {fixed[0]: held * 0 + fixed[1]}
        point: Point = case.data.complete(data)
        leaf = _leaf_of(root, point, chance, fixed)
        if leaf is not None:
            _compare(function, case, dataset, leaf, point)
            tried += 1
    return tried


def numbers_of(value: Any) -> list[Fraction]:
    """A number, or the entries of a record."""
    return list(np.atleast_1d(np.asarray(value, object)).tolist())


def numbers(value: Any) -> list[float]:
    """The same, for a run."""
    return [float(one) for one in numbers_of(value)]


def _within(case: Neighbours, name: str, value: Fraction) -> Point:
    """The number at that value, if it may be there."""
    low, high = case.data.ends[name]
    inside = (low is None or low <= value) and (high is None or value <= high)
    return {name: value} if inside and (value.denominator == 1 or name not in case.data.whole) else {}


def _drawn(kind: str, name: str, value: Fraction) -> Point:
    """The noise at that value, likewise."""
    least = {"laplace": None, "gumbel": None, "gaussian": None, "exponential": 0, "uniform": 0}.get(kind, math.inf)
    inside = (least is None or value > least) and (kind != "uniform" or value < 1)
    return {name: value} if inside else {}


def _data_point(case: Neighbours, chance: random.Random) -> Point:
    """Anything in the ranges of the variables that are not made of others."""
    point: dict[str, Any] = {}
    columns = max(chance.randint(1, MOST_COLUMNS), case.data.columns) if case.data.vectors else 0
    for name, (low, high) in case.data.ends.items():
        if name in case.data.vectors and name not in case.data.merged:
            zero = chance.random() < ZERO_RECORDS
            point[name] = np.array([Fraction(0 if zero else chance.randint(-3072, 3072), 1024) for _ in range(columns)])
        elif name not in case.data.merged:
            least, most = finite_range(low, high)
            share = Fraction(chance.randint(0, 1024), 1024)
            value = least + (most - least) * share
            point[name] = Fraction(round(value)) if name in case.data.whole else value
    return point


def _noise(kind: str, parameter: str, chance: random.Random) -> Fraction:
    if kind == "coin":
        return Fraction(chance.randint(0, 1))
    if kind == "die":
        return Fraction(chance.randrange(int(parameter)))
    if KINDS[kind].whole:
        return Fraction(chance.randint(1 if kind == "geometric" else -4, 4))
    share = Fraction(chance.randint(1, 2047), 2048)
    return share if kind in ("uniform", "unused") else 4 * share if kind == "exponential" else 8 * share - 4


def _columns(point: dict[str, Any]) -> int:
    """How many entries the records of a point have."""
    return next((len(value) for value in point.values() if isinstance(value, np.ndarray)), 1)


def _thrown(draws: tuple[Draw, ...], point: Point, chance: random.Random, fixed: Any) -> None:
    """Noise for all that is drawn and has none yet."""
    for k, (kind, parameter) in enumerate(draws):
        name = f"n{k}"
        if name not in point and KINDS[kind].vector and kind not in COMPUTED:
            made: Any = np.array([_noise(kind, parameter, chance) for _ in range(_columns(point))])
            point[name] = made
        elif name not in point and kind not in (*COMPUTED, "part"):
            point[name] = _noise(kind, parameter, chance)
            if fixed is not None and fixed[0] == name:
                point |= _drawn(kind, *fixed)
        elif name not in point and kind == "part":
            point[name] = _noise("laplace", parameter, chance)


def _leaf_of(node: Node | None, point: Point, chance: random.Random, fixed: Any) -> Leaf | None:
    """Where the point leads, with the noise that is drawn on the way; None where it is too near to another way."""
    while node is not None:
        draws, computed = node.known
        _thrown(draws, point, chance, fixed)
        done = complete(point, (draws, computed))
        if done is None:
            return None
        point |= done
        if isinstance(node, Leaf):
            return node
        discrete = {f"n{k}" for k, (kind, _) in enumerate(draws) if kind in ("coin", "die")}
        values = [[(sign, sign.form.value(point)) for sign in way] for way in node.ways]
        if any(abs(v) < CLOSE and not s.form.slopes.keys() <= discrete for way in values for s, v in way):
            return None
        held = [k for k, way in enumerate(values) if all(v > 0 if s.strict else v >= 0 for s, v in way)]
        if len(held) != 1 or node.ends[held[0]] is None:
            raise Refused("a way that was left out, or two ways, at a point of the data")
        node = node.ends[held[0]]
    return None


def _somewhere(case: Neighbours, leaf: Leaf, chance: random.Random) -> Point | None:
    """A point inside of the way where entries are anything: at those of a solver, often 0, much is alike."""
    margin = MARGINS[1]
    tests = [Sign(t.form - margin, False) if _moves(t, leaf) else t for t in (*case.data.facts, *leaf.tests)]
    point = case.data.complete(_data_point(case, chance))
    return _with_noise(case, leaf, point, tests)


def _inside(case: Neighbours, leaf: Leaf, prover: Prover) -> Point | None:
    """A point well inside of the way; merged values are those of its entries."""
    for margin in MARGINS:
        tests = [Sign(t.form - margin, False) if _moves(t, leaf) else t for t in (*case.data.facts, *leaf.tests)]
        rough = prover.point(tests)
        if rough is None:
            continue
        nothing = {f"n{k}": Fraction(0) for k in range(len(leaf.draws))}
        point = nothing | {name: Fraction(0) for name in case.data.ends} | rough
        if not case.data.merged:
            return _computed(point, leaf)
        point = case.data.complete(_widened(point, case.data.vectors, case.data.columns))
        found = _with_noise(case, leaf, point, tests)
        if found is not None:
            return found
    return None


def _with_noise(case: Neighbours, leaf: Leaf, point: Point, tests: list[Sign]) -> Point | None:
    """The point of the data, with noise by which it is on the way."""
    known = {name: Form(None, numbers_of(point[name])[0]) for name in case.data.ends}
    noise = noise_for(tests, known)
    if noise is None:
        return None
    nothing = {f"n{k}": Fraction(0) for k in range(len(leaf.draws))}
    vectors = {f"n{k}" for k, (kind, _) in enumerate(leaf.draws) if KINDS[kind].vector}
    return _computed(point | _widened(nothing | noise, vectors, _columns(point)), leaf)


def noise_for(tests: Sequence[Sign], known: Mapping[str, Form]) -> Point | None:
    """Noise by which the tests hold beside what is known; None where there is none."""
    fixed = [Sign(test.form.inserted(known), test.strict) for test in tests]
    if any(sign.decided() is False for sign in fixed):
        return None
    return Prover().point(fixed) if any(sign.form.slopes for sign in fixed) else {}


def _widened(point: Point, records: set[str], columns: int) -> Point:
    """The point with records of so many entries, all but the first of which are 0."""
    wide: dict[str, Any] = dict(point)
    for name in records & point.keys() if columns > 1 else ():
        wide[name] = np.array([point[name], *[Fraction(0)] * (columns - 1)])
    return wide


def _moves(test: Sign, leaf: Leaf) -> bool:
    """Whether it is about smooth noise, so that a margin is wanted."""
    places = [k for name in test.form.slopes if (k := noise_index(name)) is not None]
    return any(k < len(leaf.draws) and leaf.draws[k][0] not in ("coin", "die") for k in places)


def _computed(point: Point, leaf: Leaf) -> Point | None:
    """The point with what is computed, if it is on the way then, too."""
    if not leaf.computed:
        return point
    try:
        done = complete(point, leaf.known)
    except Refused:  # a test of a computed value, which was not solved for, may not hold at this point
        return None
    return done if done is not None and all(test.holds(done) for test in leaf.tests) else None


def _compare(function: Real, case: Neighbours, dataset: list[Form], leaf: Leaf, point: Point) -> None:
    """Whole entries as integers, too: what numpy makes like an array of integers keeps no fractions."""
    values = [entry.value(point) for entry in dataset]
    if case.data.order:
        same_output(function, values, leaf, point)
        return
    kinds: list[type] = [float]
    if all(entry.slopes.keys() <= case.data.whole for entry in dataset) and all(abs(v) < 2**53 for v in values):
        kinds.append(int)
    for kind in kinds:
        same_output(function, [kind(value) for value in values], leaf, point)


def same_output(function: Real, entries: list[Any], leaf: Leaf, point: Point) -> None:
    noise = [numbers(point[f"n{k}"]) for k in range(len(leaf.draws))]
    if any(value != int(value) for (value, *_), (kind, _) in zip(noise, leaf.draws, strict=True) if KINDS[kind].whole):
        return
    rng = Recorded(leaf.draws, noise)
    try:
        held = function.held(entries, _columns(point))
        output = quietly(with_sampler(function.function, rng.discrete_laplace), held, rng)
    except Refused:
        raise
    except Exception as problem:
        raise Refused(f"the real function raises {type(problem).__name__} ({problem}) on {entries}") from problem
    if not rng.finished():
        raise Refused("the real function draws less noise than the symbolic run")
    found: list[list[float]] = []
    if not alike(json.loads(leaf.key), json.loads(json.dumps(real_parts(output))), found):
        raise Refused(f"on {entries} with noise {noise} the real output is {output!r:.100}, not {leaf.key}")
    expected = [numbers(form.value(point)) for form in leaf.reals[: len(found)]]
    if not all(map(close, expected, found)):
        raise Refused(f"on {entries} with noise {noise} the real output is {output!r:.100}, not {expected}")


def close(one: list[float], other: list[float]) -> bool:
    """Equal but for rounding: no infinite number is. What has no records in it is the same number for each of their
    entries."""
    if len(one) == 1:
        one = one * len(other)
    near = [abs(a - b) <= TOLERANCE * (1 + abs(a) + abs(b)) < math.inf for a, b in zip(one, other, strict=False)]
    return len(one) == len(other) and all(near)
