"""Theorems 6 and 7 and the remark on neighbourhoods, as printed, against runs of the trainer.

What can be proved in their place: corrected.py.
"""

from __future__ import annotations

import numpy as np

from ....mechanisms.arrays import Floats
from ...convergence.pmtl_moments import Federation, check_against_trainer
from ...convergence.pmtl_runs import Path, mean_estimation, run
from ..row import Finding, Statement, on_instances, resting_on


@resting_on(on_instances(1, "trainer runs"))
def halves_every_step(statement: Statement) -> Finding:
    """F(W^t) - F* against rate^t (F(W^0) - F*) at every step; m = q = 10, L = mu = 1, lambda = .1, sigma = 0."""
    problem = mean_estimation(10, 3)
    printed = statement.claim["step size"] == "cp/(Lp^2 + lambda p^2 - 2 lambda)"
    eta = 2.270 / 0.9 if printed else 1 / 1.1
    rate = 0.5 if printed else 1 - eta * 1.0
    rounds = statement.domain["T"]
    path = run(problem, "as-printed", strength=0.1, learning_rate=eta, rounds=rounds)
    gaps = path.gaps()
    bound = rate ** np.arange(rounds + 1) * gaps[0]
    excess = gaps - bound * (1 + 1e-9) - 1e-15
    numbers = {"eta": eta, "2/(L + lambda)": 2 / 1.1, "F - F*": _some(gaps), "bound": _some(bound)}
    text = f"eta = {eta:.4f}: F - F* from {gaps[0]:.3g} to {gaps[-1]:.3g} in {rounds} steps, bound {bound[-1]:.3g}"
    return Finding(bool((excess <= 0).all()), text, numbers)


def _some(values: Floats) -> list[float]:
    places = np.unique(np.linspace(0, len(values) - 1, 6).astype(int))
    return [float(values[place]) for place in places]


@resting_on(on_instances(1, "trainer runs"))
def neighbourhood(statement: Statement) -> Finding:
    """F(W^T) and F(W^T) - F* for the paper's mean estimation example: which of them stays away from 0 (sigma = 0)."""
    problem = mean_estimation(10, 1, 2.0)
    path = run(problem, "as-printed", strength=2.0, learning_rate=0.2, rounds=120)
    value, gap = problem.objective(path.models[-1], 2.0), float(path.gaps()[-1])
    numbers = {"F(W^T)": value, "F(W^T) - F*": gap}
    stays = gap if statement.claim["stays above 0"] == "F - F*" else value
    return Finding(stays > 1e-3, f"F(W^T) = {value:.4g}, F(W^T) - F* = {gap:.2g} after 120 steps", numbers)


@resting_on(on_instances(1, "trainer runs"))
def bound_29(statement: Statement) -> Finding:
    """The left-hand side of (29) (from below) against (70) and (71) with their explicit constants; m = 10, sigma = 0.

    Five rounds of E local steps at the theorem's eta. Between rounds a client that was not selected keeps its gradient:
    only whose are counted on the left, for whom E steps count.
    """
    population, cohort, steps = 10, statement.domain["q"], statement.domain["E"]
    problem = mean_estimation(population, 1)
    p = cohort / population
    eta = 1 / (p + (p + 1 / p))
    chosen = None if cohort == population else cohort
    check_against_trainer(Federation(problem, "as-printed", 1.0, eta, steps, cohort=chosen))
    path = run(
        problem,
        "as-printed",
        strength=1.0,
        learning_rate=eta,
        rounds=5,
        local_steps=steps,
        cohort=chosen,
        seed=2,
        start=np.array([3.0]),
    )
    left = _idle_gradients(path) / (population * 5) + _first_steps(path) / (population * 5 * steps)
    k, extra = 2 + 1 / p**2, (1 / p**2) / (steps * (2 + 2 / p**2))
    start = float(path.values()[0].sum())  # f_k* = 0: w = w~ = x_k
    largest = path.values().max(axis=1)[1:]
    right = 2 * (2 * k + extra) * start + 2 * 4 * population / p**2 * float(largest.sum())
    right /= population * 5 * steps
    text = f"q = {cohort}, E = {steps}: left-hand side at least {left:.4g}, right-hand side {right:.4g}"
    return Finding(left <= right, text, {"left": left, "right": right, "eta": eta})


def _idle_gradients(path: Path) -> float:
    """Sum over rounds of ||grad f_k(w_k; w~)||^2 for the clients that did not move in the round."""
    total = 0.0
    for before, after, centre in zip(path.models[:-1], path.models[1:], path.shared[:-1], strict=True):
        idle = np.abs(after - before).max(axis=1) == 0
        gradients = path.problem.hessians[:, 0, 0] * (before - path.problem.centres)[:, 0]
        gradients = gradients + path.strength * (before - centre)[:, 0]
        total += float((gradients[idle] ** 2).sum())
    return total


def _first_steps(path: Path) -> float:
    """Sum over rounds of the moving clients' squared gradients at the round's first local step."""
    return float(path.broadcast_gradients()[:-1].sum()) - _idle_gradients(path)
