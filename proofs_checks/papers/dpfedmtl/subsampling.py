"""Section 4.1.1: the definitions behind C_p, and Lemma 4.3 for the observers that the paper has in mind."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from flint import arb, ctx
from scipy.stats import norm

from .... import accounting
from ....accounting.currencies.gdp import bu_mu, dong_mu, gdp_delta, gdp_epsilon
from ....accounting.losses import gaussian_rounds as gaussian
from ....accounting.losses.smooth import contour
from ....accounting.pairs import Composition, GaussianPair, Sampling, SubsampledPair
from ....accounting.renyi import renyi as rdp
from ....mechanisms import Gaussian, Participation, Poisson, Relation
from ...convergence.exponents import fitted_exponent
from ..row import CERTIFIED, Finding, Statement, on_instances, resting_on
from .settings import CHOSEN, DELTA, EXPERIMENTS

BITS = 128
SHARES = (0.0, 0.02, 0.1, 0.5)
"""Values of epsilon in units of 1/sigma."""


def sampled_profile(mu: float, rate: float, epsilon: float) -> arb:
    """The profile of C_p(G_mu) at epsilon >= 0: p delta_G(log(1 + (e^eps - 1)/p); mu).

    min{f_p, f_p^-1} keeps for either order of the neighbours the larger of the two profiles, which for epsilon >= 0
    is that of f_p: (1-p) q + p P - e^eps q = p (P - (1 + (e^eps - 1)/p) q), q and P the densities.
    """
    with ctx.workprec(BITS):
        inner = (1 + (arb(epsilon).exp() - 1) / arb(rate)).log()
        low, high = float(inner.lower()), float(inner.upper())
        return arb(rate) * arb(gaussian.profile_below(high, mu)).union(arb(gaussian.profile_above(low, mu)))


def one_sampled_round(statement: Statement) -> Finding:
    """The accountants' certified delta of one sampled round against the profile of C_p(G_(1/sigma)).

    They take the pair of laws to their privacy loss; the formula never sees a loss. The claimed profile must not be
    below the certified one anywhere on the grid.
    """
    factor, observer = statement.claim["p over K/M"], statement.domain["observer"]
    participation = Participation.HIDDEN if observer == "outputs only" else Participation.VISIBLE
    worst, where, numbers = -math.inf, "", {}
    for each in EXPERIMENTS.values():
        for sigma in CHOSEN.values():
            run = Poisson(Gaussian(sigma), each.rate)
            for epsilon in (share / sigma for share in SHARES):
                true = accounting.delta(run, epsilon, Relation.ZERO_OUT, participation=participation).lower
                said = float(sampled_profile(1 / sigma, factor * each.rate, epsilon).upper())
                if true - said > worst:
                    worst, where = true - said, f"{each.name}, sigma = {sigma}, epsilon = {epsilon:.4g}"
                    numbers = {"certified delta": true, "stated delta": said}
    if worst <= 0:
        return Finding(True, "the certified delta nowhere exceeds the stated one", numbers)
    text = f"certified delta {numbers['certified delta']:.4g}, stated {numbers['stated delta']:.4g} ({where})"
    return Finding(False, text, numbers, {"at": where})


def inverse_of_a_curve(statement: Statement) -> Finding:
    """f^-1 of the asymmetric f = p G_1 + (1 - p) Id must be the curve of the same test with the two laws swapped.

    f is the curve of Q = N(0, 1) against (1-p) Q + p N(1, 1). Rejecting below a threshold tests the other way round:
    its errors are those of rejecting above it, swapped, so that f^-1(f(a)) = a for every a.
    """
    rate, fixed, worst = 0.3, 0.5, 0.0
    for step in range(1, 20):
        threshold = -3.0 + 0.3 * step
        type_one = _upper_tail(threshold)
        type_two = 1 - ((1 - rate) * type_one + rate * _upper_tail(threshold - 1.0))
        level = type_two if statement.claim["threshold"] == "the argument" else fixed
        worst = max(worst, abs(_smallest_argument(level, rate) - type_one))
    holds = worst < 1e-9
    text = (
        "the two error rates change places, to 1e-9"
        if holds
        else f"a constant in y, off the swapped test by up to {worst:.3g}: alpha is not the argument"
    )
    return Finding(holds, text, {"largest difference": worst, "alpha read as": fixed})


def _upper_tail(x: float) -> float:
    return math.erfc(x / math.sqrt(2)) / 2


def _smallest_argument(level: float, rate: float) -> float:
    """inf{t in [0, 1]: f(t) <= level} for f = rate G_1 + (1 - rate) Id, by bisection on the normal threshold."""
    low, high = -40.0, 40.0
    for _ in range(200):
        middle = (low + high) / 2
        value = 1 - ((1 - rate) * _upper_tail(middle) + rate * _upper_tail(middle - 1.0))
        low, high = (low, middle) if value > level else (middle, high)
    return _upper_tail((low + high) / 2)


def undefined_f_p(statement: Statement) -> Finding:
    """C_p(G_(1/sigma)), with f_p read as stated, against the certified profile of a sampled round: equal or not."""
    each, worst = EXPERIMENTS["FEMNIST"], 0.0
    for sigma in CHOSEN.values():
        for epsilon in (share / sigma for share in SHARES):
            true = accounting.delta(Poisson(Gaussian(sigma), each.rate), epsilon, Relation.ZERO_OUT)
            if statement.domain["f_p"] == "p f + (1 - p) Id":
                said = float(sampled_profile(1 / sigma, each.rate, epsilon).mid())
            else:
                said = gaussian.profile_above(epsilon, 1 / sigma)
            apart = max(0.0, true.lower - said, said - true.upper)
            worst = max(worst, apart / said)
    holds = worst < 1e-6
    relation = "is" if holds else "is not"
    return Finding(
        holds,
        f"C_p {relation} the sampled round's curve: profiles differ by up to {worst:.3g} of their size",
        {"largest relative difference": worst},
    )


@resting_on(on_instances(15))
def curve_of_the_best_test(statement: Statement) -> Finding:
    """Phi(Phi^-1(1 - a) - c/sigma) against the type II error of rejecting above x, N(0, 1) against N(1/sigma, 1)."""
    factor, worst = statement.claim["mu times sigma"], 0.0
    for sigma in (0.65, 2.42, 9.69):
        for x in (-2.0, -0.5, 0.0, 1.0, 2.5):
            level, missed = math.erfc(x / math.sqrt(2)) / 2, math.erfc((1 / sigma - x) / math.sqrt(2)) / 2
            worst = max(worst, abs(float(norm.cdf(norm.isf(level) - factor / sigma)) - missed))
    text = f"the curve is off the best test's errors by at most {worst:.3g}"
    return Finding(worst < 1e-12, text, {"largest difference": worst})


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


@resting_on(CERTIFIED)
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
    return Finding(holds, text, numbers)


def _run(name: str, sigma: float, order: Sampling) -> Composition:
    each = EXPERIMENTS[name]
    return ((SubsampledPair(GaussianPair(1 / sigma), each.rate, order), each.rounds),)


@resting_on(CERTIFIED)
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
    return Finding(holds, text, numbers)


@cache
def _renyi_over_certified(name: str, sigma: float) -> float:
    run = _run(name, sigma, Sampling.REMOVE)
    return rdp.epsilon(run, DELTA).upper / contour.epsilon(run, DELTA).upper


@resting_on(CERTIFIED)
def moments_accountant_looser(statement: Statement) -> Finding:
    """The Renyi ("moments") epsilon at 1e-5 over the certified one, which it bounds: everywhere on the stated side?"""
    numbers = {}
    for name, sigma in statement.domain["settings"]:
        numbers[f"{name}, sigma = {sigma}"] = _renyi_over_certified(name, sigma)
    least = min(numbers, key=lambda key: numbers[key])
    larger = statement.claim["Renyi epsilon"] == "larger"
    holds = numbers[least] > 1 if larger else max(numbers.values()) < 1
    return Finding(
        holds, f"the Renyi bound is {numbers[least]:.4g} times the certified epsilon or more ({least})", numbers
    )


@resting_on(CERTIFIED)
def curves_in_order(statement: Statement) -> Finding:
    """Figure 3: G_mu is nearer to the diagonal for a smaller mu. The limit's mu by sigma, for both experiments."""
    sizes = {name: [bu_mu(sigma, e.rate, e.rounds) for sigma in (0.65, 2.42, 9.69)] for name, e in EXPERIMENTS.items()}
    rising = statement.claim["order"] == "larger sigma, nearer"
    holds = all(sorted(mus, reverse=rising) == mus for mus in sizes.values())
    text = "; ".join(f"{name}: mu = " + ", ".join(f"{mu:.3g}" for mu in mus) for name, mus in sizes.items())
    return Finding(holds, text + " for sigma = 0.65, 2.42, 9.69", sizes)
