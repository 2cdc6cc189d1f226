"""The methods behind one interface, a start, a round, a report; and how users choose one, with the options that it has.

What a run needs and a checkpoint keeps is a State.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import choice, count, positive, rate
from ..names import METHODS
from .cocoa import theta_round
from .joint import consensus_round, consensus_start, joint_report
from .losses import LOSSES, Loss
from .mini_batches import StepRule, batch_round, decreasing, gradient_round, with_dual_point
from .mocha import Report, State, federated_round, omega_step, report
from .omegas import Omega
from .sdca import Order, random_order, visits
from .sigma_prime import SIGMA_PRIMES, SigmaPrime, reference_sigma
from .tasks import Tasks
from .work import FixedTheta, NodeWork, Passes, Targets, Work


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
    def report(self, state: State) -> Report:
        """Valid bounds: primal from above, dual from below."""


def iterate(method: Method, rng: np.random.Generator, begin: State | None = None) -> Iterator[State]:
    """The state after each round, without end, from `begin` or the method's start; the caller stops."""
    state = method.start() if begin is None else begin
    while True:
        state = method.round(state, rng)
        yield state


def approached(
    method: Method, rng: Callable[[int], np.random.Generator], longest: int, every: int, tolerance: float
) -> tuple[Floats, float]:
    """The weights of the least primal value, and the best dual one, at a relative gap within the tolerance, which is
    looked at `every` so many rounds, or after `longest` rounds. rng: of a round."""
    state = method.start()
    best, primal, dual = state.weights, np.inf, -np.inf
    while state.rounds < longest and not (np.isfinite(primal) and primal - dual <= tolerance * abs(primal)):
        state = method.round(state, rng(state.rounds))
        if state.rounds % every == 0:
            seen = method.report(state)
            best, primal = (state.weights, seen.primal) if seen.primal < primal else (best, primal)
            dual = max(dual, seen.dual)
    return best, dual


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

    def report(self, state: State) -> Report:
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

    def report(self, state: State) -> Report:
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


def setting_of(tasks: Tasks, omega: Omega, loss: str, strength: float, made_by: Floats | None = None) -> Setting:
    """The problem. made_by: the covariance of synthetic tasks, known without a file.

    Raises InputError for an unknown loss, and for labels that a classification loss cannot have.
    """
    found = LOSSES[choice("loss", loss, LOSSES)]
    if found.name != "squared" and not all(np.isin(y, (-1.0, 1.0)).all() for y in tasks.labels):
        raise InputError("labels", "other values", f"-1 and 1, with the {found.name} loss")
    return Setting(tasks, found, omega.matrix(tasks.count, made_by), strength)


@dataclass(frozen=True)
class Options:
    """work: how much each node does. theta: cocoa's. sigma_prime: of the subproblems (4); None for the usual one.

    scaling, rule: of mini-batches.
    """

    work: NodeWork
    theta: float = 0.5
    sigma_prime: SigmaPrime | None = None
    scaling: float = 1.0
    rule: StepRule = decreasing

    @property
    def sigma(self) -> SigmaPrime:
        """What was chosen, or the usual one."""
        return self.sigma_prime or reference_sigma


@dataclass(frozen=True)
class MethodKind:
    """subproblems: whether it has those of (4), with their sigma'. works: whether its nodes' work can be chosen.

    most_passes: over a node's samples in a round.
    """

    make: Callable[[Setting, Options], Method]
    subproblems: bool = True
    works: bool = True
    most_passes: float = np.inf


def _weight_step(setting: Setting, told: Options) -> Method:
    if (targets := told.work.targets()) is not None:
        return ThetaSteps(setting, targets=targets, sigma_prime=told.sigma, name="mocha")
    return WeightStep(setting, told.work.steps(), sigma_prime=told.sigma)


def _cocoa(setting: Setting, told: Options) -> Method:
    return ThetaSteps(setting, targets=FixedTheta(rate("theta", told.theta)), sigma_prime=told.sigma)


KINDS: dict[tuple[str, bool], MethodKind] = {
    ("mocha", False): MethodKind(_weight_step),
    ("mocha", True): MethodKind(lambda setting, told: Joint(setting), subproblems=False, works=False),
    ("mocha-alternating", True): MethodKind(
        lambda setting, told: Alternating(setting, told.work.steps(), sigma_prime=told.sigma)
    ),
    ("cocoa", False): MethodKind(_cocoa, works=False),
    ("mb-sdca", False): MethodKind(
        lambda setting, told: BatchSdca(setting, told.work.steps(), scaling=told.scaling),
        subproblems=False,
        most_passes=1.0,
    ),
    ("mb-sgd", False): MethodKind(
        lambda setting, told: BatchSgd(setting, told.work.steps(), scaling=told.scaling, rule=told.rule),
        subproblems=False,
        most_passes=1.0,
    ),
}
"""By name, and whether Omega is learned: mocha with a learned one is the certified joint optimum (joint.py)."""


def kind_of(name: str, omega: Omega) -> MethodKind:
    """The kind of this name. Raises InputError for an unknown name, and an Omega that the method cannot have."""
    choice("algorithm", name, METHODS)
    if (name, omega.learned) not in KINDS:
        given, other = ("learned", "a fixed one") if omega.learned else ("fixed", "learned")
        raise InputError("omega", given, f"{other}, with {name}")
    return KINDS[name, omega.learned]


def method_of(name: str, omega: Omega, setting: Setting, options: Options) -> Method:
    """The method. Raises InputError for an option that it does not have."""
    kind, work = kind_of(name, omega), options.work
    which = f"{name} with a {'learned' if omega.learned else 'fixed'} omega"
    if options.sigma_prime is not None and not kind.subproblems:
        given = next(name for name, known in SIGMA_PRIMES.items() if known is options.sigma_prime)
        raise InputError("sigma_prime", given, f"none: {which} has no subproblems (4)")
    if not work.plain and not kind.works:
        raise InputError("work", work.text, f"full, without dropped nodes, for {which}")
    if isinstance(work.policy, Passes) and work.policy.passes > kind.most_passes:
        raise InputError("work", work.text, f"at most passes={kind.most_passes:g}: a batch holds a sample once")
    return kind.make(setting, options)
