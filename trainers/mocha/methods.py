"""The methods behind one interface: a start, a round, a report. What a run needs and a checkpoint keeps is a State."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ...mechanisms.arrays import Floats
from ...mechanisms.validate import count, positive
from .cocoa import theta_round
from .joint import JointReport, consensus_round, consensus_start, joint_report
from .losses import Loss
from .mini_batches import StepRule, batch_round, decreasing, gradient_round, with_dual_point
from .mocha import Report, State, federated_round, omega_step, report
from .sdca import Order, random_order, visits
from .sigma_prime import SigmaPrime, reference_sigma
from .tasks import Tasks
from .work import FixedTheta, Passes, Targets, Work


@dataclass(frozen=True)
class Setting:
    """What is to be minimised: sum of mean losses + lambda/2 tr(W Omega W^T), Omega given or its start."""

    tasks: Tasks
    loss: Loss
    omega: Floats
    regularisation: float

    def __post_init__(self) -> None:
        positive("lambda", self.regularisation)


class Method(Protocol):
    """One optimisation method. Rounds are functions of the state and of that round's random numbers alone."""

    @property
    def name(self) -> str: ...
    @property
    def setting(self) -> Setting: ...
    def start(self) -> State: ...
    def round(self, state: State, rng: np.random.Generator) -> State: ...
    def report(self, state: State) -> Report | JointReport:
        """Valid bounds: primal from above, dual from below."""


def iterate(method: Method, rng: np.random.Generator, begin: State | None = None) -> Iterator[State]:
    """The state after each round, without end, from `begin` or the method's start; the caller stops."""
    state = method.start() if begin is None else begin
    while True:
        state = method.round(state, rng)
        yield state


@dataclass(frozen=True)
class WeightStep:
    """MOCHA's W-step, Algorithm 1 lines 5 to 10, for a fixed Omega. sigma_prime: sigma' of (4) for a covariance."""

    setting: Setting
    work: Work = field(default_factory=Passes)
    name: str = "mocha"
    sigma_prime: SigmaPrime = reference_sigma

    def start(self) -> State:
        return State.start(self.setting.tasks, self.setting.omega)

    def round(self, state: State, rng: np.random.Generator) -> State:
        tasks = self.setting.tasks
        order = random_order(tasks, self.work(tasks, state.rounds, rng), rng)
        sigma = self.sigma_prime(tasks, state.covariance)
        return federated_round(tasks, self.setting.loss, state, self.setting.regularisation, order, sigma)

    def report(self, state: State) -> Report:
        return report(self.setting.tasks, self.setting.loss, state, self.setting.regularisation)


@dataclass(frozen=True)
class Alternating(WeightStep):
    """Algorithm 1 whole: an Omega-step (Zhang, Yeung) before every `rounds_per_step`-th round, W recomputed.

    The k-th Omega-step smooths Sigma by smoothing / k^falling, relative to ||W||_F^2. Reports are on the joint problem:
    where the smoothing stays (falling = 0), or is gone before W has followed, it stalls above that one's optimum.
    """

    rounds_per_step: int = 1
    smoothing: float = 0.1
    falling: float = 2.0
    name: str = "mocha-alternating"

    def round(self, state: State, rng: np.random.Generator) -> State:
        step, rest = divmod(state.rounds, count("rounds_per_step", self.rounds_per_step))
        if step and not rest:
            scale = float(np.square(state.weights).sum()) or 1.0
            state = omega_step(state, self.setting.regularisation, self.smoothing * scale / step**self.falling)
        return super().round(state, rng)

    def report(self, state: State) -> JointReport:  # type: ignore[override]
        return joint_report(self.setting.tasks, self.setting.loss, state, self.setting.regularisation)


@dataclass(frozen=True)
class Joint:
    """The optimum in (W, Omega), Omega minimised out: joint.consensus_round."""

    setting: Setting
    name: str = "mocha"

    def start(self) -> State:
        return consensus_start(self.setting.tasks)

    def round(self, state: State, rng: np.random.Generator) -> State:
        return consensus_round(self.setting.tasks, self.setting.loss, state, self.setting.regularisation, rng)

    def report(self, state: State) -> JointReport:
        return joint_report(self.setting.tasks, self.setting.loss, state, self.setting.regularisation)


@dataclass(frozen=True)
class ThetaSteps(WeightStep):
    """MOCHA's W-step with work until theta_t^h; with one theta, CoCoA."""

    targets: Targets = field(default_factory=lambda: FixedTheta(0.5))
    name: str = "cocoa"

    def round(self, state: State, rng: np.random.Generator) -> State:
        tasks = self.setting.tasks
        sigma = self.sigma_prime(tasks, state.covariance)
        wanted = self.targets(tasks, state.rounds, rng)
        return theta_round(tasks, self.setting.loss, state, self.setting.regularisation, wanted, sigma, rng)


@dataclass(frozen=True)
class Batches(WeightStep):
    """Mini-batches of the sizes that `work` says, at most n_t. scaling: of the steps.

    Mini-batch SDCA: 1 averages a batch's steps and is safe whatever the data, the batch's size adds them.
    """

    scaling: float = 1.0

    def batch(self, state: State, rng: np.random.Generator) -> Order:
        tasks = self.setting.tasks
        positive("scaling", self.scaling)
        return random_order(tasks, np.minimum(self.work(tasks, state.rounds, rng), tasks.sizes), rng)


@dataclass(frozen=True)
class BatchSdca(Batches):
    """Mini-batch SDCA, mini_batches.batch_round."""

    name: str = "mb-sdca"

    def round(self, state: State, rng: np.random.Generator) -> State:
        order, setting = self.batch(state, rng), self.setting
        step = min(1.0, self.scaling / max(1, int(visits(order).sum())))
        return batch_round(setting.tasks, setting.loss, state, setting.regularisation, order, step)


@dataclass(frozen=True)
class BatchSgd(Batches):
    """Mini-batch SGD, with a rule of mini_batches.STEP_RULES; its dual point is read off its own slopes."""

    rule: StepRule = decreasing
    name: str = "mb-sgd"

    def round(self, state: State, rng: np.random.Generator) -> State:
        order, setting = self.batch(state, rng), self.setting
        convexity = setting.regularisation * float(np.linalg.eigvalsh(setting.omega)[0])
        length = self.rule(self.scaling, convexity, state.rounds)
        return gradient_round(setting.tasks, setting.loss, state, setting.omega, setting.regularisation, order, length)

    def report(self, state: State) -> Report:
        return super().report(with_dual_point(self.setting.tasks, self.setting.loss, state))
