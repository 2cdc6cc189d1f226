"""rho and Renyi divergences from both sides, against mpmath's quadrature on many orders."""

from __future__ import annotations

import math

import mpmath
import pytest
from cases import few

from dpcert.accounting import renyi, rho
from dpcert.accounting.currencies import zcdp
from dpcert.accounting.ledger import ZcdpFilter
from dpcert.mechanisms import (
    DiscreteGaussian,
    DistributedGaussian,
    Gaussian,
    Group,
    InputError,
    Laplace,
    Mechanism,
    Poisson,
    Repeat,
    Sequence,
    Zcdp,
)


def sampled_gaussian_divergence(rate: float, shift: float, alpha: float, order: str) -> float:
    """D_alpha of one round by quadrature with 30 digits, from the definition."""
    with mpmath.workdps(30):
        q, s, a = mpmath.mpf(rate), mpmath.mpf(shift), mpmath.mpf(alpha)

        def ratio(y: mpmath.mpf, sign: int = 1) -> mpmath.mpf:
            return 1 - q + q * mpmath.exp(sign * s * y - s * s / 2)

        powers = {"remove": lambda y: ratio(y) ** a, "add": lambda y: ratio(y) ** (1 - a)}
        powers["replace"] = lambda y: ratio(y) ** a * ratio(y, -1) ** (1 - a)
        points = sorted({-20.0, 0.0, shift, alpha * shift, alpha * shift + 20.0})
        moment = mpmath.quad(lambda y: powers[order](y) * mpmath.npdf(y), points)
        return float(mpmath.log(moment) / (a - 1))


def laplace_divergence(shift: float, alpha: float) -> float:
    """Mironov 2017, Proposition 6."""
    with mpmath.workdps(40):
        s, a = mpmath.mpf(shift), mpmath.mpf(alpha)
        moment = a / (2 * a - 1) * mpmath.exp((a - 1) * s) + (a - 1) / (2 * a - 1) * mpmath.exp(-a * s)
        return float(mpmath.log(moment) / (a - 1))


def test_renyi_at_the_very_number() -> None:
    """Order 8 of four rounds of noise 10 is 4 * 8 / 200 = .16 exactly; in doubles it was a little more."""
    found = renyi(Repeat(Gaussian(10.0), 4), 8.0)
    assert (found.lower, found.upper) == (0.16, 0.16)
    assert renyi(Repeat(Gaussian(10.0), 4), 8.0, "replace-one").upper == 0.64
    assert renyi(Zcdp(0.1), 3.0).upper == 0.3, "3 times 0.1 in doubles is more"
    discrete = renyi(DiscreteGaussian(sigma=10.0), 8.0)
    assert discrete.lower == 0.0
    assert discrete.upper == 0.04


ORDERS = [1.01, 1.3, 2.0, 3.7, 8.0, 20.0, 32.0]


@pytest.mark.parametrize(("rate", "noise"), [(0.01, 1.0), (0.3, 2.0), (0.9, 0.7)])
@pytest.mark.parametrize("alpha", few([1.3, 2.0, 8.0], 8))
def test_renyi_from_both_sides(rate: float, noise: float, alpha: float) -> None:
    run = Repeat(Poisson(Gaussian(noise), rate), 3)
    both = [3 * sampled_gaussian_divergence(rate, 1 / noise, alpha, order) for order in ("remove", "add")]
    found = renyi(run, alpha)
    assert found.lower <= max(both) * (1 + 1e-9)
    assert found.upper >= max(both) * (1 - 1e-9)
    assert found.width <= 1e-6 * found.upper
    replaced = 3 * sampled_gaussian_divergence(rate, 1 / noise, alpha, "replace")
    found = renyi(run, alpha, "replace-one")
    assert found.lower <= replaced * (1 + 1e-9)
    assert found.upper >= replaced * (1 - 1e-9)


def test_rho_up_to_an_order_holds_at_every_order() -> None:
    run = Repeat(Poisson(Gaussian(1.0), 0.01), 1000)
    found = rho(run, orders_up_to=8.0)
    true = [1000 * sampled_gaussian_divergence(0.01, 1.0, a, "remove") / a for a in ORDERS if a <= 8.0]
    assert max(true) * (1 - 1e-9) <= found.upper <= max(true) * (1 + 1e-3)
    assert found.lower <= max(true) * (1 + 1e-9)


@pytest.mark.parametrize("scale", [0.05, 0.1, 1.0, 5.0])
def test_rho_of_laplace_noise_where_the_largest_order_is_inside(scale: float) -> None:
    """D_alpha / alpha rises and falls: the supremum is at no order that the search starts with."""
    fine = [1 + 10 ** (k / 40) for k in range(-160, 161)]
    true = max(laplace_divergence(1 / scale, a) / a for a in fine)
    found = rho(Laplace(scale))
    assert found.upper >= true * (1 - 1e-12)
    assert found.upper <= true * (1 + 1e-3)
    assert found.lower <= found.upper


