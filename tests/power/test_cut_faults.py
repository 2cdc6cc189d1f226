"""Bugs planted where losses are cut off: the checks here pass on the right code and must catch every one of them.

Reference: 160-bit ball arithmetic on the real line (tests/oracles/ball_profile.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from ball_profile import Phase, profile
from planted import errors_subtracted_from_the_upper_end

from dpcert.accounting.bracket import OutOfReach
from dpcert.accounting.contour import cut, interval
from dpcert.accounting.contour.cut import CutInversion, invert_cut
from dpcert.accounting.contour.interval import CutMoments
from dpcert.accounting.contour.paths import Sampled

SETTINGS = [
    ("remove", 0.5, 0.05, 20, 0.5, 1e-9),
    ("remove", 0.8, 0.1, 30, 1.5, 1e-9),
    ("remove", 0.5, 0.05, 20, 0.5, 1e-2),
    ("hybrid", 0.5, 0.1, 50, 1.5, 1e-9),
    ("hybrid", 0.5, 0.1, 50, 0.5, 1e-2),
    ("replace", 0.5, 0.05, 20, 0.8, 1e-9),
]
"""order, shift, rate, rounds, eps, and the share that is left out, where the reference resolves the profile."""


def all_checks_pass() -> bool:
    try:
        for order, shift, rate, rounds, at, share in SETTINGS:
            (value,) = profile([Phase(order, shift, rate, rounds)], [at])
            found = invert_cut(Sampled(shift, rate, order), rounds, at, float(value.log().mid()), share)
            low, high, _ = found.log_delta(at)
            if not (low <= value.log() <= high and high - low < 1e-6 + 3.0 * share):
                return False
    except (OutOfReach, ValueError, OverflowError, IndexError):
        return False
    return True


def what_is_left_out_forgotten(patch: pytest.MonkeyPatch) -> None:
    right = cut.cut_moments
    patch.setattr(cut, "cut_moments", lambda *given: replace(right(*given), outside=0.0))


def mean_of_the_whole_line(patch: pytest.MonkeyPatch) -> None:
    right = cut.cut_moments

    def wrong(*given: Any) -> CutMoments:
        found: CutMoments = right(*given)
        return replace(found, mean=(0.5 * found.mean[0], found.mean[1]))

    patch.setattr(cut, "cut_moments", wrong)


def short_period_without_its_copies(patch: pytest.MonkeyPatch) -> None:
    right, log_delta = cut._line, CutInversion.log_delta

    def wrong(*given: Any) -> Any:
        c, sides, period = right(*given)
        return c, sides, 0.3 * period

    patch.setattr(cut, "_line", wrong)
    patch.setattr(CutInversion, "log_delta", lambda self, at: log_delta(replace(self, sides=()), at))


def mirrored_branch_not_mirrored(patch: pytest.MonkeyPatch) -> None:
    right = cut.cut_moments

    def wrong(pair: Sampled, *given: Any) -> CutMoments:
        found: CutMoments = right(pair, *given)
        return replace(found, loss=np.abs(found.loss)) if pair.order == "hybrid" else found

    patch.setattr(cut, "cut_moments", wrong)


def frequencies_cut_short(patch: pytest.MonkeyPatch) -> None:
    right = cut._truncated
    patch.setattr(cut, "_truncated", lambda *given: (0.3 * right(*given)[0], -math.inf))


def few_nodes_without_their_error(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(interval, "_NODES", ((math.inf, 12),))
    patch.setattr(CutMoments, "_gauss", lambda self, top, highest: np.zeros(highest.size))


def first_term_whole(patch: pytest.MonkeyPatch) -> None:
    right = cut._terms

    def wrong(*given: Any) -> Any:
        t, values, errors = right(*given)
        values[0] *= 2.0
        return t, values, errors

    patch.setattr(cut, "_terms", wrong)


PLANTS: list[Callable[[pytest.MonkeyPatch], None]] = [
    what_is_left_out_forgotten,
    mean_of_the_whole_line,
    mirrored_branch_not_mirrored,
    short_period_without_its_copies,
    frequencies_cut_short,
    few_nodes_without_their_error,
    first_term_whole,
    errors_subtracted_from_the_upper_end(CutInversion),
]


def test_the_checks_pass_on_the_right_code() -> None:
    assert all_checks_pass()


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_a_planted_bug_is_caught(plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    with np.errstate(all="ignore"):
        assert not all_checks_pass()
