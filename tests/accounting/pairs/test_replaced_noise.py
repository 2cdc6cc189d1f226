"""Poisson sampling, replace-one, noise that is not Gaussian: opposite contributions are the worst, and are possible.

Exact sums over the integers; docs/theory/dominating_pairs.md, "Replace-one, other log-concave noise".
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from dpcert.accounting import delta, dominating, epsilon
from dpcert.accounting.losses.atoms import pld
from dpcert.accounting.pairs import DiscreteLaplacePair, LaplacePair, SubsampledPair
from dpcert.accounting.renyi import renyi as rdp
from dpcert.mechanisms import DiscreteGaussian, DiscreteLaplace, Laplace, Mechanism, Poisson, Repeat

Vector = NDArray[np.float64]

X = np.arange(-400.0, 401.0)
GAMMAS = (0.3, 0.9, 1.0, 1.05, 1.4, 2.5, 6.0)
NOISE: dict[str, Vector] = {
    "gaussian": np.exp(-0.5 * (X / 2.5) ** 2),
    "laplace": np.exp(-np.abs(X) / 1.7),
    "comb": np.exp(-np.abs(X) / 1.7) * np.where(X % 3 == 0, 1.0, 0.1),
}


def hockey_stick(noise: str, rate: float, moves: tuple[int, int], gamma: float) -> float:
    mass = NOISE[noise] / NOISE[noise].sum()
    p, q = ((1.0 - rate) * mass + rate * np.roll(mass, move) for move in moves)
    return float(np.maximum(p - gamma * q, 0.0).sum())


def beaten(noise: str) -> bool:
    """Whether two contributions of at most 3 are told apart better than opposite ones of 3, for some rate and gamma."""
    return any(
        hockey_stick(noise, rate, moves, gamma) > hockey_stick(noise, rate, (3, -3), gamma) + 1e-12
        for rate in (0.02, 0.4, 0.97)
        for gamma in GAMMAS
        for moves in itertools.product(range(-3, 4), repeat=2)
    )


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_opposite_contributions_are_worst(noise: str) -> None:
    assert not beaten(noise)


def test_log_concavity_is_needed() -> None:
    """Planted: noise that hides a move of 3 better than one of 1."""
    assert beaten("comb")


def test_smaller_moves_are_beaten() -> None:
    """Planted: half the sensitivity, or the unit's absence on the other side."""
    full = hockey_stick("laplace", 0.4, (3, -3), 1.4)
    assert hockey_stick("laplace", 0.4, (3, 0), 1.4) < full - 1e-3
    assert hockey_stick("laplace", 0.4, (1, -1), 1.4) < full - 1e-3


@pytest.mark.parametrize("noise", [Laplace(2.0), DiscreteGaussian(3.0, 2), DiscreteLaplace(2.0, 1)])
def test_the_run_is_bracketed_narrowly(noise: Mechanism) -> None:
    run = Repeat(Poisson(noise, 0.2), 30)
    pairs = dominating(run, "replace-one")
    assert pairs.upper == pairs.lower
    found = epsilon(run, 1e-6, "replace-one")
    assert found.width <= 1e-4 * found.upper
    assert delta(run, found.upper, "replace-one").lower <= 1e-6
    bound = rdp.epsilon(pairs.upper[0], 1e-6)
    assert found.lower <= bound.upper < math.inf


def test_one_round_against_an_exact_sum() -> None:
    """Discrete Laplace noise of scale 1.7 about contributions of at most 3."""
    pair = SubsampledPair(DiscreteLaplacePair(1.7, 3), 0.4, "replace")
    for gamma in (1.05, 1.4, 2.5):
        found = pld.delta(((pair, 1),), math.log(gamma))
        exact = hockey_stick("laplace", 0.4, (3, -3), gamma)
        assert found.lower - 1e-12 <= exact <= found.upper + 1e-12
        assert found.upper - found.lower < 1e-3


def test_the_largest_loss_of_the_replace_order() -> None:
    """Laplace: log((1 - r + r e^s) / (1 - r + r e^-s)) at the far end, which Renyi orders without end reach."""
    s, rate = 1.3, 0.3
    exact = math.log((1 - rate + rate * math.exp(s)) / (1 - rate + rate * math.exp(-s)))
    found = rdp.largest_loss(SubsampledPair(LaplacePair(s), rate, "replace"))
    assert exact <= found <= exact * (1 + 1e-9)
