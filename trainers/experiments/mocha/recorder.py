"""Runs of the methods that keep what Figures 1 to 3 plot: cumulated work and primal value by round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from ...mocha.methods import Alternating, Method, Setting, WeightStep, iterate
from ...mocha.mocha import State, report
from .simulated_time import round_work

KEPT = 1.05
"""Rounds are recorded at this ratio."""


@dataclass(frozen=True)
class Recorder:
    """Follows rounds of one method and keeps a thinned record. primal: of a state."""

    method: str
    primal: Callable[[State], float]

    def follow(self, of: Method, rng: np.random.Generator, longest: int, operations: float = np.inf) -> dict[str, Any]:
        """JSON-able: rounds, work (cumulated operations) and primal, until `longest` rounds or `operations`."""
        kept: dict[str, list[float]] = {"rounds": [], "work": [], "primal": []}
        work, due = 0, 1.0
        for done, state in enumerate(islice(iterate(of, rng), longest), start=1):
            work += round_work(self.method, state.visited)
            last = done == longest or work >= operations
            if done >= due or last:
                due = max(done + 1, KEPT * done)
                for name, value in (("rounds", done), ("work", work), ("primal", self.primal(state))):
                    kept[name].append(value)
            if last:
                break
        return {"method": self.method, **kept}


def primal_of(setting: Setting) -> Callable[[State], float]:
    """The W-step's primal value."""
    return lambda state: report(setting.tasks, setting.loss, state, setting.regularisation).primal


def joint_primal_of(setting: Setting) -> Callable[[State], float]:
    """The joint problem's primal value, Omega minimised out."""
    method = Alternating(setting)
    return lambda state: method.report(state).primal


def optimum_of(setting: Setting, seed: int, longest: int = 4000, tolerance: float = 1e-6) -> float:
    """A lower bound of the W-step's optimum within the tolerance of it, or the best within `longest` rounds."""
    method, rng = WeightStep(setting), np.random.default_rng(seed)
    state, best = method.start(), -np.inf
    while state.rounds < longest:
        state = method.round(state, rng)
        if state.rounds % 20 == 0:
            seen = method.report(state)
            best = max(best, seen.dual)
            if seen.primal - best <= tolerance * abs(seen.primal):
                break
    return best
