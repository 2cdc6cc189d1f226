"""mu against trade-off curves that are known in closed form: one sampled Gaussian round, Laplace noise."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath
import pytest
from cases import few
from scipy.optimize import brentq

from dpcert.accounting import delta, mu
from dpcert.accounting.currencies import gaussian_dp, gaussian_knots
from dpcert.accounting.losses import gaussian_rounds as gaussian
from dpcert.accounting.pairs import LossesPair, SubsampledPair
from dpcert.accounting.pairs.pair import largest_loss
from dpcert.mechanisms import Gaussian, InputError, Laplace, Poisson, RandomizedResponse, Repeat, Sequence


def quantile(p: float) -> float:
    return float(mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(p) - 1))


def largest_mu(point: Callable[[float], tuple[float, float]], thresholds: list[float], least: float) -> float:
    """The largest Phi^-1(1 - alpha) - Phi^-1(beta) over the curve's points with both error rates at least `least`."""
    needed = 0.0
    for c in thresholds:
        alpha, beta = point(c)
        if least <= alpha < 1 and least <= beta < 1:
            needed = max(needed, -quantile(alpha) - quantile(beta))
    return needed


def sampled_gaussian(rate: float, shift: float) -> Callable[[float], tuple[float, float]]:
    """Errors of "above c" for N(0) against (1 - rate) N(0) + rate N(shift): the likelihood ratio rises with y."""

    def point(c: float) -> tuple[float, float]:
        alpha = float(mpmath.ncdf(-c))
        return alpha, float((1 - rate) * mpmath.ncdf(c) + rate * mpmath.ncdf(c - shift))

    return point


@pytest.mark.parametrize(("rate", "noise"), few([(0.5, 1.0), (0.1, 0.5)], 4))
@pytest.mark.parametrize("least", few([1e-5, 1e-2], 4))
def test_one_sampled_round(rate: float, noise: float, least: float) -> None:
    grid = [k / 200 for k in range(-1200, 1201)]
    true = largest_mu(sampled_gaussian(rate, 1 / noise), grid, least)
    found = mu(Poisson(Gaussian(noise), rate), error_rates_at_least=least)
    assert found.upper >= true * (1 - 1e-9)
    assert found.lower <= true * (1 + 1e-3)  # the grid misses the end of the range by a little
    assert found.width <= 2e-4 * found.upper


def test_laplace_noise_everywhere() -> None:
    """beta(alpha) = 1 - e alpha up to 1 / (2 e), then 1 / (4 e alpha) (Dong, Roth, Su 2022, section 2)."""
    alphas = [10 ** (-k / 100) for k in range(31, 900)]

    def point(alpha: float) -> tuple[float, float]:
        return alpha, 1 - math.e * alpha if alpha < math.exp(-1) / 2 else math.exp(-1) / (4 * alpha)

    true = largest_mu(point, alphas, 0.0)
    found = mu(Laplace(1.0))
    assert true * (1 - 1e-9) <= found.upper <= true * (1 + 1e-3)
    assert found.lower <= true * (1 + 1e-4)


