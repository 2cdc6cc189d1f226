"""The steps of a cut function, run for real: at a point of every way they do what the run on symbols says.

States and indices are drawn at random, so that what is read otherwise than Python reads it may be seen however late it
matters.
"""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from ..cutting.cut import RETURN
from ..farkas import Prover
from ..forms import Form, Point, Sign, noise_index
from ..language.values import Appended, Array, Vector
from ..noise import KINDS, Draw
from ..pairs import Data, finite_range
from ..real.recorded_noise import Recorded, quietly, with_sampler
from ..real.runs import close, noise_for, numbers
from ..refusals import Refused
from ..runs import Leaf
from ..tracer import complete
from .states import APPENDED, REAL, VECTOR, WHOLE, Layout, built
from .steps import LENGTH, Outcome, PythonStep, Steps

TRIES, MARGIN, SMALL = 3, Fraction(1, 64), Fraction(1, 16)
LARGEST_INDEX, GRID, COLUMNS = 300, 1024, 2
"""Points have indices up to this, numbers that are exact as floats, and records with so many entries."""
DTYPES = {"b": bool, "i": np.int64, "w": np.int64, "f": float}


@dataclass
class RealSteps(Steps):
    """Steps that are tried. seen: which ways were, by the loop, the state's layout and what is run.

    A way is tried at two points; where no point of it is found in seven attempts it is not.
    """

    seen: set[str] = field(default_factory=set)

    def compare(self, found: Sequence[tuple[Leaf, Outcome]], data: Data, real: PythonStep) -> None:
        """Raises Refused where the real step does something else."""
        chance = random.Random(len(self.seen))
        for leaf, outcome in found:
            tests = [test.name() for test in leaf.tests]
            name = json.dumps([self.stage, real.what, real.layout, outcome.label, leaf.draws, tests])
            if name in self.seen:
                continue
            self.seen.add(name)
            for point in itertools.islice(_points(leaf, data, real, chance), 2):
                self._compare(leaf, outcome, point, data, real)

    def _compare(self, leaf: Leaf, outcome: Outcome, point: Point, data: Data, real: PythonStep) -> None:
        noise = [numbers(point[f"n{k}"]) for k in range(len(leaf.draws))]
        whole = [each for each, (kind, _) in zip(noise, leaf.draws, strict=True) if KINDS[kind].whole]
        if any(value != int(value) for value, *_ in whole):
            return
        length = int(point.get(LENGTH, Fraction(1)))
        rng = _Noise(tuple((kind, _with_length(scale, length)) for kind, scale in leaf.draws), noise, length)
        given = self._given(point, data, real)
        try:
            control, result = quietly(with_sampler(real.function, rng.discrete_laplace), *given, rng)
        except Refused:
            raise
        except Exception as problem:
            raise Refused(f"a real step raises {type(problem).__name__} ({problem}) at {_shown(point)}") from problem
        wanted = [_real(form.value(point)) for form in (*outcome.after, *outcome.released)]
        if control != outcome.control or not rng.finished() or not _alike(outcome, result, wanted, length):
            raise Refused(f"a real step does something else than what it was read as, at {_shown(point)}")

    def _given(self, point: Point, data: Data, real: PythonStep) -> list[Any]:
        """The arguments but for rng."""
        values: Iterator[Any] = iter([_real(number.value(point)) for number in real.numbers])
        state = [_python(built(part, values, name)) for part, name in zip(real.layout, self.loop.names, strict=False)]
        given: list[Any] = [] if real.what == "before" else [tuple(state)]
        if real.entry is not None:
            given += [int(point.get("i", 0)), _real(real.entry.value(point))]
        columns = max(COLUMNS, data.columns) if data.order else None
        return [*given, int(point.get(LENGTH, Fraction(1))), columns]


