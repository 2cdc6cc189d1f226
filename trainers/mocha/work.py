"""How much each node computes in a round: what sets theta_t^h in MOCHA, section 3.4.

Each policy is called with (tasks, round, rng) and returns the number of coordinate steps of every task;
0 is a dropped node (theta = 1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...mechanisms import InputError
from ...mechanisms.validate import positive
from .tasks import Tasks

Number = TypeVar("Number", bound=np.generic)
Steps = NDArray[np.int64]
Work = Callable[[Tasks, int, np.random.Generator], Steps]


@dataclass(frozen=True)
class Passes:
    """Every node takes `passes` times n_t steps."""

    passes: float = 1.0

    def __call__(self, tasks: Tasks, round_index: int, rng: np.random.Generator) -> Steps:
        steps: Steps = np.maximum(1, np.floor(positive("passes", self.passes) * tasks.sizes)).astype(np.int64)
        return steps


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
        steps: Steps = np.maximum(1, np.floor(fractions * tasks.sizes.min())).astype(np.int64)
        return steps


@dataclass(frozen=True)
class Dropping(Generic[Number]):
    """Nodes drop out: each round, node t does nothing with probability `probability[t]` (Assumption 2: below 1).

    base: what nodes do otherwise, in steps or as thetas (theta.py). nothing: what stands for a dropped node there,
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
