"""The runs of one step of a cut loop, from a state in which only the discrete part is known."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple

from ..cutting.cut import NEXT, RETURN, Cut, Loop
from ..farkas import Prover
from ..forms import Form, Sign, noise_index
from ..language.calls import called
from ..language.values import Dimension, Generator, Unknown, Vector
from ..pairs import Data
from ..runs import Leaf, explored, leaves
from ..tracer import Tracer
from .states import VECTOR, WHOLE, Layout, Reading, built, count_numbers, numbers_of

LENGTH = "N"
"""The number of entries, where the function asks for it: at least 1, since a dataset without any has no neighbour."""


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

    @functools.cached_property
    def cell(self) -> frozenset[str]:
        """The tests of the entry alone: neither noise nor the state (which noise has made)."""
        return frozenset(test.name() for test in self.tests if of_data(test.form))

    @property
    def appends(self) -> bool:
        """Whether anything is appended to a list, or a list is made anew."""
        return any(len(part[1]) > 1 or part[1][0] is None for part in json.loads(self.label)[1])


class Outcome(NamedTuple):
    """What one way through a step comes to: as of Way, without what is drawn and computed."""

    label: str
    control: str
    layout: Layout
    released: list[Form]
    after: list[Form]
    event: bool


@dataclass(frozen=True)
class PythonStep:
    """What is run on symbols, as a function of Python: "before", "step" or "after"; the state and entry it gets."""

    what: str
    function: Callable[..., Any]
    layout: Layout = ()
    numbers: Sequence[Form] = ()
    entry: Form | None = None


def _way(leaf: Leaf, outcome: Outcome) -> Way:
    label = json.dumps([*json.loads(outcome.label), leaf.draws])
    same = (*outcome.released, *leaf.reals)
    after = tuple(outcome.after)
    return Way(leaf.tests, leaf.draws, label, outcome.control, outcome.layout, same, after, outcome.event)


def _dimension(data: Data) -> Dimension | None:
    """How many entries a record has, where there are records."""
    return Dimension() if data.order else None


def of_data(form: Form) -> bool:
    """Whether a form is made of entries only."""
    return not any(noise_index(name) is not None or name.lstrip("ste").isdigit() for name in form.slopes)


@dataclass
class Steps:
    """A cut function at one of its loops (stage 0 is the first), with what is known of its state.

    wide: places of numbers that may be any; whole: those of them that are whole numbers. appended: lists that are only
    appended to. event: a stage, and the name whose setting there is the event; or None.
    """

    cut: Cut
    wide: frozenset[str] = frozenset()
    appended: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    event: tuple[int, str] | None = None
    stage: int = 0
    as_written: bool = True
    prover: Prover = field(default_factory=Prover)

    @property
    def loop(self) -> Loop:
        """The one at this stage."""
        return self.cut.loops[self.stage]

    @property
    def watched(self) -> str | None:
        """The event's name, at its stage."""
        return self.event[1] if self.event is not None and self.event[0] == self.stage else None

    @property
    def last(self) -> bool:
        """Whether no loop follows."""
        return self.stage == len(self.cut.loops) - 1

    def at(self, stage: int) -> Steps:
        """The same at another loop."""
        return replace(self, stage=stage)

    def length(self, data: Data) -> Any:
        """The number of entries; a value without a meaning where the function does not ask for it."""
        return data.declare(LENGTH, Fraction(1), None, whole=True) if self.cut.sized else Unknown("number of entries")

    def start(self, data: Data) -> list[Way]:
        """The ways to the first loop's head."""
        before, length = self.cut.before, self.length(data)
        real = PythonStep("before", self.cut.real_before)
        return self._ways(
            lambda: called(before, [length, _dimension(data), Generator()], {}), data, self.loop.names, real
        )

    def step(self, layout: Layout, numbers: Sequence[Form], entry: Form, data: Data) -> list[Way]:
        """The ways through one step with that entry, from the state with these numbers."""
        index, length = Unknown("index of an entry"), self.length(data)
        at = data.declare("i", Fraction(0), None, whole=True) if self.loop.indexed else index
        held = Vector(entry, True) if data.order else entry

        def run() -> Any:
            return called(
                self.loop.step, [self._state(layout, numbers), at, held, length, _dimension(data), Generator()], {}
            )

        real = PythonStep("step", self.loop.real[0], layout, numbers, entry)
        return self._ways(run, data, self.loop.names, real)

    def end(self, layout: Layout, numbers: Sequence[Form], data: Data) -> list[Way]:
        """The ways from the loop to the output, or to the next loop's head."""
        length = self.length(data)
        names = () if self.last else self.cut.loops[self.stage + 1].names

        def run() -> Any:
            return called(self.loop.after, [self._state(layout, numbers), length, _dimension(data), Generator()], {})

        return self._ways(run, data, names, PythonStep("after", self.loop.real[1], layout, numbers))

    def idle(self, layout: Layout, numbers: Sequence[Form]) -> list[Way]:
        """No step at all: what a dataset does that lacks the entry."""
        state, names = self._state(layout, numbers), self.loop.names
        whole = numbers_of(layout, WHOLE)
        label, control, same, released, after, event = self._outcome(NEXT, state, names, (layout, numbers), whole)
        label = json.dumps([*json.loads(label), ()])
        return [Way((), (), label, control, same, tuple(released), tuple(after), event)]

    def _ways(self, run: Callable[[], Any], data: Data, names: tuple[str, ...], real: PythonStep) -> list[Way]:
        done: list[Outcome] = []
        came = None if real.what == "before" else (real.layout, real.numbers)
        data.whole |= numbers_of(real.layout, WHOLE)
        data.vectors |= numbers_of(real.layout, VECTOR)

        def recorded(tracer: Tracer) -> tuple[str, list[Form]]:
            known = Known(tracer)
            control, result = run()
            done.append(self._outcome(control, result, names, came, known))
            return str(len(done) - 1), []

        found = [(leaf, done[int(leaf.key)]) for leaf in leaves(explored(recorded, data, self.prover, self.as_written))]
        self.compare(found, data, real)
        return [_way(leaf, outcome) for leaf, outcome in found]

    def compare(self, found: Sequence[tuple[Leaf, Outcome]], data: Data, real: PythonStep) -> None:
        """With the step itself: by those who check (real_steps.py)."""

    def _outcome(self, control: str, result: Any, names: tuple[str, ...], came: Any, known: Container[str]) -> Outcome:
        reading = Reading(self, known)
        if control == RETURN:
            layout = reading.value(result, "output", output=True)
            numbers, reading.numbers = reading.numbers, []
        else:
            layout = [reading.value(v, name) for name, v in zip(names, result, strict=True)]
            numbers = []
            after, reading.numbers = reading.numbers, []
        appended = [[name, reading.items(items, name)] for name, items in reading.appended]
        released = [*numbers, *reading.numbers]
        reading.no_aliases()
        stepped = control != RETURN and came is not None and names == self.loop.names
        event = stepped and self.watched is not None and self._set(result, came, known)
        label = json.dumps([control, appended, layout, event if self.watched else None])
        return Outcome(label, control, layout, released, [] if control == RETURN else after, event)

    def _set(self, result: Any, came: Any, known: Container[str]) -> bool:
        """Whether the event happened: the value of its name is another one, as written."""
        assert self.watched is not None
        at = self.loop.names.index(self.watched)
        reading = Reading(self, known)
        new = reading.value(result[at], self.watched)
        layout, numbers = came
        skipped = sum(count_numbers(part) for part in layout[:at])
        old = list(numbers[skipped : skipped + count_numbers(layout[at])])
        same = new == layout[at] and all(a.same(b) for a, b in zip(reading.numbers, old, strict=True))
        return not same

    def _state(self, layout: Layout, numbers: Sequence[Form]) -> tuple[Any, ...]:
        left = iter(numbers)
        return tuple(built(part, left, name) for name, part in zip(self.loop.names, layout, strict=True))


class Known:
    """Which names are whole numbers: of the data and the state, and of what a run has drawn."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer

    def __contains__(self, name: object) -> bool:
        return bool(self.tracer.is_whole(Form.variable(str(name))))


def uneventful(ways: Sequence[Way]) -> bool:
    """Whether runs that need not do the same are alike in what is drawn, and release nothing."""
    return all(
        way.draws == ways[0].draws and way.control == NEXT and not way.released and not way.appends for way in ways
    )
