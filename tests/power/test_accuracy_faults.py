"""Slips of whoever computes an accuracy, planted: each is noticed by noise that is drawn or by a closed form."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module

import noise_in_a_range
import pytest
from flint import arb

from dpcert import accuracy
from dpcert.accounting.calibration import noise_tails
from dpcert.mechanisms import (
    BoundedLaplace,
    ClampedGaussian,
    DiscreteGaussian,
    DiscreteLaplace,
    DistributedDiscreteGaussian,
    Laplace,
    Mechanism,
    TruncatedGaussian,
)

MODULE = import_module("dpcert.accounting.calibration.accuracy")  # the package has a function of that name


def too_often(scale: float, distance: float) -> float:
    """P[|Laplace| > distance]."""
    return math.exp(-distance / scale)


@pytest.mark.parametrize("slip", ["one side only", "the deviation for the scale"])
def test_laplace(monkeypatch: pytest.MonkeyPatch, slip: str) -> None:
    assert too_often(2.0, accuracy(Laplace(2.0), 0.95).distance) <= 0.05
    factor, scale = (0.5, 1.0) if slip == "one side only" else (1.0, math.sqrt(2))
    wrong = lambda noise, distance: factor * (-arb(float(distance)) * scale / noise.noise_multiplier).exp()  # noqa: E731
    monkeypatch.setattr(MODULE, "tail", wrong)
    assert too_often(2.0, accuracy(Laplace(2.0), 0.95).distance) > 0.05


def test_the_distance_itself_counted_as_farther(monkeypatch: pytest.MonkeyPatch) -> None:
    right = accuracy(DiscreteLaplace(2.0), 0.95).distance
    original = noise_tails.tail
    monkeypatch.setattr(MODULE, "tail", lambda noise, distance: original(noise, distance + 1))
    assert accuracy(DiscreteLaplace(2.0), 0.95).distance < right


@pytest.mark.parametrize("kind", [BoundedLaplace, TruncatedGaussian])
def test_the_middle_of_a_range_taken_for_its_worst_truth(
    monkeypatch: pytest.MonkeyPatch, kind: Callable[[float, float], Mechanism]
) -> None:
    """Whose noise has half the range to either side."""
    noise = kind(4.0, 10.0)
    assert noise_in_a_range.worst(noise, accuracy(noise, 0.95).distance, 50) <= 0.05
    original = noise_tails.tail
    monkeypatch.setattr(
        MODULE, "tail", lambda noise, distance: original(replace(noise, width=noise.width / 2), distance)
    )
    assert noise_in_a_range.worst(noise, accuracy(noise, 0.95).distance, 50) > 0.05


@pytest.mark.parametrize("slip", ["one side only", "as if not clamped"])
def test_a_clamp(monkeypatch: pytest.MonkeyPatch, slip: str) -> None:
    noise = ClampedGaussian(2.0, 10.0)
    right = accuracy(noise, 0.95)
    factor = 0.5 if slip == "one side only" else 1.0
    monkeypatch.setattr(MODULE, "tail", lambda noise, distance: factor * noise_tails._normal(noise.sigma, distance))
    wrong = accuracy(noise if factor < 1 else ClampedGaussian(4.0, 10.0), 0.95)
    if factor < 1:
        assert noise_in_a_range.worst(noise, wrong.distance, 50) > 0.05 >= noise_in_a_range.worst(noise, right.distance)
    else:  # too far is no fault of the guarantee: `beyond` is what is false
        assert noise_in_a_range.worst(wrong.mechanism, wrong.beyond, 50) <= 0.05


def test_the_noise_of_one_share_for_that_of_their_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = DistributedDiscreteGaussian(1.0, 9, 1.0, 1)
    right = accuracy(noise, 0.95).distance
    original = noise_tails.tail
    monkeypatch.setattr(MODULE, "tail", lambda noise, distance: original(DiscreteGaussian(noise.sigma), distance))
    assert accuracy(noise, 0.95).distance < right == accuracy(DiscreteGaussian(3.0), 0.95).distance


def test_a_circle_of_whole_numbers_that_is_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """One client's variance for the sum's: mass from beyond the circle is taken for mass that is near."""
    noise = DistributedDiscreteGaussian(1.0, 40_000, 1.0, 1)
    right = accuracy(noise, 0.5).distance
    original = noise_tails._on_a_grid
    too_small = lambda distance, variance, transform: original(distance, variance / noise.clients, transform)  # noqa: E731
    monkeypatch.setattr(noise_tails, "_on_a_grid", too_small)
    assert accuracy(noise, 0.5).distance < right
