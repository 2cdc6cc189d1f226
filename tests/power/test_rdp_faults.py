"""Planted faults in the Renyi accountant that the comparison with 40-digit integrals must catch."""

import math

import mpmath
import numpy as np
import pytest

from dpcert.accounting.conversions import optimal as conversion_optimal
from dpcert.accounting.dominating import dominating
from dpcert.accounting.pairs import GaussianPair, SubsampledPair
from dpcert.accounting.rdp import quadrature as rdp_quadrature
from dpcert.accounting.rdp import rdp
from dpcert.accounting.rdp import sampled_gaussian as rdp_sampled_gaussian
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


def under_reported(moment_excess=None):
    """Settings at which the accountant's log-moment lies below the truth."""
    evaluate = moment_excess or rdp_sampled_gaussian.log_moment_excess
    found = []
    for shift, rate, alpha in SETTINGS:
        for order in ("remove", "add"):
            if evaluate(shift, rate, order, alpha) < mpmath.log(exact_moment(shift, rate, order, alpha) - 1):
                found.append((shift, rate, alpha, order))
    return found


def test_the_accountant_as_it_is_never_under_reports():
    assert under_reported() == []


def test_a_short_range_with_its_tail_bound_is_still_a_bound(monkeypatch):
    monkeypatch.setattr(rdp_sampled_gaussian, "_TAIL", 3.0)
    assert under_reported() == []


def test_truncation_ignored():
    """The same short range, without the bound on what it leaves out."""

    def careless(shift, rate, order, alpha):
        power = alpha if order == "remove" else 1 - alpha
        density = rdp_sampled_gaussian.SampledDensity(power, rate, shift, shift, 1)
        return rdp_quadrature.log_integral_upper(density, -3.0, max(power, 1.0) * shift + 3.0 - shift / 2)

    assert under_reported(careless)


def test_quadrature_error_ignored(monkeypatch):
    monkeypatch.setattr(rdp_quadrature, "_WIDEST", 12.0)
    density = rdp_sampled_gaussian.SampledDensity
    monkeypatch.setattr(density, "singular", property(lambda self: ()))
    monkeypatch.setattr(density, "log_bound", lambda self, left, right, height: np.full(left.shape, -1e9))
    assert under_reported()


def test_rounding_the_wrong_way(monkeypatch):
    right = rdp_sampled_gaussian.log_moment_excess
    assert under_reported(lambda *a: right(*a) - 1e-9)


def test_halved_sensitivity():
    right = rdp_sampled_gaussian.log_moment_excess
    assert len(under_reported(lambda shift, *a: right(shift / 2, *a))) == 2 * len(SETTINGS)


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

    def careless(self, rdp_value):
        at = min(1.0, 5 * self.alpha * self.delta)
        return (self._first(at) + self._second(at)) / math.exp((self.alpha - 1) * rdp_value) - 1

    monkeypatch.setattr(conversion_optimal._Violation, "margin", careless)
    assert conversion_optimal.asoodeh_epsilon(3.0, 0.4, 1e-4) < honest


@pytest.mark.parametrize("steps", [1, 3])
def test_a_stopped_search_in_the_optimal_conversion_only_costs_width(monkeypatch, steps):
    honest = conversion_optimal.asoodeh_epsilon(3.0, 0.4, 1e-4)
    monkeypatch.setattr(conversion_optimal, "_STEPS", steps)
    assert conversion_optimal.asoodeh_epsilon(3.0, 0.4, 1e-4) >= honest * (1 - 1e-9)
