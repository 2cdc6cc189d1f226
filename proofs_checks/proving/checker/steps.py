"""The runs of one step of a cut loop, from a state in which only the discrete part is known.

A state is described by a layout, as JSON: a plain value as [type, text], a number that may be any as "real", lists,
tuples, dicts and arrays by their parts, and a list that the loop only appends to as "appended" (its content is the
same in both runs, since every step appends the same; what is in it cannot be read).
"""

from __future__ import annotations

import ast
import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .cut import NEXT, RETURN, Cut
from .farkas import Prover
from .following import refuse
from .forms import Form, Sign
from .names import followed
from .pairs import Data
from .runs import leaves, tree
from .surroundings import Surroundings
from .tables import Table, table
from .tracer import noise_index

Layout = Any
APPENDED, REAL = "appended", "real"
PLAIN = (bool, int, float, str, bytes, type(None))


class Appended:
    """A list of which only the end is known: what this step appends. name: where the state holds it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.items: list[Any] = []

    def append(self, item: Any) -> None:
        self.items.append(item)

    def extend(self, items: Any) -> None:
        self.items.extend(items)

    def __iadd__(self, items: Any) -> Any:
        self.extend(items)
        return self

    def __add__(self, items: Any) -> Any:
        return self._read()

    def _read(self, *_: Any) -> Any:
        raise refuse("a list that the loop appends to is read")

    __len__ = __bool__ = __iter__ = __getitem__ = __contains__ = __eq__ = __ne__ = __array__ = __repr__ = _read
    __radd__ = __lt__ = __gt__ = __le__ = __ge__ = __format__ = __str__ = _read
    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Way:
    """One way through a step: the tests, the noise drawn, and what both runs must agree on.

    label: how it ends, what it appends, the discrete part of its output or of the next state. released: the numbers
    that are put out or appended. after: the numbers of the next state.
    """

    tests: tuple[Sign, ...]
    draws: tuple[tuple[str, str], ...]
    label: str
    control: str
    layout: Layout
    released: tuple[Form, ...]
    after: tuple[Form, ...]
    event: bool

    @property
    def cell(self) -> frozenset[str]:
        """The tests of the entry alone: neither noise nor the state (which noise has made)."""
        return frozenset(test.name() for test in self.tests if of_data(test.form))


def of_data(form: Form) -> bool:
    """Whether a form is made of entries only."""
    return not any(noise_index(name) is not None or name[0] in "se" for name in form.slopes)


@dataclass
class Steps:
    """A cut function with what is known of its state. wide: places of numbers that may be any. appended: lists that
    are only appended to. event: the name whose setting is the event, or None."""

    cut: Cut
    around: Surroundings
    wide: frozenset[str] = frozenset()
    appended: frozenset[str] = frozenset()
    event: str | None = None

    def start(self, prover: Prover) -> list[Way]:
        """The ways to the loop's head."""
        before = followed(self.cut.before)
        return self._ways(lambda rng: before(rng), Data(False), prover, None)

    def step(self, layout: Layout, numbers: Sequence[Form], entry: Form, data: Data, prover: Prover) -> list[Way]:
        """The ways through one step with that entry, from the state with these numbers."""
        function, index = followed(self.cut.step), _Unknown()
        at = data.declare("i", Fraction(0), None, whole=True) if self.cut.indexed else index

        def run(rng: Any) -> Any:
            return function(self._state(layout, numbers), at, entry, rng)

        return self._ways(run, data, prover, (layout, numbers))

    def end(self, layout: Layout, numbers: Sequence[Form], data: Data, prover: Prover) -> list[Way]:
        """The ways from the loop to the output."""
        function = followed(self.cut.after)
        return self._ways(
            lambda rng: (RETURN, function(self._state(layout, numbers), rng)), data, prover, (layout, numbers)
        )

    def idle(self, layout: Layout, numbers: Sequence[Form]) -> list[Way]:
        """No step at all: what a dataset does that lacks the entry."""
        label, control, same, released, after, event = self._outcome(
            NEXT, self._state(layout, numbers), (layout, numbers)
        )
        label = json.dumps([*json.loads(label), ()])
        return [Way((), (), label, control, same, tuple(released), tuple(after), event)]

    def _ways(self, run: Callable[[Any], Any], data: Data, prover: Prover, came: Any) -> list[Way]:
        done: list[tuple[str, str, Layout, list[Form], list[Form], bool]] = []

        def recorded(_: Any, rng: Any) -> int:
            control, result = run(rng)
            done.append(self._outcome(control, result, came))
            return len(done) - 1

        found = []
        for leaf in leaves(tree(recorded, [], data, prover)):
            label, control, layout, released, after, event = done[int(ast.literal_eval(json.loads(leaf.key)[1]))]
            label = json.dumps([*json.loads(label), leaf.draws])
            found.append(Way(leaf.tests, leaf.draws, label, control, layout, tuple(released), tuple(after), event))
        self.around.unchanged()
        return found

    def _outcome(self, control: str, result: Any, came: Any) -> tuple[str, str, Layout, list[Form], list[Form], bool]:
        reading = _Reading(self)
        if control == RETURN:
            layout = reading.value(result, "output", output=True)
            numbers, reading.numbers = reading.numbers, []
        else:
            layout = [reading.value(v, name) for name, v in zip(self.cut.names, result, strict=True)]
            numbers = []
            after, reading.numbers = reading.numbers, []
        appended = [[name, reading.items(items, name)] for name, items in reading.appended]
        released = [*numbers, *reading.numbers]
        reading.no_aliases()
        event = control != RETURN and came is not None and self.event is not None and self._set(result, came)
        label = _label(control, appended, layout, event if self.event else None)
        return label, control, layout, released, ([] if control == RETURN else after), event

    def _set(self, result: Any, came: Any) -> bool:
        """Whether the event happened: the value of its name is another one, as written."""
        assert self.event is not None
        at = self.cut.names.index(self.event)
        reading = _Reading(self)
        new = reading.value(result[at], self.event)
        layout, numbers = came
        skipped = sum(_count(part) for part in layout[:at])
        old = list(numbers[skipped : skipped + _count(layout[at])])
        same = new == layout[at] and all(a.same(b) for a, b in zip(reading.numbers, old, strict=True))
        return not same

    def _state(self, layout: Layout, numbers: Sequence[Form]) -> tuple[Any, ...]:
        left = iter(numbers)
        return tuple(_built(part, left, name) for name, part in zip(self.cut.names, layout, strict=True))


