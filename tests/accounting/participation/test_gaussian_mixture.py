"""Pieces of the coalition profile against ball arithmetic (Arb, 200 bits)."""

import math
from fractions import Fraction

import numpy as np
import pytest
from cases import few
from flint import arb, ctx
from scipy.special import erfc, erfcx
from scipy.stats import binom

from dpcert.accounting import epsilon
from dpcert.accounting.participation import gaussian_mixture
from dpcert.accounting.participation.gaussian_mixture import (
    _SPECIAL,
    Spread,
    binomial,
    certain,
    gaussian_delta,
    merged,
    mixture_delta,
    plus,
)
from dpcert.mechanisms import Gaussian, Poisson, Repeat


@pytest.fixture(autouse=True)
def _precision():
    before = ctx.prec
    ctx.prec = 200
    yield
    ctx.prec = before


def arb_gaussian_delta(epsilon, mu):
    """delta_Gauss by its definition (Balle, Wang 2018, Theorem 8)."""
    eps, m = arb(epsilon), arb(mu)
    if m == 0:
        return arb(0)
    root2 = arb(2).sqrt()
    return ((eps / m - m / 2) / root2).erfc() / 2 - eps.exp() * ((eps / m + m / 2) / root2).erfc() / 2


def test_special_functions_stay_within_the_error_taken():
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.uniform(0, 6, 1500), 10 ** rng.uniform(-8, 2, 1500)])
    for value in np.abs(x).tolist():
        assert abs(float(arb(float(erfc(-value))) / arb(-value).erfc() - 1)) < _SPECIAL / 3
        if value < 1e3:
            ctx.prec = 200 + 3 * int(value * value)
            scaled = arb(value).erfc() * (arb(value) * arb(value)).exp()
            assert abs(float(arb(float(erfcx(value))) / scaled - 1)) < _SPECIAL / 3


@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 0.1, 1.0, 7.5, 60.0, 2e3])
def test_gaussian_delta_brackets_arb(epsilon):
    rng = np.random.default_rng(7)
    mu = 10 ** rng.uniform(-4, 1.3, 300)  # beyond, 1 - delta is below the oracle's resolution
    low, high = gaussian_delta(epsilon, mu)
    for j, m in enumerate(mu.tolist()):
        exact = arb_gaussian_delta(epsilon, m)
        if exact.abs_upper() < 1e-320:  # below every double, and below the oracle's resolution
            assert low[j] == 0.0
            continue
        assert arb(float(low[j])) <= exact <= arb(float(high[j]))


def test_gaussian_delta_keeps_relative_accuracy_in_the_tail():
    mu = np.array([0.5, 1.0, 2.0])
    low, high = gaussian_delta(11.5, mu)
    assert np.all((low > 0) & (high < 1e-9) | (mu == 2.0))
    assert np.all(high / low - 1 < 1e-9)


@pytest.mark.parametrize(
    ("rounds", "rate"), few([(1, 0.5), (7, 0.3), (100, 0.1), (600, 0.25), (1000, 1e-3), (50, 0.999), (500, 1e-6)], 8)
)
def test_binomial_masses_bracket_exact_rationals(rounds, rate):
    law = binomial(rounds, rate, 1.0, 1e-290)
    p = Fraction(rate)
    for count, low, high in zip(law.low, law.mass_low, law.mass_high, strict=True):
        k = int(count)
        exact = math.comb(rounds, k) * p**k * (1 - p) ** (rounds - k)
        assert Fraction(low) <= exact <= Fraction(high)
        assert high - low <= 1e-11 * high / (1 - rate)
    listed = sum(math.comb(rounds, int(k)) * p ** int(k) * (1 - p) ** (rounds - int(k)) for k in law.low)
    assert 1 - listed <= Fraction(law.missing)


def test_a_narrow_window_accounts_for_what_it_leaves_out():
    rounds, p = 400, Fraction(1, 4)
    law = binomial(rounds, 0.25, 1.0, 1e-3)
    inside = {int(k) for k in law.low}
    outside = sum(math.comb(rounds, k) * p**k * (1 - p) ** (rounds - k) for k in range(rounds + 1) if k not in inside)
    assert 0 < outside <= Fraction(law.missing) < 10 * outside


