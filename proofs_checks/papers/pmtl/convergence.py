"""Theorems 3 to 7 against runs: bounds with explicit constants at every round, and fitted rates.

Proofs of the corrected theorems C-T6 and C-T7: docs/theory/convergence.md. q = m, E = 1 and no clipping unless said.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy import stats

from ..rates import fitted_exponent
from ..row import Finding, Statement
from .runs import Array, Form, Path, run
from .theorem1 import largest_shift

CHANCE = 1e-3
"""Of a finding from noisy runs being false: the runs' means are compared with a t-interval at this level."""


def _problem(population: int = 6, dimension: int = 80, curvature: float = 0.5, spread: float = 1.0) -> Any:
    from ....trainers.data.known import mean_estimation

    return mean_estimation(population=population, dimension=dimension, curvature=curvature, spread=spread, seed=1)


# Step sizes and rates


def halves_every_step(statement: Statement) -> Finding:
    """F(W^t) - F* against rate^t (F(W^0) - F*) at every step; m = q = 10, L = mu = 1, lambda = .1, sigma = 0."""
    problem = _problem(10, 3, 1.0)
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


def _some(values: Array) -> list[float]:
    places = np.unique(np.linspace(0, len(values) - 1, 6).astype(int))
    return [float(values[place]) for place in places]


def neighbourhood(statement: Statement) -> Finding:
    """F(W^T) and F(W^T) - F* for the paper's mean estimation example: which of them stays away from 0 (sigma = 0)."""
    problem = _problem(10, 1, 2.0)
    path = run(problem, "as-printed", strength=2.0, learning_rate=0.2, rounds=120)
    value, gap = problem.objective(path.models[-1], 2.0), float(path.gaps()[-1])
    numbers = {"F(W^T)": value, "F(W^T) - F*": gap}
    stays = gap if statement.claim["stays above 0"] == "F - F*" else value
    return Finding(stays > 1e-3, f"F(W^T) = {value:.4g}, F(W^T) - F* = {gap:.2g} after 120 steps", numbers)


# The corrected theorems


@dataclass(frozen=True)
class _Setting:
    """mean_estimation with L = mu = 1 and lambda = 1, 150 coordinates that are independent copies; four runs.

    offset: how far from the optimum's mean the clients start.
    """

    form: Form
    learning_rate: float
    population: int = 4
    offset: float = 0.0
    dimension: int = 150
    strength: float = 1.0
    sigma: float = 0.2
    rounds: int = 80

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        problem = _problem(self.population, self.dimension, 1.0, spread=0.05)
        return tuple(
            run(
                problem,
                self.form,
                strength=self.strength,
                learning_rate=self.learning_rate,
                rounds=self.rounds,
                noise_std=self.sigma,
                seed=seed,
                start=problem.centres.mean(axis=0) + self.offset,
            )
            for seed in (1, 2, 3, 4)
        )


PRINTED, RESET, FAR = _Setting("as-printed", 0.5), _Setting("reset", 0.05), _Setting("reset", 0.05, offset=20.0)


def gradient_bound(statement: Statement) -> Finding:
    """C-T6: the mean over t < T of ||grad (mF)(W^t)||^2 against its bound, for every T.

    As printed, eta <= 1/K, K = L + lambda: 2 D/(eta T) + factor lambda^2 m d sigma^2 (T - 1)/2, D = m (F(W^0) - F*).
    Reset, eta < 2/K, c = 1 - eta K/2: D/(c eta T) + factor eta L lambda^2 m d sigma^2/(2c).
    """
    setting = PRINTED if statement.claim["line 8"] == "as-printed" else RESET
    squares = np.concatenate([path.gradients()[:-1].T for path in setting.paths])
    horizon = np.arange(1, setting.rounds + 1)
    means = np.cumsum(squares, axis=1) / horizon
    start = float(_gaps(setting)[:, 0].mean())
    noise = statement.claim["noise factor"] * setting.strength**2 * setting.population * setting.sigma**2
    eta = setting.learning_rate
    if setting.form == "as-printed":
        return _judged(means, 2 * start / (eta * horizon) + noise * (horizon - 1) / 2)
    share = 1 - eta * (1 + setting.strength) / 2
    return _judged(means, start / (share * eta * horizon) + noise * eta / (2 * share))