class _Noise(Recorded):
    """Noise of a scale that is divided by the number of entries is such noise, divided by it (values.Ratio)."""

    def __init__(self, draws: tuple[Draw, ...], noise: list[list[float]], length: int) -> None:
        super().__init__(draws, noise)
        self.length = length

    def _one(self, kind: str, scale: float) -> Any:
        stated = float(Fraction(self._left[0][0][1])) if self._left and self._left[0][0][0] == kind else scale
        if KINDS[kind].smooth and KINDS[kind].priced and math.isclose(scale * self.length, stated):
            return super()._one(kind, scale * self.length) / self.length
        return super()._one(kind, scale)


def _with_length(scale: str, length: int) -> str:
    """The parameter of a draw, of which a multiple of N is a number."""
    return str(Fraction(scale.removesuffix("*N")) * length) if scale.endswith("*N") else scale


def _alike(outcome: Outcome, result: Any, wanted: list[Any], length: int) -> bool:
    """Whether a real step's output, or state, has this layout and these numbers, and what was appended too."""
    reading = _Comparing(length)
    layouts, values = ([outcome.layout], [result]) if outcome.control == RETURN else (outcome.layout, list(result))
    same = len(layouts) == len(values) and all([*map(reading.alike, layouts, values)])
    lists = iter(reading.lists)
    same = same and all([reading.items(items[1:], next(lists, None)) for _, items in json.loads(outcome.label)[1]])
    pairs = zip(map(numbers, wanted), map(numbers, reading.numbers), strict=False)
    return same and len(wanted) == len(reading.numbers) and all(close(one, other) for one, other in pairs)


