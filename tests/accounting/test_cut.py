"""Losses cut off: the parts against rigorous integrals, the brackets against balls on the real line and the line."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import numpy as np
import pytest
from ball_profile import Phase, Unresolved, profile
from flint import acb, arb, ctx

from dpcert.accounting.bracket import OutOfReach
from dpcert.accounting.contour import climb, contour, cut, interval, rare
from dpcert.accounting.contour.paths import Sampled
from dpcert.accounting.pairs import Composition, GaussianPair, Order, SubsampledPair
from dpcert.accounting.pld import pld

SETTINGS = [
    (Sampled(0.5, 1e-3, "remove"), 400.0, 1000.0),
    (Sampled(0.5, 1e-7, "remove"), 2e4, 1e6),
    (Sampled(0.9, 1e-3, "remove"), 20.0, 150.0),
    (Sampled(0.5, 1e-3, "hybrid"), 400.0, 1000.0),
    (Sampled(0.05, 1e-7, "hybrid"), 1e5, 1e7),
    (Sampled(0.9, 0.01, "hybrid"), 10.0, 60.0),
    (Sampled(0.5, 1e-3, "replace"), 200.0, 500.0),
    (Sampled(0.05, 1e-7, "replace"), 1e5, 1e7),
    (Sampled(0.9, 0.01, "replace"), 10.0, 60.0),
]
"""pair, Re t, Im t."""


def composition(shift: float, rate: float, rounds: int, order: Order = "remove") -> Composition:
    return ((SubsampledPair(GaussianPair(shift), rate, order), rounds),)


def truth(pair: Sampled, ends: tuple[float, float], t: acb) -> acb:
    """The integral of the density over the interval times e^{tL}, less 1; with the hybrid pair's atom."""
    s, p = arb(pair.shift), arb(pair.rate)

    def log(x: acb) -> acb:
        return (1 - p + p * (s * x - s * s / 2).exp()).log()

    def integrand(x: acb, _: bool) -> acb:
        density, up = (-x * x / 2).exp() / (2 * arb.pi()).sqrt(), log(x)
        if pair.order == "replace":
            return density * ((1 + t) * up - t * log(-x)).exp()
        return density * (((1 + t) * up).exp() + ((-t * up).exp() if pair.order == "hybrid" else 0))

    first = arb(-ends[0]) if pair.order != "hybrid" else s / 2
    cuts = [first, *(arb(cut) for cut in (-3.0, 0.0, 3.0, 6.0) if cut > first), arb(ends[1])]
    pieces = [acb.integral(integrand, a, b, rel_tol=2.0**-90, abs_tol=2.0**-110) for a, b in pairwise(cuts)]
    atom = (1 - p) * (s / arb(8).sqrt()).erf() if pair.order == "hybrid" else arb(0)
    return sum(pieces, acb(atom)) - 1


@pytest.mark.parametrize(("pair", "c", "height"), SETTINGS, ids=str)
def test_moments_over_the_interval_are_within_their_bounds(pair: Sampled, c: float, height: float) -> None:
    moments = interval.cut_moments(pair, 1000, math.log(1e-16))
    t = np.array([complex(c), complex(c, 0.1 * height), complex(c, height)])
    values = moments.values(t)
    with ctx.workprec(160):
        for k in range(3):
            size = abs(t[k])
            bound = float(moments.curve(c, np.array([t[k].imag]))[0]) * size**2 + size * moments.mean[1]
            bound += 1e-14 * (abs(values[k]) + moments.missing + size * moments.mean[0])
            right = truth(pair, moments.ends, acb(t[k].real, t[k].imag))
            assert abs(right - acb(values[k].real, values[k].imag)) <= bound
            assert bound < 1e-9 * abs(values[k])
        assert truth(pair, moments.ends, acb(c)).real < arb(moments.log_moment_above(c)).exp() - 1 + 1e-300
        inside = truth(pair, moments.ends, acb(0)).real + 1
        assert 1 - inside <= arb(moments.outside) * (1 + 1e-9)  # as far as the integral resolves it
        assert moments.outside <= 1.1e-19


@pytest.mark.parametrize(("pair", "c", "height"), SETTINGS, ids=str)
def test_the_climbing_path_bounds_every_later_frequency(pair: Sampled, c: float, height: float) -> None:
    moments = interval.cut_moments(pair, 1000, math.log(1e-16))
    ends = np.linspace(-moments.ends[0], moments.ends[1], 161)
    log_moment = moments.log_moment_above(c)
    cells = climb.Cells.of(pair, c, ends, log_moment)
    with ctx.workprec(160):
        for first in (0.5 * height, height):
            bound = cells.log_bound(first)
            assert bound < 0.0
            for frequency in (first, 1.3 * first):
                size = abs(truth(pair, moments.ends, acb(c, frequency)) + 1)
                assert size <= arb(log_moment + bound).exp()