def gap_bound(statement: Statement) -> Finding:
    """C-T7, reset form: m (F(W^t) - F*) against r^t m (F(W^0) - F*) + factor eta L lambda^2 m d sigma^2/(4 mu c).

    r = 1 - rate_factor 2 eta mu c, c = 1 - eta (L + lambda)/2, for every t.
    """
    setting = RESET if statement.domain["start"] == "near" else FAR
    gaps, eta = _gaps(setting), RESET.learning_rate
    share = 1 - eta * (1 + RESET.strength) / 2
    rate = 1 - statement.claim["rate factor"] * 2 * eta * share
    floor = statement.claim["noise factor"] * eta * RESET.strength**2 * RESET.population * RESET.sigma**2 / (4 * share)
    return _judged(gaps, rate ** np.arange(gaps.shape[1]) * gaps[:, 0].mean() + floor)


def _gaps(setting: _Setting) -> Array:
    """(runs d, T + 1): m (F(W^t) - F*) by coordinate, the quadratic form of W^t - W*."""
    found = []
    for path in setting.paths:
        off = path.models - path.problem.optimum(setting.strength)
        spread = off - off.mean(axis=1, keepdims=True)
        found.append(((off**2 + setting.strength * spread**2).sum(axis=1) / 2).T)
    return np.concatenate(found)


def _judged(measured: Array, bound: Array) -> Finding:
    """measured: (copies, T), bound: (T,), both per copy. Fails where the mean exceeds the bound by more than chance.

    One-sided t-intervals over the copies, CHANCE spread over the T comparisons: a true bound fails with probability
    CHANCE at most (up to the normal approximation for more than a thousand copies).
    """
    reach = stats.t.isf(CHANCE / len(bound), len(measured) - 1) * measured.std(axis=0, ddof=1)
    reach = reach / math.sqrt(len(measured))
    mean = measured.mean(axis=0)
    ratio = mean / bound
    numbers = {"measured": _some(mean), "bound": _some(bound), "half-width": _some(reach)}
    over = float(((mean - bound * (1 + 1e-9)) / np.maximum(reach, 1e-300)).max())
    text = f"measured/bound between {ratio.min():.3f} and {ratio.max():.3f} over the run, {ratio[-1]:.3f} at its end; "
    text += f"exceeded by {over:.2f} times what chance allows" if over > 0 else "never exceeded"
    holds = over <= 1
    return Finding(holds, text, numbers, error_probability=CHANCE)


