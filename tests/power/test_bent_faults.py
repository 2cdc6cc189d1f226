"""Bugs planted in the bent contour: the checks here pass on the right code and must catch every one of them.

Reference: the closed form of one round to 50 digits (tests/oracles/few_rounds.py), and 160-bit ball arithmetic on the
real line for more rounds (tests/oracles/ball_profile.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from ball_profile import Phase, profile
from few_rounds import profile as few_rounds
from mpmath import mp, mpf
from planted import errors_subtracted_from_the_upper_end

from dpcert.accounting.bracket import OutOfReach
from dpcert.accounting.contour import bent, ray, rotated
from dpcert.accounting.contour.bent import BentInversion, invert_bent
from dpcert.accounting.contour.paths import Sampled
from dpcert.accounting.contour.saddle import saddle_at_epsilon
from dpcert.accounting.pairs import GaussianPair, SubsampledPair

ONE_ROUND = [(1.0, 1e-3, 0.03), (4.0, 1e-4, 3.0), (0.6, 0.02, 0.15), (1.5, 1e-6, 1e-4), (2.0, 0.2, 1.0)]
"""shift, rate, eps."""

MANY_ROUNDS = [(1.0, 0.05, 20, 1.2), (0.8, 0.1, 30, 1.5)]
"""shift, rate, rounds, eps, where the reference resolves the profile."""


def bounds(shift: float, rate: float, rounds: int, at: float) -> tuple[float, float]:
    composition = ((SubsampledPair(GaussianPair(shift), rate, "remove"), rounds),)
    found = invert_bent(Sampled(shift, rate, "remove"), rounds, saddle_at_epsilon(composition, at))
    return found.log_delta(at)[:2]


def all_checks_pass() -> bool:
    try:
        with mp.workdps(50):
            for shift, rate, at in ONE_ROUND:
                low, high = bounds(shift, rate, 1, at)
                if not (mpf(low) <= mp.log(few_rounds(shift, rate, 1, at)) <= mpf(high) and high - low < 1e-5):
                    return False
        for shift, rate, rounds, at in MANY_ROUNDS:
            low, high = bounds(shift, rate, rounds, at)
            (truth,) = profile([Phase("remove", shift, rate, rounds)], [at])
            if not (low <= truth.log() <= high and high - low < 1e-5):
                return False
    except (OutOfReach, ValueError, OverflowError, IndexError):
        return False
    return True


def coarse_nodes_without_their_error(patch: pytest.MonkeyPatch) -> None:
    step, right = rotated.short, bent.rotated
    patch.setattr(rotated, "short", lambda value: 8.0 * step(value))
    patch.setattr(bent, "rotated", lambda *given: replace(right(*given), error=1e-17))


def range_too_short(patch: pytest.MonkeyPatch) -> None:
    right = rotated._range
    patch.setattr(rotated, "_range", lambda *given: (0.5 * right(*given)[0], 0.5 * right(*given)[1], 0.0))


def path_without_its_climb(patch: pytest.MonkeyPatch) -> None:
    """The weights' path and the speed disagree."""
    right = rotated._nodes

    def wrong(pair: Any, shape: Any, q: Any, logit: float) -> Any:
        u, log_weight, relative = right(pair, shape, q, logit)
        return u.real + 0.9j * u.imag, log_weight, relative

    patch.setattr(rotated, "_nodes", wrong)


def pole_forgotten(patch: pytest.MonkeyPatch) -> None:
    """1 / t^2 instead of 1 / (t (t + 1)): the residue at -1 is lost."""
    right = bent._terms

    def wrong(*given: Any) -> Any:
        terms = right(*given)
        return replace(terms, logs=terms.logs + np.log((terms.t + 1.0) / terms.t))

    patch.setattr(bent, "_terms", wrong)


def contour_left_of_the_pole(patch: pytest.MonkeyPatch) -> None:
    """The corner's terms, with which the contour passes to the right of 0, are dropped."""
    patch.setattr(BentInversion, "_corner", lambda self, at: 0.0)
    patch.setattr(BentInversion, "_corner_error", lambda self, at: 0.0)
    patch.setattr(bent, "CORNER", 2.0**-3)


def coarse_steps_without_their_error(patch: pytest.MonkeyPatch) -> None:
    """Every second term, twice; the trapezoidal rule's error is that of the fine rule."""
    right = bent._terms

    def wrong(*given: Any) -> Any:
        terms = right(*given)
        return replace(terms, logs=terms.logs + np.where(np.arange(terms.t.size) % 5 == 0, np.log(5.0), -1e3))

    patch.setattr(bent, "_terms", wrong)


def remainder_dropped(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(bent, "_SPARE", -50.0)
    patch.setattr(BentInversion, "_beyond", lambda self, at, cosine: 0.0)
    right = bent.far_out

    def wrong(nodes: Any, near: Any, start: float, error: float, octaves: int, per_octave: int) -> Any:
        far, keep = right(nodes, near, start, error, octaves, per_octave), max(1, octaves // 2) * per_octave
        return replace(far, tau=far.tau[:keep], growth=far.growth[:keep], error=far.error[:keep])

    patch.setattr(bent, "far_out", wrong)


def few_orders(patch: pytest.MonkeyPatch) -> None:
    right = ray._small
    kept = (np.arange(ray.ORDERS + 2) < 3)[:, None]
    patch.setattr(ray, "_small", lambda near, *rest: right(replace(near, powers=near.powers * kept), *rest))


def vanished_too_early(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ray, "_GONE", 2.0)


def floor_of_the_other_sign(patch: pytest.MonkeyPatch) -> None:
    right = bent._terms

    def wrong(nodes: Any, polynomial: Any, far: Any, rounds: int, floor: float, start: Any) -> Any:
        return right(nodes, polynomial, far, rounds, -floor, start)

    patch.setattr(bent, "_terms", wrong)


PLANTS: list[Callable[[pytest.MonkeyPatch], None]] = [
    coarse_nodes_without_their_error,
    range_too_short,
    path_without_its_climb,
    pole_forgotten,
    contour_left_of_the_pole,
    coarse_steps_without_their_error,
    remainder_dropped,
    few_orders,
    vanished_too_early,
    floor_of_the_other_sign,
    errors_subtracted_from_the_upper_end(BentInversion),
]


def test_the_checks_pass_on_the_right_code() -> None:
    assert all_checks_pass()


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_a_planted_bug_is_caught(plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    with np.errstate(all="ignore"):
        assert not all_checks_pass()
