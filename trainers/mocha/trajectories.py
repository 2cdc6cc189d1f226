"""Runs of the methods that keep what Figures 1 to 3 plot: cumulated work and primal value by round."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cocoa import theta_round
from .mb_sdca import batch_round
from .mb_sgd import gradient_round
from .methods import Alternating, Setting, WeightStep
from .mocha import State, federated_round, report
from .relationships import safe_sigma
from .sdca import random_order
from .simulated_time import round_work
from .theta import Targets
from .work import Work

Rounds = Iterator[tuple[State, NDArray[np.int64]]]
"""States with the samples that each node visited in the round."""

KEPT = 1.05
"""Rounds are recorded at this ratio."""


def mocha_rounds(setting: Setting, work: Work, rng: np.random.Generator) -> Rounds:
    """The W-step with this work policy."""
    state = State.start(setting.tasks, setting.omega)
    sigma = safe_sigma(state.covariance)
    while True:
        steps = work(setting.tasks, state.rounds, rng)
        order = random_order(setting.tasks, steps, rng)
        state = federated_round(setting.tasks, setting.loss, state, setting.regularisation, order, sigma)
        yield state, steps


def alternating_rounds(setting: Setting, work: Work, rng: np.random.Generator) -> Rounds:
    """Algorithm 1 whole; the work of Omega-steps is the server's and not counted."""
    method = Alternating(setting, work)
    state = method.start()
    while True:
        state = method.round(state, rng)
        yield state, setting.tasks.sizes


def cocoa_rounds(setting: Setting, targets: Targets, rng: np.random.Generator) -> Rounds:
    """The W-step with every node working until its theta."""
    state = State.start(setting.tasks, setting.omega)
    sigma = safe_sigma(state.covariance)
    while True:
        wanted = targets(setting.tasks, state.rounds, rng)
        state, steps = theta_round(setting.tasks, setting.loss, state, setting.regularisation, wanted, sigma, rng)
        yield state, steps


def mb_sdca_rounds(setting: Setting, work: Work, scaling: float, rng: np.random.Generator) -> Rounds:
    """Mini-batch SDCA with batches of the policy's sizes (at most n_t)."""
    state = State.start(setting.tasks, setting.omega)
    while True:
        steps = np.minimum(work(setting.tasks, state.rounds, rng), setting.tasks.sizes)
        order = random_order(setting.tasks, steps, rng)
        step = min(1.0, scaling / float(steps.sum()))
        state = batch_round(setting.tasks, setting.loss, state, setting.regularisation, order, step)
        yield state, steps


def mb_sgd_rounds(setting: Setting, work: Work, scaling: float, rng: np.random.Generator) -> Rounds:
    """Mini-batch SGD with batches of the policy's sizes; scaling multiplies Pegasos' steps."""
    state = State.start(setting.tasks, setting.omega)
    convexity = setting.regularisation * float(np.linalg.eigvalsh(setting.omega)[0])
    while True:
        steps = np.minimum(work(setting.tasks, state.rounds, rng), setting.tasks.sizes)
        order = random_order(setting.tasks, steps, rng)
        # The first steps of 1/(lambda kappa h) would throw W far out: they start at 1, as if h had begun later.
        length = scaling / (1 + convexity * scaling * state.rounds)
        state = gradient_round(setting.tasks, setting.loss, state, setting.omega, setting.regularisation, order, length)
        yield state, steps


@dataclass(frozen=True)
class Recorder:
    """Follows rounds of one method and keeps a thinned record. primal: of a state."""

    method: str
    primal: Callable[[State], float]

    def follow(self, rounds: Rounds, longest: int, operations: float = np.inf) -> dict[str, Any]:
        """JSON-able: rounds, work (cumulated operations) and primal, until `longest` rounds or `operations`."""
        kept: dict[str, list[float]] = {"rounds": [], "work": [], "primal": []}
        work, due = 0, 1.0
        for done, (state, steps) in enumerate(islice(rounds, longest), start=1):
            work += round_work(self.method, steps)
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