def bound_29(statement: Statement) -> Finding:
    """The left-hand side of (29) (from below) against (70) and (71) with their explicit constants; m = 10, sigma = 0.

    Five rounds of E local steps at the theorem's eta. Between rounds a client that was not selected keeps its gradient:
    only whose are counted on the left, for whom E steps count.
    """
    population, cohort, steps = 10, statement.domain["q"], statement.domain["E"]
    problem = _problem(population, 1, 1.0)
    p = cohort / population
    eta = 1 / (p + (p + 1 / p))
    path = run(
        problem,
        "as-printed",
        strength=1.0,
        learning_rate=eta,
        rounds=5,
        local_steps=steps,
        cohort=None if cohort == population else cohort,
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


# Fitted rates


def noise_rate(statement: Statement) -> Finding:
    """The exponent of one parameter in the stationary (1/m) sum_k ||grad f_k(w_k; w~)||^2, reset form.

    For m and epsilon, sigma is that of C-T1 for the run's rounds (T proportional to m for "m, T ~ m").
    """
    parameter, exponent = statement.claim["parameter"], statement.claim["exponent"]
    sizes, floors = _floors(parameter)
    found = fitted_exponent(sizes, floors, alpha=0.01)
    numbers = {parameter: list(sizes), "measured": list(floors), "interval": [found.low, found.high]}
    text = f"noise term ~ {parameter}^{found.value:.3f} (99% interval [{found.low:.3f}, {found.high:.3f}])"
    text += f", stated {exponent:g}"
    return Finding(found.agrees_with(exponent, slack=0.05), text, numbers, error_probability=0.01)


@cache
def _floors(parameter: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    measure: dict[str, tuple[Callable[[float], float], tuple[float, ...]]] = {
        "sigma": (lambda x: _floor(sigma=x), (0.05, 0.1, 0.2, 0.4, 0.8)),
        "lambda": (lambda x: _floor(strength=x), (16.0, 32.0, 64.0, 128.0, 256.0)),
        "d": (lambda x: _floor(dimension=int(x), rounds=240), (20.0, 40.0, 80.0, 160.0)),
        "m at fixed sigma": (lambda x: _floor(population=int(x)), (4.0, 6.0, 9.0, 14.0, 20.0)),
        "m, T ~ m": (_floor_of_clients, (4.0, 6.0, 9.0, 14.0, 20.0)),
        "epsilon": (_floor_of_epsilon, (0.25, 0.5, 1.0, 2.0)),
        "E": (lambda x: _floor(steps=int(x)), (4.0, 8.0, 16.0, 32.0, 64.0)),
    }
    function, sizes = measure[parameter]
    return sizes, tuple(function(size) for size in sizes)


def _floor(
    *,
    population: int = 6,
    dimension: int = 80,
    strength: float = 1.0,
    sigma: float = 0.2,
    steps: int = 1,
    rounds: int = 60,
) -> float:
    """The mean over local steps of the last half of a run, started at the optimum's mean."""
    problem = _problem(population, dimension, 1.0)
    eta = 0.5 / (1 + strength)
    start = problem.centres.mean(axis=0)
    path = run(
        problem,
        "reset",
        strength=strength,
        learning_rate=eta,
        rounds=rounds,
        local_steps=steps,
        noise_std=sigma,
        seed=population + steps,
        start=start,
    )
    quiet = run(problem, "reset", strength=strength, learning_rate=eta, rounds=rounds, local_steps=steps, start=start)
    shrink = (1 - eta * (1 + strength)) ** (2 * np.arange(steps))
    noisy, still = (p.broadcast_gradients()[rounds // 2 : -1].sum(axis=1).mean() for p in (path, quiet))
    return float((noisy - still) * shrink.mean() / population)


def _floor_of_clients(clients: float) -> float:
    rounds = 10 * int(clients)
    sigma = 2 * 1.0 * math.sqrt(rounds) / (clients * largest_shift(1.0, 1e-5))
    return _floor(population=int(clients), sigma=sigma, rounds=rounds)


def _floor_of_epsilon(epsilon: float) -> float:
    return _floor(sigma=4 * 0.1 * math.sqrt(60 * math.log(1e5)) / (epsilon * 6))


def start_rate(statement: Statement) -> Finding:
    """The exponent of T in (1/T) sum of squared gradients without noise: the O(1/T) of (9) and (29)."""
    problem, longest = _problem(6, 3, 1.0), 1600
    path = run(problem, "as-printed", strength=1.0, learning_rate=0.5, rounds=longest, start=np.full(3, 4.0))
    sums = np.cumsum(path.gradients()[:-1].sum(axis=1))
    sizes = [100, 200, 400, 800, 1600]
    found = fitted_exponent(sizes, [sums[t - 1] / t for t in sizes])
    exponent = statement.claim["exponent of T"]
    text = f"mean squared gradient ~ T^{found.value:.4f}, stated {exponent:g}"
    return Finding(found.agrees_with(exponent, slack=0.01), text, {"T": sizes, "exponent": found.value})
