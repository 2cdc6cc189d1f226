"""Bugs planted where one round's delta is taken out of the sum: the checks here pass on the right code and must catch
every one of them.

Reference: two rounds' integral in balls (tests/oracles/two_rounds.py), and 160-bit ball arithmetic on the real line for
more rounds (tests/oracles/ball_profile.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from ball_profile import Phase, profile
from flint import arb, ctx
from planted import errors_subtracted_from_the_upper_end
from two_rounds import profile as two_rounds

from dpcert.accounting.bracket import OutOfReach
from dpcert.accounting.contour import bends, outside, ray, rotated, several
from dpcert.accounting.contour.bends import Bends
from dpcert.accounting.contour.paths import Sampled
from dpcert.accounting.contour.rotated import STEEP, WIDE, Fan
from dpcert.accounting.contour.several import Several, alone, invert_several

TWO_ROUNDS = [
    (1.0, 1e-3, 0.003, WIDE),
    (3.0, 1e-4, 1.0, STEEP),
    (0.6, 0.02, 0.05, WIDE),
    (1.5, 1e-6, 1e-5, WIDE),
    (2.0, 0.2, 0.8, STEEP),
]
"""shift, rate, eps, fan; where what two rounds add to one another matters."""

MANY_ROUNDS = [(1.0, 0.05, 20, 1.2, WIDE), (0.8, 0.1, 30, 1.5, STEEP)]
"""shift, rate, rounds, eps, fan, where the reference resolves the profile."""


def bounds(shift: float, rate: float, rounds: int, at: float, fan: Fan) -> tuple[float, float]:
    pair = Sampled(shift, rate, "remove")
    return invert_several(pair, rounds, at, math.log(alone(pair, rounds, at)[0]), fan).log_delta(at)[:2]


def all_checks_pass() -> bool:
    try:
        for shift, rate, at, fan in TWO_ROUNDS:
            low, high = bounds(shift, rate, 2, at, fan)
            with ctx.workprec(160):
                truth = two_rounds(shift, rate, at).log()
            if not (arb(low) <= truth <= arb(high) and high - low < 1e-5):
                return False
        for shift, rate, rounds, at, fan in MANY_ROUNDS:
            low, high = bounds(shift, rate, rounds, at, fan)
            (value,) = profile([Phase("remove", shift, rate, rounds)], [at])
            if not (low <= value.log() <= high and high - low < 1e-5):
                return False
    except (OutOfReach, ValueError, OverflowError, IndexError):
        return False
    return True


def one_round_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Of all rounds' delta_1, one is lost."""
    right = Several._alone

    def wrong(self: Several, at: float) -> tuple[float, float]:
        low, high = right(self, at)
        return low * (1.0 - 1.0 / self.rounds), high * (1.0 - 1.0 / self.rounds)

    patch.setattr(Several, "_alone", wrong)


def first_order_left_in(patch: pytest.MonkeyPatch) -> None:
    """M^rounds - 1 is summed, without taking rounds h out."""
    right = several._beyond_one

    def wrong(change: Any, slack: Any, rounds: int) -> Any:
        value, error = right(change, slack, rounds)
        return value + rounds * change, error

    patch.setattr(several, "_beyond_one", wrong)


def mean_of_first_order(patch: pytest.MonkeyPatch) -> None:
    """E[u] taken for the rate: E[L] lacks what is of second order."""
    right = Bends.of.__func__  # type: ignore[attr-defined]

    def wrong(cls: type[Bends], nodes: Any) -> Bends:
        found: Bends = right(cls, nodes)
        less = nodes.rate + math.log1p(-nodes.rate)
        return replace(found, excess=(less, found.excess[1]))

    patch.setattr(Bends, "of", classmethod(wrong))


def crossing_s_slope_dropped(patch: pytest.MonkeyPatch) -> None:
    right = Bends.of.__func__  # type: ignore[attr-defined]

    def wrong(cls: type[Bends], nodes: Any) -> Bends:
        return replace(right(cls, nodes), slope=(0.0j, 0.0))

    patch.setattr(Bends, "of", classmethod(wrong))


def late_nodes_keep_their_first_order(patch: pytest.MonkeyPatch) -> None:
    """tau u is not subtracted where e^{tau u} is not summed as a polynomial."""
    right = ray._sums

    def wrong(*given: Any) -> Any:
        growth, _, slopes, thirds = right(*given)
        nodes, near, octaves, per_octave = given
        tau = near.reach * ray._base(nodes.fan, per_octave) * 2.0 ** np.arange(octaves)[:, None]
        early = np.abs(nodes.u) < 1e-3
        return growth, growth - tau * (nodes.tilted * nodes.u)[early].sum(), slopes, thirds

    patch.setattr(ray, "_sums", wrong)


def few_orders(patch: pytest.MonkeyPatch) -> None:
    right = ray._small
    kept = (np.arange(ray.ORDERS + 2) < 4)[:, None]
    patch.setattr(ray, "_small", lambda near, *rest: right(replace(near, powers=near.powers * kept), *rest))


