"""Bounds for two normal laws of unknown means and deviations: coverage, the divergence, the least in the box."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cases import at_night
from scipy import integrate, stats

from dpcert.mechanisms import InputError
from dpcert.proofs_checks.auditing import gaussian_pair as module
from dpcert.proofs_checks.auditing.gaussian_pair import bound, hockey_stick, hockey_stick_back

ERROR, DELTA = 0.1, 0.01
ALLOWED = {20: 8, 400: 68}
"""Of so many runs at error .1: a sound bound exceeds it with probability below 1e-4."""


def integral(mean, deviation, odds, back=False):
    grid = np.linspace(-30, 30, 30_001)
    p, q = stats.norm.pdf(grid, mean, deviation), stats.norm.pdf(grid)
    return float(integrate.trapezoid(np.maximum(q - odds * p if back else p - odds * q, 0.0), grid))


def epsilon(mean, deviation) -> float:
    """By integration and bisection."""
    low, high = 0.0, 20.0
    for _ in range(30):
        middle = (low + high) / 2
        leak = max(integral(mean, deviation, math.exp(middle), back) for back in (False, True))
        low, high = (middle, high) if leak > DELTA else (low, middle)
    return high


def false(deviation, runs: int) -> int:
    limit = epsilon(1.0, deviation)
    rngs = [np.random.default_rng(seed) for seed in range(runs)]
    coins = [rng.random(100) < 0.5 for rng in rngs]
    scores = [
        np.where(c, rng.normal(1.0, deviation, 100), rng.normal(size=100)) for c, rng in zip(coins, rngs, strict=True)
    ]
    return sum(bound(s, c, DELTA, ERROR).value > limit for s, c in zip(scores, coins, strict=True))


@pytest.mark.parametrize("deviation", [1.0, at_night(1.6), at_night(0.7)])
@pytest.mark.parametrize("runs", [20, at_night(400)])
def test_coverage(deviation, runs, monkeypatch) -> None:
    monkeypatch.setattr(module, "CELLS", 20)  # coarser is wider, at a tenth of the time
    assert false(deviation, runs) <= ALLOWED[runs]


def test_a_bound_at_the_estimate_is_seen(monkeypatch) -> None:
    """Planted: the box is its middle."""

    def middle(inside, outside, error):
        ratio = inside.std() / outside.std()
        return (inside.mean() - outside.mean()) / outside.std(), ratio * (1 - 1e-6), ratio

    monkeypatch.setattr(module, "CELLS", 1)
    monkeypatch.setattr(module, "_box", middle)
    assert false(1.0, 20) > ALLOWED[20]


@pytest.mark.parametrize("mean", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("deviation", [0.6, 1.0, 1.0 + 1e-9, 1.7])
@pytest.mark.parametrize("odds", [1.0, 4.0])
def test_the_divergence_by_integration(mean, deviation, odds) -> None:
    assert hockey_stick(mean, deviation, odds) == pytest.approx(integral(mean, deviation, odds), abs=1e-5)
    assert hockey_stick_back(mean, deviation, odds) == pytest.approx(integral(mean, deviation, odds, True), abs=1e-5)


def test_a_cell_is_below_all_that_is_in_it() -> None:
    """And nearly reaches the least, also farther apart than the least distance."""
    a, b, odds = 0.9, 0.91, math.exp(2.0)
    least = module._leak(1.0, a, b, odds)
    inside = [
        max(integral(far, s, odds), integral(far, s, odds, True)) for far in (1.0, 1.2) for s in np.linspace(a, b, 5)
    ]
    assert 0.9 * min(inside) < least <= min(inside)


def test_one_deviation_is_a_special_case() -> None:
    rng = np.random.default_rng(5)
    coins = rng.random(20_000) < 0.5
    value = bound(coins + rng.normal(size=20_000), coins, 1e-5, 0.05).value
    assert 3.9 < value < 4.377


def test_nothing_seen_is_no_bound() -> None:
    assert bound([0.0, 1.0], [True, False], 1e-5, 0.05).value == 0.0
    assert bound([1.0] * 8, [True, False] * 4, 1e-5, 0.05).value == 0.0
    assert bound([0.0, 1.0, 2.0, 0.0, 1.0, 2.0], [True, True, True, False, False, False], 1e-5, 0.05).value == 0.0


def test_bad_input() -> None:
    with pytest.raises(InputError, match="included"):
        bound([1.0, 2.0], [True], 1e-5, 0.05)
