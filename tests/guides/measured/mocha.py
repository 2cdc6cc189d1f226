"""MOCHA's rates: how many rounds Theorem 1's (6) needs, and how many the trainer does, over seeds of drops and orders.

Six coupled tasks (mocha_problem.py): ridge regressions, whose dual optimum is known in closed form, and logistic
regressions, whose is found to a duality gap that is a thousandth of what is measured. The bound is (6) itself, with
Theta = p + (1 - p) theta and s = mu/(mu + sigma' sigma_max); nobody knows the logistic nodes' theta, but where it is
what they are asked for. The paper has no noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from dpcert.proofs_checks.convergence.mocha_problem import Problem, made_problem, squared_optimum, squared_theta
from dpcert.trainers.mocha.cocoa import theta_round

from .rate import Rate, Relation

ACCURACY = 1e-4
"""epsilon_D over n."""
LONGEST = 5000


Kind = Literal["ridge", "logistic"]


@cache
def _problem(count: int, kind: Kind = "ridge") -> tuple[Problem, float]:
    """The tasks, and the least value of their dual."""
    if kind == "ridge":
        problem = made_problem(count, 5, 6, coupling=0.9, regularisation=0.05)
        return problem, squared_optimum(problem)[1]
    problem = made_problem(count, 5, 6, coupling=0.9, regularisation=0.05, loss="logistic")
    state = problem.start()
    while problem.gap(state.alpha) > 1e-3 * ACCURACY * problem.total:
        state = problem.round(state)
    return problem, problem.dual(state.alpha)


def _rounds(problem: Problem, best: float, drop: float, passes: int, seed: int) -> int:
    """Rounds to epsilon_D."""
    rng, state = np.random.default_rng(seed), problem.start()
    for h in range(LONGEST):
        if problem.dual(state.alpha) - best <= ACCURACY * problem.total:
            return h
        state = problem.round(state, rng.random(problem.tasks.count) >= drop, passes=passes)
    raise ArithmeticError(f"not there after {LONGEST} rounds")


def _worst_theta(passes: int, count: int) -> float:
    """The largest theta of a ridge node in a run in which all answer."""
    problem, best = _problem(count)
    state, worst = problem.start(), 0.0
    while problem.dual(state.alpha) - best > ACCURACY * problem.total:
        after = problem.round(state, passes=passes)
        worst = max(worst, float(squared_theta(problem, state, after).max()))
        state = after
    return worst


def _rounds_at_theta(kind: Kind, theta: float, seed: int) -> float:
    """Every node stops when its own bound says that theta is reached."""
    problem, best = _problem(6, kind)
    rng, state = np.random.default_rng(seed), problem.start()
    for h in range(LONGEST):
        if problem.dual(state.alpha) - best <= ACCURACY * problem.total:
            return float(h)
        wanted = np.full(problem.tasks.count, theta)
        state = theta_round(
            problem.tasks, problem.loss, state, problem.regularisation, wanted, problem.sigma_prime, rng
        )
    raise ArithmeticError(f"not there after {LONGEST} rounds")


def _said(problem: Problem, largest: float) -> float:
    """(6), largest: Theta. mu is 1/smoothness."""
    mu = 1 / problem.loss.smoothness
    s = mu / (mu + problem.sigma_prime * float(problem.block_norms.max()))
    return float(np.log(1 / ACCURACY)) / ((1 - largest) * s)


@dataclass(frozen=True)
class _How:
    """drop: p."""

    count: int = 6
    drop: float = 0.3
    passes: int = 3

    def measure(self, kind: Kind, seed: int) -> float:
        return float(_rounds(*_problem(self.count, kind), self.drop, self.passes, seed))

    def bound(self) -> float:
        """Of the ridge tasks."""
        return _said(_problem(self.count)[0], self.drop + (1 - self.drop) * _worst_theta(self.passes, self.count))


def _rate(
    kind: Kind,
    parameter: str,
    stated: float,
    sizes: tuple[float, ...],
    how: Callable[[float], _How],
    relation: Relation = "at most",
) -> Rate:
    return Rate(
        "MOCHA",
        "Theorem 1, (6)",
        "rounds",
        parameter,
        stated,
        sizes,
        lambda size, seed: how(size).measure(kind, seed),
        (lambda size: how(size).bound()) if kind == "ridge" else None,
        relation=relation,
        problem=kind,
    )


def _of(kind: Kind) -> list[Rate]:
    return [
        _rate(kind, "1/(1 - p)", 1.0, (1.0, 1.5, 2.5, 5.0), lambda x: _How(drop=1 - 1 / x), "is"),
        Rate(
            "MOCHA",
            "Theorem 1, (6)",
            "rounds",
            "1/(1 - Theta)",
            1.0,
            (1.25, 2.0, 4.0, 10.0),
            lambda x, seed: _rounds_at_theta(kind, 1 - 1 / x, seed),
            lambda x: _said(_problem(6, kind)[0], 1 - 1 / x),
            relation="at most",
            problem=kind,
        ),
        _rate(kind, "local passes", 0.0, (1, 2, 4, 8), lambda x: _How(passes=int(x))),
        _rate(kind, "number of tasks", 1.0, (3, 6, 12), lambda x: _How(count=int(x))),
    ]


def rates() -> list[Rate]:
    """All of MOCHA's."""
    return [*_of("ridge"), *_of("logistic")]
