"""How narrow brackets get, and where epsilon is certainly 0: settings that took many inversions before, or lattices."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dpcert.accounting import epsilon
from dpcert.accounting.bracket import OutOfReach
from dpcert.accounting.losses.atoms import pld as lattices
from dpcert.accounting.losses.smooth import contour
from dpcert.accounting.pairs import Composition, GaussianPair, Sampling, SubsampledPair
from dpcert.mechanisms import Gaussian, Poisson, Repeat, Sequence

RTOL = 1e-6

WIDER_AT_FIRST = [
    (((1.34, 0.000377, 11),), 0.000131),
    (((15.1, 0.000488, 1), (1.3, 4.75e-05, 2), (7.58, 9.24e-06, 2440)), 1.18e-05),
    (((1.18, 2.32e-05, 1), (0.825, 0.000657, 1), (1.49, 8.82e-05, 9200)), 4.43e-08),
]
"""Phases of (noise multiplier, rate, rounds), and a delta, of which the first inversion near epsilon is too wide."""


@pytest.mark.parametrize(("phases", "delta"), WIDER_AT_FIRST)
def test_an_inversion_that_is_a_little_too_wide_is_followed_by_a_finer_one(
    phases: tuple[tuple[float, float, int], ...], delta: float
) -> None:
    run = Sequence(tuple(Repeat(Poisson(Gaussian(noise), rate), rounds) for noise, rate, rounds in phases))
    found, other = epsilon(run, delta, accountant="contour"), epsilon(run, delta, accountant="pld", rtol=1e-4)
    assert found.narrower_than(RTOL)
    assert found.lower <= other.upper
    assert other.lower <= found.upper


HIDDEN: list[tuple[Sampling, float, float, int]] = [
    ("remove", 0.4, 1e-4, 10_000),
    ("add", 2.0, 3e-6, 40_000),
    ("replace", 0.1, 1e-5, 200_000),
    ("hybrid", 1.0, 0.01, 40),
    ("remove", 6.0, 1e-3, 30),
]
"""Sampling, shift, rate, rounds."""


def nothing_is_hidden_too_soon() -> bool:
    """Next below the profile at 0 some epsilon is spent, by every order of the neighbours, or out of reach."""
    for order, shift, rate, rounds in HIDDEN:
        composition: Composition = ((SubsampledPair(GaussianPair(shift), rate, order), rounds),)
        at_nothing = lattices.delta(composition, 0.0, 1e-3)
        try:
            if contour.epsilon(composition, at_nothing.lower * (1.0 - 2e-3), RTOL).upper == 0.0:
                return False
        except OutOfReach:
            continue
    return True


def test_no_epsilon_is_spent_where_all_rounds_together_are_next_to_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an inversion, though the rounds' total variations add up to 30 to 70 times as much."""

    def asked(*_: object) -> None:
        raise AssertionError("a saddle point was looked for")

    for order, shift, rate, rounds in HIDDEN[:3]:
        composition: Composition = ((SubsampledPair(GaussianPair(shift), rate, order), rounds),)
        spare = 2.0 * contour.delta(composition, 0.0, RTOL).upper * (2.0 if order == "add" else 1.0)
        with monkeypatch.context() as patch:
            patch.setattr(contour, "saddle_at_delta", asked)
            assert contour.epsilon(composition, spare, RTOL).upper == 0.0


def test_nothing_is_hidden_too_soon() -> None:
    assert nothing_is_hidden_too_soon()


@pytest.mark.parametrize("share", [0.5, 0.75])
def test_a_total_variation_that_is_too_small_is_noticed(monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    whole: Callable[..., float] = vars(contour)["_apart"]
    monkeypatch.setattr(contour, "_apart", lambda pair, rounds: share * whole(pair, rounds))
    assert not nothing_is_hidden_too_soon()
