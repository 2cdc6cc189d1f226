"""A problem and a method from what users choose: typed options, each method with those that it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import choice, rate
from ..names import METHODS
from .losses import LOSSES
from .methods import Alternating, BatchSdca, BatchSgd, Joint, Method, Setting, ThetaSteps, WeightStep
from .mini_batches import StepRule, decreasing
from .omegas import Omega
from .private import PrivateRounds
from .sigma_prime import SIGMA_PRIMES, SigmaPrime, lemma_sigma, reference_sigma
from .tasks import Tasks
from .work import FixedTheta, NodeWork, Passes

OMEGA_EVERY = 10
"""Rounds between the Omega-steps of private MOCHA with a learned Omega."""


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


def private_of(
    setting: Setting, omega: Omega, clip_norm: float, noise_multiplier: float, sigma_prime: SigmaPrime | None = None
) -> PrivateRounds:
    """Private MOCHA; with a learned omega everything is published and Omega learned from that.

    Raises InputError for the sigma_prime `lemma`, which would tell of everybody's data.
    """
    if sigma_prime is lemma_sigma:
        raise InputError("sigma_prime", "lemma", "reference or tight with privacy: lemma reads all clients' data")
    every = OMEGA_EVERY if omega.learned else 0
    sigma = sigma_prime or reference_sigma
    return PrivateRounds(setting, clip_norm, noise_multiplier, omega_every=every, sigma_prime=sigma)
