"""Several releases about one sample: Poisson(Sequence(...))."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcert import delta, epsilon
from dpcert.accounting.pairs import GaussianPair, ProductPair, SubsampledPair
from dpcert.accounting.pricing.dominating import dominating
from dpcert.mechanisms import (
    DiscreteLaplace,
    DistributedGaussian,
    FixedSize,
    Gaussian,
    InputError,
    Laplace,
    Mechanism,
    Poisson,
    RandomAllocation,
    Repeat,
    Sequence,
    Shuffled,
    TruncatedPoisson,
    VisibleParticipation,
)

BOTH = Sequence(Gaussian(1.2), Gaussian(10.0))
ONE = Gaussian((1.2**-2 + 10.0**-2) ** -0.5)


@pytest.mark.parametrize("relation", ["add-remove", "zero-out", "replace-one"])
def test_gaussian_releases_on_one_sample_are_one_gaussian(relation: str) -> None:
    several, one = (epsilon(Repeat(Poisson(part, 0.02), 500), 1e-5, relation) for part in (BOTH, ONE))
    assert several.lower == pytest.approx(one.lower, rel=1e-9)
    assert several.upper == pytest.approx(one.upper, rel=1e-9)
    apart = Sequence(Repeat(Poisson(Gaussian(1.2), 0.02), 500), Repeat(Poisson(Gaussian(10.0), 0.02), 500))
    assert epsilon(apart, 1e-5, relation).upper != pytest.approx(several.upper, rel=1e-6)  # a sample for each


def by_hand(order: str, rate: float, eps: float) -> float:
    """Two discrete Laplace counts on one sample, by enumeration of their outcomes."""
    x = np.arange(-90, 92)
    laws = []
    for scale in (2.0, 3.0):
        noise = np.exp(-np.abs(x) / scale)
        laws.append((np.roll(noise, 1) / noise.sum(), noise / noise.sum()))
    with_unit, without = (np.outer(laws[0][side], laws[1][side]) for side in (0, 1))
    mixed = (1 - rate) * without + rate * with_unit
    p, q = (mixed, without) if order == "remove" else (without, mixed)
    return float(np.sum(np.maximum(0.0, p - math.exp(eps) * q)))


@pytest.mark.parametrize(("rate", "eps"), [(0.1, 0.02), (0.5, 0.3), (0.9, 0.6)])
def test_counts_on_one_sample_by_enumeration(rate: float, eps: float) -> None:
    run = Poisson(Sequence(DiscreteLaplace(2.0), DiscreteLaplace(3.0)), rate)
    truth = max(by_hand(order, rate, eps) for order in ("remove", "add"))
    found = delta(run, eps, rtol=1e-4)
    assert found.lower * (1 - 1e-6) <= truth <= found.upper * (1 + 1e-6)
    assert found.narrower_than(1e-3)
    # planted: a coin for each release instead of one for both would pass for less
    apart = Sequence(Poisson(DiscreteLaplace(2.0), rate), Poisson(DiscreteLaplace(3.0), rate))
    assert delta(apart, eps).upper < truth


def test_a_gradient_and_a_laplace_count() -> None:
    both = epsilon(Repeat(Poisson(Sequence(Gaussian(1.2), Laplace(10.0)), 0.01), 300), 1e-5, rtol=1e-2)
    assert epsilon(Repeat(Poisson(Gaussian(1.2), 0.01), 300), 1e-5).upper < both.lower
    assert both.narrower_than(2e-2)
    assert both.upper < epsilon(Repeat(Poisson(Gaussian(1.0), 0.01), 300), 1e-5).lower


def test_pure_dp_of_several_counts_on_one_sample() -> None:
    found = epsilon(Poisson(Sequence(Repeat(Laplace(4.0), 2), Laplace(2.0)), 0.1), 0)
    assert found.lower <= math.log1p(0.1 * math.expm1(1.0)) <= found.upper
    assert found.width < 1e-12


def test_other_schemes() -> None:
    visible = epsilon(VisibleParticipation(Poisson(BOTH, 0.1)), 1e-5, "replace-one")
    assert visible.upper == pytest.approx(epsilon(VisibleParticipation(Poisson(ONE, 0.1)), 1e-5, "replace-one").upper)
    shuffled = epsilon(Shuffled(BOTH, 4), 1e-5, "replace-one")
    assert shuffled.upper == pytest.approx(epsilon(BOTH, 1e-5, "replace-one").upper)
    cut = epsilon(TruncatedPoisson(BOTH, 0.1, 100, 30), 1e-5, rtol=1e-3)
    assert 0 < cut.lower <= cut.upper < 5
    cohort = epsilon(FixedSize(BOTH, 100, 10), 1e-5, "replace-one")
    single = epsilon(FixedSize(ONE, 100, 10), 1e-5, "replace-one")
    assert cohort.upper >= single.lower
    with pytest.raises(InputError, match="one release"):
        epsilon(RandomAllocation(BOTH, 4, 1), 1e-5)


@pytest.mark.parametrize("run", [Poisson(Sequence(Gaussian(1.0), Laplace(3.0)), 0.1)])
def test_replaced_units_with_mixed_noise_are_bounded_from_both_sides(run: Mechanism) -> None:
    pairs = dominating(run, "replace-one")
    assert pairs.upper != pairs.lower
    (((upper, _),),) = pairs.upper
    assert isinstance(upper, SubsampledPair)
    assert isinstance(upper.base, ProductPair)
    assert upper.order == "hybrid"


def test_the_product_of_gaussians_is_rounded_once() -> None:
    (((pair, _),), *_) = dominating(Poisson(BOTH, 0.5), "add-remove").upper
    assert isinstance(pair, SubsampledPair)
    assert isinstance(pair.base, GaussianPair)
    assert pair.base.shift == pytest.approx(math.hypot(1 / 1.2, 1 / 10.0), rel=1e-15)


@pytest.mark.parametrize("relation", ["add-remove", "zero-out"])
def test_noise_that_units_bring_is_found_inside(relation: str) -> None:
    """Of random cohorts, and where a unit may be absent: refused, as for one release."""
    with pytest.raises(InputError, match="bring this noise themselves"):
        epsilon(Poisson(Sequence(DistributedGaussian(2.0), Gaussian(3.0)), 0.1), 1e-5, relation)
    with pytest.raises(InputError, match="bring this noise themselves"):
        epsilon(FixedSize(Sequence(Gaussian(3.0), DistributedGaussian(2.0)), 10, 5), 1e-5, "add-remove")


def test_one_coin_for_several_releases_costs_more_than_a_coin_for_each() -> None:
    """Ten local steps of whoever is drawn: 42.284, where ten rounds that draw anew come to 9.971."""
    nested = epsilon(Repeat(Poisson(Repeat(Gaussian(1.0), 10), 0.1), 20), 1e-5)
    one = epsilon(Repeat(Poisson(Gaussian(10.0**-0.5), 0.1), 20), 1e-5)
    assert nested.lower == pytest.approx(one.lower, rel=1e-9) == pytest.approx(42.28443, abs=2e-5)
    assert nested.upper == pytest.approx(one.upper, rel=1e-9)
    assert epsilon(Repeat(Poisson(Gaussian(1.0), 0.1), 200), 1e-5).upper < 10 < nested.lower
    assert epsilon(Poisson(Repeat(Gaussian(4.0), 20), 0.1), 1e-6).upper == pytest.approx(2.7405572, abs=1e-6)


def test_a_sample_of_a_sample_is_a_sample() -> None:
    assert epsilon(Poisson(Poisson(Laplace(1.0), 0.5), 0.1), 1e-5) == epsilon(Poisson(Laplace(1.0), 0.05), 1e-5)
    nested = FixedSize(FixedSize(Gaussian(1.0), 10, 5), 100, 10)
    assert epsilon(nested, 1e-5, "replace-one") == epsilon(FixedSize(Gaussian(1.0), 100, 5), 1e-5, "replace-one")


@pytest.mark.parametrize(
    "run",
    [
        Poisson(Repeat(Poisson(Gaussian(1.0), 0.05), 10), 0.1),
        Poisson(FixedSize(Gaussian(1.0), 10, 5), 0.1),
        FixedSize(Poisson(Gaussian(1.0), 0.5), 100, 10),
        FixedSize(FixedSize(Gaussian(1.0), 20, 5), 100, 10),
    ],
)
def test_samples_that_are_no_sample_are_refused_and_nothing_smaller_is_advised(run: Mechanism) -> None:
    with pytest.raises(InputError) as refusal:
        epsilon(run, 1e-5)
    assert "Repeat(" not in refusal.value.expected
