"""What can be proved of Algorithm 1 in place of Theorems 3 to 7, against exact expectations at every round.

Proofs: docs/theory/convergence.md. Each bound is compared on a problem where it is tight, so that a constant moved by a
few percent is refuted, and on ridge regression with clients that differ, where it has to hold all the same. p = q/m,
K = L + lambda, c = 1 - eta K/2, no clipping; a trainer run confirms each recursion (check_against_trainer).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ....mechanisms.arrays import Floats
from ...convergence.pmtl_moments import Federation, Moments, check_against_trainer
from ...convergence.pmtl_runs import Form, Quadratic, mean_estimation, ridge_regression
from ..row import Finding, Statement, looseness, on_instances

Setting = tuple[Federation, int]
"""A federation and its number of rounds."""


def _mean(population: int, spread: float = 1.0) -> Quadratic:
    """L = mu = 1; two coordinates, independent copies of each other."""
    return mean_estimation(population, 2, spread=spread)


def _from(problem: Quadratic, form: Form, strength: float, eta: float, away: float = 0.0, **more: Any) -> Federation:
    """All models start at the clients' mean optimum plus `away`. eta: in units of 1/K."""
    step = eta / (problem.smoothness + strength)
    return Federation(problem, form, strength, step, start=problem.centres.mean(axis=0) + away, **more)


def _rough(form: Form, steps: int, cohorts: tuple[int | None, ...]) -> list[Setting]:
    """Clients that differ, noise and a start that is off: no bound is tight here."""
    return [
        (_from(ridge_regression(4, 3), form, 2.0, 0.9, away=3.0, steps=steps, cohort=cohort, sigma=0.3), 150)
        for cohort in cohorts
    ]


SETTINGS: dict[str, Callable[[], list[Setting]]] = {
    "as printed": lambda: [
        (_from(_mean(4, 0.05), "as-printed", 1.0, 1.0, sigma=0.2), 400),
        *_rough("as-printed", 1, (None,)),
    ],
    "increments, noise": lambda: [
        (_from(_mean(4, 0.05), "increments", 1.0, 1.0, cohort=3, sigma=0.2), 600),
        *_rough("increments", 1, (2,)),
    ],
    "increments, start": lambda: [
        (_from(_mean(4), "increments", 1.0, 0.02, away=20.0, cohort=2, steps=4), 2000),
        *_rough("increments", 5, (1, 2, None)),
    ],
    "reset, one step": lambda: [(_from(_mean(4), "reset", 1.0, 0.02, sigma=0.2), 4000), *_rough("reset", 1, (None,))],
    "reset, local steps": lambda: [
        (_from(_mean(4), "reset", 32.0, 0.5, steps=8, sigma=0.2), 800),
        *_rough("reset", 5, (None,)),
    ],
    "reset, start": lambda: [(_from(_mean(4), "reset", 1.0, 0.02, away=20.0, steps=2), 1500)],
    "reset, cohorts": lambda: [
        (_from(_mean(8), "reset", 32.0, 0.5, steps=8, cohort=7, sigma=0.2), 500),
        *_rough("reset", 5, (1, 2, 3)),
    ],
    "reset, noise": lambda: [
        (_from(_mean(4), "reset", 4.0, 0.5, steps=10, sigma=0.2), 400),
        *_rough("reset", 5, (None,)),
    ],
    "reset, one step, far": lambda: [(_from(_mean(4, 0.05), "reset", 1.0, 0.05, away=20.0), 100)],
    "reset, far": lambda: [(_from(_mean(4, 0.05), "reset", 1.0, 0.5, away=20.0, steps=4), 12)],
    "reset, floor": lambda: [
        (_from(_mean(8), "reset", 4.0, 0.5, steps=8, cohort=7), 200),
        *_rough("reset", 5, (1, 2, 3)),
    ],
    "increments, far": lambda: [
        (_from(_mean(4, 0.05), "increments", 1.0, 0.02, away=20.0, cohort=2), 300),
        *_rough("increments", 5, (1, 2, None)),
    ],
}
"""By name: federations on which a bound is put to the test, the first of them such that it is tight there."""


@cache
def _measured(name: str) -> tuple[tuple[Moments, float], ...]:
    """Exact moments of every federation of the setting, and how far the trainer is from them (rounding)."""
    return tuple((own.moments(rounds), check_against_trainer(own)) for own, rounds in SETTINGS[name]())


def _judged(name: str, measured: Callable[[Moments], Floats], bound: Callable[[Moments], Floats]) -> Finding:
    """Whether measured <= bound at every round of every federation, up to rounding."""
    holds, off, numbers, ratios = True, 0.0, {}, []
    for place, (moments, apart) in enumerate(_measured(name)):
        values, limits = measured(moments), bound(moments)
        ratio = values / limits
        holds = holds and bool((ratio <= 1 + 1e-9).all())
        ratios.append(ratio)
        off = max(off, apart)
        at = np.unique(np.linspace(0, len(ratio) - 1, 6).astype(int))
        numbers[f"federation {place}: measured, bound"] = [[float(values[t]), float(limits[t])] for t in at]
    every = np.concatenate(ratios)
    text = f"measured/bound between {every.min():.4f} and {every.max():.4f} over all rounds"
    return Finding(
        holds,
        text,
        numbers | {"trainer against recursion": off},
        basis=on_instances(len(_measured(name)), "recursions equal to the trainer"),
        loose=looseness(every),
    )


def _average(values: Floats) -> Floats:
    """Means over t < T, for T = 1, 2, ...; values at t = 0, ..., R."""
    return np.asarray(np.cumsum(values[:-1]) / np.arange(1, len(values)))


