"""Planted faults in the Renyi accountant that the comparison with 40-digit integrals must catch."""

import math

import mpmath
import numpy as np
import pytest
from flint import arb

from dpcert.accounting.losses import crossing
from dpcert.accounting.losses.smooth.quadrature import Quadrature
from dpcert.accounting.pairs import GaussianPair, Sampling, SubsampledPair
from dpcert.accounting.pricing.dominating import dominating
from dpcert.accounting.renyi import optimal_conversion as conversion_optimal
from dpcert.accounting.renyi import real_orders, sampled_gaussian
from dpcert.accounting.renyi import renyi as rdp
from dpcert.accounting.renyi.sampled_gaussian import log_moments
from dpcert.mechanisms import FixedSize, Gaussian, Poisson, Repeat

SETTINGS = [(1.0, 0.05, 6.5), (0.3, 0.9, 40.0), (2.0, 0.4, 3.1)]


def exact_moment(shift, rate, order, alpha):
    with mpmath.workdps(30):
        s, q, a = mpmath.mpf(shift), mpmath.mpf(rate), mpmath.mpf(alpha)
        power = a if order == "remove" else 1 - a
        step = mpmath.mpf(1) / 12
        reach = int((14 + a * s) / step)
        return step * mpmath.fsum(
            mpmath.exp(-(y * y) / 2) / mpmath.sqrt(2 * mpmath.pi) * (1 - q + q * mpmath.exp(s * y - s * s / 2)) ** power
            for y in (k * step for k in range(-reach, reach + 1))
        )


def under_reported(moments=log_moments):
    """Settings at which the upper end of the accountant's log-moment lies below the truth."""
    return missed(lambda *setting: (-math.inf, moments(*setting)[1]))


def missed(moments=log_moments):
    """Settings at which the truth is not between the two ends."""
    found = []
    for shift, rate, alpha in SETTINGS:
        for order in (Sampling.REMOVE, Sampling.ADD):
            low, high = moments(shift, rate, order, alpha)
            if not low <= mpmath.log(exact_moment(shift, rate, order, alpha)) <= high:
                found.append((shift, rate, alpha, order))
    return found


@pytest.mark.parametrize("farthest", [400.0, 0.0])
def test_the_accountant_as_it_is_never_under_reports(farthest, monkeypatch):
    """By the quadrature, and by the series in its place."""
    monkeypatch.setattr(sampled_gaussian, "_FARTHEST", farthest)
    assert missed() == []
    monkeypatch.setattr(real_orders, "log_moments", lambda *_: None)
    assert missed() == []


@pytest.mark.parametrize("budget", [4.0, 10.0])
def test_a_short_range_with_its_error_bound_is_still_a_bound(monkeypatch, budget):
    monkeypatch.setattr(sampled_gaussian, "_budget", lambda *_: budget)
    assert missed() == []


def test_quadrature_error_ignored(monkeypatch):
    """The same short range, without the bound on what it leaves out."""
    monkeypatch.setattr(sampled_gaussian, "_budget", lambda *_: 4.0)
    monkeypatch.setattr(Quadrature, "relative_error", lambda self, c: 0.0)
    assert missed()


def test_a_series_that_ends_too_soon(monkeypatch):
    """Its remainder is a ball: nothing is missed with it, and something without it."""
    monkeypatch.setattr(real_orders, "log_moments", lambda *_: None)
    monkeypatch.setattr(sampled_gaussian, "_FARTHEST", 0.0)
    monkeypatch.setattr(sampled_gaussian, "_NEGLIGIBLE", arb(1))
    assert missed() == []
    series = sampled_gaussian._series
    monkeypatch.setattr(sampled_gaussian, "_series", lambda *given: arb(series(*given).lower()))
    assert missed()


def test_rounding_the_wrong_way():
    assert under_reported(lambda *a: (0.0, log_moments(*a)[1] * (1 - 1e-9)))
    assert missed(lambda *a: (log_moments(*a)[0] * (1 + 1e-9), math.inf))


def test_halved_sensitivity():
    assert len(under_reported(lambda shift, *a: log_moments(shift / 2, *a))) == 2 * len(SETTINGS)


WHOLE = [(1.0, 0.05, 2), (0.01, 1e-5, 5), (10.0, 0.01, 128), (0.3, 0.999, 33), (2.0, 1e-9, 9)]
"""Of which the second moment is 1 + 1e-13."""


