"""Theorem 1: linear convergence for smooth losses, with s = mu / (mu + sigma' max_t sigma_t) (docs/theory/mocha.md).

The proof bounds the expectation of one round given the past. With m nodes that drop independently it is a sum over
2^m outcomes, so that it is computed and not estimated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ....mechanisms.arrays import Floats
from ....trainers.mocha.mocha import State
from ...convergence.exponents import Exponent, fitted_exponent
from ...convergence.mocha_problem import (
    Problem,
    confirm_rounds,
    lone_sample,
    made_problem,
    part_way,
    squared_optimum,
    squared_theta,
    tight_problem,
)
from ..measured import by_exponent
from ..row import Finding, Statement, of_a_bound, on_instances, resting_on

ROUNDS, SEEDS = 80, 6


def constant(problem: Problem) -> float:
    """s, for the squared loss: mu = 1."""
    return 1.0 / (1.0 + problem.sigma_prime * float(problem.block_norms.max()))


def expected_dual(problem: Problem, state: State, full: State, drop: float) -> float:
    """E[D after the round | the past], every node dropping independently with probability `drop`."""
    change, total = full.alpha - state.alpha, 0.0
    for answers in product((0.0, 1.0), repeat=problem.tasks.count):
        mask = np.array(answers)
        weight = float(np.prod(np.where(mask > 0, 1 - drop, drop)))
        if weight > 0:
            total += weight * problem.dual(state.alpha + mask[:, None] * change)
    return total


def _along_a_run(problem: Problem, drop: float, share: float = 1.0) -> dict[str, Floats]:
    """D - D*, its expectation after the round, the duality gap and the largest theta, for every round of one run.

    share: of their updates that the nodes send; (1 - share)^2 of theta is left where (4) is solved exactly.
    """
    rng = np.random.default_rng(1)
    _, best = squared_optimum(problem)
    state, rows = problem.start(), []
    for _ in range(ROUNDS):
        excess = problem.dual(state.alpha) - best
        if excess < 1e-10:
            break
        full = part_way(state, problem.round(state), share)
        theta = float(squared_theta(problem, state, full).max())
        rows.append((excess, expected_dual(problem, state, full, drop) - best, problem.gap(state.alpha), theta))
        answering: NDArray[np.bool_] = rng.random(problem.tasks.count) >= drop
        state = part_way(state, problem.round(state, answering), share)
    columns = np.array(rows).T
    return dict(zip(("excess", "expected", "gap", "theta"), columns, strict=True))


@cache
def _runs(labels: float) -> tuple[tuple[Problem, float, dict[str, Floats]], ...]:
    """(problem, drop probability, run) of `linear_rate`, which puts several constants to the same runs."""
    made, tight = made_problem(4, 5, 6, labels=labels, coupling=0.9), tight_problem(labels)
    cases = (
        *((problem, drop, 1.0) for problem in (made, tight) for drop in (0.0, 0.3, 0.7)),
        (tight_problem(labels, 0.9995), 0.0, 0.04),
    )
    return tuple((problem, drop, _along_a_run(problem, drop, share)) for problem, drop, share in cases)


def linear_rate(statement: Statement) -> Finding:
    """E[excess after a round | past] <= (1 - (1 - Theta) s) excess, at every round: n exp(-(1 - Theta) s H) after H.

    The second follows from the first and D(0) - D* <= n; at H = 0 it is checked on its own, since (6) lets H be 0
    as soon as epsilon_D >= n.
    """
    confirm_rounds()
    runs = _runs(statement.domain["labels"])
    factor, worst, margin = statement.claim["s over mu/(mu + sigma' sigma_max)"], 0.0, math.inf
    for problem, drop, run in runs:
        worst_theta = drop + (1 - drop) * float(run["theta"].max())
        speed = (1 - worst_theta) * min(1.0, factor * constant(problem))
        worst = max(worst, float((run["expected"] / ((1 - speed) * run["excess"])).max()))
        margin = min(margin, problem.total / float(run["excess"][0]))
    numbers = {"largest expected excess over bound": worst, "n / (D(0) - D*)": margin}
    basis = on_instances(len(runs), "trainer runs")
    if margin < 1:
        text = f"at H = 0, epsilon_D = n: D(0) - D* is {1 / margin:.3g} n"
        return Finding(False, text, numbers, dict(numbers), basis=basis)
    text = f"E[D - D*] after each round is at most {worst:.6f} times its bound; D(0) - D* <= n / {margin:.3g}"
    return Finding(worst <= 1, text, numbers, basis=basis)


@resting_on(on_instances(3, "trainer runs"))
def gap_bound(statement: Statement) -> Finding:
    """gap <= factor (D - E[D after the round | past]) / ((1 - Theta) s) at every round; one sample attains it."""
    confirm_rounds()
    shares = _gap_over_bound()
    worst = max(shares)
    text = f"the gap is at most {worst:.3f} times the bound"
    holds = worst <= statement.claim["factor"] * (1 + 1e-12)
    return of_a_bound(holds, text, {"largest gap over bound": worst}, shares)


@cache
def _gap_over_bound() -> tuple[float, ...]:
    """Of every round of the runs."""
    shares, made = [], made_problem(4, 5, 6, coupling=0.9)
    for problem, drop in ((made, 0.0), (made, 0.5), (lone_sample("squared", 4.0), 0.5)):
        run = _along_a_run(problem, drop)
        worst_theta = drop + (1 - drop) * float(run["theta"].max())
        bound = (run["excess"] - run["expected"]) / ((1 - worst_theta) * constant(problem))
        shares += (run["gap"] / bound).tolist()
    return tuple(shares)


def _rounds_to(problem: Problem, drop: float, targets: Floats, runs: int) -> Floats:
    """(2, runs, targets): rounds until D - D*, and the duality gap, <= target, of seeded runs."""
    _, best = squared_optimum(problem)
    counts = np.zeros((2, runs, len(targets)))
    for run in range(runs):
        rng, state, h = np.random.default_rng(100 + run), problem.start(), 0
        reached = np.zeros((2, len(targets)), dtype=bool)
        while not reached.all():
            values = np.array([problem.dual(state.alpha) - best, problem.gap(state.alpha)])
            newly = (values[:, None] <= targets) & ~reached
            counts[:, run][newly] = h
            reached |= newly
            state = problem.round(state, rng.random(problem.tasks.count) >= drop, passes=3)
            h += 1
    return counts


@cache
def _measured_in_drops() -> tuple[Exponent, list[float]]:
    problem = made_problem(6, 5, 6, coupling=0.9, regularisation=0.05)
    drops = np.array([0.0, 0.2, 0.4, 0.6, 0.7, 0.8])
    counts = [_rounds_to(problem, p, np.array([1e-3]), 1 if p == 0 else SEEDS)[0, :, 0] for p in drops]
    rounds = np.stack(np.broadcast_arrays(*counts), axis=1)
    return fitted_exponent(1 / (1 - drops), rounds), rounds.mean(axis=0).tolist()


@cache
def _measured_in_accuracy() -> dict[str, tuple[Exponent, list[float]]]:
    problem = made_problem(6, 5, 6, coupling=0.9, regularisation=0.05)
    logs = np.arange(14.0, 35.0, 2.0)
    both = _rounds_to(problem, 0.3, problem.total * np.exp(-logs), 2 * SEEDS)
    return {
        of: (fitted_exponent(logs[1:] - logs[0], rounds[:, 1:] - rounds[:, :1]), rounds.mean(axis=0).tolist())
        for of, rounds in zip(("D - D*", "gap"), both, strict=True)
    }


@cache
def _measured_in_s() -> tuple[Exponent, list[float]]:
    """Rounds in which D - D* shrinks from e^-4 to e^-8 of its start, interpolated, for tasks with nearly one model."""
    inverse, rounds = [], []
    for regularisation in (0.1, 0.05, 0.025, 0.0125, 0.00625):
        problem = tight_problem(1.0, 0.99995, regularisation)
        _, best = squared_optimum(problem)
        state, logs = problem.start(), [0.0]
        first = problem.dual(state.alpha) - best
        while logs[-1] < 8:
            state = problem.round(state, passes=1)
            logs.append(-math.log((problem.dual(state.alpha) - best) / first))
        inverse.append(1 / constant(problem))
        rounds.append(float(np.diff(np.interp([4.0, 8.0], logs, np.arange(len(logs))))[0]))
    return fitted_exponent(inverse, rounds), rounds


MEASURED: dict[str, tuple[str, Callable[[], tuple[Exponent, list[float]]], int, float]] = {
    "drops": ("rounds grow as (1 / (1 - p))", _measured_in_drops, 6, 0.0),
    "D - D*": ("rounds grow as log(1/epsilon)", lambda: _measured_in_accuracy()["D - D*"], 11, 0.02),
    "gap": ("rounds grow as log(1/epsilon)", lambda: _measured_in_accuracy()["gap"], 11, 0.02),
    "s": ("rounds grow as (1/s)", _measured_in_s, 5, 0.02),
}
"""By domain.of: what is fitted, the fit and its rounds, at how many sizes, and what is left to what is no power law."""


def exponent(statement: Statement) -> Finding:
    """Rounds to a fixed accuracy, from a first accuracy to epsilon, or for the same progress, fitted as a power."""
    confirm_rounds()
    what, measured, sizes, slack = MEASURED[statement.domain["of"]]
    fit, rounds = measured()
    return by_exponent(fit, statement, what, on_instances(sizes, "trainer runs"), {"rounds": rounds}, slack)


S = "s over mu/(mu + sigma' sigma_max)"
