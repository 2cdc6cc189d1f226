"""assert_private with a claim in zCDP, in Gaussian DP, or as a curve."""

from __future__ import annotations

from typing import Any

import pytest

from dpcert import assert_private
from dpcert.mechanisms import InputError


def _gaussian_sum(dataset, rng, size):
    return sum(dataset) + rng.normal(0.0, 1.0, size)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ({"mu": 1.0}, {"mu": 0.3}),
        ({"rho": 0.5}, {"rho": 0.02}),
        ({"renyi": (2.0, 1.0)}, {"renyi": (2.0, 0.1)}),
        ({"curve": [(1.0, 0.13), (2.0, 0.021)]}, {"curve": [(1.0, 0.13), (0.0, 0.1)]}),
    ],
)
def test_claims_in_other_currencies(right: dict[str, Any], wrong: dict[str, Any]) -> None:
    """Noise of 1 under a move of 1: delta(0) = .383, delta(1) = .1269, delta(2) = .0209. alpha = 1e-6 a call."""
    pair = ([0.0], [1.0])
    assert not assert_private(_gaussian_sum, pair, trials=20_000, **right).refuted
    with pytest.raises(AssertionError, match="refuted"):
        assert_private(_gaussian_sum, pair, trials=20_000, **wrong)
    with pytest.raises(InputError, match="one claim"):
        assert_private(_gaussian_sum, pair, epsilon=1.0, **right)


@pytest.mark.parametrize(
    "bad", [{"rho": -1.0}, {"mu": 0.0}, {"curve": []}, {"curve": [1.0, 2.0]}, {"renyi": (1.0, 1.0)}, {"renyi": 2.0}]
)
def test_bad_input(bad: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        assert_private(_gaussian_sum, ([0.0], [1.0]), **bad)
