"""Trains one problem by one method of the MOCHA family, with or without noise: `dpcert mocha`, in Python."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ...accounting import calibrate
from ...mechanisms import Gaussian, PrivacyNotion, Repeat
from ...mechanisms.arrays import Floats
from ...mechanisms.digits import rounded_up
from ...mechanisms.notebook import InNotebook
from ...mechanisms.serialise import to_plain
from ...mechanisms.validate import choice, nonnegative, positive
from ..engine.privacy import PrivacyGoal
from ..statement import SECRET_SEED, PrivacyStatement, large_delta
from .methods import Options, Setting, WeightStep, kind_of, method_of, setting_of
from .mini_batches import STEP_RULES
from .objective import risk
from .omegas import Omega
from .private import private_of
from .private_run import PrivateOutcome, PrivateRun
from .run import Run, accuracies, identity_of
from .sigma_prime import SIGMA_PRIMES, SigmaPrime
from .source import Problem
from .work import NodeWork


@dataclass(frozen=True, slots=True, eq=False)
class Solution(InNotebook):
    """found: the fields of the JSON document but for the privacy, which is None where there is no noise.

    Among them: primal and dual, between which the optimum lies, and their difference, the gap.
    """

    found: dict[str, Any]
    privacy: PrivacyStatement | None = None

    @property
    def history(self) -> Sequence[dict[str, Any]]:
        """The bounds by round."""
        return list(self.found["history"])

    def __str__(self) -> str:
        found = self.found
        named = [name for name in ("test_accuracy", "test_loss") if found[name] is not None]
        scores = ", ".join(f"{name.replace('_', ' ')} {found[name]:.4f}" for name in named)
        relative = f"{found['gap'] / abs(found['primal']):.2g} of the primal value"
        lines = [
            f"{found['algorithm']} on {found['data']}: {found['rounds']} rounds, {scores}",
            *([found["variant"]] if "variant" in found else []),
            f"optimum in [{found['dual']:.8g}, {found['primal']:.8g}]: gap {found['gap']:.3g}, {relative}",
        ]
        if not found.get("converged", True):
            lines.append(f"not within the tolerance of {found['tolerance']:g} after {found['rounds']} rounds")
        lines.append("no privacy: trained without noise" if self.privacy is None else str(self.privacy))
        if self.privacy is not None and found["stopped_by_budget"]:
            lines.append("stopped: one more round would have exceeded the budget")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Plain data; infinities stay floats."""
        return self.found | {"privacy": None if self.privacy is None else self.privacy.to_json()}


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
        subproblems = kind_of(self.method, self.omega).subproblems
        told = {
            "rounds": outcome.rounds,
            **self._scores(outcome.weights),
            "primal": outcome.primal,
            "dual": outcome.dual,
            "gap": outcome.gap,
            "converged": outcome.converged,
            "mechanism": None,
            "history": list(outcome.history),
            "seconds": outcome.seconds,
            "tolerance": tolerance,
            "sigma_prime": self._sigma_prime(run.state.covariance) if subproblems else None,
        }
        return Solution(self._common() | told)

    def private_run(self, clip_norm: float, noise_multiplier: float, goal: PrivacyGoal) -> PrivateRun:
        """The run that clips what a node sends, and adds noise to the sum (private.py)."""
        rounds = private_of(self.setting, self.omega, clip_norm, noise_multiplier, self._sigma)
        identity = self._identity(clip_norm, noise_multiplier)
        return PrivateRun(rounds, identity, goal, seed=self.seed, checkpoint=self.checkpoint)

    def private_solution(self, run: PrivateRun, outcome: PrivateOutcome) -> Solution:
        """What a private run came to; the bounds are those of its last state."""
        seen = WeightStep(self.setting).report(run.state)
        messages = "clipped and noised messages" if run.private.noise_multiplier else "clipped messages without noise"
        told = {
            "variant": f"private: {messages}, ours and not the paper's",
            "rounds": outcome.rounds,
            "releases": outcome.spent,
            "stopped_by_budget": outcome.stopped_by_budget,
            **self._scores(outcome.weights),
            "primal": seen.primal,
            "dual": seen.dual,
            "gap": seen.gap,
            "mechanism": None if outcome.mechanism is None else to_plain(outcome.mechanism),
            "seconds": outcome.seconds,
            "sigma_prime": self._sigma_prime(run.state.covariance),
        }
        return Solution(self._common() | told, self._privacy(run, outcome))

    def _common(self) -> dict[str, Any]:
        tasks = self.problem.train
        sizes = {"tasks": tasks.count, "samples": int(tasks.sizes.sum()), "dimension": tasks.dimension}
        return {"algorithm": self.method, "data": self.problem.name, **sizes, **self.told}

    def _sigma_prime(self, covariance: Floats) -> dict[str, Any]:
        """sigma' of the subproblems (4), by name and as it was in the end."""
        named = self.sigma_prime or "reference"
        return {"name": named, "value": SIGMA_PRIMES[named](self.problem.train, covariance)}

    def _scores(self, weights: Floats) -> dict[str, float | None]:
        """Means over tasks on their test samples; no accuracy where the labels are not -1 and 1."""
        test = self.problem.test
        signs = all(np.isin(y, (-1.0, 1.0)).all() for y in test.labels)
        return {
            "test_accuracy": float(accuracies(test, weights).mean()) if signs else None,
            "test_loss": risk(test, self.setting.loss, weights) / test.count,
        }

    def _privacy(self, run: PrivateRun, outcome: PrivateOutcome) -> PrivacyStatement | None:
        began = time.perf_counter()
        if outcome.privacy is None:
            return None
        assumptions = ["the reported accuracy, primal, dual and gap are the simulation's own and are not released"]
        if not self.omega.learned:
            assumptions.append("Omega does not depend on the clients' data")
        if self.seed is not None:
            assumptions.append(SECRET_SEED)
        observers = {str(seen.observer): [seen.epsilon.lower, seen.epsilon.upper] for seen in run.observed()}
        return PrivacyStatement(
            outcome.privacy,
            run.goal.delta,
            run.cost.notion,
            run.cost.relation,
            "none",
            run.private.noise_multiplier,
            tuple(assumptions),
            large_delta(run.goal.delta, self.problem.train.count),
            tuple(f"against {name}: epsilon <= {rounded_up(upper, 6)}" for name, (_, upper) in observers.items()),
            {"observers": observers},
            time.perf_counter() - began,
        )

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
