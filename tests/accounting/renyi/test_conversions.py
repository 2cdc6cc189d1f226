"""Conversions: formulas against mpmath, soundness against exact pairs, optimality against brute force."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from cases import few, many

from dpcert.accounting.renyi import conversions
from dpcert.proofs_checks.literature import zcdp_conversions as conversions_zcdp
from dpcert.proofs_checks.literature.wang import wang_balle_kasiviswanathan

EPSILONS = [
    conversions.mironov_epsilon,
    conversions.canonne_epsilon,
    conversions.asoodeh_epsilon,
    conversions.best_epsilon,
]
DELTAS = [
    conversions.mironov_delta,
    conversions.canonne_delta,
    conversions.asoodeh_delta,
    conversions.best_delta,
]
POINTS = [
    (2.0, 0.5, 1e-5),
    (5.0, 0.3, 1e-5),
    (20.0, 0.05, 1e-8),
    (3.0, 0.001, 1e-3),
    (8.0, 2.0, 1e-30),
    (200.0, 0.01, 0.05),
    (1.2, 3.0, 0.2),
]


def two_point_epsilon(alpha, rdp, delta):
    """The largest epsilon that some two-point pair with D_alpha <= rdp forces at delta, by search at 30 digits."""
    with mpmath.workdps(30):
        a, d = mpmath.mpf(alpha), mpmath.mpf(delta)
        target = mpmath.exp((a - 1) * mpmath.mpf(rdp))

        def forced(p):
            def excess(q):
                return p**a * q ** (1 - a) + (1 - p) ** a * (1 - q) ** (1 - a) - target

            low, high = p * mpmath.mpf(10) ** -60, p
            for _ in range(170):
                middle = mpmath.sqrt(low * high) if high > 2 * low else (low + high) / 2
                low, high = (middle, high) if excess(middle) > 0 else (low, middle)
            return mpmath.log((p - d) / high)

        grid = [d + (1 - d) * mpmath.mpf(10) ** (-mpmath.mpf(k) / 4) for k in range(1, int(4 * (3 - mpmath.log10(d))))]
        best = max(grid, key=forced)
        left, right = d + (best - d) / mpmath.mpf(2), min(1 - mpmath.mpf(10) ** -25, d + (best - d) * mpmath.mpf(2))
        for _ in range(40):
            thirds = left + (right - left) / 3, right - (right - left) / 3
            left, right = (left, thirds[1]) if forced(thirds[0]) > forced(thirds[1]) else (thirds[0], right)
        return forced((left + right) / 2)


@pytest.mark.parametrize(("alpha", "rdp", "delta"), few(POINTS[:5], 6))
def test_asoodeh_is_what_a_two_point_pair_attains(alpha, rdp, delta):
    exact = max(mpmath.mpf(0), two_point_epsilon(alpha, rdp, delta))
    got = conversions.asoodeh_epsilon(alpha, rdp, delta)
    assert exact <= got <= exact * (1 + 1e-8) + mpmath.mpf(10) ** -9


@pytest.mark.parametrize(("alpha", "rdp", "delta"), POINTS)
def test_each_is_at_least_the_optimal_one_and_canonne_improves_mironov(alpha, rdp, delta):
    optimal = conversions.asoodeh_epsilon(alpha, rdp, delta)
    assert all(convert(alpha, rdp, delta) >= optimal * (1 - 1e-9) for convert in EPSILONS)
    assert conversions.canonne_epsilon(alpha, rdp, delta) <= conversions.mironov_epsilon(alpha, rdp, delta)


@pytest.mark.parametrize(("alpha", "rdp", "delta"), POINTS)
@pytest.mark.parametrize("index", range(len(EPSILONS)))
def test_delta_inverts_epsilon(alpha, rdp, delta, index):
    epsilon = EPSILONS[index](alpha, rdp, delta)
    if epsilon > 0:
        assert DELTAS[index](alpha, rdp, epsilon) == pytest.approx(delta, rel=1e-6)


def test_formulas_against_fifty_digits_and_rounded_up():
    for alpha, rdp, delta in POINTS:
        with mpmath.workdps(50):
            a, r, d = (mpmath.mpf(x) for x in (alpha, rdp, delta))
            mironov = r - mpmath.log(d) / (a - 1)
            canonne = max(0, r + mpmath.log((a - 1) / a) - (mpmath.log(d) + mpmath.log(a)) / (a - 1))
            assert mironov <= conversions.mironov_epsilon(alpha, rdp, delta) <= mironov * (1 + 1e-12)
            assert canonne <= conversions.canonne_epsilon(alpha, rdp, delta) <= canonne + mironov * 1e-12


@pytest.mark.parametrize("convert", EPSILONS)
def test_no_conversion_goes_below_the_exact_gaussian(convert):
    """Gaussian pairs have D_alpha = alpha mu^2 / 2 exactly; delta(epsilon) by Balle and Wang 2018, Theorem 8."""
    for mu, delta in [(0.05, 1e-3), (1.0, 1e-5), (3.0, 1e-20)]:
        for alpha in (1.3, 2.0, 6.0, 40.0):
            epsilon = mpmath.mpf(convert(alpha, alpha * mu * mu / 2, delta))
            with mpmath.workdps(50):
                tail = mpmath.ncdf(-mu / mpmath.mpf(2) - epsilon / mu)
                exact = mpmath.ncdf(mu / mpmath.mpf(2) - epsilon / mu) - mpmath.exp(epsilon) * tail
                assert exact <= delta


def test_infinite_order_is_pure_privacy():
    for convert in EPSILONS:
        assert convert(math.inf, 0.7, 1e-5) == pytest.approx(0.7, abs=2e-5)
    for convert in DELTAS:
        assert convert(math.inf, 0.7, 0.7) == pytest.approx(0.0, abs=1e-12)
        assert convert(math.inf, 0.7, 0.6) > 0


@pytest.mark.parametrize("rho", [1e-4, 0.015, 0.8, 2.56, 40.0, 1e5, 1e8])
@pytest.mark.parametrize("delta", [1e-3, 1e-10, 1e-30])
class TestZcdp:
    def test_none_goes_below_the_exact_gaussian(self, rho, delta):
        """N(0, 1) against N(mu, 1) with mu = sqrt(2 rho) is exactly rho-zCDP."""
        for convert in (
            conversions_zcdp.bun_steinke_epsilon,
            conversions_zcdp.bun_steinke_integral_epsilon,
            conversions_zcdp.canonne_zcdp_epsilon,
        ):
            with mpmath.workdps(60):
                epsilon, mu = mpmath.mpf(convert(rho, delta)), mpmath.sqrt(2 * mpmath.mpf(rho))
                tail = mpmath.erfc((mu / 2 + epsilon / mu) / mpmath.sqrt(2)) / 2
                exact = mpmath.erfc((epsilon / mu - mu / 2) / mpmath.sqrt(2)) / 2 - mpmath.exp(epsilon) * tail
                assert exact <= delta

    def test_order_of_strength(self, rho, delta):
        closed = conversions_zcdp.bun_steinke_epsilon(rho, delta)
        integral = conversions_zcdp.bun_steinke_integral_epsilon(rho, delta)
        canonne = conversions_zcdp.canonne_zcdp_epsilon(rho, delta)
        assert integral <= closed
        assert canonne <= closed

    def test_integral_against_quadrature(self, rho, delta):
        """E[(1 - e^(eps - Z))_+] for a loss whose tail is bounded by e^-(t - rho)^2 / (4 rho), integrated."""
        epsilon = conversions_zcdp.bun_steinke_integral_epsilon(rho, delta)
        if epsilon < rho:
            pytest.skip("the tail bound is 1 below rho")
        with mpmath.workdps(40):
            r, e = mpmath.mpf(rho), mpmath.mpf(epsilon)
            width = mpmath.sqrt(2 * r)
            ends = [e + k * width / 4 for k in range(0, 60)]
            bound = mpmath.quad(lambda t: mpmath.exp(e - t - (t - r) ** 2 / (4 * r)), ends)
            closed = mpmath.exp(-((e - r) ** 2) / (4 * r))
        got = conversions_zcdp.bun_steinke_integral_delta(rho, epsilon)
        assert got == pytest.approx(float(min(bound, closed)), rel=1e-9)

    def test_integral_falls_in_epsilon_on_both_sides_of_rho(self, rho, delta):
        points = [0.0, rho / 2, rho * (1 - 1e-9), rho, rho * (1 + 1e-9), 2 * rho, 4 * rho]
        values = [conversions_zcdp.bun_steinke_integral_delta(rho, epsilon) for epsilon in points]
        assert all(later <= earlier * (1 + 1e-9) for earlier, later in itertools.pairwise(values))

    def test_delta_inverts_epsilon(self, rho, delta):
        epsilon = conversions_zcdp.bun_steinke_epsilon(rho, delta)
        assert math.exp(-((epsilon - rho) ** 2) / (4 * rho)) == pytest.approx(delta, rel=1e-5)
        order = conversions_zcdp.canonne_zcdp_order(rho, delta)
        epsilon = conversions_zcdp.canonne_zcdp_epsilon(rho, delta)
        if epsilon > 0:
            assert conversions.canonne_delta(order, rho * order, epsilon) == pytest.approx(delta, rel=1e-5)


def wang_oracle(shift, rate, order):
    """Theorem 27 with B(l) as the alternating binomial sum, at 80 digits."""
    with mpmath.workdps(80):
        s, q = mpmath.mpf(shift), mpmath.mpf(rate)

        def moment(j):
            return mpmath.exp(j * (j - 1) * s * s / 2)

        def even(n):
            return mpmath.fsum((-1) ** (n - i) * mpmath.binomial(n, i) * moment(i) for i in range(n + 1))

        total = mpmath.mpf(1)
        for j in range(2, order + 1):
            by_parts = 4 * mpmath.sqrt(even(2 * (j // 2)) * even(2 * ((j + 1) // 2)))
            total += mpmath.binomial(order, j) * q**j * min(by_parts, 2 * moment(j))
        return mpmath.log(total) / (order - 1)


@pytest.mark.parametrize(
    ("shift", "rate", "order"), [(0.125, 100 / 205, 5), (0.25, 0.2, 17), (1.0, 0.01, 3), (0.02, 0.9, 60)]
)
def test_wang_balle_kasiviswanathan(shift, rate, order):
    exact = wang_oracle(shift, rate, order)
    assert exact <= wang_balle_kasiviswanathan(shift, rate, float(order)) <= exact * (1 + 1e-9)


def test_wang_between_whole_orders_is_linear_in_the_log_moment():
    low, high = (wang_balle_kasiviswanathan(0.25, 0.2, a) for a in (4.0, 5.0))
    assert wang_balle_kasiviswanathan(0.25, 0.2, 4.5) == pytest.approx((3 * low + 4 * high) / 2 / 3.5, rel=1e-9)
    assert np.isfinite(wang_balle_kasiviswanathan(0.25, 0.2, 1.5))


def test_extreme_arguments_give_numbers_in_range():
    """Orders to 1e9 and infinity, divergences from 1e-12 to 1e8, delta down to 1e-300: no exception, no NaN."""
    rng = np.random.default_rng(5)
    for _ in range(many(50)):
        alpha = 1 + 10 ** rng.uniform(-4, 9) if rng.random() < 0.9 else math.inf
        rdp, delta = 10 ** rng.uniform(-12, 8), 10 ** rng.uniform(-300, -1e-3)
        epsilon = 10 ** rng.uniform(-10, 8) if rng.random() < 0.9 else 0.0
        assert all(convert(alpha, rdp, delta) >= 0 for convert in EPSILONS)
        assert all(0 <= convert(alpha, rdp, epsilon) <= 1 for convert in DELTAS)


def test_extreme_zcdp_arguments_give_numbers_in_range():
    rng = np.random.default_rng(6)
    for _ in range(many(60)):
        rho, delta = 10 ** rng.uniform(-12, 8), 10 ** rng.uniform(-300, -1e-3)
        epsilon = 10 ** rng.uniform(-10, 8)
        for to_epsilon in (conversions_zcdp.bun_steinke_integral_epsilon, conversions_zcdp.canonne_zcdp_epsilon):
            assert 0 <= to_epsilon(rho, delta) <= conversions_zcdp.bun_steinke_epsilon(rho, delta) * (1 + 1e-9)
        assert 0 <= conversions_zcdp.bun_steinke_integral_delta(rho, epsilon) <= 1
