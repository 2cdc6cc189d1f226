"""Measured rates of Algorithm 1 on quadratic clients, where everything is a power law, beside the theorems' exponents.

An upper bound is not refuted by a smaller measured exponent: such a row says "no faster than".
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import islice
from typing import Any

import numpy as np

from ..rates import Exponent, fitted_exponent
from ..row import Finding, Kind, Row, Statement
from .recursion import Family, Step, runs

SEEDS, RUNS = 4, 100
BASE = {"M": 4, "d": 2, "S sigma": 0.1, "K": 1, "H": 1}
SIZES: dict[str, tuple[float, ...]] = {
    "M": (4, 8, 16, 32),
    "d": (1, 2, 4, 8, 16),
    "S sigma": (0.01, 0.03, 0.1, 0.3),
    "K": (1, 2, 4, 8),
    "H": (1, 2, 4, 8),
}


def _radius(M: int, d: int, noise: float, K: int, H: int, seed: int) -> float:
    """E f - f* in the stationary state, lambda = 2 so that eta = 1/(2L): shared part only, the heads start optimal."""
    family, values = Family("quadratic", 1.0, M, d), []
    for _, shared in islice(runs(family, Step(0.5, noise, K, H), RUNS, 0.0, seed), 15, 75):
        values.append(float((shared**2).sum(axis=1).mean()) / 2)
    return float(np.mean(values))


@cache
def _measured_radius(name: str) -> tuple[Exponent, tuple[float, ...]]:
    sizes, radii = [], []
    for size in SIZES[name]:
        for seed in range(SEEDS):
            setting = (
                BASE | ({"M": 8} if name == "K" else {}) | ({"M": 8, "K": 2} if name == "H" else {}) | {name: size}
            )
            radius = _radius(
                int(setting["M"]), int(setting["d"]), setting["S sigma"], int(setting["K"]), int(setting["H"]), seed
            )
            sizes.append(size)
            radii.append(radius)
    return fitted_exponent(sizes, radii), tuple(radii)


def radius_exponent(statement: Statement) -> Finding:
    """The stationary E f - f* as a power of M, d, S sigma, K or H, four seeds a size."""
    fit, radii = _measured_radius(statement.domain["in"])
    return _compare(fit, statement.claim, f"the radius grows as {statement.domain['in']}", {"radii": list(radii)})


@cache
def _measured_time() -> Exponent:
    """Rounds until E f <= 1e-3 f(w^0) without noise, eta = 1/L, one client a round: f(w^0) is in the heads."""
    sizes, rounds = [], []
    for clients in SIZES["M"]:
        for seed in range(SEEDS):
            family = Family("quadratic", 1.0, int(clients))
            means = (float(family.value(*state).mean()) for state in runs(family, Step(0.5), 400, 1.0, seed))
            sizes.append(clients)
            rounds.append(next(t for t, mean in enumerate(means) if mean <= 1e-3))
    return fitted_exponent(sizes, rounds)


def time_exponent(statement: Statement) -> Finding:
    """Rounds to a thousandth of the gap, as a power of M; c = L/M for these clients."""
    return _compare(_measured_time(), statement.claim, "the rounds grow as M", {})


@cache
def _measured_average() -> Exponent:
    family, sums = Family("cosine", 1.0, 5), np.zeros(SEEDS)
    totals: list[list[float]] = []
    steps = [runs(family, Step(1.0), 200, 1.0, seed) for seed in range(SEEDS)]
    for _ in range(1000):
        for seed, states in enumerate(steps):
            sums[seed] += float(family.squared_gradient(*next(states)).mean())
        totals.append(list(sums))
    at = np.array([50, 100, 200, 400, 800])
    means = np.array(totals)[at - 1] / at[:, None]
    return fitted_exponent(np.repeat(at, SEEDS), means.ravel())


def average_exponent(statement: Statement) -> Finding:
    """The mean over t < T of ||grad f||^2 without noise, as a power of T, clients that are not convex."""
    return _compare(_measured_average(), statement.claim, "the mean squared gradient goes as T", {})


def _compare(fit: Exponent, claim: Mapping[str, Any], what: str, numbers: dict[str, object]) -> Finding:
    """An exponent that is stated, up to 0.02 for what is no power law exactly; or one that is not exceeded."""
    text = f"{what}^{fit.value:.3f}, between {fit.low:.3f} and {fit.high:.3f} at 99.9%"
    measured = {"exponent": fit.value, "low": fit.low, "high": fit.high}
    most = claim.get("exponent at most")
    holds = fit.agrees_with(claim["exponent"], 0.02) if most is None else fit.high <= most
    return Finding(holds, text, measured | numbers, error_probability=fit.alpha)


def _row(id: str, place: str, stated: float, wrong: float, *, attained: bool) -> Row:
    """A row on the radius as a power of `id`: it is `stated` and not `wrong`; or at most the one and not the other."""

    def says(exponent: float) -> Statement:
        text = f"The radius of convergence grows {'as' if attained else 'no faster than'} ({id})^{exponent:g}."
        return Statement(text, {"exponent" if attained else "exponent at most": exponent}, {"in": id})

    name = "DPFEDMTL-RATE-" + id.replace("S sigma", "sigma")
    return Row(name, "dpfedmtl", place, Kind.SIMULATION, radius_exponent, says(stated), spoilt=says(wrong))


ROWS = (
    _row("S sigma", "Theorems 5.1, 5.3 and section 6.2, dependence on sigma", 2.0, 1.9, attained=True),
    _row("d", "Theorems 5.1 and 5.3, dependence on d", 1.0, 0.9, attained=True),
    _row("M", "Theorem 5.3, dependence on M (c = L/M)", 2.0, -0.1, attained=False),
    _row("H", "Theorems 5.1 and 5.3, dependence on H (local steps)", 2.0, -0.1, attained=False),
    _row("K", "Theorem 5.1, corrected, dependence on K", -1.0, -0.9, attained=True),
    Row(
        id="DPFEDMTL-RATE-M-rounds",
        paper="dpfedmtl",
        place="Theorem 5.3, rate 1 - c/(lambda M L), dependence on M (c = L/M)",
        kind=Kind.SIMULATION,
        evidence=time_exponent,
        printed=Statement("The number of rounds grows no faster than M^2.", {"exponent at most": 2.0}),
        spoilt=Statement("The number of rounds grows no faster than M^0.9.", {"exponent at most": 0.9}),
    ),
    Row(
        id="DPFEDMTL-RATE-M-corrected",
        paper="dpfedmtl",
        place="Theorem 5.3, corrected, rate 1 - c/(lambda L), dependence on M (c = L/M)",
        kind=Kind.SIMULATION,
        evidence=time_exponent,
        printed=Statement("The number of rounds grows as M.", {"exponent": 1.0}),
        spoilt=Statement("The number of rounds grows as M^1.1.", {"exponent": 1.1}),
    ),
    Row(
        id="DPFEDMTL-RATE-T",
        paper="dpfedmtl",
        place="Theorem 5.1, dependence on T",
        kind=Kind.SIMULATION,
        evidence=average_exponent,
        printed=Statement("Without noise the mean squared gradient goes as 1/T.", {"exponent": -1.0}),
        spoilt=Statement("Without noise the mean squared gradient goes as T^-1.1.", {"exponent": -1.1}),
    ),
)
"""The rows of measured rates."""