def test_planted_contacts_instead_of_vertices_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the curve taken at the knots only, the upper end would miss what is between them."""
    monkeypatch.setattr(gaussian_dp, "_FIRST_KNOTS", 4)
    monkeypatch.setattr(gaussian_dp, "_MOST_KNOTS", 4)
    true = largest_mu(sampled_gaussian(0.1, 2.0), [k / 200 for k in range(-1200, 1201)], 1e-3)
    run = Poisson(Gaussian(0.5), 0.1)
    assert mu(run, error_rates_at_least=1e-3).upper >= true

    def planted(knots, least):  # type: ignore[no-untyped-def]
        for i in range(len(knots) - 1):
            yield gaussian_knots.below(knots[i : i + 2], least), i

    monkeypatch.setattr(gaussian_dp, "vertices", planted)
    assert mu(run, error_rates_at_least=1e-3).upper < true


def test_gaussian_rounds_are_exact() -> None:
    found = mu(Sequence((Repeat(Gaussian(4.0), 4), Gaussian(2.0))), "replace-one")
    true = math.sqrt(4 * 0.25 + 1.0)
    assert found.lower <= true <= found.upper
    assert found.width < 1e-12


def test_no_amplification_survives_at_tiny_error_rates() -> None:
    found = mu(Repeat(Poisson(Gaussian(2.0), 0.01), 100))
    assert found.lower <= 5.0 <= found.upper
    assert found.width < 1e-9
    assert mu(Repeat(Poisson(Gaussian(2.0), 0.01), 100), error_rates_at_least=1e-3).upper < 0.1


def test_randomized_response_has_its_corner() -> None:
    found = mu(RandomizedResponse(0.25), "replace-one")
    assert found.lower <= 2 * quantile(0.75) <= found.upper
    assert found.width < 1e-9


def test_a_smaller_range_needs_no_more() -> None:
    run = Repeat(Poisson(Gaussian(1.0), 0.01), 1000)
    found = [mu(run, error_rates_at_least=rate) for rate in (1e-2, 1e-5, 0.0)]
    assert found[0].upper <= found[1].upper <= found[2].upper


def profile_of_sampled_gaussian(rate: float, shift: float) -> Callable[[float], float]:
    """delta of "remove" at eps: beyond the y at which 1 - rate + rate e^(s y - s^2 / 2) is e^eps."""

    def delta(eps: float) -> float:
        c = mpmath.log((mpmath.exp(eps) - 1 + rate) / rate) / shift + mpmath.mpf(shift) / 2
        tail = (1 - rate) * mpmath.ncdf(-c) + rate * mpmath.ncdf(shift - c)
        return float(tail - mpmath.exp(eps) * mpmath.ncdf(-c))

    return delta


def mu_with(eps: float, delta: float) -> float:
    """The mu of Gaussian noise with that delta at eps, by bisection."""

    def missing(mu: float) -> float:
        return float(mpmath.ncdf(-eps / mu + mu / 2) - mpmath.exp(eps) * mpmath.ncdf(-eps / mu - mu / 2)) - delta

    return float(brentq(missing, 1e-3, 20.0, xtol=1e-13))


@pytest.mark.parametrize(("rate", "noise", "floor"), [(0.1, 0.5, 1e-2), (0.1, 0.5, 1e-6), (0.5, 1.0, 1e-4)])
def test_down_to_a_delta(rate: float, noise: float, floor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest mu that some epsilon needs at which delta is at least the floor. Planted: knots end too early."""
    known = profile_of_sampled_gaussian(rate, 1 / noise)
    grid = [k / 40 for k in range(0, 400, 4)]
    true = max(mu_with(eps, known(eps)) for eps in grid if known(eps) >= floor)
    run = Poisson(Gaussian(noise), rate)
    found = mu(run, deltas_at_least=floor)
    assert true * (1 - 1e-9) <= found.upper <= true * (1 + 0.05)  # the grid's last eps is not that of the floor
    assert found.lower <= found.upper <= found.lower * (1 + 1e-4)
    if floor == 1e-6:  # the mu is that of the last knot
        laid_out = gaussian_dp._lay_out
        monkeypatch.setattr(gaussian_dp, "_lay_out", lambda profile, last: laid_out(profile, last / 2))
        assert mu(run, deltas_at_least=floor).upper < true


def test_planted_chords_of_the_whole_range_are_caught() -> None:
    """The crude bound of a cell must take delta at its beginning: at its end it is below what is between them."""
    run, (left, right) = Poisson(Gaussian(0.5), 0.1), (1.0, 2.0)
    knots = tuple((eps, delta(run, eps)) for eps in (left, right))
    between = mu_with(1.5, delta(run, 1.5).lower)
    assert gaussian.shift_above(right, knots[0][1].upper) >= between
    assert gaussian.shift_above(left, knots[1][1].upper) < between


@pytest.mark.parametrize("wrong", [{"deltas_at_least": 1.0}, {"deltas_at_least": 0.1, "error_rates_at_least": 0.1}])
def test_other_ranges_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match="deltas_at_least"):
        mu(Gaussian(1.0), **wrong)


@pytest.mark.parametrize("bad", [-0.1, 0.5, math.nan])
def test_other_error_rates_are_refused(bad: float) -> None:
    with pytest.raises(InputError, match="error_rates_at_least"):
        mu(Gaussian(1.0), error_rates_at_least=bad)


def test_a_round_is_bounded_in_both_orders_whichever_it_is_asked_in() -> None:
    """Randomized response's curve is below that of losses bounded on both sides: one side's bound is not enough."""
    pair = LossesPair((-3.0, 0.2), (0.02, 0.98))
    assert largest_loss(pair) < 0.5 < largest_loss(pair.mirrored())
    for way in (lambda pair: pair, lambda pair: SubsampledPair(pair, 0.1, "visible")):
        asked = [gaussian_dp._pair_above(way(each)) for each in (pair, pair.mirrored())]
        assert asked[0] == pytest.approx(asked[1], rel=1e-9)
        assert asked[0] > 2.0