class _Unknown:
    """The index, in a function that does not ask for it."""


class _Reading:
    """Reads values into layouts and numbers."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.numbers: list[Form] = []
        self.appended: list[tuple[str, Any]] = []
        self.objects: list[Any] = []

    def value(self, value: Any, place: str, output: bool = False) -> Layout:
        """The layout; its numbers are noted."""
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, Sign):
            value = bool(value)
        if place in self.steps.appended and isinstance(value, list | Appended) and not output:
            self.objects.append(value)
            self.appended.append((place, value))
            return APPENDED
        if isinstance(value, Appended) and output:
            self.appended.append((place, value))
            return f"{APPENDED} {value.name}"
        if isinstance(value, Form) and value.slopes:
            self.numbers.append(value)
            return REAL
        if isinstance(value, Form):
            value = float(value.at_zero) if Fraction(float(value.at_zero)) == value.at_zero else value
        if isinstance(value, Form) or (place in self.steps.wide and type(value) in (int, float) and abs(value) < 1e300):
            self.numbers.append(Form.lift(value))
            return REAL
        if type(value) in PLAIN:
            return [type(value).__name__, repr(value)]
        return self._parts(value, place, output)

    def _parts(self, value: Any, place: str, output: bool) -> Layout:
        self.objects.append(value)
        cells: list[Any]
        head: list[Any]
        if type(value) in (list, tuple):
            head, cells = [type(value).__name__], list(value)
        elif type(value) is dict and all(type(key) in (str, int, bool) for key in value):
            head, cells = ["dict", *[[type(key).__name__, repr(key)] for key in value]], list(value.values())
        elif isinstance(value, np.ndarray):
            head, cells = ["array", *value.shape], value.ravel().tolist()
        else:
            raise refuse(f"a {type(value).__name__} in the state of the loop")
        return [head, *[self.value(cell, f"{place}.{i}", output) for i, cell in enumerate(cells)]]

    def items(self, held: Any, name: str) -> Layout:
        """To what was appended what; of a list that this step made, everything."""
        former, items = (held.name, held.items) if isinstance(held, Appended) else (None, held)
        return [former, *[self.value(item, f"{name}[]", output=True) for item in items]]

    def no_aliases(self) -> None:
        """No object is at two places, or is one of the function's constants: the next step gets copies."""
        kept = [value for value in self.objects if not isinstance(value, tuple)]
        constants = self.steps.around.constants
        if len({id(value) for value in kept}) < len(kept) or any(v is c for v in kept for c in constants):
            raise refuse("an object at two places of the loop's state")
        arrays = [value for value in kept if isinstance(value, np.ndarray)]
        others = [value for value in constants if isinstance(value, np.ndarray)]
        if any(np.may_share_memory(a, b) for a, b in itertools.combinations([*arrays, *others], 2)):
            raise refuse("arrays of the loop's state that share their memory")


def _label(control: str, appended: Any, layout: Layout, event: bool | None) -> str:
    return json.dumps([control, appended, layout, event])


def _count(layout: Layout) -> int:
    """How many numbers are in it."""
    if layout == REAL:
        return 1
    return sum(_count(part) for part in layout[1:]) if isinstance(layout, list) and isinstance(layout[0], list) else 0


def numbers_in(layout: Layout) -> int:
    """How many numbers a state of this layout has."""
    return sum(_count(part) for part in layout)


def _built(layout: Layout, numbers: Iterator[Form], name: str) -> Any:
    if layout == APPENDED:
        return Appended(name)
    if layout == REAL:
        return next(numbers)
    if not isinstance(layout[0], list):
        return _plain(layout)
    (kind, *more), cells = layout[0], [_built(part, numbers, name) for part in layout[1:]]
    if kind == "dict":
        return dict(zip([_plain(key) for key in more], cells, strict=True))
    if kind == "array":
        return _array(cells, more)
    return cells if kind == "list" else tuple(cells)


def _array(cells: list[Any], shape: list[int]) -> Any:
    if any(isinstance(cell, Form) for cell in cells) or not all(type(cell) in (bool, int) for cell in cells):
        return table(cells).reshape(shape).view(Table)
    return np.array(cells).reshape(shape)


def _plain(layout: Layout) -> Any:
    kind, text = layout
    return float(text) if kind == "float" else ast.literal_eval(text)
