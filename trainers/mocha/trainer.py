"""Trains one problem by one method of the MOCHA family, with or without noise: `dpcert mocha`, in Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ...accounting import calibrate
from ...mechanisms import Gaussian, PrivacyNotion, Repeat
from ...mechanisms.validate import choice, nonnegative, positive
from ..engine.privacy import PrivacyGoal
from .assemble import Options, kind_of, method_of, private_of, setting_of
from .methods import Setting
from .mini_batches import STEP_RULES
from .omegas import Omega
from .private_run import PrivateOutcome, PrivateRun
from .run import Run, identity_of
from .sigma_prime import SIGMA_PRIMES, SigmaPrime
from .solution import Solution, private_solution, solution
from .source import Problem
from .work import NodeWork

LONGEST = 1_000_000
"""Rounds of a run that only its tolerance ends."""

LONGEST_OF_OTHERS = 20_000
"""The same where the tolerance need not be reached: mini-batches, Algorithm 1 whole, and a node that never answers."""

PRIVATE_ROUNDS = 100
"""Of private rounds, which end by their number alone, unless it is given."""


@dataclass(frozen=True, eq=False)
class MochaTrainer:
    """method: one of names.METHODS. work: what each node does in a round. sigma_prime: by name; None for the usual one.

    told: how it was stated, for the document of the result. Raises InputError for a loss that is unknown, or cannot
    have these labels.
    """

    method: str
    problem: Problem
    loss: str
    omega: Omega
    strength: float
    work: NodeWork
    sigma_prime: str | None = None
    seed: int | None = None
    checkpoint: Path | None = None
    told: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """What is wrong with the setting is said before any work."""
        _ = self.setting

    @cached_property
    def setting(self) -> Setting:
        """What is minimised."""
        return setting_of(self.problem.train, self.omega, self.loss, self.strength, self.problem.covariance)

    @property
    def _sigma(self) -> SigmaPrime | None:
        name = self.sigma_prime
        return None if name is None else SIGMA_PRIMES[choice("sigma_prime", name, SIGMA_PRIMES)]

    def _identity(self, *more: object) -> str:
        """Of what decides the run's course; Omega by its entries, as files change under the same name."""
        settings = (self.method, self.loss, self.omega.learned, self.setting.omega.tobytes(), self.strength)
        return identity_of(self.problem.train, *settings, self.sigma_prime or "reference", *more)

    def solve(
        self,
        rounds: int | None = None,
        *,
        theta: float = 0.5,
        scaling: float = 1.0,
        step_rule: str = "decreasing",
        tolerance: float = 1e-4,
        record_every: int = 0,
        watch: Callable[[int, float], None] = lambda done, gap: None,
    ) -> Solution:
        """Without noise, until the duality gap is within the tolerance of the primal value, or so many rounds passed.

        theta: cocoa's. scaling, step_rule: of mini-batches. watch: called with the rounds done, and the gap. Raises
        InputError for what the method has no use for.
        """
        rule = STEP_RULES[choice("step_rule", step_rule, STEP_RULES)]
        method = method_of(self.method, self.omega, self.setting, Options(self.work, theta, self._sigma, scaling, rule))
        identity = self._identity(theta, self.work, scaling, step_rule)
        run = Run(method, identity, seed=self.seed, checkpoint=self.checkpoint, record_every=record_every)
        reached = self.method in ("mocha", "cocoa") and not self.work.silent
        longest = (LONGEST if reached else LONGEST_OF_OTHERS) if rounds is None else rounds
        outcome = run.solve(longest, tolerance=tolerance, watch=watch)
        kind = kind_of(self.method, self.omega)
        return solution(self.method, kind, self.problem, run, outcome, tolerance, self.sigma_prime, self.told)

    def private_run(self, clip_norm: float, noise_multiplier: float, goal: PrivacyGoal) -> PrivateRun:
        """The run that clips what a node sends, and adds noise to the sum (private.py)."""
        rounds = private_of(self.setting, self.omega, clip_norm, noise_multiplier, self._sigma)
        identity = self._identity(clip_norm, noise_multiplier)
        return PrivateRun(rounds, identity, goal, seed=self.seed, checkpoint=self.checkpoint)

    def private_solution(self, run: PrivateRun, outcome: PrivateOutcome) -> Solution:
        """What a private run came to."""
        known = {"learned": self.omega.learned, "seed_is_known": self.seed is not None}
        return private_solution(self.problem, run, outcome, self.sigma_prime, self.told, **known)

    def noise_multiplier(
        self,
        rounds: int,
        clip_norm: float,
        goal: PrivacyGoal,
        *,
        noise_multiplier: float | None = None,
        noise_std: float | None = None,
        target_epsilon: float | None = None,
    ) -> float:
        """The noise multiplier by whichever of them states it; 0 without any.

        noise_std: on the mean over all nodes. target_epsilon: the least noise for which these rounds cost at most this.
        """
        if noise_std is not None:
            return nonnegative("noise_std", noise_std) * self.problem.train.count / positive("clip_norm", clip_norm)
        if target_epsilon is None:
            return 0.0 if noise_multiplier is None else nonnegative("noise_multiplier", noise_multiplier)
        return calibrate(
            lambda multiplier: Repeat(Gaussian(multiplier), rounds),
            solve_for="noise_multiplier",
            epsilon=positive("target_epsilon", target_epsilon),
            delta=goal.delta,
            neighbouring=goal.neighbouring,
            notion=PrivacyNotion.BILLBOARD,
        ).value
