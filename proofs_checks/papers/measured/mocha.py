"""MOCHA's rates: how many rounds Theorem 1's (6) needs, and how many the trainer does, over seeds of drops and orders.

Six coupled ridge tasks (mocha/problem.py), of which the dual optimum is known. The bound is (6) itself, with
Theta = p + (1 - p) theta and s = mu/(mu + sigma' sigma_max); the paper has no noise.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from ....trainers.mocha.cocoa import theta_round
from ..mocha.problem import Problem, made_problem, squared_optimum, squared_theta
from ..mocha.theorem_1 import constant
from .rate import Rate, Relation

ACCURACY = 1e-4
"""epsilon_D over n."""
LONGEST = 5000


@cache
def _problem(count: int) -> tuple[Problem, float]:
    problem = made_problem(count, 5, 6, coupling=0.9, regularisation=0.05)
    return problem, squared_optimum(problem)[1]


def _rounds(problem: Problem, best: float, drop: float, passes: int, seed: int) -> tuple[int, float]:
    """Rounds to epsilon_D, and the largest theta of a node that answered."""
    rng, state, worst = np.random.default_rng(seed), problem.start(), 0.0
    for h in range(LONGEST):
        if problem.dual(state.alpha) - best <= ACCURACY * problem.total:
            return h, worst
        worst = max(worst, float(squared_theta(problem, state, problem.round(state, passes=passes)).max()))
        state = problem.round(state, rng.random(problem.tasks.count) >= drop, passes=passes)
    raise ArithmeticError(f"not there after {LONGEST} rounds")


def _rounds_at_theta(theta: float, seed: int) -> float:
    """Every node stops when its own bound says that theta is reached."""
    problem, best = _problem(6)
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
    """(6), largest: Theta."""
    return float(np.log(1 / ACCURACY)) / ((1 - largest) * constant(problem))


def _drops(inverse: float, seed: int) -> float:
    return float(_rounds(*_problem(6), 1 - 1 / inverse, 3, seed)[0])


def _drops_bound(inverse: float) -> float:
    problem, best = _problem(6)
    worst = _rounds(problem, best, 0.0, 3, 0)[1]
    drop = 1 - 1 / inverse
    return _said(problem, drop + (1 - drop) * worst)


def _tasks(count: float, seed: int) -> float:
    return float(_rounds(*_problem(int(count)), 0.3, 3, seed)[0])


def _tasks_bound(count: float) -> float:
    problem, best = _problem(int(count))
    return _said(problem, 0.3 + 0.7 * _rounds(problem, best, 0.0, 3, 0)[1])


def _passes(passes: float, seed: int) -> float:
    return float(_rounds(*_problem(6), 0.3, int(passes), seed)[0])


def _passes_bound(passes: float) -> float:
    problem, best = _problem(6)
    return _said(problem, 0.3 + 0.7 * _rounds(problem, best, 0.0, int(passes), 0)[1])


def _rate(
    parameter: str,
    stated: float,
    sizes: tuple[float, ...],
    measure: Callable[[float, int], float],
    bound: Callable[[float], float],
    relation: Relation = "at most",
) -> Rate:
    return Rate(
        "MOCHA",
        "Theorem 1, (6)",
        "rounds",
        parameter,
        stated,
        sizes,
        measure,
        bound,
        relation=relation,
        problem="ridge",
    )


def rates() -> list[Rate]:
    """All of MOCHA's."""
    return [
        _rate("1/(1 - p)", 1.0, (1.0, 1.5, 2.5, 5.0), _drops, _drops_bound, "is"),
        _rate(
            "1/(1 - Theta)",
            1.0,
            (1.25, 2.0, 4.0, 10.0),
            lambda x, seed: _rounds_at_theta(1 - 1 / x, seed),
            lambda x: _said(_problem(6)[0], 1 - 1 / x),
        ),
        _rate("local passes", 0.0, (1, 2, 4, 8), _passes, _passes_bound),
        _rate("number of tasks", 1.0, (3, 6, 12), _tasks, _tasks_bound),
    ]
