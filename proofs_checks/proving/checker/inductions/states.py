"""The state of a loop, read and made again: its discrete part as a layout, and its numbers.

A layout is JSON: a plain value as [type, text], a number that may be any as "real" ("whole", where it is a whole
number; "vector", where it is a record), lists, tuples, dicts and arrays by their parts, and a list that the loop only
appends to as "appended" (its content is the same in both runs, since every step appends the same; what is in it cannot
be read).
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Container, Iterator
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from ..forms import Form, Sign
from ..language.arithmetic import lifted, plain, truth
from ..language.globals import ConstantList, Constants
from ..language.values import Appended, Array, Object, Ratio, Text, Vector
from ..refusals import Refused

Layout = Any
APPENDED, REAL, WHOLE, VECTOR = "appended", "real", "whole", "vector"
PLAIN = (bool, int, float, str, type(None))


class Places(Protocol):
    """What is known of a state: places of numbers and lists (steps.Steps)."""

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

    def value(self, value: Any, place: str, output: bool = False, integral: bool = False) -> Layout:
        """The layout; its numbers are noted. integral: it is a cell of an array of integers."""
        if isinstance(value, Sign):
            value = truth(value)
        value = plain(value)
        if isinstance(value, Vector):
            return self._record(value, output)
        if isinstance(value, Ratio) and output:  # both runs know by what it is divided
            return ["divided by N", self.value(value.form, place, output)]
        if place in self.steps.appended and isinstance(value, list | Appended) and not output:
            self.objects.append(value)
            self.appended.append((place, value))
            return APPENDED
        if isinstance(value, Appended) and output:
            self.appended.append((place, value))
            return f"{APPENDED} {value.name}"
        if isinstance(value, Form) and not value.slopes:
            value = float(value.at_zero) if Fraction(float(value.at_zero)) == value.at_zero else value
        number = isinstance(value, Form) or (place in self.steps.wide and _finite(value))
        if number and not output and (integral or place in self.steps.whole):
            return self._whole(value)
        if number:
            self.numbers.append(lifted(value))
            return REAL
        if isinstance(value, PLAIN):
            exactly = float(value) if isinstance(value, float) else value
            return [type(exactly).__name__, repr(exactly)]
        return self._parts(value, place, output)

    def _record(self, value: Vector, output: bool) -> Layout:
        """Of a record what it is made of."""
        self.objects.append(value)
        divided = isinstance(value.form, Ratio)
        if divided and not output:
            raise Refused("a record that is divided by the number of records, in the state of the loop")
        self.numbers.append(value.form.form if divided else value.form)
        return ["divided by N", VECTOR] if divided else VECTOR

    def _whole(self, value: Any) -> Layout:
        """A number that is whole since those that it is made of are."""
        form = lifted(value)
        parts = [form.at_zero, *form.slopes.values()]
        if any(part.denominator != 1 for part in parts) or any(name not in self.known for name in form.slopes):
            raise Refused("a number that need not be whole")
        self.numbers.append(form)
        return WHOLE

    def _parts(self, value: Any, place: str, output: bool) -> Layout:
        self.objects.append(value)
        cells: list[Any]
        head: list[Any]
        integral = False
        constant = isinstance(value, ConstantList | Constants)
        if isinstance(value, list | tuple) and (output or not constant):
            head, cells = ["list" if isinstance(value, list) else "tuple"], list(value)
        elif isinstance(value, dict) and not constant and all(type(key) in (str, int, bool) for key in value):
            head, cells = ["dict", *[[type(key).__name__, repr(key)] for key in value]], list(value.values())
        elif isinstance(value, Array) and (output or (value.kind != "v" and value.cells.flags.writeable)):
            head, cells, integral = ["array", *value.cells.shape], value.cells.ravel().tolist(), value.kind in "iw"
            head += [] if value.kind == "f" else [value.kind]
        elif output and isinstance(value, Object) and value.record:
            head, cells = ["dataclass", value.kind.__qualname__], list(value.fields.values())
        elif output and isinstance(value, Text):
            return ["text", repr([piece if isinstance(piece, str) else None for piece in value.pieces])]
        else:
            raise Refused(f"a {type(value).__name__.lower()} in the state of the loop")
        return [head, *[self.value(cell, f"{place}.{i}", output, integral) for i, cell in enumerate(cells)]]

    def items(self, held: Any, name: str) -> Layout:
        """To what was appended what; of a list that this step made, everything."""
        former, items = (held.name, held.items) if isinstance(held, Appended) else (None, held)
        return [former, *[self.value(item, f"{name}[]", output=True) for item in items]]

    def no_aliases(self) -> None:
        """No object is at two places: the next step gets copies."""
        kept = [value for value in self.objects if not isinstance(value, tuple)]
        if len({id(value) for value in kept}) < len(kept):
            raise Refused("an object at two places of the loop's state")
        arrays = [value.cells for value in kept if isinstance(value, Array)]
        if any(np.may_share_memory(a, b) for a, b in itertools.combinations(arrays, 2)):
            raise Refused("arrays of the loop's state that share their memory")


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def count_numbers(layout: Layout) -> int:
    """How many numbers are in it."""
    return len(_kinds(layout))


def kinds(state: Layout) -> list[str]:
    """Of the numbers in a state, in order: "real", "whole" where they are whole, "vector" where they are records."""
    return [kind for part in state for kind in _kinds(part)]


def numbers_of(layout: Layout, wanted: str) -> set[str]:
    """The names of the numbers of this kind in a state of this layout, and (in a search) in the other run's."""
    return {f"{run}{i}" for i, kind in enumerate(kinds(layout)) if kind == wanted for run in ("s", "st")}


def _kinds(layout: Layout) -> list[str]:
    """Of its numbers."""
    if layout in (REAL, WHOLE, VECTOR):
        return [layout]
    parts = layout[1:] if isinstance(layout, list) and isinstance(layout[0], list) else []
    return [kind for part in parts for kind in _kinds(part)]


def built(layout: Layout, numbers: Iterator[Form], name: str) -> Any:
    """The value of this layout with these numbers. name: what the state calls it."""
    if layout == APPENDED:
        return Appended(name)
    if layout == VECTOR:
        return Vector(next(numbers))
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


def _array(cells: list[Any], head: list[Any]) -> Array:
    """Of the kind that the layout says; numbers that may be any are of it."""
    shape = tuple(each for each in head if type(each) is int)
    kind = head[-1] if head and isinstance(head[-1], str) else "f"
    made = np.empty(len(cells), object)
    for place, cell in enumerate(cells):
        made[place] = cell
    return Array(made.reshape(shape), kind)


def _plain(layout: Layout) -> Any:
    kind, text = layout
    return float(text) if kind == "float" else ast.literal_eval(text)