def sampled_laplace_divergence(rate: float, shift: float, alpha: float) -> float:
    """The unit's leaving, by quadrature between the kinks."""
    with mpmath.workdps(20):
        q, s, a = mpmath.mpf(rate), mpmath.mpf(shift), mpmath.mpf(alpha)

        def term(y: mpmath.mpf) -> mpmath.mpf:
            return mpmath.exp(-abs(y)) / 2 * (1 - q + q * mpmath.exp(abs(y) - abs(y - s))) ** a

        return float(mpmath.log(mpmath.quad(term, [-40, 0, s, s + 40])) / (a - 1))


def test_a_search_that_looks_at_ends_only_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """D_alpha / alpha of sampled Laplace noise is largest inside a cell. Planted: bounds from the cells' ends."""
    orders = [1 + 10 ** (k / 40) for k in range(-80, 81)]
    true = max(sampled_laplace_divergence(0.01, 5.0, alpha) / alpha for alpha in orders)
    run = Poisson(Laplace(0.2), 0.01)
    found = rho(run)
    assert true <= found.upper <= true * (1 + 1e-3)

    def planted(left: float, at_left: float, right: float, at_right: float) -> float:
        return max(at_left / (left * (left - 1)), at_right / (right * (right - 1)))

    monkeypatch.setattr(zcdp, "_on_chord", planted)
    assert rho(run).upper < true


def test_no_amplification_survives_at_large_orders() -> None:
    found = rho(Repeat(Poisson(Gaussian(1.0), 0.01), 1000))
    assert 500 * (1 - 1e-9) <= found.lower <= 500 <= found.upper <= 500.1


def test_gaussian_rounds_are_exact_and_add_up() -> None:
    found = rho(Sequence((Repeat(Gaussian(5.0), 10), Repeat(Gaussian(2.0), 2))), "replace-one")
    true = 10 * 4 / 50 + 2 * 4 / 8
    assert found.lower <= true <= found.upper
    assert found.width < 1e-12


def test_stated_rhos_add_up_as_the_decimals_that_they_are() -> None:
    """As in the budget of the 2020 Census, Detailed DHC-A; one more unit in the last place is one too many."""
    rounds = ((0.008, 20), (2.134, 8), (0.159, 16))
    run = Sequence(tuple(Repeat(Zcdp(stated), times) for stated, times in rounds))
    assert rho(run, "replace-one").upper == 19.776
    assert rho(Sequence((run, Zcdp(1e-15))), "replace-one").upper > 19.776
    mixed = rho(Sequence((run, Gaussian(1000.0))), "add-remove")
    assert mixed.upper >= 19.776 + 5e-7


def test_a_stated_rho_is_a_bound_only() -> None:
    found = rho(Repeat(Zcdp(0.1), 3))
    assert found.lower == 0.0
    assert 0.3 <= found.upper < 0.3 * (1 + 1e-3)


@pytest.mark.parametrize("bad", [1.0, 0.5, math.nan])
def test_orders_must_be_above_one(bad: float) -> None:
    with pytest.raises(InputError, match="orders_up_to"):
        rho(Gaussian(1.0), orders_up_to=bad)


def test_the_filter_adds_rho() -> None:
    budget = ZcdpFilter(0.5)
    step: Mechanism = Repeat(Gaussian(10.0), 50)
    budget.record(step)
    assert not budget.would_exceed(Repeat(Gaussian(10.0), 49))
    assert budget.would_exceed(Repeat(Gaussian(10.0), 51))


def test_decimals_add_up_exactly() -> None:
    """What a deployment states as parts of one rho is that rho: the 2020 census' 2.56, split over eight tables."""
    shares = [0.02, 0.30, 0.50, 0.74, 0.60, 0.25, 0.10, 0.05]
    found = rho(Sequence([Zcdp(share) for share in shares]))
    assert (found.lower, found.upper) == (0.0, 2.56)
    assert sum([0.1] * 3) > 0.3  # what a sum of doubles would have said
    assert rho(Repeat(Zcdp(0.1), 3)).upper == 0.3
    equal = rho(Repeat(Gaussian(10.0), 4))
    assert (equal.lower, equal.upper) == (0.02, 0.02)
    replaced = rho(Gaussian(2.0), "replace-one")
    assert (replaced.lower, replaced.upper) == (0.5, 0.5)
    discrete = rho(DiscreteGaussian(10.0, 2))
    assert (discrete.lower, discrete.upper) == (0.02, 0.02)
    assert rho(DiscreteGaussian(10.0, 2), orders_up_to=8.0).lower < 0.02
    assert rho(Group(Gaussian(10.0), 2)).lower == 0.02
    third = rho(Gaussian(3.0))
    assert third.lower <= 1 / 18 <= third.upper
    assert third.width < 1e-16


def test_noise_that_units_bring_is_refused_as_before() -> None:
    with pytest.raises(InputError):
        rho(DistributedGaussian(2.0), "add-remove")
