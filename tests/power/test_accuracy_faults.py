"""Slips of whoever computes an accuracy, planted: each is noticed by noise that is drawn or by a closed form."""

from __future__ import annotations

import math
from importlib import import_module

import pytest
from flint import arb

from dpcert import accuracy
from dpcert.accounting.calibration import noise_tails
from dpcert.mechanisms import DiscreteLaplace, Laplace

MODULE = import_module("dpcert.accounting.calibration.accuracy")  # the package has a function of that name


def too_often(scale: float, distance: float) -> float:
    """P[|Laplace| > distance]."""
    return math.exp(-distance / scale)


@pytest.mark.parametrize("slip", ["one side only", "the deviation for the scale"])
def test_laplace(monkeypatch: pytest.MonkeyPatch, slip: str) -> None:
    assert too_often(2.0, accuracy(Laplace(2.0), 0.95).distance) <= 0.05
    factor, scale = (0.5, 1.0) if slip == "one side only" else (1.0, math.sqrt(2))
    wrong = lambda noise, distance, unit: factor * (-arb(distance) * scale / noise.noise_multiplier).exp()  # noqa: E731
    monkeypatch.setattr(MODULE, "tail", wrong)
    assert too_often(2.0, accuracy(Laplace(2.0), 0.95).distance) > 0.05


def test_the_distance_itself_counted_as_farther(monkeypatch: pytest.MonkeyPatch) -> None:
    right = accuracy(DiscreteLaplace(2.0), 0.95).distance
    original = noise_tails.tail
    monkeypatch.setattr(MODULE, "tail", lambda noise, distance, unit: original(noise, distance + 1, unit))
    assert accuracy(DiscreteLaplace(2.0), 0.95).distance < right