def missed_whole():
    """Whole orders at which the truth, the binomial sum in 60 digits, is not between the ends, or they are wide."""
    found = []
    for shift, rate, order in WHOLE:
        with mpmath.workdps(60):
            s, q = mpmath.mpf(shift), mpmath.mpf(rate)
            terms = (
                mpmath.binomial(order, k) * (1 - q) ** (order - k) * q**k * mpmath.exp(s * s * k * (k - 1) / 2)
                for k in range(order + 1)
            )
            exact = mpmath.log(mpmath.fsum(terms))
        low, high = log_moments(shift, rate, Sampling.REMOVE, float(order))
        if not (low <= exact <= high and high - low <= 1e-11 * exact):
            found.append((shift, rate, order))
    return found


@pytest.mark.parametrize(("name", "few"), [("_choices", 0), ("_few_choices", 1024)])
def test_whole_orders_are_sums(name, few, monkeypatch):
    """In array operations, and in a loop. The plants: all terms but the first forgotten; each with the powers of the
    next one."""
    monkeypatch.setattr(sampled_gaussian, "_FEW", few)
    assert missed_whole() == []
    choices = getattr(sampled_gaussian, name)
    monkeypatch.setattr(sampled_gaussian, name, lambda order: tuple(each[:1] for each in choices(order)))
    assert missed_whole() == [setting for setting in WHOLE if setting[2] > 2]
    monkeypatch.setattr(sampled_gaussian, name, lambda order: (np.add(choices(order)[0], 1.0), *choices(order)[1:]))
    assert len(missed_whole()) == len(WHOLE)


def test_the_order_that_is_left_out_is_the_smaller_one(monkeypatch):
    """At every order; the plant: the other one is left out."""
    run = Repeat(Poisson(Gaussian(0.8), 0.01), 1000)
    orders = (1.001, 1.5, 2.0, 8.0, 40.5)
    largest = {at: max(rdp.curve(product)(at) for product in dominating(run, "add-remove").upper) for at in orders}
    monkeypatch.setattr(rdp, "of_sampled_rounds", lambda *_: None)
    assert all(rdp.renyi(run, at).upper == largest[at] for at in orders)
    monkeypatch.setattr(rdp, "largest_of", lambda products: tuple(p for p in products if rdp._is_added(p)))
    assert all(rdp.renyi(run, at).upper < largest[at] for at in orders)


def test_dropped_direction():
    """Taking "add" alone, the smaller of the two orders, halves epsilon on an ordinary run."""
    products = dominating(Repeat(Poisson(Gaussian(0.8), 0.01), 1000), "add-remove").upper
    values = sorted(rdp.epsilon(product, 1e-5).upper for product in products)
    assert len(values) == 2
    assert values[0] < 0.8 * values[1]


def test_poisson_formula_for_fixed_size_sampling():
    """The hybrid pair of replace-one has twice the shift: the Poisson add-remove number is far too small."""
    fixed = dominating(Repeat(FixedSize(Gaussian(5.0), 205, 100), 1000), "replace-one").upper
    poisson = dominating(Repeat(Poisson(Gaussian(5.0), 100 / 205), 1000), "add-remove").upper
    honest = max(rdp.epsilon(product, 1e-5).upper for product in fixed)
    assert honest > 2 * max(rdp.epsilon(product, 1e-5).upper for product in poisson)


def test_hybrid_is_no_less_than_either_order():
    for shift, rate, alpha in SETTINGS:
        orders = {
            o: rdp.divergence(SubsampledPair(GaussianPair(shift), rate, o), alpha) for o in ("remove", "add", "hybrid")
        }
        assert orders["hybrid"] >= orders["remove"] * (1 - 1e-12)
        assert orders["hybrid"] > orders["add"]


def test_optimal_conversion_without_its_tangent_margin(monkeypatch):
    """If the search for the smallest h stopped early and no tangent were used, epsilon would come out too small."""
    honest = conversion_optimal.asoodeh_epsilon(3.0, 0.4, 1e-4)

    def careless(self, rdp_value, near):
        at = min(1.0, 5 * self.alpha * self.delta)
        return (self._first(at) + self._second(at)) / math.exp((self.alpha - 1) * rdp_value) - 1, at

    monkeypatch.setattr(conversion_optimal._Violation, "margin", careless)
    assert conversion_optimal.asoodeh_epsilon(3.0, 0.4, 1e-4) < honest


@pytest.mark.parametrize("steps", [1, 3])
def test_a_stopped_search_in_the_optimal_conversion_only_costs_width(monkeypatch, steps):
    honest = conversion_optimal.asoodeh_epsilon(3.0, 0.4, 1e-4)
    monkeypatch.setattr(crossing, "_STEPS", steps)
    assert conversion_optimal.asoodeh_epsilon(3.0, 0.4, 1e-4) >= honest * (1 - 1e-9)
