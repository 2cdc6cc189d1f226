"""The one root finder: both points were evaluated and have their signs, whatever the function, and they are close."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from dpcert.accounting.losses import crossing as module
from dpcert.accounting.losses.crossing import CLOSE, Excess, crossing, over

FALLING: dict[str, Callable[[float], float]] = {
    "exponential": lambda x: math.exp(-x),
    "Gaussian": lambda x: math.exp(-0.5 * x * x),
    "polynomial": lambda x: 1 / (1 + x) ** 0.25,
    "steep": lambda x: math.exp(-1e9 * x),
    "flat": lambda x: math.exp(-1e-9 * x),
    "a jump to 0": lambda x: 1.0 if x < 0.7345 else 0.0,
    "a jump": lambda x: 1.0 if x < 0.7345 else 1e-5,
    "not monotone": lambda x: math.exp(-x) * (1 + 0.4 * math.sin(40 * x)),
}


@pytest.mark.parametrize("name", FALLING)
@pytest.mark.parametrize("start", [0.0, 1e-6, 1.0, 1e4])
@pytest.mark.parametrize("target", [0.3, 1e-4])
def test_ends_have_their_signs_and_are_close(name: str, start: float, target: float) -> None:
    bound, asked = FALLING[name], 0

    def excess(at: float) -> Excess:
        nonlocal asked
        asked += 1
        return Excess(over(bound(at), target))

    low, high = crossing(excess, start)
    assert low == 0.0 or bound(low) > target
    assert bound(high) <= target
    assert high - low <= 4 * CLOSE * high
    assert asked <= 130


def test_slopes_save_evaluations() -> None:
    asked: list[float] = []

    def excess(at: float) -> Excess:
        asked.append(at)
        return Excess(over(math.exp(-0.5 * at * at), 1e-9), -at)

    low, high = crossing(excess, 6.0)
    assert low <= math.sqrt(-2 * math.log(1e-9)) <= high
    assert len(asked) <= 8


def test_a_bound_that_is_never_reached_or_always_met() -> None:
    assert crossing(lambda at: Excess(1.0), 1.0, farthest=1e6)[1] == math.inf
    assert crossing(lambda at: Excess(over(1e-9, 1e-5)), 1.0) == (0.0, 0.0)
    assert crossing(lambda at: Excess(-math.inf), 1.0) == (0.0, 0.0)


@pytest.mark.parametrize("target", [1e-5, 1e-300, 5e-324])
def test_the_sign_of_one_unit_in_the_last_place_is_told(target: float) -> None:
    assert over(target, target) == 0.0
    assert over(math.nextafter(target, 1.0), target) > 0.0
    assert over(math.nextafter(target, 0.0), target) < 0.0


def test_planted_ends_that_were_not_evaluated_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plant: the ends are what Newton's method says, as root finders of libraries return it."""

    def excess(at: float) -> Excess:
        return Excess(over(math.exp(-at), 1e-5), -1.0)

    def by_newton(of: Callable[[float], Excess], start: float, **_: float) -> tuple[float, float]:
        at = start
        for _ in range(3):
            at -= of(at).value / of(at).slope
        return at, at

    assert excess(crossing(excess, 1.0)[0]).value > 0.0 >= excess(crossing(excess, 1.0)[1]).value
    monkeypatch.setattr(module, "crossing", by_newton)
    low, high = module.crossing(excess, 1.0)
    assert not excess(low).value > 0.0 or not excess(high).value <= 0.0


def test_a_bound_that_says_nothing_far_from_its_place_is_not_lost() -> None:
    """From above, by slopes that are three times too steep: halving the way would end where the bound is 0."""

    def excess(epsilon: float) -> Excess:
        return Excess(1.7 - epsilon if epsilon > 1.6 else -math.inf, -3.0)

    low, high = crossing(excess, 1.75)
    assert low < 1.7 <= high
    assert high - low < 1e-14 * high