def coarse_steps_without_their_error(patch: pytest.MonkeyPatch) -> None:
    right = several._terms

    def wrong(*given: Any) -> Any:
        t, terms, errors = right(*given)
        kept = np.arange(t.size) % 5 == 0
        return t, np.where(kept, 5.0 * terms, 0.0), errors

    patch.setattr(several, "_terms", wrong)


def range_too_short(patch: pytest.MonkeyPatch) -> None:
    right = rotated._range
    patch.setattr(rotated, "_range", lambda *given: (0.5 * right(*given)[0], 0.5 * right(*given)[1], 0.0))


def coarse_nodes_without_their_error(patch: pytest.MonkeyPatch) -> None:
    step, right = rotated.short, several.rotated
    patch.setattr(rotated, "short", lambda value: 8.0 * step(value))
    patch.setattr(several, "rotated", lambda *given: replace(right(*given), error=1e-25))


def wide_fan_on_the_steep_path(patch: pytest.MonkeyPatch) -> None:
    """The path climbs too slowly for the wide fan: e^{tau u} grows on it."""
    right = several.rotated

    def wrong(pair: Any, c: float, top: float, rounds: int, fan: Fan) -> Any:
        return replace(right(pair, c, top, rounds, STEEP), fan=fan)

    patch.setattr(several, "rotated", wrong)


def ray_cut_short(patch: pytest.MonkeyPatch) -> None:
    right = several.remainder
    patch.setattr(several, "remainder", lambda *given: (right(*given)[0] / 256.0, 0.0))


def corner_dropped(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Several, "_corner", lambda self, at: 0.0)
    patch.setattr(Several, "_corner_error", lambda self, at: 0.0)
    patch.setattr(several, "CORNER", 1)


PLANTS: list[Callable[[pytest.MonkeyPatch], None]] = [
    one_round_forgotten,
    first_order_left_in,
    mean_of_first_order,
    crossing_s_slope_dropped,
    late_nodes_keep_their_first_order,
    few_orders,
    coarse_steps_without_their_error,
    range_too_short,
    coarse_nodes_without_their_error,
    wide_fan_on_the_steep_path,
    ray_cut_short,
    corner_dropped,
    errors_subtracted_from_the_upper_end(Several),
]


def test_the_checks_pass_on_the_right_code() -> None:
    assert all_checks_pass()


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_a_planted_bug_is_caught(plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    with np.errstate(all="ignore"):
        assert not all_checks_pass()


BOUNDS: list[tuple[str, Callable[[float], float]]] = [
    ("vertical", lambda bound: 1e-3 * bound),
    ("_bounded", lambda bound: 1e-2 * bound),
]
"""Bounds of outside.py made too small."""


def vertical_side_holds() -> bool:
    """|S / t^2| over a stretch of the vertical line, at its least there, against the bound on the whole line."""
    pair, c, rounds = Sampled(1.0, 0.05, "remove"), 3.0, 10
    nodes = rotated.rotated(pair, c, 1.5 * c, 10**6)
    polynomial = ray.Near.of(nodes, 0.25 * c)
    start, floor = nodes.growth(c), math.log1p(-pair.rate)
    tau = 1j * np.linspace(0.0, 200.0, 2001)
    h = 1.0 + (nodes.weight * np.expm1(np.multiply.outer(c + tau, nodes.u))).sum(axis=1)
    h = h * np.exp(floor * (c + tau)) - 1.0
    size = np.abs((1.0 + h) ** rounds - 1.0 - rounds * h) / np.abs(c + tau) ** 2
    total = float(np.minimum(size[1:], size[:-1]).sum()) * 0.1
    most = outside.most_near(nodes, polynomial, rounds, floor, start)
    return total <= outside.vertical(c, rounds, floor, start) and float(size[0]) * c / (c + 1.0) <= most


@pytest.mark.parametrize(("name", "smaller"), BOUNDS)
def test_a_bound_too_small_is_caught(
    name: str, smaller: Callable[[float], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert vertical_side_holds()
    right = getattr(outside, name)
    monkeypatch.setattr(outside, name, lambda *given: smaller(right(*given)))
    assert not vertical_side_holds()


def small_h_is_exact() -> bool:
    """h(c) of a tiny rate, where it is t^2 Var(L) / 2 but for 1e-7 of it."""
    pair, c = Sampled(0.5, 1e-11, "remove"), 10.0
    found = Bends.of(rotated.rotated(pair, c, 15.0, 10**18, WIDE))
    value, error, *_ = found.at_crossing()
    expected = 0.5 * (pair.rate * c) ** 2 * math.expm1(pair.shift**2) * (1.0 + 1.0 / c)
    return abs(value - expected) <= 1e-7 * expected and error <= 1e-10 * expected


def test_h_of_first_order_accuracy_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """e^z - 1 - z without its series loses what is of second order."""
    assert small_h_is_exact()
    monkeypatch.setattr(bends, "_SERIES", 0.0)
    assert not small_h_is_exact()
