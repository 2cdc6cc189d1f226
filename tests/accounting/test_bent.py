"""The bent contour's bounds, one by one: its paths in balls, its sums against rigorous integrals, its deltas against
50-digit closed forms and against the other contour."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from few_rounds import profile as few_rounds
from flint import acb, arb, ctx
from mpmath import mp, mpf
from rare_moments import moment

from dpcert.accounting import delta, epsilon
from dpcert.accounting.bracket import OutOfReach
from dpcert.accounting.contour import bent, contour, rare, ray, rotated
from dpcert.accounting.contour.bent import BentInversion, invert_bent
from dpcert.accounting.contour.paths import Sampled
from dpcert.accounting.contour.rotated import STEEP, WIDE, Fan, Shape
from dpcert.accounting.contour.saddle import saddle_at_epsilon
from dpcert.accounting.pairs import Composition, GaussianPair, SubsampledPair
from dpcert.accounting.rounding import UNIT
from dpcert.mechanisms import Gaussian, Poisson, Repeat

CENTRES = [
    (Sampled(1.0, 1e-3, "remove"), 9.0),
    (Sampled(5.0, 1e-3, "remove"), 0.3),
    (Sampled(0.5, 2e-3, "remove"), 25.0),
    (Sampled(1.0, 1e-6, "remove"), 16.0),
    (Sampled(2.0, 0.2, "remove"), 0.6),
    (Sampled(0.6, 0.05, "remove"), 4.0),
]


def composition(shift: float, rate: float, rounds: int) -> Composition:
    return ((SubsampledPair(GaussianPair(shift), rate, "remove"), rounds),)


def inverted(shift: float, rate: float, rounds: int, at: float) -> BentInversion:
    return invert_bent(Sampled(shift, rate, "remove"), rounds, saddle_at_epsilon(composition(shift, rate, rounds), at))


FANS = [(fan, shape) for fan in (STEEP, WIDE) for _, shape in fan.shapes]


def path(fan: Fan, shape: Shape, q: acb) -> tuple[acb, acb, acb]:
    """Z, u and dZ/dq; u continued from the left."""
    climb = q + (1 + (-q).exp()).log() if q.real > 0 else (1 + q.exp()).log()
    z = q + acb(0, 1) * (arb(shape.start) + arb(fan.climb) * climb)
    u = z + (1 + (-z).exp()).log() if z.real > 0 else (1 + z.exp()).log()
    return z, u, 1 + acb(0, 1) * arb(fan.climb) / (1 + (-q).exp())


@pytest.mark.parametrize(("fan", "shape"), FANS, ids=lambda value: str(getattr(value, "start", "")))
@pytest.mark.parametrize("side", [-1, 0, 1])
def test_the_strip_is_where_it_must_be(fan: Fan, shape: Shape, side: int) -> None:
    """In balls over cells that cover -12 <= Re q <= 12; beyond, u is e^{q + i start}, or Z, but for 1e-5 of it."""
    width, right = 2.0**-9, arb(math.pi) / 2
    least = math.radians(90.0 - fan.centre + fan.half_angle)
    for n in range(-12 * 512, 12 * 512):
        q = acb(arb(n * width + width / 2, width / 2), arb(side) * arb(shape.half_width))
        z, u, speed = path(fan, shape, q)
        above = z.real if z.real > 0 else arb(0).union(z.real.abs_upper()) if not z.real < 0 else arb(0)
        assert u.imag > 0
        angle = right - (u.real / u.imag).atan()
        assert angle > (least + math.radians(1.5) if side == 0 else least)
        assert angle < math.pi
        limit = shape.centre if side == 0 else shape.edge
        assert z.imag - arb(fan.climb) * (z.real if z.real > 0 else arb(0)) < limit
        assert abs(u) < 4 * (1 + z.real.exp())
        assert abs(u) < 4 + 2 * above
        if not z.real > 0:
            assert z.imag < math.pi  # below the density's zero
        assert abs(speed) < arb(fan.stretch) * speed.real
    left = shape.start + side * shape.half_width
    assert least + 0.05 < left < math.pi - 0.05
    assert math.atan(fan.climb) > least + math.radians(1.5)


@pytest.mark.parametrize(("pair", "c"), CENTRES, ids=str)
def test_sums_are_within_their_error_bounds(pair: Sampled, c: float) -> None:
    nodes = rotated.rotated(pair, c, 1.05 * c, 100)
    start, start_error = nodes.growth(c)
    polynomial = ray.Near.of(nodes, 0.05 * c)
    tau, growth, error = polynomial.values(2, start, start_error)
    far = ray.far_out(nodes, polynomial, start, start_error, 10)
    with ctx.workprec(160):
        assert abs(moment(pair.shift, pair.rate, acb(c)).real - 1 - arb(start)) <= start_error
        assert start_error < 1e-11
        for move in (-polynomial.reach, polynomial.reach):
            above = polynomial.growth_above(move, start, start_error, float(np.abs(nodes.u).max()))
            assert moment(pair.shift, pair.rate, acb(c + move)).real - 1 <= arb(above)
            assert above < float((moment(pair.shift, pair.rate, acb(c + move)).real - 1).mid()) + 1e-10
        rows = [(tau[k], growth[k], error[k]) for k in (0, 13, 39)]
        rows += [(far.tau[k], far.growth[k], far.error[k]) for k in (0, 21, 77, 121, 160, 199)]
        for away, value, bound in rows:
            t = acb(c + away.real, away.imag)
            truth = moment(pair.shift, pair.rate, t)
            assert abs(truth - 1 - acb(value.real, value.imag)) <= arb(bound) + arb(4 * UNIT) * abs(t) * abs(truth)


@pytest.mark.parametrize(("pair", "c"), CENTRES, ids=str)
def test_cells_bound_the_sector_s_side(pair: Sampled, c: float) -> None:
    """|G| inside each cell is at most what _inner makes of its linear, square and other terms."""
    nodes = rotated.rotated(pair, c, 1.05 * c, 1)
    start, start_error = nodes.growth(c)
    side = ray.far_out(nodes, ray.Near.of(nodes, 0.05 * c), start, start_error, 9).side
    with ctx.workprec(160):
        for k in range(0, side.t.size, 5):
            for share in (0.0, 0.4, 1.0):
                t = side.t[k] + share * side.move[k]
                ratio = moment(pair.shift, pair.rate, acb(t.real, t.imag)) / arb(side.log_size[k]).exp()
                log = side.linear[k].real * share + side.square[k].real * share**2 + side.rest[k]
                whole = abs(side.linear[k]) + abs(side.square[k]) + side.rest[k]
                assert abs(ratio) <= arb(min(log + 0.5 * whole**2, math.log1p(whole)) + 1e-9).exp()
            most = moment(pair.shift, pair.rate, acb(side.t[k].real, side.t[k].imag))
            assert abs(most) <= arb(nodes.log_largest).exp()


def check_one_round(seed: int, number: int) -> tuple[int, int]:
    """How many of the brackets of log delta were narrower than 1e-3, and of how many; all hold the closed form."""
    generator, narrow, total = random.Random(seed), 0, 0
    with mp.workdps(50):
        while total < number:
            shift, rate = 10.0 ** generator.uniform(-0.5, 0.8), 10.0 ** generator.uniform(-6.0, -0.55)
            x = generator.uniform(1.0, 7.0)
            at = math.log1p(rate * math.expm1(shift * x - 0.5 * shift**2))
            if at <= 0.0:
                continue
            found = inverted(shift, rate, 1, at)
            for value in (at, 1.3 * at, 0.8 * at):
                low, high, _ = found.log_delta(value)
                truth = mp.log(few_rounds(shift, rate, 1, value))
                assert mpf(low) <= truth <= mpf(high), (shift, rate, value)
                narrow, total = narrow + (high - low < 1e-3), total + 1
    return narrow, total


def test_one_round_against_the_closed_form() -> None:
    narrow, total = check_one_round(1, 300)
    assert narrow > 0.7 * total  # about 82% are


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(2, 22))
def test_one_round_against_the_closed_form_often(seed: int) -> None:
    narrow, total = check_one_round(seed, 600)
    assert narrow > 0.7 * total  # about 82% are


TWO_ROUNDS = [(1.0, 1e-3, 0.03), (3.0, 1e-4, 2.0), (0.7, 0.02, 0.2)]


@pytest.mark.nightly
@pytest.mark.parametrize(("shift", "rate", "at"), TWO_ROUNDS)
def test_two_rounds_against_quadrature_to_fifty_digits(shift: float, rate: float, at: float) -> None:
    low, high, _ = inverted(shift, rate, 2, at).log_delta(at)
    with mp.workdps(50):
        assert mpf(low) <= mp.log(few_rounds(shift, rate, 2, at)) <= mpf(high)
    assert high - low < 1e-6


KNOWN = [
    (1.0, 1e-3, 10, 1e-5, 0.02351308895),
    (1.25, 1e-3, 100, 1e-5, 0.14096601088),
    (1.25, 1e-3, 100, 1e-20, 4.8576591451),
    (2.0, 1e-3, 100, 1e-30, 21.923322847),
    (1.0, 1e-6, 1_000_000, 1e-10, 0.0065020873707),
]
"""shift, rate, rounds, delta and epsilon to the printed digits, by inversion on a vertical line in doubles or balls."""


@pytest.mark.parametrize(("shift", "rate", "rounds", "target", "truth"), KNOWN)
def test_both_contours_agree(
    shift: float, rate: float, rounds: int, target: float, truth: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    bracket = contour.epsilon(composition(shift, rate, rounds), target)
    assert bracket.lower <= truth * (1.0 + 1e-10)
    assert bracket.upper >= truth * (1.0 - 1e-10)
    wide = 1e-4 if rate < 1e-3 or rounds < 100 else 1e-9
    assert bracket.width <= wide * bracket.upper
    monkeypatch.setattr(contour, "invert_in_balls", None)  # the bent contour did it
    monkeypatch.setattr(contour, "invert", None)
    assert contour.epsilon(composition(shift, rate, rounds), target) == bracket


def check_against_the_line(seed: int, number: int) -> int:
    """Brackets on the bent contour and on the vertical line intersect; of how many."""
    generator, compared = random.Random(seed), 0
    for _ in range(number):
        rate, rounds = 10.0 ** generator.uniform(-4.0, -2.0), int(10.0 ** generator.uniform(0.0, 2.0))
        shift, target = 10.0 ** generator.uniform(-0.5, 0.4), 10.0 ** -generator.uniform(3.0, 15.0)
        phases = composition(shift, rate, rounds)
        if rate * rounds <= target:
            continue
        logs = math.log(target)
        try:
            (low, high), _ = rare.between_on_the_bent_contour(
                phases,
                Sampled(shift, rate, "remove"),
                rounds,
                contour.saddle_at_delta(phases, logs),
                (logs, logs),
                1e-9,
            )
            other = contour._narrowed(
                phases, contour.saddle_at_delta(phases, logs), contour._in_doubles, (logs, logs), (0.0, math.inf), 1e-9
            )[0]
        except OutOfReach:
            continue
        assert max(low, other[0]) <= min(high, other[1]), (shift, rate, rounds, target)
        compared += other[1] < math.inf
    return compared


def test_the_bent_contour_and_the_line_intersect() -> None:
    assert check_against_the_line(5, 25) >= 8


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(100, 120))
def test_the_bent_contour_and_the_line_intersect_often(seed: int) -> None:
    assert check_against_the_line(seed, 60) >= 15


def test_rates_that_delta_covers_cost_nothing() -> None:
    bracket = contour.epsilon(composition(3.0, 1e-9, 100), 1e-6)
    assert (bracket.lower, bracket.upper) == (0.0, 0.0)
    assert contour.epsilon(composition(3.0, 1e-6, 100), 1e-6).lower > 0.0


def test_delta_and_epsilon_are_inverse_for_rare_jumps() -> None:
    run = Repeat(Poisson(Gaussian(1.0), 1e-3), 10)
    bracket = epsilon(run, 1e-5)
    assert delta(run, bracket.lower).upper >= 1e-5
    assert delta(run, bracket.upper).lower <= 1e-5


def test_parameters_as_decimals_are_inside() -> None:
    """The bracket at doubles holds what their neighbours give: closed form, both parameters one UNIT off."""
    shift, rate, at = 1.0 / 1.1, 1e-3, 0.01
    low, high, _ = inverted(shift, rate, 1, at).log_delta(at)
    with mp.workdps(50):
        for move in (1 - mpf(2) ** -52, 1 + mpf(2) ** -52):
            truth = mp.log(few_rounds(mpf(shift) * move, mpf(rate) * move, 1, at))
            assert mpf(low) <= truth <= mpf(high)


def test_what_the_bent_contour_does_not_serve() -> None:
    assert bent.serves(Sampled(1.0, 1e-3, "remove"))
    assert not bent.serves(Sampled(1.0, 1e-3, "add"))
    assert not bent.serves(Sampled(0.01, 1e-3, "remove"))
    assert not bent.serves(Sampled(1.0, 0.9, "remove"))
    with pytest.raises(OutOfReach):
        inverted(30.0, 1e-3, 10, 400.0)
