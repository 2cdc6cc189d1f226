"""The one-event bound lies below the exact epsilon where that is known, and reaches where nothing else does."""

from __future__ import annotations

import math

import mpmath
import pytest
from flint import arb

from dpcert.accounting import delta
from dpcert.accounting.losses import gaussian_rounds as gaussian
from dpcert.accounting.losses import one_event
from dpcert.accounting.pairs import GaussianPair, LaplacePair, Sampling, SubsampledPair
from dpcert.accounting.participation import revealed
from dpcert.mechanisms import Gaussian, Poisson, Repeat


@pytest.mark.parametrize("shift", [0.05, 0.5, 2.0, 30.0])
@pytest.mark.parametrize("rounds", [1, 7, 500])
@pytest.mark.parametrize("target", [1e-3, 1e-10])
def test_below_the_exact_gaussian(shift: float, rounds: int, target: float) -> None:
    composition = ((GaussianPair(shift), rounds),)
    exact = gaussian.epsilon(composition, target)
    assert one_event.epsilon(composition, target).lower <= exact.upper
    at = exact.lower / 2
    assert one_event.delta(composition, at).lower <= gaussian.delta(composition, at).upper


def test_close_to_the_exact_value_for_one_round() -> None:
    """One round: a half-line is the optimal event (Neyman, Pearson), so only the grid of thresholds is lost."""
    composition = ((GaussianPair(3.0), 1),)
    assert one_event.epsilon(composition, 1e-5).lower == pytest.approx(
        gaussian.epsilon(composition, 1e-5).lower, rel=1e-3
    )


@pytest.mark.parametrize("rate", [0.002, 0.3])
@pytest.mark.parametrize("shift", [1.0, 8.0])
def test_below_one_sampled_round(rate: float, shift: float) -> None:
    """Remove, one round: delta(eps) = rate delta_Gauss(log((e^eps - 1 + rate) / rate)), at 50 digits."""
    pair = SubsampledPair(GaussianPair(shift), rate, "remove")
    with mpmath.workdps(50):
        for eps in (0.1, 1.0, 5.0):
            inner = mpmath.log((mpmath.exp(eps) - 1 + mpmath.mpf(rate)) / mpmath.mpf(rate))
            mu = mpmath.mpf(shift)
            exact = mpmath.mpf(rate) * (
                mpmath.ncdf(-inner / mu + mu / 2) - mpmath.exp(inner) * mpmath.ncdf(-inner / mu - mu / 2)
            )
            bound = one_event.delta(((pair, 1),), eps).lower
            assert bound <= exact * (1 + mpmath.mpf(10) ** -12)
            assert bound >= exact * 0.99 - 1e-12


def test_below_two_sampled_rounds_of_replacement() -> None:
    """Replace, two rounds, by a sum over a plane of 2,400^2 cells; its error is below 1e-4 here."""
    import numpy as np
    from scipy.stats import norm

    rate, shift, eps = 0.4, 1.5, 0.7
    axis = np.linspace(-9, 9, 2401)
    step = axis[1] - axis[0]
    first = (1 - rate) * norm.pdf(axis) + rate * norm.pdf(axis, shift)
    second = (1 - rate) * norm.pdf(axis) + rate * norm.pdf(axis, -shift)
    exact = np.maximum(np.outer(first, first) - np.exp(eps) * np.outer(second, second), 0).sum() * step**2
    bound = one_event.delta(((SubsampledPair(GaussianPair(shift), rate, "replace"), 2),), eps).lower
    assert bound <= exact + 1e-4
    assert bound > 0.3 * exact


def test_it_reaches_what_overflows_elsewhere() -> None:
    """shift 1900, rate 20/9343, 400 rounds: 7 participations, of probability 3e-5, cost about 7 shift^2 / 2."""
    bound = one_event.epsilon(((SubsampledPair(GaussianPair(1900.0), 20 / 9343, "remove"), 400),), 1e-5)
    assert 0.99 * 7 * 1900.0**2 / 2 < bound.lower < 7 * 1900.0**2 / 2
    assert bound.upper == math.inf
    assert bound.certified


