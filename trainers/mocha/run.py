"""Runs a method until its gap is small enough, with checkpoints: killed at any moment it resumes to the bit."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.arrays import Floats
from ...mechanisms.validate import count, positive
from ..engine.checkpoint import Checkpoint
from ..engine.checkpoint import State as Saved
from ..engine.processes import Processes
from ..engine.spent import digest_of
from ..engine.streams import Streams, new_seed
from . import objective
from .methods import Method
from .mocha import Report, State
from .tasks import Tasks

SAVE_EVERY = 2.0
"""Seconds between checkpoints; what is lost in between is computed again, to the same bits."""

HISTORY_RATIO = 1.001
"""Unless records are asked for every so many rounds: all of the first 1,000, then rounds that grow by this factor."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run came to.

    weights (d, m): those of the smallest primal value seen. primal, dual: the best bounds seen; the optimum lies
    between them, so gap = primal - dual is never negative (rounding below 0 is cut). converged: the tolerance is met.
    """

    weights: Floats
    rounds: int
    primal: float
    dual: float
    gap: float
    converged: bool
    history: tuple[dict[str, float], ...]
    seconds: float


class Run:
    """A method on a problem, which reports its duality gap every round.

    seed: None for a secret one; checkpoint: a folder to save to and resume from; record_every: rounds between the
    history's records, 0 for every round up to the 1,000th and ever fewer after it. The last round is always there.
    """

    def __init__(
        self,
        method: Method,
        identity: str,
        *,
        seed: int | None = None,
        checkpoint: str | Path | None = None,
        record_every: int = 0,
    ) -> None:
        self.method = method
        self.record_every = count("record_every", record_every, least=0)
        self.checkpoint, self.streams = opened(checkpoint, identity, seed, lambda _: False)
        self.state = method.start()
        self.weights = self.state.weights
        self.primal, self.dual = np.inf, -np.inf
        self.history: list[dict[str, float]] = []
        self._restore()
        if self.checkpoint:
            self.checkpoint.create()

    def solve(
        self, rounds: int, *, tolerance: float = 0.0, watch: Callable[[int, float], None] = lambda *_: None
    ) -> Outcome:
        """At most `rounds` rounds, or until gap <= tolerance * |primal|. watch(rounds done, gap) after each."""
        count("rounds", rounds, least=0)
        if tolerance:
            positive("tolerance", tolerance)
        began = saved = time.perf_counter()
        if not self.history:
            self._look()
        while self.state.rounds < rounds and not self.converged(tolerance):
            self.state = self.method.round(self.state, self.streams.generator("batches", self.state.rounds))
            self._look()
            watch(self.state.rounds, self.gap)
            if self.checkpoint and time.perf_counter() - saved > SAVE_EVERY:
                self._save()
                saved = time.perf_counter()
        self._save()
        seconds = time.perf_counter() - began
        met = self.converged(tolerance)
        bounds = self.primal, self.dual, self.gap
        return Outcome(self.weights, self.state.rounds, *bounds, met, self._told(), seconds)

    @property
    def gap(self) -> float:
        """The optimum is within this of the best primal value."""
        return max(0.0, self.primal - self.dual)

    def converged(self, tolerance: float) -> bool:
        """Whether the gap is within the tolerance, relative to the primal value."""
        return bool(np.isfinite(self.gap) and self.gap <= tolerance * abs(self.primal))

    def _look(self) -> None:
        seen = self.method.report(self.state)
        if seen.primal < self.primal:
            self.primal, self.weights = seen.primal, self.state.weights
        self.dual = max(self.dual, seen.dual)
        known = self.history[-1]["round"] if self.history else -1.0
        every = self.record_every
        if self.state.rounds % every == 0 if every else self.state.rounds >= max(known + 1, HISTORY_RATIO * known):
            self.history.append(self._record(seen))

    def _record(self, seen: Report) -> dict[str, float]:
        return {"round": self.state.rounds, "primal": seen.primal, "dual": seen.dual, "gap": seen.gap}

    def _told(self) -> tuple[dict[str, float], ...]:
        """The history and the last round; what is saved keeps to the schedule, so a longer run resumes to the bit."""
        if self.history[-1]["round"] == self.state.rounds:
            return tuple(self.history)
        return *self.history, self._record(self.method.report(self.state))

    def _save(self) -> None:
        if self.checkpoint is None:
            return
        arrays = saved_arrays(self.state) | {"best": self.weights}
        notes = {"primal": self.primal, "dual": self.dual, "history": self.history}
        self.checkpoint.commit(Saved(self.state.rounds, arrays, notes), [])
        self.checkpoint.settle(self.state.rounds)

    def _restore(self) -> None:
        saved, _ = self.checkpoint.load() if self.checkpoint else (None, [])
        if saved is None:
            return
        self.state, self.weights = restored_state(saved), saved.arrays["best"]
        self.primal, self.dual, self.history = (saved.notes[name] for name in ("primal", "dual", "history"))


def opened(
    folder: str | Path | None, identity: str, seed: int | None, releases_in: Callable[[int], bool]
) -> tuple[Checkpoint | None, Streams]:
    """A run's checkpoint, if it has a folder, and its random streams: by the checkpoint's seed, the given one, or a
    secret one."""
    kept = None if folder is None else Checkpoint(folder, identity, seed, Processes(), releases_in)
    return kept, Streams(kept.seed if kept else new_seed() if seed is None else seed)


def saved_arrays(state: State) -> dict[str, NDArray[Any]]:
    """A state as named arrays."""
    known = {name: getattr(state, name) for name in ("alpha", "v", "weights", "covariance")}
    return known | {f"extra_{name}": value for name, value in state.extra.items()}


def restored_state(saved: Saved) -> State:
    """The state that saved_arrays wrote."""
    named = {name: saved.arrays[name] for name in ("alpha", "v", "weights", "covariance")}
    extra = {name[6:]: value for name, value in saved.arrays.items() if name.startswith("extra_")}
    return State(**named, rounds=saved.rounds, extra=extra)


def identity_of(tasks: Tasks, *settings: object) -> str:
    """A digest of the data and of all settings that decide a run's course."""
    return digest_of(*tasks.padded, tasks.sizes, np.frombuffer(repr(settings).encode(), dtype=np.uint8))


def accuracies(tasks: Tasks, weights: Floats) -> Floats:
    """(m,): the share of each task's samples whose label (-1 or 1) its own model's sign gives; a zero is wrong."""
    right = tasks.padded[1] * objective.predictions(tasks, weights) > 0
    return objective.task_means(tasks, right.astype(float))