def test_merging_moves_no_mass_out_of_its_atom():
    law = plus(binomial(60, 0.3, 1.0, 1e-30), binomial(40, 0.1, 0.37, 1e-30))
    few = merged(law, 16)
    assert len(few.low) <= 16
    assert few.mass_low.sum() <= law.mass_low.sum()
    assert few.mass_high.sum() >= law.mass_high.sum()
    exact = mixture_delta(law, 3.0)
    wide = mixture_delta(few, 3.0)
    assert wide[0] <= exact[0] <= exact[1] <= wide[1]


def test_certain_law_is_the_plain_gaussian():
    low, high = mixture_delta(certain(4.0), 1.0)
    exact = arb_gaussian_delta(1, 2)
    assert arb(low) <= exact <= arb(high)


def test_nothing_happens_without_participation():
    zero = np.zeros(1)
    assert mixture_delta(Spread(zero, zero, np.ones(1), np.ones(1), 0.0), 0.0) == (0.0, 0.0)


HUGE = [(10**10, 0.3), (10**12, 0.01), (2**53, 1e-6), (2**53, 0.5), (10**15, 1 - 1e-6)]


def encloses(law, rounds, rate):
    """Whether the law's two ends have the binomial between them, by survival functions (scipy's incomplete beta)."""
    first, last = np.argsort(law.high), np.argsort(-law.low)
    above = law.missing + np.cumsum(law.mass_high[first][::-1])[::-1]
    upper = all(above >= binom.sf(np.ceil(law.high[first] * (1 - 1e-14)) - 1, rounds, rate) * (1 - 1e-6) - 1e-300)
    below = np.cumsum(law.mass_low[last])
    lower = all(below <= binom.sf(np.ceil(law.low[last]) - 1, rounds, rate) * (1 + 1e-6))
    return upper, lower


@pytest.mark.parametrize(("rounds", "rate"), HUGE)
def test_few_atoms_enclose_a_huge_binomial(rounds, rate):
    law = binomial(rounds, rate, 1.0, 1e-200)
    assert len(law.low) < 1000
    assert encloses(law, rounds, rate) == (True, True)
    assert law.high[0] / law.low[0] - 1 < 1 / math.sqrt(rounds * rate)


def test_tails_with_twice_the_exponent_are_noticed():
    """The planted bug: exp(-2 rounds KL) instead of exp(-rounds KL), as if the variance were half of what it is."""
    rounds, rate = HUGE[1]
    law = binomial(rounds, rate, 1.0, 1e-200)
    bounds = [
        np.cumsum([missing, *mass[::-1]])[::-1] for missing, mass in ((law.missing, law.mass_high), (0.0, law.mass_low))
    ]
    high, low = (-np.diff(bound**2) for bound in bounds)
    assert encloses(Spread(law.low, law.high, law.mass_low, high, law.missing**2), rounds, rate) == (False, True)
    assert encloses(Spread(law.low, law.high, low, law.mass_high, law.missing), rounds, rate) == (True, False)


@pytest.mark.parametrize("rate", [0.02, 0.7])
def test_few_atoms_give_an_interval_around_that_of_all(monkeypatch, rate):
    rounds, strength = 10**6, 1e-6 / rate
    every = mixture_delta(binomial(rounds, rate, strength, 1e-200), 1.0)
    monkeypatch.setattr(gaussian_mixture, "_MOST_COUNTS", 0)
    few = mixture_delta(binomial(rounds, rate, strength, 1e-200), 1.0)
    assert few[0] <= every[0] <= every[1] <= few[1]
    assert few[1] / few[0] - 1 < 10 / math.sqrt(rounds * rate)


def test_visible_participation_in_most_rounds_there_can_be():
    """2^53 rounds used to mean a hundred million atoms and more than a minute."""
    run = Repeat(Poisson(Gaussian(1e7), 0.01), 2**53)
    bracket = epsilon(run, 1e-5, "zero-out", participation="visible")
    plain = epsilon(Repeat(Gaussian(1e7), round(2**53 * 0.01)), 1e-5, "zero-out")
    assert bracket.lower <= plain.upper * (1 + 1e-6)
    assert bracket.upper >= plain.lower * (1 - 1e-6)
    assert bracket.width < 1e-6 * bracket.upper
