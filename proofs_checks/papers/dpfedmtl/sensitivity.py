"""Section 4, Lemmas 4.1 and 4.2: how far one client moves the average (6), and what one round's noise hides of it.

All lengths are in units of the learning rate eta of (4), which scales gradients and noise alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import z3
from scipy.stats import norm

from ....accounting.gdp import gdp_epsilon
from ..row import Finding, Statement, on_instances
from ..smt import Recheck, Values, decide
from .settings import DELTA, EXPERIMENTS

C, K, M, SIGMA, SIZE = z3.Reals("C K M sigma S")
COUNTS = (C > 0, K >= 1, M >= K)

SENSITIVITIES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "2CK/M": lambda c, k, m: 2 * c * k / m,
    "2C/K": lambda c, k, m: 2 * c / k,
    "1.94C/K": lambda c, k, m: 194 * c / (100 * k),
    "2C": lambda c, k, m: 2 * c,
}
"""Formulas for S, of z3's reals, and of floats alike."""


def moved_average(statement: Statement) -> Finding:
    """|a - b| / K against S for clipped gradients a, b of one client; two vectors span a plane, hence 2 coordinates."""
    stated = SENSITIVITIES[statement.claim["S"]]
    a, b, c, d = z3.Reals("a1 a2 b1 b2")

    def recheck(values: Values) -> Recheck:
        apart = math.hypot(*(values.get(f"a{j}", 0.0) - values.get(f"b{j}", 0.0) for j in (1, 2)))
        moved, said = apart / values["K"], stated(values["C"], values["K"], values["M"])
        return Recheck(moved > said, {"average moves by": moved, "stated S": said} | _ratios(stated))

    return decide(
        (a - c) ** 2 + (b - d) ** 2 <= (K * stated(C, K, M)) ** 2,
        [*COUNTS, a**2 + b**2 <= C**2, c**2 + d**2 <= C**2],
        recheck,
        proof=f"the average of K clipped gradients never moves by more than {statement.claim['S']}",
        refutation="the average moves by up to 2C/K, M/K^2 times as much as 2CK/M: "
        + ", ".join(f"{name}: {value:.4g}" for name, value in _ratios(stated).items()),
    )


def _ratios(stated: Callable[[Any, Any, Any], Any]) -> dict[str, float]:
    """2C/K over the stated S in the paper's experiments."""
    return {
        f"2C/K over S, {each.name}": 2 / each.cohort / float(stated(1.0, each.cohort, each.population))
        for each in EXPERIMENTS.values()
    }


def weight_in_the_average(statement: Statement) -> Finding:
    """The factor of one client's gradient in (6), a mean of K, against the one in the proof of Lemma 4.1."""
    weight = {"K/M": K / M, "1/K": 1 / K}[statement.claim["weight"]]

    def recheck(values: Values) -> Recheck:
        true, said = 1 / values["K"], values["K"] / values["M"]
        return Recheck(true != said, {"weight in (6)": true, "stated": said})

    return decide(
        weight == 1 / K,
        COUNTS,
        recheck,
        proof="(6) is the mean of K results: each has the weight 1/K",
        refutation="(6) gives each result the weight 1/K; K/M is the probability of being chosen",
    )


def quoted_gaussian_mechanism(statement: Statement) -> Finding:
    """Noise sigma S on a quantity that moves by at most S: the two laws are S / (sigma S) apart."""
    factor = z3.RealVal(statement.claim["mu times sigma"])
    moved = z3.Real("moved")

    def recheck(values: Values) -> Recheck:
        true = values["moved"] / (values["sigma"] * values["S"])
        said = float(statement.claim["mu times sigma"]) / values["sigma"]
        return Recheck(true > said, {"mu": true, "stated mu": said})

    return decide(
        moved / (SIGMA * SIZE) <= factor / SIGMA,
        [SIGMA > 0, SIZE > 0, moved >= 0, moved <= SIZE],
        recheck,
        proof="at most 1/sigma standard deviations apart, for all sigma and S",
        refutation="1/sigma standard deviations apart when the quantity moves by S",
    )


def curve_of_the_best_test(statement: Statement) -> Finding:
    """Phi(Phi^-1(1 - a) - c/sigma) against the type II error of rejecting above x, N(0, 1) against N(1/sigma, 1)."""
    factor, worst = statement.claim["mu times sigma"], 0.0
    for sigma in (0.65, 2.42, 9.69):
        for x in (-2.0, -0.5, 0.0, 1.0, 2.5):
            level, missed = math.erfc(x / math.sqrt(2)) / 2, math.erfc((1 / sigma - x) / math.sqrt(2)) / 2
            worst = max(worst, abs(float(norm.cdf(norm.isf(level) - factor / sigma)) - missed))
    text = f"the curve is off the best test's errors by at most {worst:.3g}"
    return Finding(worst < 1e-12, text, {"largest difference": worst}, basis=on_instances(15))


def one_round(statement: Statement) -> Finding:
    """The true mu of one round against 1/sigma, for all C, sigma, K, M; a smaller mu is a smaller profile.

    The average of K results has noise of standard deviation sigma S / sqrt K and moves by 2C/K; one upload has
    sigma S and moves by 2C.
    """
    stated, sees = SENSITIVITIES[statement.claim["S"]], statement.claim["observer sees"]
    root = z3.Real("root K")
    noise = SIGMA * stated(C, K, M)
    mu = 2 * C / noise if sees == "one upload" else 2 * C / (root * noise)

    def recheck(values: Values) -> Recheck:
        said = 1 / values["sigma"]
        true = _mu_times_sigma(stated, sees, values["K"], values["M"]) / values["sigma"]
        return Recheck(true > said, {"mu": true, "stated mu": said} | numbers)

    numbers = _as_numbers(stated, sees)
    sizes = ", ".join(f"{numbers[f'mu sigma, {name}']:.4g}/sigma on {name}" for name in EXPERIMENTS)
    found = decide(
        mu <= 1 / SIGMA,
        [*COUNTS, SIGMA > 0, root >= 1, root * root == K],
        recheck,
        proof=f"mu is at most 1/sigma for all C, K, M; in the paper's experiments {sizes}",
        refutation=f"mu exceeds 1/sigma: {sizes}",
    )
    return Finding(found.holds, found.text, dict(found.numbers) | numbers, found.witness, basis=found.basis)


def _mu_times_sigma(stated: Callable[[Any, Any, Any], Any], sees: str, cohort: float, population: float) -> float:
    """sigma times the distance of the two laws in standard deviations; C cancels."""
    noise = float(stated(1.0, cohort, population))
    return 2 / noise if sees == "one upload" else 2 / math.sqrt(cohort) / noise


def _as_numbers(stated: Callable[[Any, Any, Any], Any], sees: str) -> dict[str, float]:
    """mu sigma, and epsilon of one round with its client known, at sigma = 9.69, in the paper's experiments."""
    numbers = {}
    for each in EXPERIMENTS.values():
        ratio = _mu_times_sigma(stated, sees, each.cohort, each.population)
        numbers[f"mu sigma, {each.name}"] = ratio
        numbers[f"certified epsilon at 1e-5, sigma = 9.69, {each.name}"] = gdp_epsilon(ratio / 9.69, DELTA).lower
    numbers["claimed epsilon at 1e-5, sigma = 9.69"] = gdp_epsilon(1 / 9.69, DELTA).upper
    return numbers
