"""Measured rates of Algorithm 1 on quadratic clients, where everything is a power law, beside the theorems' exponents.

An upper bound is not refuted by a smaller measured exponent: such a row says "no faster than". Every size is also run
by the trainer, and the recursion behind the means is compared with it (convergence/dpfedmtl_trainer.py).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import islice

import numpy as np

from ....accounting.currencies.gdp import gdp_epsilon
from ....mechanisms.arrays import Floats
from ...convergence.dpfedmtl_recursion import Family, Step, quadratic_means, runs
from ...convergence.dpfedmtl_trainer import unlike_the_trainer
from ...convergence.exponents import Exponent, fitted_exponent
from ..measured import by_exponent
from ..row import Finding, Statement, on_instances
from .settings import DELTA

SEEDS, RUNS = 8, 50
CLIENTS = (8, 16, 32, 64)
BASE = {"M": 4, "d": 2, "S sigma": 0.1, "K": 1, "H": 1}
SIZES: dict[str, tuple[float, ...]] = {
    "M": (4, 8, 16, 32),
    "d": (1, 2, 4, 8, 16),
    "S sigma": (0.01, 0.03, 0.1, 0.3),
    "K": (1, 2, 4, 8),
    "H": (1, 2, 4, 8),
    "1/epsilon": (1, 2, 4, 8),
    "1/epsilon, certified": (1, 2, 4, 8),
}
SENSITIVITY, PAID_ROUNDS = 1e-3, 100
"""S; the rounds with one client seen to take part in each, sqrt(T)/sigma-GDP together."""


def _setting(name: str, size: float) -> tuple[Family, Step]:
    """lambda = 2, so that eta = 1/(2L)."""
    base = BASE | ({"M": 8} if name == "K" else {}) | ({"M": 8, "K": 2} if name == "H" else {})
    if name == "1/epsilon":
        chosen = base | {"S sigma": SENSITIVITY * size * float(np.sqrt(2 * np.log(1.25 / DELTA)))}
    elif name == "1/epsilon, certified":
        chosen = base | {"S sigma": SENSITIVITY * np.sqrt(PAID_ROUNDS) / _largest_mu(1 / size)}
    else:
        chosen = base | {name: size}
    family = Family("quadratic", 1.0, int(chosen["M"]), int(chosen["d"]))
    return family, Step(0.5, float(chosen["S sigma"]), int(chosen["K"]), int(chosen["H"]))


def _largest_mu(epsilon: float) -> float:
    """The largest mu that costs at most `epsilon` at DELTA, by bisection that ends on the safe side."""
    low, high = 0.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if gdp_epsilon(middle, DELTA).upper <= epsilon else (low, middle)
    return low


def _radius(family: Family, how: Step, seed: int) -> float:
    """E f - f* in the stationary state: shared part only, the heads start optimal."""
    values = []
    for _, shared in islice(runs(family, how, RUNS, 0.0, seed), 15, 75):
        values.append(float((shared**2).sum(axis=1).mean()) / 2)
    return float(np.mean(values))


@cache
def _measured_radius(name: str) -> tuple[Exponent, tuple[tuple[float, ...], ...], str]:
    """The fit, the radii, and why the recursion is not the trainer's (empty)."""
    settings = [_setting(name, size) for size in SIZES[name]]
    radii = [[_radius(family, how, seed) for family, how in settings] for seed in range(SEEDS)]
    unlike = unlike_the_trainer((family, how, 0.5) for family, how in settings)
    return fitted_exponent(SIZES[name], radii), tuple(map(tuple, radii)), unlike


def radius_exponent(statement: Statement) -> Finding:
    """The stationary E f - f* as a power of M, d, S sigma, K, H or 1/epsilon, four seeds a size."""
    name = statement.domain["in"]
    fit, radii, unlike = _measured_radius(name)
    return _compare(fit, unlike, statement, f"the radius grows as ({name})", {"radii": list(radii)}, SEEDS * RUNS)


