"""The checker's own statement of what neighbours are, and of what is known of the data."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .forms import Form, Point, Sign
from .refusals import Refused

Ends = tuple[Fraction | None, Fraction | None]
RELATIONS = ("replace-one", "add-remove", "answers")
CONTAINERS = ("array", "list", "rows")


def finite_range(low: Fraction | None, high: Fraction | None) -> tuple[Fraction, Fraction]:
    """Ends between which numbers are drawn, within those that are stated."""
    least = min(Fraction(-3), (Fraction(3) if high is None else high) - 3) if low is None else low
    return least, max(least + 3, Fraction(3)) if high is None else high


@dataclass(frozen=True)
class Merged:
    """A value that is made of data: of which forms, and how it is computed."""

    forms: tuple[Form, ...]
    value: Callable[[Point], Fraction]


@dataclass
class Data:
    """Variables of the data: their ends, which are whole numbers, the facts, and how merged values are computed.

    order: 0 where entries are numbers; else they are records, and it is the order of the norm by which shifts cost.
    vectors: the variables that are records. Of these nothing is known but ends of their norms: v <= r and -v <= r say
    that the norm of v is at most r. What follows so of numbers v holds of records, by the triangle inequality, since
    sums of records are bounded one by one (costs.of_its_sort).
    columns: records have at least so many entries, since the function asks for one of them by its place. What is shown
    is about such records: where there is no such entry the function raises an exception, perhaps for some data only.
    about: the facts that hold of a variable wherever it is. of_size: those that are functions of one size
    (language/functions_of_size.py).
    """

    merging: bool
    ends: dict[str, Ends] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)
    facts: list[Sign] = field(default_factory=list)
    merged: dict[str, Merged] = field(default_factory=dict)
    of_size: dict[str, Any] = field(default_factory=dict)
    about: dict[str, list[Sign]] = field(default_factory=dict)
    order: int = 0
    vectors: set[str] = field(default_factory=set)
    columns: int = 0

    def declare(self, name: str, low: Fraction | None, high: Fraction | None, whole: bool = False) -> Form:
        variable = Form.variable(name)
        if name not in self.ends:
            self.ends[name] = low, high
            below = [] if low is None else [Sign(variable - low, False)]
            self.about[name] = below + ([] if high is None else [Sign(high - variable, False)])
            self.facts += self.about[name]
            if whole:
                self.whole.add(name)
        return variable

    def adopt(self, other: Data, names: Container[str]) -> None:
        """What the other has made of these variables alone."""
        self.columns = max(self.columns, other.columns)
        for name, made in other.merged.items():
            held = [each for form in made.forms for each in form.slopes]
            if name not in self.ends and all(each in names or each in self.merged for each in held):
                self.merged[name], self.ends[name], self.about[name] = made, other.ends[name], other.about[name]
                self.facts += self.about[name]
                self.whole |= {name} & other.whole
                self.vectors |= {name} & other.vectors
                self.of_size |= {name: other.of_size[name]} if name in other.of_size else {}

    def merge(
        self, name: str, forms: tuple[Form, ...], value: Callable[[Point], Fraction], ends: Ends, whole: bool = False
    ) -> Form:
        """A value made of data as a variable of its own, of which the range is known, and no more."""
        self.merged[name] = Merged(forms, value)
        return self.declare(name, *ends, whole)

    def size(self, name: str, form: Form, value: Callable[[Point], Fraction]) -> Form:
        """The norm of a record (whose order is not below that of the data, so that it is no less than that one)."""
        if name not in self.ends:
            size = self.merge(name, (form,), value, (Fraction(0), None))
            self.about[name] += [Sign(size - form, False), Sign(size + form, False)]
            self.facts += self.about[name][-2:]
        return Form.variable(name)

    def complete(self, point: Point) -> Point:
        """The point with merged values computed from the entries; later ones may need earlier ones."""
        full = dict(point)
        for name, made in self.merged.items():
            full[name] = made.value(full)
        return full

    def between(self, form: Form) -> Ends:
        """Ends of a form without noise, from those of its variables."""
        lows, highs = [form.at_zero], [form.at_zero]
        for name, slope in form.slopes.items():
            low, high = self.ends.get(name, (None, None))
            if slope < 0:
                low, high = high, low
            lows.append(None if low is None else slope * low)  # type: ignore[arg-type]
            highs.append(None if high is None else slope * high)  # type: ignore[arg-type]
        return (None if None in lows else sum(lows)), (None if None in highs else sum(highs))  # type: ignore[return-value]


@dataclass
class Neighbours:
    """One case of the relation."""

    name: str
    dataset: list[Form]
    neighbour: list[Form]
    data: Data


@dataclass(frozen=True)
class Setting:
    """Which neighbours are meant: their relation; where entries lie (None: no bound; whole: they are integers); what
    holds them ("array", "list", or "rows", whose entries are records); and the notion by which shifts are paid."""

    relation: str = "replace-one"
    low: Fraction | None = Fraction(0)
    high: Fraction | None = Fraction(1)
    whole: bool = False
    container: str = "array"
    notion: str = "dp"

    @property
    def order(self) -> int:
        """By which norm records are measured: the Euclidean one for rho, which Gaussian noise pays. 0: no records."""
        return 0 if self.container != "rows" else 2 if self.notion == "zcdp" else 1

    def words(self) -> str:
        """'all real numbers in [0, 1]'."""
        if self.relation == "answers":
            return "all answers to queries of sensitivity 1"
        if self.order:
            return "all records of real numbers, of any length that holds the columns read by number"
        kind = "integers" if self.whole else "real numbers"
        low, high = ("-inf" if self.low is None else str(self.low)), ("inf" if self.high is None else str(self.high))
        return f"all {kind}" if self.low is None and self.high is None else f"all {kind} in [{low}, {high}]"

    def data(self, merging: bool = False) -> Data:
        """No variables yet."""
        return Data(merging, order=self.order)

    def entry(self, data: Data, name: str) -> Form:
        """An entry of the dataset."""
        data.vectors |= {name} if data.order else set()
        return data.declare(name, self.low, self.high, self.whole)

    def answer(self, data: Data, number: int | str = "") -> tuple[Form, Form]:
        """An answer to a query, and what it is on the neighbour."""
        here = data.declare(f"x{number}", None, None)
        return here, here + data.declare(f"d{number}", Fraction(-1), Fraction(1))

    def cases(self, entries: int, merging: bool) -> Iterator[Neighbours]:
        """All pairs of neighbours with that many entries (add-remove: the larger one). Raises Refused."""
        if self.relation == "answers":
            data = self.data(merging)
            answers = [self.answer(data, i) for i in range(entries)]
            yield Neighbours("every answer moves", [here for here, _ in answers], [there for _, there in answers], data)
            return
        if self.relation not in RELATIONS:
            raise Refused(f"unknown relation {self.relation!r}")
        for j in range(entries):
            for how in ("replaced",) if self.relation == "replace-one" else ("removed", "added"):
                data = self.data(merging)
                here = [self.entry(data, f"x{i}") for i in range(entries)]
                there = here[:j] + ([self.entry(data, "y")] if how == "replaced" else []) + here[j + 1 :]
                here, there = (there, here) if how == "added" else (here, there)
                yield Neighbours(f"entry {j} is {how}", here, there, data)