class _Comparing:
    """What a real step has made, beside a layout. numbers, lists: at the places where the layout has such."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.numbers: list[Any] = []
        self.lists: list[Any] = []

    def alike(self, layout: Layout, value: Any, times: int = 1) -> bool:
        """Whether the value has this layout."""
        value = value.item() if isinstance(value, np.generic) else value
        if layout in (REAL, WHOLE, VECTOR):
            self.numbers.append(np.asarray(value, float) * times)
            return isinstance(value, np.ndarray if layout == VECTOR else bool | int | float)
        if isinstance(layout, str):  # a list that steps append to
            self.lists.append(value)
            return layout.startswith(APPENDED) and isinstance(value, list | np.ndarray)
        head, *cells = layout
        if head == "divided by N":
            return self.alike(cells[0], value, self.length)
        if head == "text":
            return isinstance(value, str)
        if not isinstance(head, list):
            return _plain(head, cells[0], value, times)
        parts = _parts(head, value)
        return parts is not None and len(parts) == len(cells) and all([*map(self.alike, cells, parts)])

    def items(self, layouts: list[Layout], held: Any) -> bool:
        """Whether a list, which was empty, holds this now."""
        return held is not None and len(held) == len(layouts) and all([*map(self.alike, layouts, held)])


def _plain(kind: str, text: str, value: Any, times: int) -> bool:
    if kind == "float":
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and (math.isclose(value * times, float(text)) or (value != value and text == "nan"))
    return [kind, text] == [type(value).__name__, repr(value)]


def _parts(head: list[Any], value: Any) -> list[Any] | None:
    """The cells of a container of that kind."""
    kind = head[0]
    if kind in ("list", "tuple"):
        return list(value) if type(value).__name__ == kind else None
    if kind == "dict":
        keys = [[type(key).__name__, repr(key)] for key in value] if isinstance(value, dict) else None
        return list(value.values()) if keys == head[1:] else None
    if kind == "array":
        fits = isinstance(value, np.ndarray) and list(value.shape) == [each for each in head[1:] if type(each) is int]
        return value.ravel().tolist() if fits else None
    fits = type(value).__qualname__ == head[1]
    return list(vars(value).values()) if fits and hasattr(value, "__dict__") else None


def _points(leaf: Leaf, data: Data, real: PythonStep, chance: random.Random) -> Iterator[Point]:
    """Points of the way: with zeros, with numbers that are drawn, and where a solver finds one."""
    tests = [*data.facts, *(Sign(t.form - MARGIN, False) if t.form.noisy else t for t in leaf.tests)]
    entry = [] if real.entry is None else [real.entry]
    forms = [*[test.form for test in tests], *real.numbers, *entry, *leaf.reals]
    named = {name for form in forms for name in form.slopes} | data.ends.keys()
    free = sorted(name for name in named - data.merged.keys() if noise_index(name) is None)
    starts: list[Point] = [{name: _drawn(name, data, chance) for name in free} for _ in range(TRIES)]
    numbers = {name for name in free if name not in data.vectors}
    zeros = {name: Fraction(0) for name in numbers - {"i", LENGTH}}
    for start in starts:
        for more, size in ((zeros, SMALL), ({}, Fraction(1))):
            point = _completed(start | more, tests, leaf, data, chance, size)
            if point is not None:
                yield point
    found = Prover().point(tests) or {}
    if not any(value.denominator & (value.denominator - 1) for value in found.values()):
        solved = starts[0] | {name: found.get(name, Fraction(0)) for name in numbers}
        point = _completed(solved, tests, leaf, data, chance, SMALL)
        if point is not None:
            yield point


def _completed(
    start: Point, tests: list[Sign], leaf: Leaf, data: Data, chance: random.Random, size: Fraction
) -> Point | None:
    """With what is made of the data, and noise that fits: up to a size where nothing is said of it."""
    try:
        point = data.complete(start)
    except (ArithmeticError, ValueError):
        return None
    known = {name: Form(None, value) for name, value in point.items() if name not in data.vectors}
    noise = noise_for(tests, known)
    if noise is None:
        return None
    drawn: dict[str, Any] = {}
    for k, (kind, _) in enumerate(leaf.draws):
        any_there = Fraction(chance.randint(1, GRID), GRID) * size if KINDS[kind].smooth else Fraction(0)
        drawn[f"n{k}"] = noise.get(f"n{k}", any_there)
        if KINDS[kind].vector:
            drawn[f"n{k}"] = np.array([Fraction(k + 1)] * max(COLUMNS, data.columns))
    try:
        full = complete(point | drawn, leaf.known)
    except Refused:  # a test of a computed value, which was not solved for, may not hold at this point
        return None
    return full if full is not None and all(_holds(test, full) for test in (*data.facts, *leaf.tests)) else None


def _holds(test: Sign, point: Point) -> bool:
    """At the point, if it is about numbers."""
    return bool(np.all(test.form.value(point) >= 0) if not test.strict else np.all(test.form.value(point) > 0))


def _drawn(name: str, data: Data, chance: random.Random) -> Fraction:
    if name in ("i", LENGTH):
        return Fraction(chance.randint(1, LARGEST_INDEX))
    if name in data.vectors:
        cells: Any = np.array([Fraction(chance.randint(-GRID, GRID), GRID) for _ in range(max(COLUMNS, data.columns))])
        return cells  # type: ignore[no-any-return]
    least, most = finite_range(*data.ends.get(name, (None, None)))
    value = least + (most - least) * Fraction(chance.randint(0, GRID), GRID)
    return Fraction(math.floor(value)) if name in data.whole else value


def _real(value: Any) -> Any:
    return np.array([float(each) for each in value]) if isinstance(value, np.ndarray) else float(value)


def _python(value: Any) -> Any:
    """A value of the language as Python's own."""
    if isinstance(value, Appended):
        return []
    if isinstance(value, Vector):
        return np.asarray(value.form, float)
    if isinstance(value, Array):
        return np.array(value.cells.tolist(), DTYPES[value.kind])
    if isinstance(value, list | tuple):
        return type(value)(map(_python, value))
    return {key: _python(each) for key, each in value.items()} if isinstance(value, dict) else value


def _shown(point: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {float(value):g}" for name, value in sorted(point.items()) if np.ndim(value) == 0)[:200]