def _reached(family: Family, how: Step, targets: Floats) -> Floats:
    """When E f, exactly, has come down to these shares of f(w^0); between two rounds, on the line of its logarithm."""
    values = quadratic_means(family, how, 1.0, 60 * family.clients)[0]
    return np.interp(-np.log(targets), -np.log(values / values[0]), np.arange(len(values)))


@cache
def _measured_time() -> tuple[Exponent, str]:
    """Rounds until E f <= 1e-3 f(w^0) without noise, eta = 1/(2L), one client a round: f(w^0) is in the heads."""
    how, families = Step(0.5), [Family("quadratic", 1.0, clients) for clients in CLIENTS]
    rounds = [float(_reached(family, how, np.array([1e-3]))[0]) for family in families]
    return fitted_exponent(CLIENTS, rounds), unlike_the_trainer((family, how, 1.0) for family in families)


@cache
def _measured_digits() -> tuple[Exponent, str]:
    """Rounds from E f = f(w^0)/100 on until it is smaller by e^j, one client a round of five, no noise."""
    family, how, digits = Family("quadratic", 1.0, 5), Step(0.5), np.arange(2.0, 12.0, 2.0)
    reached = _reached(family, how, 0.01 * np.exp(-np.concatenate([[0.0], digits])))
    return fitted_exponent(digits, reached[1:] - reached[0]), unlike_the_trainer([(family, how, 1.0)])


@cache
def _measured_average() -> tuple[Exponent, str]:
    family, how, sums = Family("cosine", 1.0, 5), Step(1.0), np.zeros(SEEDS)
    totals: list[list[float]] = []
    steps = [runs(family, how, 200, 1.0, seed) for seed in range(SEEDS)]
    for _ in range(1000):
        for seed, states in enumerate(steps):
            sums[seed] += float(family.squared_gradient(*next(states)).mean())
        totals.append(list(sums))
    at = np.array([50, 100, 200, 400, 800])
    return fitted_exponent(at, (np.array(totals)[at - 1] / at[:, None]).T), unlike_the_trainer([(family, how, 1.0)])


@cache
def _measured_gap() -> tuple[Exponent, str]:
    """E f - f* without noise, log cosh clients that start far out, where f is nearly linear."""
    family, how, at = Family("log cosh", 1.0, 5), Step(1.0), np.array([50, 60, 70, 80, 90, 100])
    gaps = []
    for seed in range(SEEDS):
        means = [float(family.value(*state).mean()) for state in islice(runs(family, how, 200, 12.0, seed), 101)]
        gaps.append([means[t] for t in at])
    return fitted_exponent(at, gaps), unlike_the_trainer([(family, how, 12.0)])


MEASURED: dict[str, tuple[str, Callable[[], tuple[Exponent, str]], int]] = {
    "rounds in M": ("the rounds grow as M", _measured_time, len(CLIENTS)),
    "rounds in digits": ("the rounds grow as log(1/accuracy)", _measured_digits, 1),
    "mean squared gradient in T": ("the mean squared gradient goes as T", _measured_average, SEEDS * 200),
    "gap in T": ("the gap goes as T", _measured_gap, SEEDS * 200),
}
"""By domain.of: what is fitted, how, and in how many runs; expectations are one."""


def exponent(statement: Statement) -> Finding:
    """The exponent of domain.of, without noise; see what is measured above."""
    what, measured, instances = MEASURED[statement.domain["of"]]
    return _compare(*measured(), statement, what, {}, instances)


def _compare(
    fit: Exponent, unlike: str, statement: Statement, what: str, numbers: dict[str, object], instances: int
) -> Finding:
    basis = on_instances(instances, "recursions equal to the trainer")
    return (
        Finding(False, unlike, basis=basis) if unlike else by_exponent(fit, statement, what, basis, numbers, slack=0.02)
    )
