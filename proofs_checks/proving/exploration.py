"""Running a mechanism on symbols, path by path: every comparison that both answers are possible for forks the run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from . import state
from .arrays import apply
from .exact import Number
from .linear import Condition, Linear
from .noise import Draw, SymbolicGenerator, support
from .sealed import sealed
from .space import Space
from .unsupported import Raises, Unsupported, unsupported, where

MOST_PATHS = 20_000
MOST_FORKS = 500
"""In one run: a loop that may go on for ever has to end."""


@dataclasses.dataclass(frozen=True)
class Path:
    """One run: the conditions under which it happens, what it drew, and its output: a discrete part and real numbers.

    decisions: the answers at its forks.
    """

    conditions: tuple[Condition, ...]
    draws: tuple[Draw, ...]
    key: Any
    reals: tuple[Linear, ...]
    decisions: tuple[bool, ...]

    @property
    def data(self) -> tuple[Condition, ...]:
        """The conditions on the data alone."""
        return tuple(c for c in self.conditions if not c.form.noisy)

    @property
    def noisy(self) -> tuple[Condition, ...]:
        return tuple(c for c in self.conditions if c.form.noisy)


class Run:
    """One run under way. plan: the conditions that its first forks take, as an earlier run met them."""

    def __init__(self, space: Space, plan: list[Condition]) -> None:
        self.space = space
        self.plan = plan
        self.dataset: list[Linear] = []
        self.taken: list[Condition] = []
        self.answers: list[bool] = []
        self.open: list[bool] = []
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
        position = len(self.taken)
        if position >= MOST_FORKS:
            raise unsupported(f"a loop that is not over after {MOST_FORKS} decisions")
        if position < len(self.plan):
            stated = self.plan[position].text()
            if stated not in (condition.text(), condition.opposite().text()):
                raise unsupported("the function does not do the same when it is run again")
            answer, both = stated == condition.text(), False
        else:
            answer = self._possible(condition)
            both = answer and self._possible(condition.opposite())
        chosen = condition if answer else condition.opposite()
        self.taken.append(chosen)
        self.answers.append(answer)
        self.open.append(both)
        self._assume(chosen)
        return answer

    def on_arrays(self, ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What numpy is to do with a symbol."""
        return apply(ufunc, method, inputs, kwargs)

    def _assume(self, condition: Condition) -> None:
        self.conditions.append(condition)
        self.solver.add(self.space.formula(condition))

    def _possible(self, condition: Condition) -> bool:
        fresh, self._known = self.space.facts[self._known :], len(self.space.facts)
        self.solver.add(*[self.space.formula(fact) for fact in fresh])
        return not self.space.contradictory(self.solver, self.space.formula(condition))


def explore(mechanism: Callable[..., Any], dataset: Callable[[], Any], space: Space) -> list[Path]:
    """All runs of mechanism(dataset(), rng) that are possible. Raises Unsupported."""
    with sealed():
        return _explore(mechanism, dataset, space)


def _explore(mechanism: Callable[..., Any], dataset: Callable[[], Any], space: Space) -> list[Path]:
    paths: list[Path] = []
    waiting: list[list[Condition]] = [[]]
    while waiting:
        run = Run(space, waiting.pop())
        key, reals = _once(mechanism, dataset(), run)
        paths.append(Path(tuple(run.conditions), tuple(run.draws), key, tuple(reals), tuple(run.answers)))
        for i in range(len(run.plan), len(run.taken)):
            if run.open[i]:
                waiting.append([*run.taken[:i], run.taken[i].opposite()])
        if len(paths) + len(waiting) > MOST_PATHS:
            raise Unsupported(f"more than {MOST_PATHS} paths through the function")
    return paths


def _once(mechanism: Callable[..., Any], dataset: Any, run: Run) -> tuple[Any, list[Linear]]:
    run.dataset = [Linear.of(cell) for cell in dataset]
    state.enter(run)
    try:
        with run.space.assuming() as run.solver:
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
    if isinstance(output, np.ndarray):
        parts = [split(cell) for cell in output.ravel().tolist()]
        name: Any = ("array", output.shape)
    elif isinstance(output, list | tuple):
        parts = [split(cell) for cell in output]
        name = type(output).__name__
    elif isinstance(output, dict):
        parts = [split(cell) for item in output.items() for cell in item]
        name = "dict"
    elif dataclasses.is_dataclass(output) and not isinstance(output, type):
        parts = [split(getattr(output, field.name)) for field in dataclasses.fields(output)]
        name = ("dataclass", type(output).__qualname__)
    else:
        raise unsupported(f"an output of type {type(output).__name__} is not supported")
    return (name, *[part[0] for part in parts]), [real for part in parts for real in part[1]]
