"""What values are in the language: Python's own plain ones and containers, symbols, arrays, functions, objects."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..forms import Form, Sign
from ..order import Ranking
from ..refusals import Refused

KINDS = "biwfv"
"""Of arrays, each kind holding the former: truth values, integers, whole numbers (integers or floats), floats; and
records, which are rows of a 2-d array."""


@dataclass(eq=False, slots=True)
class Array:
    """A numpy array whose cells may be symbols. cells: an array of objects, so that views are views."""

    cells: np.ndarray[Any, Any]
    kind: str


@dataclass(eq=False, slots=True)
class Function:
    """A function of the language. names: those that it binds; outer: where its others are looked up."""

    name: str
    arguments: ast.arguments
    body: list[ast.stmt]
    outer: Any
    names: frozenset[str]
    defaults: dict[str, Any]
    file: str


@dataclass(eq=False, slots=True)
class Native:
    """An entry of a table. source: of which Python object it is the meaning, where there is one."""

    call: Callable[..., Any]
    name: str
    source: Any = None


@dataclass(eq=False, slots=True)
class Module:
    """A module of which tables know some functions."""

    module: Any


@dataclass(eq=False, slots=True)
class Generator:
    """The generator that a mechanism is given."""


@dataclass(eq=False, slots=True)
class Class:
    """A class that is made of functions and constants."""

    kind: type


@dataclass(eq=False, slots=True)
class Object:
    """One of its instances. frozen: it outlives the call, and may not be changed. record: of a dataclass."""

    kind: type
    fields: dict[str, Any]
    frozen: bool = False
    record: bool = False


@dataclass(eq=False, slots=True)
class Appended:
    """A list of which only the end is known: what a step of a loop appends. name: where the loop's state holds it."""

    name: str
    items: list[Any] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Text:
    """A text that is made of symbols: its pieces are texts and computed values."""

    pieces: list[Any] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Unknown:
    """A value that may be handed on, and not used."""

    what: str


@dataclass(eq=False, slots=True)
class Uniform:
    """A number between 0 and 1 that was drawn and is not used yet: the draw at this place."""

    place: int


@dataclass(eq=False, slots=True)
class Ratio:
    """form / N, where N is the number of entries, which both runs know."""

    form: Form


@dataclass(eq=False, slots=True)
class Weight:
    """exp(form), times a positive constant; a share where it is divided by a total of such weights."""

    form: Form
    total: tuple[Any, ...] | None = None


@dataclass(eq=False, slots=True)
class Total:
    """A sum of weights."""

    weights: tuple[Any, ...]


@dataclass(eq=False, slots=True)
class Vector:
    """A record: an array of which neither the entries nor their number is known. form: of records, with no constant.

    shared: it is a row of an array, and not changed in place.
    """

    form: Any
    shared: bool = False


@dataclass(eq=False, slots=True)
class Dimension:
    """How many entries a record has."""


@dataclass(eq=False, slots=True)
class Squares:
    """The squares of a record's entries. summed: their sum."""

    form: Form
    summed: bool = False


class Ranks:
    """The places of values by rank, as numpy.argsort gives them: no more is found out of these than is read."""

    __slots__ = ("ranking", "ranks")

    def __init__(self, ranking: Ranking, ranks: range) -> None:
        self.ranking, self.ranks = ranking, ranks

    def __len__(self) -> int:
        return len(self.ranks)

    def at(self, place: int) -> int:
        """The place of the value of that rank. Raises IndexError."""
        return self.ranking.at(self.ranks[place])

    def part(self, places: slice) -> Ranks:
        return Ranks(self.ranking, self.ranks[places])

    def places(self) -> list[int]:
        """All of them; those near to an end are found first."""
        return self.ranking.each(self.ranks)

    def __iter__(self) -> Iterator[int]:
        return (self.at(i) for i in range(len(self)))


def of_records(value: Any) -> bool:
    """Whether the value is made of records, which are computed with by rules of their own (records.py)."""
    return isinstance(value, Vector | Dimension | Squares) or (isinstance(value, Array) and value.kind == "v")


def symbolic(value: Any) -> bool:
    """Whether the value is a symbol: a number or a truth value that is not known."""
    return isinstance(value, Form | Sign | Ratio)


def is_truth(value: Any) -> bool:
    return isinstance(value, bool | Sign)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | Form | Sign | Ratio)


def one(value: Any) -> Any:
    """The only cell of an array, or the value."""
    return value.cells.ravel()[0] if isinstance(value, Array) and value.cells.size == 1 else value


def named(value: Any) -> str:
    """What a value is, in words."""
    words = {
        Form: "number that depends on the data or on noise", Sign: "comparison", Array: "array", Unknown: "value",
        Vector: "record", Dimension: "number of a record's entries", Squares: "record's squares",
    }  # fmt: skip
    return words.get(type(value), type(value).__name__.lower())


def as_key(value: Any) -> Any:
    """A value as a key: known numbers, texts, and tuples of them. Raises Refused."""
    if isinstance(value, tuple):
        return tuple(as_key(part) for part in value)
    if not (value is None or isinstance(value, bool | int | float | str)):
        raise Refused(f"a {named(value)} as a key")
    return value
