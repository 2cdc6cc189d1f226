"""How much each node computes in a round: what sets theta_t^h in MOCHA, section 3.4, and who drops out.

A policy is called with (tasks, round, rng). It returns the number of coordinate steps of every task, 0 for a dropped
node; or the theta that each is asked for, 1 for a dropped one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import positive, rate
from .tasks import Tasks

Number = TypeVar("Number", bound=np.generic)
Steps = NDArray[np.int64]
Work = Callable[[Tasks, int, np.random.Generator], Steps]


@dataclass(frozen=True)
class Passes:
    """Every node takes `passes` times n_t steps."""

    passes: float = 1.0

    def __call__(self, tasks: Tasks, round_index: int, rng: np.random.Generator) -> Steps:
        return np.asarray(np.maximum(1, np.floor(positive("passes", self.passes) * tasks.sizes)).astype(np.int64))


@dataclass(frozen=True)
class Heterogeneous:
    """Systems heterogeneity (section 5.3): each node takes a uniform fraction of the smallest n_t.

    low = 0.1 for high variability, 0.9 for low; high = 1.
    """

    low: float
    high: float = 1.0

    def __call__(self, tasks: Tasks, round_index: int, rng: np.random.Generator) -> Steps:
        if not 0 < self.low <= self.high:
            raise InputError("low", self.low, f"above 0 and at most high = {self.high}")
        fractions = rng.uniform(self.low, self.high, tasks.count)
        return np.asarray(np.maximum(1, np.floor(fractions * tasks.sizes.min())).astype(np.int64))


@dataclass(frozen=True)
class Dropping(Generic[Number]):
    """Nodes drop out: each round, node t does nothing with probability `probability[t]` (Assumption 2: below 1).

    base: what nodes do otherwise, in steps or as thetas. nothing: what stands for a dropped node there,
    0 steps or theta = 1.
    """

    base: Callable[[Tasks, int, np.random.Generator], NDArray[Number]]
    probability: float | tuple[float, ...]
    nothing: float = 0

    def __call__(self, tasks: Tasks, round_index: int, rng: np.random.Generator) -> NDArray[Number]:
        chances = np.broadcast_to(np.asarray(self.probability, dtype=float), (tasks.count,))
        if not ((chances >= 0) & (chances <= 1)).all():
            raise InputError("probability", self.probability, "numbers from 0 to 1")
        done = self.base(tasks, round_index, rng)
        return np.where(rng.random(tasks.count) < chances, done.dtype.type(self.nothing), done)


Targets = Callable[[Tasks, int, np.random.Generator], Floats]
"""(tasks, round, rng) -> (m,) the theta that each node is asked for; 1 is a dropped node."""


@dataclass(frozen=True)
class FixedTheta:
    """Every node reaches the same theta every round, as CoCoA requires."""

    theta: float

    def __call__(self, tasks: Tasks, round_index: int, rng: np.random.Generator) -> Floats:
        return np.full(tasks.count, rate("theta", self.theta))


@dataclass(frozen=True)
class RandomTheta:
    """Each node's theta is uniform on [low, high], anew every round."""

    low: float
    high: float

    def __call__(self, tasks: Tasks, round_index: int, rng: np.random.Generator) -> Floats:
        if not 0 < self.low <= self.high <= 1:
            raise InputError("theta", (self.low, self.high), "0 < low <= high <= 1")
        return rng.uniform(self.low, self.high, tasks.count)


FORMS = "passes=P, shares=LOW:HIGH, theta=T or theta=LOW:HIGH"

Policy = Passes | Heterogeneous | FixedTheta | RandomTheta


@dataclass(frozen=True)
class NodeWork:
    """text: the words that it was made of. policy: passes over a node's own samples, shares of the smallest n_t, or
    thetas. dropped: for each task the probability of doing nothing in a round; () for none."""

    text: str
    policy: Policy
    dropped: tuple[float, ...] = ()

    @classmethod
    def of(cls, work: str, drop: str | None, tasks: int) -> NodeWork:
        """work: one of FORMS. drop: a probability for all nodes, NODE=P for one of them (from 0), or several of both.

        Raises InputError for anything else.
        """
        return cls(work, _policy(work), _dropped(drop, tasks))

    @property
    def plain(self) -> bool:
        """Whether every node does one pass in every round."""
        return self.policy == Passes(1.0) and not any(self.dropped)

    @property
    def silent(self) -> bool:
        """Whether a node never answers, which keeps the gap open (Assumption 2)."""
        return any(probability == 1 for probability in self.dropped)

    def steps(self) -> Work:
        """The policy of work.py. Raises InputError for thetas, which have none."""
        if isinstance(self.policy, FixedTheta | RandomTheta):
            raise InputError("work", self.text, "passes or shares, with this method")
        return Dropping(self.policy, self.dropped) if self.dropped else self.policy

    def targets(self) -> Targets | None:
        """Where the policy is one of thetas that; None where the work is a number of steps."""
        if not isinstance(self.policy, FixedTheta | RandomTheta):
            return None
        return Dropping(self.policy, self.dropped, 1.0) if self.dropped else self.policy

    def __repr__(self) -> str:
        """As in version 0.2.0, whose checkpoints know their run by it."""
        kind, low, high = _words(self.text)
        return f"NodeWork(text={self.text!r}, kind={kind!r}, low={low}, high={high}, dropped={self.dropped})"


def _words(text: str) -> tuple[str, float, float]:
    """The kind and its one or two numbers."""
    kind, equals, value = text.partition("=")
    low, colon, high = value.partition(":")
    single = kind in ("passes", "theta") and not colon
    if not equals or not (single or (kind in ("shares", "theta") and colon)):
        raise InputError("work", text, FORMS)
    first = _number("work", text, low)
    return kind, first, _number("work", text, high) if colon else first


def _policy(text: str) -> Policy:
    kind, low, high = _words(text)
    most = inf if kind == "passes" else 1.0
    if not 0 < low <= high <= most or high == inf:
        bound = "" if kind == "passes" else " of at most 1, the first not above the second"
        raise InputError("work", text, f"numbers above 0{bound}")
    if kind == "passes":
        return Passes(low)
    if kind == "shares":
        return Heterogeneous(low, high)
    return FixedTheta(low) if low == high else RandomTheta(low, high)


def _dropped(text: str | None, tasks: int) -> tuple[float, ...]:
    if text is None:
        return ()
    chances: dict[int | None, float] = {}
    for part in text.split(","):
        node, equals, value = part.rpartition("=")
        if equals and not (node.isdigit() and int(node) < tasks):
            raise InputError("drop", text, f"a node from 0 to {tasks - 1} before each =")
        probability = _number("drop", text, value)
        if not 0 <= probability <= 1:
            raise InputError("drop", text, "probabilities from 0 to 1")
        chances[int(node) if equals else None] = probability
    return tuple(chances.get(node, chances.get(None, 0.0)) for node in range(tasks))


def _number(field: str, text: str, part: str) -> float:
    try:
        return float(part)
    except ValueError as error:
        raise InputError(field, text, "numbers in it") from error