def stationarity(statement: Statement) -> Finding:
    """C-T6: the mean over t < T of E||grad Phi(W^t)||^2, E = 1; D = Phi(W^0) - Phi*.

    As printed (p = 1) and with increments: 2D/(p eta T) + lambda^2 m d p^2 sigma^2 (T - 1)/2.
    Reset, q = m: D/(c eta T) + eta L lambda^2 m d sigma^2/(2c).
    """
    start, noise = statement.claim["start factor"], statement.claim["noise factor"]

    def bound(moments: Moments) -> Floats:
        own = moments.federation
        (m, d), eta, horizon = own.size, own.learning_rate, np.arange(1, len(moments.seconds))
        first = start * m * moments.gaps()[0] / (own.rate * eta * horizon)
        unit = noise * own.strength**2 * m * d * own.sigma**2
        if own.form == "reset":
            smooth = own.problem.smoothness
            return np.asarray(first / own.share + unit * eta * smooth / (2 * own.share))
        return np.asarray(2 * first + unit * own.rate**2 * (horizon - 1) / 2)

    return _judged(statement.domain["setting"], lambda moments: _average(moments.gradients()), bound)


def local_stationarity(statement: Statement) -> Finding:
    """C-T6-E: (9)'s left-hand side, the mean over rounds, clients and local steps of E||grad f_k(v_k^j; w~^t)||^2.

    At most (F(W^0) - F*)/(c p eta R E) + lambda/(2 c p eta E) (1/R) sum_{t < R} E||e_t||^2 after R rounds. E||e_t||^2
    is d sigma^2 (t >= 1) for the reset form with q = m, and is taken from the run otherwise.
    """
    start, noise = statement.claim["start factor"], statement.claim["noise factor"]

    def bound(moments: Moments) -> Floats:
        own, rounds = moments.federation, np.arange(1, len(moments.seconds))
        unit = 1 / (own.share * own.rate * own.learning_rate * own.steps)
        errors = moments.errors()
        if own.form == "reset" and own.cohort is None:
            errors = np.where(np.arange(len(errors)) > 0, own.size[1] * own.sigma**2, 0.0)
        first = start * moments.gaps()[0] * unit / rounds
        return np.asarray(first + noise * own.strength / 2 * unit * _average(errors))

    def measured(moments: Moments) -> Floats:
        return _average(moments.local_gradients()) / moments.federation.steps

    return _judged(statement.domain["setting"], measured, bound)


def gap(statement: Statement) -> Finding:
    """C-T7, reset, q = m, E = 1: (1 - 2 c eta mu)^t (F(W^0) - F*) + eta L lambda^2 d sigma^2/(4 c mu)."""
    rate, noise = statement.claim["rate factor"], statement.claim["noise factor"]

    def bound(moments: Moments) -> Floats:
        own, at = moments.federation, np.arange(len(moments.seconds))
        eta, mu, smooth = own.learning_rate, own.problem.strong_convexity, own.problem.smoothness
        floor = eta * smooth * own.strength**2 * own.size[1] * own.sigma**2 / (4 * own.share * mu)
        shrink = (1 - rate * 2 * own.share * eta * mu) ** at
        return np.asarray(shrink * moments.gaps()[0] + noise * floor)

    return _judged(statement.domain["setting"], lambda moments: moments.gaps(), bound)


def distance(statement: Statement) -> Finding:
    """C-T7-E: (1/m) sum_k E||w_k^t - w_k*||^2 <= x_t^2, by the recursion of docs/theory/convergence.md."""
    told = (statement.claim["rate factor"], statement.claim["noise factor"], statement.claim["cohort factor"])

    def measured(moments: Moments) -> Floats:
        return moments.distances()

    return _judged(statement.domain["setting"], measured, lambda moments: distance_bound(moments, *told))


def distance_bound(moments: Moments, rate: float = 1.0, noise: float = 1.0, cohorts: float = 1.0) -> Floats:
    """x_t^2 for every t. rate, noise, cohorts: factors of b, of sigma^2 and of the clients' spread S^2.

    z = (1 - b) x + b rho y and x'^2 = (1 - p) x^2 + p z^2, where b = 1 - (1 - eta (mu + lambda))^E, rho = lambda/(mu +
    lambda). Reset: y'^2 = z^2 + kappa S^2/(1 - kappa) + d sigma^2, or (z + S)^2 + d sigma^2 for q = 1, with S^2 the
    variance of the w_k* over clients and kappa = (m - q)/(q (m - 1)). Increments, and as printed with q = m:
    y' = x' + p sigma sqrt(d (t + 1)).
    """
    own = moments.federation
    (m, d), p, best = own.size, own.rate, own.problem.optimum(own.strength)
    convex = own.problem.strong_convexity + own.strength
    b, rho = rate * (1 - (1 - own.learning_rate * convex) ** own.steps), own.strength / convex
    spread = cohorts * float(((best - best.mean(axis=0)) ** 2).sum(axis=1).mean())
    kappa = (m - own.taking_part) / (own.taking_part * (m - 1))
    x = math.sqrt(float(moments.distances()[0]))
    y = float(np.linalg.norm(own.initial[:d] - best.mean(axis=0)))
    found = [x * x]
    for t in range(1, len(moments.seconds)):
        z = (1 - b) * x + b * rho * y
        x = math.sqrt((1 - p) * x * x + p * z * z)
        if own.form == "reset":
            drawn = z * z + kappa * spread / (1 - kappa) if kappa < 1 else (z + math.sqrt(spread)) ** 2
            y = math.sqrt(drawn + noise * d * own.sigma**2)
        else:
            y = x + p * own.sigma * math.sqrt(noise * d * t)
        found.append(x * x)
    return np.array(found)
