"""Running a mechanism on symbols, path by path: every comparison that both answers are possible for forks the run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import state
from .arrays import Symbols, apply
from .exact import Number
from .instrument import onlooker
from .linear import Condition, Linear
from .noise import Draw, SymbolicGenerator, support
from .onlooker import Onlooker, looking_away
from .order import Order
from .sealed import sealed
from .space import Space
from .unsupported import Raises, TooManyPaths, Unsupported, unsupported, where

MOST_PATHS = 20_000
MOST_FORKS = 500
"""In one run: a loop that may go on for ever has to end."""


@dataclasses.dataclass(frozen=True)
class Path:
    """One run: the conditions under which it happens, what it drew, and its output: a discrete part and real numbers.

    decisions: the numbers of the ways that it takes at its forks.
    """

    conditions: tuple[Condition, ...]
    draws: tuple[Draw, ...]
    key: Any
    reals: tuple[Linear, ...]
    decisions: tuple[int, ...]

    @property
    def data(self) -> tuple[Condition, ...]:
        """The conditions on the data alone."""
        return tuple(c for c in self.conditions if not c.form.noisy)

    @property
    def noisy(self) -> tuple[Condition, ...]:
        return tuple(c for c in self.conditions if c.form.noisy)


Fork = tuple[Condition, ...]
"""A way to go on: what then holds, all of it."""


class Run:
    """One run under way. plan: the ways that it takes at its first forks, as an earlier run met them."""

    def __init__(self, space: Space, plan: list[Fork]) -> None:
        self.space = space
        self.plan = plan
        self.dataset: list[Linear] = []
        self.taken: list[Fork] = []
        self.answers: list[int] = []
        self.open: list[list[Fork]] = []
        self.conditions: list[Condition] = []
        self.draws: list[Draw] = []
        self.failure: Unsupported | None = None
        self.solver: Any = None
        self._known = len(space.facts)

    def draw(self, kind: str, scale: Number) -> Linear:
        """A new noise variable."""
        value = Linear({f"n{len(self.draws)}": 1})
        self.draws.append((kind, scale))
        for condition in support(kind, value):
            self._assume(condition)
        return value

    def decide(self, condition: Condition) -> bool:
        """The answer that this run takes; where both are possible, the other is left for a later run."""
        return self.choose([(condition,), (condition.opposite(),)]) == 0

    def choose(self, options: Sequence[Fork]) -> int:
        """The number of the option that this run takes, of which one holds; other possible ones are left for later."""
        position = len(self.taken)
        if position >= MOST_FORKS:
            raise unsupported(f"a loop that is not over after {MOST_FORKS} decisions")
        if position < len(self.plan):
            texts = [_text(option) for option in options]
            if _text(self.plan[position]) not in texts:
                raise unsupported("the function does not do the same when it is run again")
            chosen, others = texts.index(_text(self.plan[position])), list[Fork]()
        else:
            possible = [k for k in range(len(options) - 1) if self._possible(*options[k])]
            if not possible or self._possible(*options[-1]):
                possible.append(len(options) - 1)
            chosen, others = possible[0], [options[k] for k in possible[1:]]
        self.taken.append(options[chosen])
        self.answers.append(chosen)
        self.open.append(others)
        for condition in options[chosen]:
            self._assume(condition)
        return chosen

    def on_arrays(self, ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What numpy is to do with a symbol."""
        return apply(ufunc, method, inputs, kwargs)

    def _assume(self, condition: Condition) -> None:
        self.conditions.append(condition)
        with looking_away():
            self.solver.add(self.space.formula(condition))

    def _possible(self, *conditions: Condition) -> bool:
        with looking_away():
            fresh, self._known = self.space.facts[self._known :], len(self.space.facts)
            self.solver.add(*[self.space.formula(fact) for fact in fresh])
            return not self.space.contradictory(self.solver, *map(self.space.formula, conditions))


def _text(fork: Fork) -> tuple[str, ...]:
    return tuple(condition.text() for condition in fork)


def explore(mechanism: Callable[..., Any], dataset: Callable[[], Any], space: Space) -> list[Path]:
    """All runs of mechanism(dataset(), rng) that are possible. Raises Unsupported."""
    with sealed():
        return _explore(mechanism, dataset, space)


def _explore(mechanism: Callable[..., Any], dataset: Callable[[], Any], space: Space) -> list[Path]:
    paths: list[Path] = []
    watching = onlooker()
    waiting: list[list[Fork]] = [[]]
    while waiting:
        run = Run(space, waiting.pop())
        key, reals = _once(mechanism, dataset(), run, watching)
        paths.append(Path(tuple(run.conditions), tuple(run.draws), key, tuple(reals), tuple(run.answers)))
        for i in range(len(run.plan), len(run.taken)):
            waiting += [[*run.taken[:i], other] for other in run.open[i]]
        if len(paths) + len(waiting) > MOST_PATHS:
            raise TooManyPaths(f"more than {MOST_PATHS} paths through the function")
    return paths


def _once(mechanism: Callable[..., Any], dataset: Any, run: Run, watching: Onlooker) -> tuple[Any, list[Linear]]:
    run.dataset = [Linear.of(cell) for cell in dataset]
    state.enter(run)
    try:
        with run.space.assuming() as run.solver, watching.looking():
            result = split(mechanism(dataset, SymbolicGenerator()))
    except Exception as problem:
        if run.failure is not None:  # what it raises came of what it swallowed
            raise run.failure from problem
        trace = problem.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = where(trace.tb_frame if trace is not None else None)
        raise Raises(f"{place}the function raises {type(problem).__name__} ({problem})") from problem
    finally:
        state.leave()
    if run.failure is not None:
        raise run.failure
    return result


def split(output: Any) -> tuple[Any, list[Linear]]:
    """An output as (its discrete part, its real numbers)."""
    if isinstance(output, Condition):
        output = bool(output)
    if isinstance(output, Linear) and output.terms:
        return "real", [output]
    if isinstance(output, Linear):
        output = float(output)
    if isinstance(output, np.generic):
        output = output.item()
    if output is None or isinstance(output, bool | int | float | str | bytes):
        return (type(output).__name__, repr(output)), []
    if type(output) in (np.ndarray, Symbols, Order):
        output = np.asarray(output)
        parts = [split(cell) for cell in output.ravel().tolist()]
        name: Any = ("array", output.shape)
    elif isinstance(output, list | tuple):
        parts = [split(cell) for cell in output]
        name = type(output).__name__
    elif isinstance(output, dict):
        parts = [split(cell) for item in output.items() for cell in item]
        name = "dict"
    elif dataclasses.is_dataclass(output) and not isinstance(output, type):
        hidden = set(getattr(output, "__dict__", ())) - {field.name for field in dataclasses.fields(output)}
        if hidden:
            raise unsupported(f"an output with an attribute that is no field, {min(hidden)}")
        parts = [split(getattr(output, field.name)) for field in dataclasses.fields(output)]
        name = ("dataclass", type(output).__qualname__)
    else:
        raise unsupported(f"an output of type {type(output).__name__} is not supported")
    return (name, *[part[0] for part in parts]), [real for part in parts for real in part[1]]
