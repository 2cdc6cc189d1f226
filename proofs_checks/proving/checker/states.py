"""The state of a loop, read and made again: its discrete part as a layout, and its numbers.

A layout is JSON: a plain value as [type, text], a number that may be any as "real" (or "whole", where it is a whole
number), lists, tuples, dicts and arrays by their parts, and a list that the loop only appends to as "appended" (its
content is the same in both runs, since every step appends the same; what is in it cannot be read).
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Container, Iterator
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from .following import refuse
from .forms import Form, Sign
from .surroundings import Surroundings
from .tables import Table, table

Layout = Any
APPENDED, REAL, WHOLE = "appended", "real", "whole"
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


class Places(Protocol):
    """What is known of a state: constants around, and places of numbers and lists (steps.Steps)."""

    @property
    def around(self) -> Surroundings: ...

    @property
    def wide(self) -> frozenset[str]: ...

    @property
    def appended(self) -> frozenset[str]: ...

    @property
    def whole(self) -> frozenset[str]: ...


class Reading:
    """Reads values into layouts and numbers."""

    def __init__(self, steps: Places, known: Container[str]) -> None:
        self.steps = steps
        self.known = known
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
        if place in self.steps.whole and not output:
            return self._whole(value)
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

    def _whole(self, value: Any) -> Layout:
        """A number that is whole since those that it is made of are."""
        form = Form.lift(value)
        parts = [form.at_zero, *form.slopes.values()]
        if any(part.denominator != 1 for part in parts) or any(name not in self.known for name in form.slopes):
            raise refuse("a number that need not be whole")
        self.numbers.append(form)
        return WHOLE

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


def count_numbers(layout: Layout) -> int:
    """How many numbers are in it."""
    return len(_kinds(layout))


def numbers_in(layout: Layout) -> int:
    """How many numbers a state of this layout has."""
    return sum(count_numbers(part) for part in layout)


def whole_numbers(layout: Layout) -> set[str]:
    """The names of the whole numbers in a state of this layout, and (in a search) in the other run's."""
    kinds = [kind for part in layout for kind in _kinds(part)]
    return {f"{run}{i}" for i, kind in enumerate(kinds) if kind == WHOLE for run in ("s", "st")}


def _kinds(layout: Layout) -> list[str]:
    """Of its numbers."""
    if layout in (REAL, WHOLE):
        return [layout]
    parts = layout[1:] if isinstance(layout, list) and isinstance(layout[0], list) else []
    return [kind for part in parts for kind in _kinds(part)]


def built(layout: Layout, numbers: Iterator[Form], name: str) -> Any:
    """The value of this layout with these numbers. name: what the state calls it."""
    if layout == APPENDED:
        return Appended(name)
    if layout in (REAL, WHOLE):
        return next(numbers)
    if not isinstance(layout[0], list):
        return _plain(layout)
    (kind, *more), cells = layout[0], [built(part, numbers, name) for part in layout[1:]]
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