@pytest.mark.parametrize("shift", [30.0, 1e3, 1e6])
@pytest.mark.parametrize("order", ["remove", "replace"])
def test_meets_the_upper_bound_where_noise_is_tiny(shift: float, order: Sampling) -> None:
    composition = ((SubsampledPair(GaussianPair(shift), 20 / 9343, order), 400),)
    bound = one_event.epsilon(composition, 1e-5)
    above = revealed.epsilon(((SubsampledPair(GaussianPair(shift), 20 / 9343, "remove"), 400),), 1e-5).upper
    assert bound.lower <= (above if order == "remove" else 4.0 * above)
    assert bound.lower > above * (1.0 - 3.0 / shift)
    assert one_event.delta(composition, 0.999 * bound.lower).lower > 1e-5


def test_several_events_against_exact_counts() -> None:
    """k and the threshold by hand, probabilities at 50 digits: the bound is at least what any of them gives."""
    rate, shift, rounds, target = 0.01, 12.0, 300, 1e-4
    pair = SubsampledPair(GaussianPair(shift), rate, "remove")
    found = one_event.epsilon(((pair, rounds),), target).lower
    with mpmath.workdps(50):
        for k in (6, 8, 10):
            for threshold in (6.0, 9.0, 10.5):
                stay, move = mpmath.ncdf(-threshold), mpmath.ncdf(shift - threshold)
                p = (1 - mpmath.mpf(rate)) * stay + mpmath.mpf(rate) * move
                likely, unlikely = (
                    mpmath.nsum(lambda j, e=each: mpmath.binomial(rounds, j) * e**j * (1 - e) ** (rounds - j), [k, 60])
                    for each in (p, stay)
                )
                if likely > target:
                    assert found > float(mpmath.log((likely - target) / unlikely)) - 0.02 * found


def test_what_it_knows() -> None:
    assert not one_event.supports(((LaplacePair(1.0), 3),))
    mixed = ((LaplacePair(1.0), 3), (GaussianPair(1.0), 2))
    assert one_event.supports(mixed)
    assert one_event.epsilon(mixed, 1e-5) == one_event.epsilon(((GaussianPair(1.0), 2),), 1e-5)


@pytest.mark.parametrize("shift", [1e-300, 1e-8, 1e6])
@pytest.mark.parametrize("target", [1e-300, 0.5, 1 - 1e-12])
def test_extremes_give_a_number(shift: float, target: float) -> None:
    for pair in (GaussianPair(shift), SubsampledPair(GaussianPair(shift), 1e-9, "remove")):
        found = one_event.epsilon(((pair, 10**9),), target)
        assert 0.0 <= found.lower < math.inf


def test_an_epsilon_far_above_every_loss_takes_no_sum_of_a_billion_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many participations as epsilon asks for used to be summed over; any number of them is valid."""
    summed: list[int] = []

    def counted(rate: float, shift: float, replaced: bool, rounds: int, k: int, threshold: float) -> tuple[arb, arb]:
        summed.append(k)
        return arb(0), arb(1)

    monkeypatch.setattr(one_event, "_masses", counted)
    assert one_event.delta(((GaussianPair(1.0), 2**53),), 2e40).lower == 0.0
    assert summed
    assert max(summed) <= 2010


@pytest.mark.parametrize("noise", [1.0, 1e12])
def test_no_epsilon_is_too_large_for_a_delta(noise: float) -> None:
    """Saddle points beyond the square root of the largest double used to end in warnings of numpy's."""
    for run in (Gaussian(noise), Repeat(Poisson(Gaussian(noise), 0.5), 3)):
        assert delta(run, 1.7e308).upper < 1e-300
