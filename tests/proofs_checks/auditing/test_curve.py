"""Claims as lines of a trade-off curve."""

import math

import mpmath
import numpy as np
import pytest
from scipy.stats import norm

from dpcert.mechanisms import Gaussian, InputError, Laplace, Repeat
from dpcert.proofs_checks.auditing import ClaimedCurve, approximate_dp, from_profile, gdp, of_mechanism, rdp
from dpcert.proofs_checks.auditing.curve import as_claim, gdp_delta


def test_gdp_lines_are_above_the_exact_profile_and_close():
    mpmath.mp.dps = 40
    claim = gdp(1.3)
    for eps, delta in zip(claim.epsilons, claim.deltas, strict=True):
        mu = mpmath.mpf(1.3)
        exact = mpmath.ncdf(-eps / mu + mu / 2) - mpmath.exp(eps) * mpmath.ncdf(-eps / mu - mu / 2)
        assert exact <= delta <= float(exact) * (1 + 1e-3) + 1e-12


def test_gdp_tradeoff_is_below_the_exact_curve_and_close():
    alpha = np.linspace(0.001, 0.999, 97)
    exact = norm.cdf(norm.isf(alpha) - 1.0)
    touched = gdp(1.0).tradeoff(alpha)
    assert np.all(touched <= exact + 1e-12)
    assert np.max(exact - touched) < 1e-3


def test_tradeoff_of_approximate_dp_is_the_polygon():
    f = approximate_dp(1.0, 0.1).tradeoff([0.0, 0.05, 0.5, 0.95])
    expected = [0.9, 0.9 - math.e * 0.05, math.exp(-1) * 0.4, 0.0]
    assert f == pytest.approx(expected)


def test_rdp_of_a_gaussian_is_weaker_than_gdp():
    orders = np.array([1.5, 2, 4, 8, 16, 32, 64])
    claim = rdp(orders, orders / 2)
    assert all(d >= gdp_delta(e, 1.0) for e, d in zip(claim.epsilons, claim.deltas, strict=True))


def test_rdp_conversion_at_one_order():
    """Proposition 12 by hand: order 2, divergence 1, epsilon 3: exp(-2) (1/2)^2 / 1."""
    claim = rdp([2.0], [1.0])
    eps = np.array(claim.epsilons)
    assert claim.deltas == pytest.approx(np.minimum(1.0, np.exp(1.0 - eps) / 4), rel=1e-9)


def test_of_mechanism_uses_the_accountants():
    claim = of_mechanism(Repeat(Gaussian(2.0), 4), lines=8)
    exact = gdp_delta(np.array(claim.epsilons), 1.0)
    assert np.all(np.array(claim.deltas) >= exact * (1 - 1e-9))
    assert np.allclose(claim.deltas, exact, rtol=1e-3, atol=1e-9)


def test_forbids_is_strict():
    claim = approximate_dp(1.0, 1e-5)
    assert claim.forbids(1.01, 1e-5)
    assert not claim.forbids(1.0, 1e-5)
    assert not claim.forbids(1.5, 1e-6)


def test_either_claim_or_epsilon():
    assert as_claim(None, None, 0.0) is None
    assert as_claim(None, 1.0, 0.1) == approximate_dp(1.0, 0.1)
    assert isinstance(as_claim(Laplace(1.0), None, 0.0), ClaimedCurve)
    with pytest.raises(InputError, match="claim"):
        as_claim(gdp(1.0), 1.0, 0.0)


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: approximate_dp(-1.0), "epsilon"),
        (lambda: approximate_dp(1.0, 1.0), "delta"),
        (lambda: gdp(0.0), "mu"),
        (lambda: rdp([1.0], [1.0]), "orders"),
        (lambda: rdp([], []), "orders"),
        (lambda: ClaimedCurve((), (), ""), "claim"),
        (lambda: ClaimedCurve((1.0,), (2.0,), ""), "delta"),
        (lambda: as_claim("strong", None, 0.0), "claim"),
    ],
)
def test_bad_claims_name_the_field(make, field):
    with pytest.raises(InputError) as caught:
        make()
    assert caught.value.field == field


def test_from_profile_clips_to_probabilities():
    assert from_profile(lambda eps: 1.5 - eps, [0.0, 2.0], "x").deltas == (1.0, 0.0)
