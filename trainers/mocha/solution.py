"""What a run of the MOCHA family came to: its bounds on the optimum, scores, and the cost of what it released."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...mechanisms.arrays import Floats
from ...mechanisms.digits import rounded_up
from ...mechanisms.notebook import InNotebook
from ...mechanisms.serialise import to_plain
from ..statement import SECRET_SEED, PrivacyStatement, large_delta
from .assemble import MethodKind
from .methods import Setting, WeightStep
from .objective import risk
from .private_run import PrivateOutcome, PrivateRun
from .run import Outcome, Run, accuracies
from .sigma_prime import SIGMA_PRIMES
from .source import Problem


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


def solution(
    algorithm: str,
    kind: MethodKind,
    problem: Problem,
    run: Run,
    outcome: Outcome,
    tolerance: float,
    sigma_prime: str | None,
    about: Mapping[str, Any],
) -> Solution:
    """Of a run without noise."""
    method = run.method
    found = {
        "rounds": outcome.rounds,
        **_scores(problem, method.setting, outcome.weights),
        "primal": outcome.primal,
        "dual": outcome.dual,
        "gap": outcome.gap,
        "converged": outcome.converged,
        "mechanism": None,
        "history": list(outcome.history),
        "seconds": outcome.seconds,
        "tolerance": tolerance,
    }
    named = (
        _sigma_prime(sigma_prime, method.setting, run.state.covariance) if kind.subproblems else {"sigma_prime": None}
    )
    return Solution(_common(algorithm, problem, about) | found | named)


def private_solution(
    problem: Problem,
    run: PrivateRun,
    outcome: PrivateOutcome,
    sigma_prime: str | None,
    about: Mapping[str, Any],
    *,
    learned: bool,
    seed_is_known: bool,
) -> Solution:
    """Of private rounds; the bounds are those of their last state."""
    setting, noise = run.private.setting, run.private.noise_multiplier
    seen = WeightStep(setting).report(run.state)
    messages = "clipped and noised messages" if noise else "clipped messages without noise"
    found = {
        "variant": f"private: {messages}, ours and not the paper's",
        "rounds": outcome.rounds,
        "releases": outcome.spent,
        "stopped_by_budget": outcome.stopped_by_budget,
        **_scores(problem, setting, outcome.weights),
        "primal": seen.primal,
        "dual": seen.dual,
        "gap": seen.gap,
        "mechanism": None if outcome.mechanism is None else to_plain(outcome.mechanism),
        "seconds": outcome.seconds,
    }
    named = _sigma_prime(sigma_prime, setting, run.state.covariance)
    privacy = _privacy(run, outcome, learned, seed_is_known)
    return Solution(_common("mocha", problem, about) | found | named, privacy)


def _common(algorithm: str, problem: Problem, about: Mapping[str, Any]) -> dict[str, Any]:
    tasks = problem.train
    sizes = {"tasks": tasks.count, "samples": int(tasks.sizes.sum()), "dimension": tasks.dimension}
    return {"algorithm": algorithm, "data": problem.name, **sizes, **about}


def _sigma_prime(name: str | None, setting: Setting, covariance: Floats) -> dict[str, Any]:
    """sigma' of the subproblems (4), by name and as it was in the end."""
    named = name or "reference"
    return {"sigma_prime": {"name": named, "value": SIGMA_PRIMES[named](setting.tasks, covariance)}}


def _scores(problem: Problem, setting: Setting, weights: Floats) -> dict[str, float | None]:
    """Means over tasks on their test samples; no accuracy where the labels are not -1 and 1."""
    signs = all(np.isin(y, (-1.0, 1.0)).all() for y in problem.test.labels)
    return {
        "test_accuracy": float(accuracies(problem.test, weights).mean()) if signs else None,
        "test_loss": risk(problem.test, setting.loss, weights) / problem.test.count,
    }


def _privacy(run: PrivateRun, outcome: PrivateOutcome, learned: bool, seed_is_known: bool) -> PrivacyStatement | None:
    began = time.perf_counter()
    if outcome.privacy is None:
        return None
    assumptions = ["the reported accuracy, primal, dual and gap are the simulation's own and are not released"]
    if not learned:
        assumptions.append("Omega does not depend on the clients' data")
    if seed_is_known:
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
        large_delta(run.goal.delta, run.private.setting.tasks.count),
        tuple(f"against {name}: epsilon <= {rounded_up(upper, 6)}" for name, (_, upper) in observers.items()),
        {"observers": observers},
        time.perf_counter() - began,
    )
