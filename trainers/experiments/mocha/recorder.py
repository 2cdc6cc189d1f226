"""Runs of the methods that keep what Figures 1 to 3 plot: work and primal value by round, and simulated time.

Time by the paper's model (section 5.3, and the reference implementation's driver), in units of one floating-point
operation a feature: `FLOPS` for each sample visited, summed over nodes, plus the network's latency once a round. Under
CoCoA every node waits for the slowest, so all are charged for its steps.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....mechanisms.arrays import Floats
from ...mocha.methods import Alternating, Method, Setting, WeightStep, approached, iterate
from ...mocha.mocha import State, report

FLOPS = {"mocha": 8, "cocoa": 8, "mb-sdca": 6, "mb-sgd": 4}
NETWORKS = {"WiFi": 10, "LTE": 100, "3G": 1000}


def round_work(method: str, steps: NDArray[np.int64]) -> int:
    """Operations of one round in which node t visited steps[t] samples, without communication."""
    charged = len(steps) * int(steps.max()) if method == "cocoa" else int(steps.sum())
    return FLOPS[method] * charged


def elapsed(work: Floats, rounds: Floats, network: str) -> Floats:
    """Simulated time after `rounds` rounds with this much cumulated work."""
    return work + NETWORKS[network] * rounds


KEPT = 1.05
"""Rounds are recorded at this ratio."""


def followed(
    name: str,
    primal: Callable[[State], float],
    of: Method,
    rng: np.random.Generator,
    longest: int,
    operations: float = np.inf,
) -> dict[str, Any]:
    """JSON-able, of the method of this name: rounds, work (cumulated operations) and primal value, thinned, until
    `longest` rounds or `operations`."""
    kept: dict[str, list[float]] = {"rounds": [], "work": [], "primal": []}
    work, due = 0, 1.0
    for done, state in enumerate(islice(iterate(of, rng), longest), start=1):
        work += round_work(name, state.visited)
        last = done == longest or work >= operations
        if done >= due or last:
            due = max(done + 1, KEPT * done)
            for key, value in (("rounds", done), ("work", work), ("primal", primal(state))):
                kept[key].append(value)
        if last:
            break
    return {"method": name, **kept}


def primal_of(setting: Setting) -> Callable[[State], float]:
    """The W-step's primal value."""
    return lambda state: report(setting.tasks, setting.loss, state, setting.regularisation).primal


def joint_primal_of(setting: Setting) -> Callable[[State], float]:
    """The joint problem's primal value, Omega minimised out."""
    method = Alternating(setting)
    return lambda state: method.report(state).primal


def optimum_of(setting: Setting, seed: int, longest: int = 4000, tolerance: float = 1e-6) -> float:
    """A lower bound of the W-step's optimum within the tolerance of it, or the best within `longest` rounds."""
    rng = np.random.default_rng(seed)
    return approached(WeightStep(setting), lambda done: rng, longest, 20, tolerance)[1]
