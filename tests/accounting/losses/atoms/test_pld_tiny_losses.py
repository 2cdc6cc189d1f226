"""Losses next to nothing: lines are far out there, and a bound of 1/c on epsilon needs its terms to the last digit."""

import math

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from dpcert.accounting import delta, epsilon
from dpcert.accounting.bracket import EmptyBracket
from dpcert.accounting.losses import line
from dpcert.accounting.losses.atoms import moment_table as search
from dpcert.mechanisms import Gaussian, Laplace, Poisson, Repeat

ONE_ROUND = [(62893360566.20724, 4.5573968150683895e-05, 9.397959487317933e-20)]
"""Gaussian noise, rate, delta."""

ROUNDS = [
    (40627797058.8206, 5.552535315256082e-05, 30, 7.331108653555364e-19),
    (4115687875.9674315, 1.1982835990347634e-06, 30, 1.366723476456907e-16),
]
"""Laplace noise, rate, rounds, delta."""


def sampled(noise, rate, eps):
    """delta of one round of Gaussian noise behind a coin, in closed form, for both orders."""

    def forth(odds):
        if odds <= 1 - rate:
            return 1 - odds
        at = mpmath.log(1 + (odds - 1) / rate)
        mu = 1 / mpf(noise)
        return rate * (mpmath.ncdf(mu / 2 - at / mu) - mpmath.exp(at) * mpmath.ncdf(-mu / 2 - at / mu))

    rate, odds = mpf(rate), mpmath.exp(mpf(eps))
    return max(forth(odds), 1 - odds + odds * forth(1 / odds))


def by_signs(noise, rate, rounds, eps):
    """At most the delta of rounds of Laplace noise behind coins: of each is told whether it is above 1/2."""
    beyond = mpmath.exp(-1 / (2 * mpf(noise))) / 2
    p, q = beyond + mpf(rate) * (1 - 2 * beyond), beyond
    odds = mpmath.exp(mpf(eps))
    return mpmath.fsum(
        mpmath.binomial(rounds, k) * max(p**k * (1 - p) ** (rounds - k) - odds * q**k * (1 - q) ** (rounds - k), mpf(0))
        for k in range(rounds + 1)
    )


def wrong():
    """How many answers exclude the truth, or are no interval."""
    found = 0
    with mpmath.workdps(60):
        for noise, rate, target in ONE_ROUND:
            run = Poisson(Gaussian(noise), rate)
            try:
                least = epsilon(run, target, "add-remove", accountant="pld")
                most = delta(run, least.upper, "add-remove", accountant="pld")
            except EmptyBracket:
                found += 1
                continue
            before = max(0.0, math.nextafter(least.lower, 0.0))
            found += sampled(noise, rate, least.upper) > target or sampled(noise, rate, before) < target
            found += not most.lower <= sampled(noise, rate, least.upper) <= most.upper
        for noise, rate, rounds, target in ROUNDS:
            least = epsilon(Repeat(Poisson(Laplace(noise), rate), rounds), target, "add-remove")
            found += by_signs(noise, rate, rounds, least.upper) > target
    return found


def test_epsilons_below_the_spacing_of_doubles_at_one():
    assert wrong() == 0


def cancelling(points):
    """c log c - (1 + c) log(1 + c) as it is written."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(points > 0, points * np.log(points) - (1.0 + points) * np.log1p(points), 0.0)


def test_terms_that_cancel_are_caught(monkeypatch):
    """The plant, which was shipped: off by .003 at c = 10^12."""
    monkeypatch.setattr(search, "log_peaks", cancelling)
    monkeypatch.setattr(line, "log_peak", lambda c: float(cancelling(np.array(c))))
    assert wrong() == 2


@pytest.mark.parametrize("c", [0.0, 1e-300, 1e-9, 0.3, 1.0, 1 + 1e-9, 40.0, 1e6, 1e13, 1e100])
def test_the_peak_is_exact_at_every_size(c):
    with mpmath.workdps(250):
        exact = c * mpmath.log(c) - (1 + mpf(c)) * mpmath.log(1 + mpf(c)) if c else mpf(0)
        for found in (line.log_peak(c), float(line.log_peaks(np.array([c]))[0])):
            assert abs(found - exact) <= 4e-16 * abs(exact) + mpf("1e-300")
