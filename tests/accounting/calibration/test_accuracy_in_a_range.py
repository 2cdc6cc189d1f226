"""Noise in a public range and noise in shares: how close they leave a number, whatever the truth and whole sums."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import mpmath as mp
import noise_in_a_range
import pytest

from dpcert import accuracy, noise_within
from dpcert.mechanisms import (
    BoundedLaplace,
    ClampedGaussian,
    DistributedDiscreteGaussian,
    DistributedGaussian,
    Gaussian,
    InputError,
    Mechanism,
    Skellam,
    TruncatedGaussian,
)

KINDS: dict[str, Callable[[float, float], Mechanism]] = {
    "bounded laplace": BoundedLaplace,
    "clamped gaussian": ClampedGaussian,
    "truncated gaussian": TruncatedGaussian,
}


@pytest.mark.parametrize("confidence", [0.5, 0.85, 0.95, 0.9999999])
@pytest.mark.parametrize(("size", "width"), [(4.0, 10.0), (1.0, 10.0), (30.0, 5.0)])
@pytest.mark.parametrize("kind", KINDS)
def test_no_truth_is_missed_more_often_and_one_is_at_a_smaller_distance(
    kind: str, size: float, width: float, confidence: float
) -> None:
    noise = KINDS[kind](size, width)
    found = accuracy(noise, confidence)
    with mp.workdps(30):
        miss = 1 - mp.mpf(repr(confidence))
        assert noise_in_a_range.worst(noise, found.distance, 100) <= miss
        assert noise_in_a_range.worst(noise, found.beyond, 100) > miss
    assert 0 < found.distance <= width
    assert found.beyond >= found.distance * (1 - 1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_worst_truth_is_named(kind: str) -> None:
    """At the ends no truth is farther more often than there, of the named one; in the middle others are."""
    noise = KINDS[kind](1.0, 10.0)
    found = accuracy(noise, 0.95)
    inner = kind == "clamped gaussian"
    named = "farther than this distance from both ends of the range" if inner else "at an end of the range"
    assert found.worst_case == named
    with mp.workdps(30):
        worst, other = (mp.mpf(5), mp.mpf(0)) if inner else (mp.mpf(0), mp.mpf(5))
        at = noise_in_a_range.farther(noise, worst, found.distance)
        assert mp.almosteq(at, noise_in_a_range.worst(noise, found.distance, 100), rel_eps=mp.mpf("1e-20"))
        assert noise_in_a_range.farther(noise, other, found.distance) < at
    assert f"a truth {found.worst_case}" in str(found)
    assert found.to_json()["worst_case"] == found.worst_case


def test_where_a_clamp_begins_to_hide_one_side() -> None:
    """Up to half of the range both sides show, so the least distance may be exactly that half; or the whole."""
    assert accuracy(ClampedGaussian(4.0, 10.0), 0.85).distance == 5.0
    assert accuracy(ClampedGaussian(4.0, 10.0), 0.9999999).distance == 10.0
    assert accuracy(ClampedGaussian(4.0, 10.0), 0.85, clip_norm=0.3).distance == 1.5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("within", "unit"), [(5.0, 1.0), (0.9, 0.3)])
def test_and_back(kind: str, within: float, unit: float) -> None:
    found = noise_within(lambda size: KINDS[kind](size, 10.0), within, 0.95, clip_norm=unit)
    size = found.mechanism.scale if isinstance(found.mechanism, BoundedLaplace) else found.mechanism.sigma  # type: ignore[attr-defined]
    more = KINDS[kind](size * (1 + 1e-9), 10.0)
    with mp.workdps(30):
        steps, miss = mp.mpf(repr(within)) / mp.mpf(repr(unit)), mp.mpf("0.05")
        assert noise_in_a_range.worst(found.mechanism, steps, 100) <= miss < noise_in_a_range.worst(more, steps, 100)


def test_a_range_that_is_nearly_the_distance_needs_no_bound_on_the_noise() -> None:
    with pytest.raises(InputError, match="any noise of this kind is this close"):
        noise_within(lambda scale: BoundedLaplace(scale, 10.0), 9.6, 0.95)


def summed(sigma: float, clients: int, end: int = 12) -> list[Any]:
    """The masses of the sum of the clients' discrete Gaussians, by convolution; the middle one is that of 0."""
    each = [mp.exp(-(mp.mpf(k) ** 2) / (2 * mp.mpf(sigma) ** 2)) for k in range(-end, end + 1)]
    whole = mp.fsum(each)
    each, total = [mass / whole for mass in each], [mp.mpf(1)]
    for _ in range(clients):
        longer = [mp.mpf(0)] * (len(total) + 2 * end)
        for (i, a), (j, b) in itertools.product(enumerate(total), enumerate(each)):
            longer[i + j] += a * b
        total = longer
    return total


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.99999])
@pytest.mark.parametrize(("sigma", "clients"), [(0.5, 4), (0.8, 3), (1.1, 1)])
def test_shares_of_whole_noise(sigma: float, clients: int, confidence: float) -> None:
    found = accuracy(DistributedDiscreteGaussian(sigma, clients, 1.0, 5), confidence)
    with mp.workdps(30):
        masses, middle = summed(sigma, clients), 12 * clients
        for distance, is_far in ((int(found.distance), False), (int(found.beyond), True)):
            inside = mp.fsum(masses[middle - distance : middle + distance + 1]) if distance >= 0 else mp.mpf(0)
            assert (1 - inside > 1 - mp.mpf(repr(confidence))) == is_far
    assert found.distance == found.beyond + 1


def test_shares_of_many_clients_and_back() -> None:
    """Of many clients the sum is nearly a Gaussian, of whose shares every further one adds to the error."""
    hundred = accuracy(DistributedDiscreteGaussian(2.0, 100, 8.0, 10))
    assert hundred.beyond <= accuracy(Gaussian(20.0)).distance <= hundred.distance + 1
    assert "more shares make the error larger" in str(hundred)
    assert accuracy(DistributedGaussian(20.0)).distance == accuracy(Gaussian(20.0)).distance
    assert accuracy(Skellam(4e8, 1.0, 3)).distance == accuracy(DistributedDiscreteGaussian(2e3, 100, 1.0, 1)).distance
    back = noise_within(lambda sigma: DistributedDiscreteGaussian(sigma, 100, 8.0, 10), 39.0)
    assert isinstance(back.mechanism, DistributedDiscreteGaussian)
    assert back.mechanism.sigma >= 2.0
    more = DistributedDiscreteGaussian(back.mechanism.sigma * (1 + 1e-9), 100, 8.0, 10)
    assert accuracy(more).distance > 39.0


def test_shares_that_are_too_small_to_be_described() -> None:
    with pytest.raises(InputError, match="with any noise a number is farther too often"):
        noise_within(lambda sigma: DistributedDiscreteGaussian(sigma, 100, 8.0, 10), 5.0)