def check_brackets(seed: int, number: int, orders: tuple[Order, ...] = ("remove",)) -> tuple[int, int]:
    """Brackets hold the balls' profile, or intersect the vertical line's; of how many by each."""
    generator, held, crossed = random.Random(seed), 0, 0
    for index in range(number):
        balls = index % 2 == 0
        shift = 10.0 ** generator.uniform(-0.52, 0.05)
        rate = 10.0 ** (generator.uniform(-1.7, -0.6) if balls else generator.uniform(-4.0, -1.5))
        rounds = int(10.0 ** (generator.uniform(0.8, 1.7) if balls else generator.uniform(1.0, -math.log10(rate))))
        order = orders[index // 2 % len(orders)]
        target, share = 10.0 ** -generator.uniform(3.0, 13.0), 10.0 ** generator.uniform(-10.0, -3.0)
        if rate * rounds < 2.0 * target:
            continue
        pair, logs = Sampled(shift, rate, order), math.log(target)
        low, high = rare.between_by_cutting(pair, rounds, logs, (logs, logs), share)
        if high == math.inf:
            continue
        if balls:
            try:
                at_high, at_low = profile([Phase(order, shift, rate, rounds)], [high, low], 300)
            except Unresolved:
                continue
            assert at_high <= target, (order, shift, rate, rounds, target)
            assert at_low > target or low == 0.0, (order, shift, rate, rounds, target)
            held += 1
        else:
            phases = composition(shift, rate, rounds, order)
            line = contour._narrowed(
                phases, contour.saddle_at_delta(phases, logs), contour._in_doubles, (logs, logs), (0.0, math.inf), 1e-9
            )[0]
            assert max(low, line[0]) <= min(high, line[1]), (order, shift, rate, rounds, target)
            crossed += 1
    return held, crossed


def test_brackets_hold() -> None:
    held, crossed = check_brackets(3, 40)
    assert held >= 3
    assert crossed >= 8


def test_brackets_of_the_other_orders_hold() -> None:
    held, crossed = check_brackets(4, 60, ("hybrid", "replace"))
    assert held >= 6
    assert crossed >= 12


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(30, 40))
def test_brackets_hold_often(seed: int) -> None:
    held, crossed = check_brackets(seed, 300, ("remove", "hybrid", "replace"))
    assert held >= 30
    assert crossed >= 60


def test_many_small_losses_are_narrow_without_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contour, "invert", None)
    monkeypatch.setattr(contour, "invert_in_balls", None)
    bracket = contour.epsilon(composition(0.5, 1e-3, 100), 1e-6)
    assert bracket.lower <= 0.01891632053 * (1.0 + 1e-9)
    assert bracket.upper >= 0.01891632053 * (1.0 - 1e-9)
    assert bracket.width <= 9e-10 * bracket.upper


def test_what_cutting_does_not_reach() -> None:
    with pytest.raises(OutOfReach):
        cut.invert_cut(Sampled(4.0, 1e-3, "remove"), 10, 5.0, math.log(1e-5), 1e-10)
    assert rare.between_by_cutting(Sampled(4.0, 1e-3, "remove"), 10, -12.0, (-12.0, -12.0), 1e-9) == (0.0, math.inf)


FAINT = [
    (15.61, 2.02e-8, 80_419_773, 4.66e-28),
    (27.44, 1.01e-8, 39_498, 1.89e-25),
    (4.16, 1.05e-7, 10_446_872, 2.6e-18),
]


@pytest.mark.parametrize(("noise", "rate", "rounds", "delta"), FAINT)
def test_faint_losses_are_narrow(noise: float, rate: float, rounds: int, delta: float) -> None:
    """2e-4 to 1 wide after up to a minute before: neither rare nor of a size that doubles resolve on the line."""
    composition: Composition = ((SubsampledPair(GaussianPair(1 / noise), rate, "remove"), rounds),)
    found = contour.epsilon(composition, delta)
    assert found.width <= 1e-5 * found.upper
    central = rate * math.sqrt(rounds * math.expm1(noise**-2))  # the bulk's standard deviation
    assert central < found.lower < 1e3 * central


@pytest.mark.parametrize(("noise", "rate", "rounds", "delta"), FAINT)
def test_faint_losses_against_the_pld(noise: float, rate: float, rounds: int, delta: float) -> None:
    """The crossing to 2%, certified by the other accountant on both sides."""
    composition: Composition = ((SubsampledPair(GaussianPair(1 / noise), rate, "remove"), rounds),)
    found = contour.epsilon(composition, delta)
    assert pld.delta(composition, 0.98 * found.lower).lower > delta
    assert pld.delta(composition, 1.02 * found.upper).upper < delta
