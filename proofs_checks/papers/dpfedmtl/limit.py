"""Theorem 4.2 and the "CLT bound" of section 6.3: what T sampled rounds tend to, and what they cost at the T in use."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from ....accounting.currencies.gdp import bu_mu, dong_mu, gdp_delta, gdp_epsilon
from ....accounting.losses.smooth import contour
from ....accounting.pairs import Composition, GaussianPair, Sampling, SubsampledPair
from ....accounting.renyi import renyi as rdp
from ...convergence.exponents import fitted_exponent
from ..row import CERTIFIED, Finding, Statement
from .settings import DELTA, EXPERIMENTS

NU, EPSILON = 1.0, 1.0
ROUNDS = (10**3, 10**4, 10**5, 10**6, 10**7)

LIMITS: dict[str, Callable[[float, int], float]] = {
    "nu sqrt(T (e^(1/sigma^2) - 1))": lambda sigma, rounds: bu_mu(sigma, NU, rounds),
    "nu sqrt(e^(1/sigma^2) - 1)": lambda sigma, rounds: bu_mu(sigma, NU, 1),
    "nu sqrt(2) sqrt(e^(1/sigma^2) Phi(3/(2 sigma)) + 3 Phi(-1/(2 sigma)) - 2)": lambda sigma, rounds: dong_mu(
        sigma, NU, 1
    ),
    "1.03 nu sqrt(e^(1/sigma^2) - 1)": lambda sigma, rounds: 1.03 * bu_mu(sigma, NU, 1),
}


def limit_of_rounds(statement: Statement) -> Finding:
    """T rounds at p = nu / sqrt T, certified for growing T: the distance to G_mu at epsilon = 1 must vanish.

    The limit theorem's error is of order 1/sqrt T; holds iff the distance shrinks with a fitted exponent below -1/4
    and ends below 1e-3.
    """
    mu, order = LIMITS[statement.claim["mu"]], statement.claim["order"]
    numbers: dict[str, dict[str, Any]] = {}
    for sigma in statement.domain["sigma"]:
        distances = []
        for rounds in ROUNDS:
            run = ((SubsampledPair(GaussianPair(1 / sigma), NU / math.sqrt(rounds), order), rounds),)
            true = contour.delta(run, EPSILON)
            said = gdp_delta(mu(sigma, rounds), EPSILON)
            distances.append(max(true.lower - said.upper, said.lower - true.upper, 1e-15))
        numbers[f"sigma = {sigma}"] = {
            "mu at the last T": mu(sigma, ROUNDS[-1]),
            "certified delta at the last T": true.lower,
            "delta of G_mu": said.upper,
            "distance, by T": distances,
            "exponent": fitted_exponent(ROUNDS, distances).value,
        }
    holds = all(each["exponent"] < -0.25 and each["distance, by T"][-1] < 1e-3 for each in numbers.values())
    worst = max(numbers.values(), key=lambda each: each["distance, by T"][-1])
    text = (
        f"at T = 10^7 the certified delta(1) is {worst['certified delta at the last T']:.6f}, that of G_mu "
        f"{worst['delta of G_mu']:.6f}; their distance shrinks with T to the power {worst['exponent']:.2f}"
    )
    return Finding(holds, text, numbers, basis=CERTIFIED)


def _run(name: str, sigma: float, order: Sampling) -> Composition:
    each = EXPERIMENTS[name]
    return ((SubsampledPair(GaussianPair(1 / sigma), each.rate, order), each.rounds),)


def clt_as_bound(statement: Statement) -> Finding:
    """epsilon of the limit (with the corrected mu) at 1e-5, increased by the tolerance, against the certified one."""
    numbers = {}
    for name, sigma in statement.domain["settings"]:
        each = EXPERIMENTS[name]
        limit = gdp_epsilon(bu_mu(sigma, each.rate, each.rounds), DELTA).upper
        true = contour.epsilon(_run(name, sigma, Sampling.REMOVE), DELTA).lower
        numbers[f"{name}, sigma = {sigma}"] = {"CLT": limit, "certified": true, "certified / CLT": true / limit}
    worst = max(numbers, key=lambda key: numbers[key]["certified / CLT"])
    holds = numbers[worst]["certified / CLT"] <= 1 + statement.tolerance
    text = f"{worst}: CLT epsilon {numbers[worst]['CLT']:.4g}, certified epsilon {numbers[worst]['certified']:.4g}"
    return Finding(holds, text, numbers, basis=CERTIFIED)


@cache
def _renyi_over_certified(name: str, sigma: float) -> float:
    run = _run(name, sigma, Sampling.REMOVE)
    return rdp.epsilon(run, DELTA).upper / contour.epsilon(run, DELTA).upper


def moments_accountant_looser(statement: Statement) -> Finding:
    """The Renyi ("moments") epsilon at 1e-5 over the certified one, which it bounds: everywhere on the stated side?"""
    numbers = {}
    for name, sigma in statement.domain["settings"]:
        numbers[f"{name}, sigma = {sigma}"] = _renyi_over_certified(name, sigma)
    least = min(numbers, key=lambda key: numbers[key])
    larger = statement.claim["Renyi epsilon"] == "larger"
    holds = numbers[least] > 1 if larger else max(numbers.values()) < 1
    return Finding(
        holds,
        f"the Renyi bound is {numbers[least]:.4g} times the certified epsilon or more ({least})",
        numbers,
        basis=CERTIFIED,
    )


def curves_in_order(statement: Statement) -> Finding:
    """Figure 3: G_mu is nearer to the diagonal for a smaller mu. The limit's mu by sigma, for both experiments."""
    sizes = {name: [bu_mu(sigma, e.rate, e.rounds) for sigma in (0.65, 2.42, 9.69)] for name, e in EXPERIMENTS.items()}
    rising = statement.claim["order"] == "larger sigma, nearer"
    holds = all(sorted(mus, reverse=rising) == mus for mus in sizes.values())
    text = "; ".join(f"{name}: mu = " + ", ".join(f"{mu:.3g}" for mu in mus) for name, mus in sizes.items())
    return Finding(holds, text + " for sigma = 0.65, 2.42, 9.69", sizes, basis=CERTIFIED)
