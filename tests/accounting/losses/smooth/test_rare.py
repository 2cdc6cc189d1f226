"""Rare jumps and outcomes too far out: two rounds against rigorous balls, many rounds and phases against lattices.

The ways are asked for one by one, as the accountant would rather take the first that serves.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import two_rounds
from cases import few, many
from flint import acb, arb, ctx
from scipy.special import ndtr, wofz

from dpcert.accounting.losses.atoms import pld as lattices
from dpcert.accounting.losses.smooth import contour as accountant
from dpcert.accounting.losses.smooth import goal, jumping, label, parts, rare
from dpcert.accounting.losses.smooth import large_losses as far
from dpcert.accounting.losses.smooth.integrand import log_mixture
from dpcert.accounting.losses.smooth.labelled import Labelled
from dpcert.accounting.losses.smooth.paths import Sampled
from dpcert.accounting.losses.smooth.quadrature import quadrature
from dpcert.accounting.losses.smooth.saddle import saddle_at_delta, saddle_at_epsilon
from dpcert.accounting.losses.smooth.shortened import ShortenedPair, cut
from dpcert.accounting.losses.smooth.truncation_envelope import envelope
from dpcert.accounting.pairs import Composition, GaussianPair, Sampling, SubsampledPair

RTOL = 1e-6

TWICE = [  # shift, rate, delta: by jumps
    (1.8, 1e-6, 1e-12),
    (1.2, 4.5e-7, 1.3e-15),
    (2.5, 1e-4, 1e-7),
    (1.45, 5.7e-4, 2.8e-7),
    (1.0, 3e-8, 1e-13),
    (2.9, 3e-4, 1e-11),  # epsilon above 2: by calls
]

FAR = [(0.35, 3.1e-5, 1.1e-7), (0.2, 1e-6, 1e-11), (0.6, 1e-4, 1e-6), (0.1, 1e-7, 1e-16)]
"""The same, by outcomes that are not too far out."""

MANY: list[tuple[tuple[tuple[float, float, int], ...], float]] = [  # shift, rate, rounds of each phase; delta
    (((1.76, 2.8e-7, 82),), 9.7e-19),
    (((0.22, 1.4e-7, 640_000),), 8e-13),
    (((1.6, 8.4e-7, 302), (0.5, 1e-5, 40), (0.9, 3e-7, 7)), 1.3e-8),
    (((1.72, 2.8e-7, 3_360_000),), 1.6e-15),
    (((1.19, 1.8e-7, 116), (0.216, 1.16e-7, 11), (0.0287, 1.16e-8, 7590)), 1.91e-11),  # one phase jumps, two hardly do
]


SHIFTS: dict[Sampling, float] = {"remove": 0.3, "replace": 0.7}


def _pair(shift: float, rate: float, order: Sampling = "remove") -> SubsampledPair:
    return SubsampledPair(GaussianPair(shift), rate, order)


def _by_jumps(composition: Composition, delta: float) -> tuple[float, float]:
    with np.errstate(divide="raise", over="raise", invalid="raise"):  # as all accountants are asked
        return rare.epsilon(composition, delta, RTOL)


def _near(composition: Composition, delta: float) -> tuple[float, float]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accountant, "_attempts", lambda composition, smooth, whole, near, jumps: [near])
        found = accountant.epsilon(composition, delta, RTOL)
    return found.lower, found.upper


def _true(
    lower: float, upper: float, first: tuple[float, float], delta: float, other: Any = None, order: Sampling = "remove"
) -> bool:
    """Whether the profile of two rounds is at most delta at the upper end, and more at the lower."""
    truth = two_rounds.profile if order == "remove" else two_rounds.replaced
    return bool(truth(*first, upper, other) <= delta < truth(*first, lower, other))


@pytest.mark.parametrize(("shift", "rate", "delta"), TWICE)
def test_two_rounds_by_jumps(shift: float, rate: float, delta: float) -> None:
    lower, upper = _by_jumps(((_pair(shift, rate), 2),), delta)
    assert upper - lower <= 4 * RTOL * upper
    assert _true(lower, upper, (shift, rate), delta)


@pytest.mark.parametrize(("shift", "rate", "delta"), few(TWICE, 6))
def test_two_rounds_of_replacement(shift: float, rate: float, delta: float) -> None:
    lower, upper = _by_jumps(((_pair(shift, rate, "replace"), 2),), delta)
    assert upper - lower <= RTOL * upper
    assert _true(lower, upper, (shift, rate), delta, order="replace")


@pytest.mark.parametrize(("shift", "rate", "delta"), FAR)
def test_two_rounds_without_the_far(shift: float, rate: float, delta: float) -> None:
    lower, upper = _near(((_pair(shift, rate), 2),), delta)
    assert upper - lower <= RTOL * upper
    assert _true(lower, upper, (shift, rate), delta)


@pytest.mark.parametrize("delta", [1e-9, 1e-14])
def test_two_different_rounds(delta: float) -> None:
    first, other = (1.8, 1e-6), (1.1, 2e-5)
    lower, upper = _by_jumps(((_pair(*first), 1), (_pair(*other), 1)), delta)
    assert upper - lower <= 4 * RTOL * upper
    assert _true(lower, upper, first, delta, other)


@pytest.mark.parametrize(("order", "phases", "delta"), few([(order, *each) for each in MANY for order in SHIFTS], 12))
def test_many_rounds(order: Sampling, phases: tuple[tuple[float, float, int], ...], delta: float) -> None:
    composition = tuple((_pair(shift, rate, order), rounds) for shift, rate, rounds in phases)
    found = accountant.epsilon(composition, delta, RTOL)
    assert found.narrower_than(RTOL)
    assert lattices.epsilon(composition, delta, 1e-4).intersect(found).narrower_than(RTOL)
    at = accountant.delta(composition, found.upper, RTOL)
    assert at.lower <= delta <= at.upper * (1 + 1e-4)


@pytest.mark.parametrize("rounds", [3, 20_000])
def test_replaced_far_out(rounds: int) -> None:
    composition = ((_pair(0.5, 1e-6, "replace"), rounds),)
    found = accountant.epsilon(composition, 1e-10, RTOL)
    assert found.narrower_than(RTOL)
    assert lattices.epsilon(composition, 1e-10, 1e-4).intersect(found).narrower_than(RTOL)


@pytest.mark.parametrize(
    ("phases", "delta"),
    few(
        [
            (((0.2, 1e-6, 900_000),), 1e-10),
            (((0.3, 1.6e-8, 5_920_000), (0.1, 1.7e-7, 80_700), (1.71, 1.75e-7, 6_830_000)), 1.1e-9),
            (((1.1, 7e-8, 235), (3.0, 2.5e-8, 989), (0.97, 2.6e-8, 648_000)), 6.4e-16),
        ],
        6,
    ),
)
def test_outcomes_without_a_jump_matter(phases: tuple[tuple[float, float, int], ...], delta: float) -> None:
    """The bulk alone reaches epsilon, or together with single jumps; and many jumps at a large epsilon."""
    composition = tuple((_pair(shift, rate), rounds) for shift, rate, rounds in phases)
    lower, upper = _by_jumps(composition, delta)
    assert upper - lower <= 4 * RTOL * upper
    known = lattices.epsilon(composition, delta, 1e-5)
    assert known.lower <= upper
    assert lower <= known.upper


def test_which_rounds_jump() -> None:
    assert rare.supports(((_pair(1.0, 1e-6), 3), (GaussianPair(0.1), 2)))
    assert rare.supports(((_pair(1.0, 1e-6, "replace"), 3),))
    assert not rare.supports(((_pair(1.0, 1e-6, "replace"), 3), (_pair(1.0, 1e-6), 3)))
    assert not rare.supports(((_pair(1.0, 1e-6, "hybrid"), 3),))


TILT = 60.0
LABELS: dict[Sampling, Labelled] = {
    order: Labelled(Sampled(1.3, 1e-5, order, cut=8.4, place=7.0, blur=0.2), 5.0, 45.0) for order in SHIFTS
}
UNLABELLED = Sampled(1.3, 1e-5, "remove", cut=6.6, place=5.0, blur=0.2)


def _labelled_moment(order: str, tilt: float, frequency: float, without: bool = False) -> acb:
    """j(tilt + i frequency) by Arb's integrator; without: of outcomes without a label, less their probability."""
    with ctx.workprec(160):
        s, p, blur = arb(1.3), arb(1e-5), arb(0.2)
        t = acb(tilt, frequency)

        def above(x: acb, place: float) -> acb:
            return ((place - x) / (blur * arb(2).sqrt())).erfc() / 2

        def integrand(x: acb, _: bool) -> acb:
            up, down = ((1 - p + p * (sign * s * x - s * s / 2).exp()).log() for sign in (1, -1))
            loss = up - down if order == "replace" else up
            label = 1 - above(x, 5.0) if without else above(x, 5.0) - above(x, 7.0)
            gained = (up + t * loss).exp() - (up.exp() if without else 0)
            return (-x * x / 2).exp() / (2 * arb.pi()).sqrt() * label * gained

        last = [8.0, 14.0] if without else [7.0, 7.5, LABELS["remove"].end]
        ends = [arb(end) for end in [*((-14, -4, 0, 3) if without else ()), 2.5, 4, 4.5, 5, 5.5, 6, *last]]
        return sum((acb.integral(integrand, a, b) for a, b in pairwise(ends)), acb(0))


@pytest.mark.parametrize("order", ["remove", "replace"])
@pytest.mark.parametrize("count", [0, 3, 40, 200])
def test_labelled_moments(order: Sampling, count: int) -> None:
    found_label, c = LABELS[order], TILT
    tilt, step = found_label.tilted(c), 8.0
    truth = _labelled_moment(order, c, step * count)
    found = tilt.moment + tilt.changes(step * np.arange(256.0))[count]
    error = tilt.error + tilt.change_error + tilt.change_slope * step * count
    assert abs(truth - acb(found.real, found.imag)) <= error + 1e-25
    assert error <= 1e-9 * tilt.moment
    for earlier in (0.5, 1.0):
        assert arb(math.exp(found_label.log_bound(c, max(1e-3, earlier * step * count)))) >= abs(truth)


@pytest.mark.parametrize("count", [0, 3, 40, 200])
def test_unlabelled_moments(count: int) -> None:
    c, step = 3.0, 8.0
    part = quadrature(UNLABELLED, (c,), 40.0)
    tilt = part.tilted(c)
    gained = _labelled_moment("remove", c, step * count, without=True)
    labelled = _labelled_probability()
    found = math.exp(tilt.scale) * (tilt.moment + tilt.changes(step * np.arange(256.0))[count])
    error = math.exp(tilt.scale) * (tilt.error + tilt.change_error + tilt.change_slope * step * count)
    beyond = 1e-13  # outcomes without a label above the cut have loss 0
    assert abs(1 - labelled + gained - acb(found.real, found.imag)) <= error + beyond
    assert error <= 1e-9
    for earlier in (0.5, 1.0):
        bound = envelope(part, tilt, 0.0).log_bound(max(1e-3, earlier * step * count))
        assert arb(math.exp(bound)) >= abs(1 - labelled + gained)


def _labelled_probability() -> arb:
    with ctx.workprec(160):
        wide = (1 + arb(0.2) ** 2).sqrt()
        none, moved = ((((5 - shift) / wide) / arb(2).sqrt()).erfc() / 2 for shift in (arb(0), arb(1.3)))
        return (1 - arb(1e-5)) * none + arb(1e-5) * moved


def test_faddeeva() -> None:
    """What label.py assumes of scipy, on the half plane that it uses."""
    generator, worst = np.random.default_rng(5), 0.0
    with ctx.workprec(200):
        for _ in range(many(2000)):
            x, y = generator.uniform(0.0, 12.0) * generator.choice([1.0, 0.1, 0.01]), generator.uniform(-3.0, 3.0)
            z, found = acb(x, y), complex(wofz(complex(-y, x)))
            truth = (z * z).exp() * z.erfc()
            worst = max(worst, float((abs(acb(found.real, found.imag) - truth) / abs(truth)).upper()))
    assert worst <= 0.5 * label.FADDEEVA * 2.0**-53


def test_cut_outcomes_are_as_unlikely_as_asked() -> None:
    composition = ((_pair(0.3, 1e-4), 50), (GaussianPair(0.1), 3), (_pair(0.7, 1e-6, "replace"), 9))
    kept, mass = cut(composition, math.log(1e-12))
    assert mass <= 1.0001e-12
    with ctx.workprec(100):
        total = arb(0)
        for pair, rounds in kept:
            if isinstance(pair, ShortenedPair):
                above = [(arb(pair.cut - shift) / arb(2).sqrt()).erfc() / 2 for shift in (0.0, SHIFTS[pair.order])]
                total += rounds * ((1 - arb(pair.rate)) * above[0] + pair.rate * above[1])
        assert total <= mass


def _jumps_forgotten(patch: pytest.MonkeyPatch) -> None:
    right = rare.lay_profile
    patch.setattr(rare, "lay_profile", lambda *given: _changed(right(*given), parts=slice(0, 1)))


def _changed(found: parts.Profile, parts: slice) -> parts.Profile:
    return replace(found, parts=found.parts[parts])


def _far_forgotten(patch: pytest.MonkeyPatch) -> None:
    right = rare.far_outcomes
    patch.setattr(rare, "far_outcomes", lambda *given: replace(right(*given), apart=(0.0, 0.0), under_q=(0.0, 0.0)))


def _blur_forgotten(patch: pytest.MonkeyPatch) -> None:
    right = rare.far_outcomes
    patch.setattr(
        rare, "far_outcomes", lambda pairs, *rest: right([(replace(p, blur=1e-9), n) for p, n in pairs], *rest)
    )


def _one_jump_only(patch: pytest.MonkeyPatch) -> None:
    """What the other round adds to a jump is lost: its moments taken as 1."""
    right = jumping.JumpsOnLine.transform

    def wrong(self: Any, period: float, count: int) -> Any:
        found, jumps = right(self, period, count), self.labels[0][1].tilted(self.whole.c)
        return replace(found, values=2.0 * (jumps.moment + jumps.changes(found.s)))

    patch.setattr(jumping.JumpsOnLine, "transform", wrong)


def _copies_forgotten(patch: pytest.MonkeyPatch) -> None:
    right = rare.line

    def wrong(*given: Any) -> Any:
        chosen = right(*given)
        return replace(chosen, period=chosen.period / 1.6)

    patch.setattr(rare, "line", wrong)
    patch.setattr(parts.Inversion, "_log_aliases", lambda self, epsilon: np.full(epsilon.shape, -1000.0))


def _tail_forgotten(patch: pytest.MonkeyPatch) -> None:
    right = rare.invert

    def wrong(above: Any, below: Any, *rest: Any) -> Any:
        found = right(above, below, *rest)
        short, half = replace(found.above, terms=found.above.terms.copy(), error=0.0), found.s.size // 3
        short.terms[half:] = 0.0
        return replace(found, above=short, below=short)

    patch.setattr(rare, "invert", wrong)


def _jumps_true() -> bool:
    return all(_true(*_by_jumps(((_pair(s, q), 2),), delta), (s, q), delta) for s, q, delta in TWICE[1:4])


@pytest.mark.parametrize(
    "fault",
    [
        _jumps_forgotten,
        _far_forgotten,
        _blur_forgotten,
        _one_jump_only,
        _copies_forgotten,
        _tail_forgotten,
    ],
)
def test_planted_faults(fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch)
    with np.errstate(all="ignore"):
        assert not _jumps_true()


def _lost_at_least_the_idle() -> bool:
    """Whether what is lost is at least the probability of the idle phase's labels, in balls."""
    composition, level, wide = ((GaussianPair(1e-5), 1), (_pair(1.1, 5e-7), 1)), 0.35, 1.5
    asked = goal.Goal(7.4e-4, math.log(1e-9), RTOL)
    found = rare._split(composition, asked, rare._reverse(rare.turned(composition), asked), level, wide, 0.1)
    place = math.log1p(math.expm1(level * 7.4e-4) / 5e-7) / 1.1 + 0.55
    blur = wide * 7.4e-4 / (1.1 * -math.expm1(-level * 7.4e-4) * -math.log(1e-9))
    with ctx.workprec(100):
        none, moved = ((arb((place - shift) / math.hypot(1.0, blur) / math.sqrt(2))).erfc() / 2 for shift in (0.0, 1.1))
        return bool((none + arb(5e-7) * (moved - none)) * (1 - 1e-12) <= found.lost)


def test_what_has_no_label_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the label's blur is forgotten, and with it a part of what is lost."""
    monkeypatch.setattr(goal, "_IDLE", 0.5e8)
    assert _lost_at_least_the_idle()
    right = rare._above
    monkeypatch.setattr(rare, "_above", lambda pair, at, deviation: right(pair, at, 1.0))
    assert not _lost_at_least_the_idle()


MIXED = (((_pair(1 / 1.53, 2.12e-5), 35), (_pair(1 / 18.1, 3.28e-4), 513)), 1.18e-15)


@pytest.mark.parametrize("forgotten", [slice(1, None), slice(0, 1)])
def test_outcomes_with_and_without_a_jump_count(forgotten: slice, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: one of the two is forgotten; the bracket is narrow, and below the truth."""
    right, known = rare.lay_profile, lattices.epsilon(*MIXED, 1e-5)
    lower, upper = _by_jumps(*MIXED)
    assert known.lower <= upper
    assert lower <= known.upper
    monkeypatch.setattr(rare, "lay_profile", lambda *given: _changed(right(*given), forgotten))
    assert _by_jumps(*MIXED)[1] < known.lower


def test_no_fault() -> None:
    assert _jumps_true()


def test_what_is_left_out_counts() -> None:
    """A mass that is left out is delta's: three tenths of it, here by fiat."""
    composition, delta = ((_pair(1.0, 0.01), 1000),), 1e-6
    saddle = saddle_at_delta(composition, math.log(delta))
    found = accountant._epsilon(composition, delta, 0.3 * delta, RTOL, saddle)
    assert accountant.epsilon(composition, 0.7 * delta, RTOL).lower <= found.upper
    assert found.lower <= accountant.epsilon(composition, delta, RTOL).upper
    eps = found.upper
    known = accountant.delta(composition, eps, RTOL)
    more = accountant._delta(composition, (eps, eps), 0.3 * delta, RTOL, saddle_at_epsilon(composition, eps))
    assert more.upper >= known.lower + 0.3 * delta
    assert more.lower <= known.upper


class Fixed:
    """A part whose bounds are given."""

    def __init__(self, *bounds: float) -> None:
        self.bounds = bounds

    def delta(self, epsilon: float) -> tuple[float, float, float]:
        return self.bounds[0], self.bounds[1], -1.0


@pytest.mark.parametrize("tiny", [0.0, 5e-324, 1e-310])
def test_where_doubles_have_lost_digits_only_that_it_is_smaller_is_said(
    tiny: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = parts.Profile((Fixed(tiny, tiny),), 0.0, 1.0)  # type: ignore[arg-type]
    low, high, _ = profile.log_delta(1.0)
    assert low == -math.inf
    assert high > math.log(1e-291)
    if tiny > 0.0:  # the plant: the denormal double taken for the number that it was rounded from
        monkeypatch.setattr(parts, "_TINY", 5e-324)
        assert profile.log_delta(1.0)[1] < math.log(1e-300)


def _far_share(at: float, blur: float, epsilon: float) -> tuple[float, float]:
    """Of two replaced rounds with far rounds about `at`, on a fine grid: their profile, and the whole's."""
    x = np.linspace(-8.0, 8.0, 1201)
    loss = log_mixture(FAR_PAIR, x) - log_mixture(FAR_PAIR, -x)
    mass = np.exp(-0.5 * x * x + log_mixture(FAR_PAIR, x)) * (x[1] - x[0]) / math.sqrt(2.0 * math.pi)
    near = ndtr((at - x) / blur)
    payoff = np.maximum(0.0, -np.expm1(epsilon - loss[:, None] - loss)) * mass[:, None] * mass
    return float((payoff * (1.0 - near[:, None] * near)).sum()), float(payoff.sum())


FAR_PAIR = Sampled(1.0, 0.05, "replace", place=2.5, blur=0.1)


def _far_bounded() -> bool:
    """Whether the profile of outcomes with a far round is between the bounds, at half the least far loss."""
    least = 1.9
    loss = float(log_mixture(FAR_PAIR, np.array([least]))[0])
    close = 2.0 * float(ndtr(-math.hypot(least, (FAR_PAIR.place - least) / FAR_PAIR.blur)))
    found = rare.far_outcomes([(FAR_PAIR, 2)], loss, close, None)
    share, whole = _far_share(FAR_PAIR.place, FAR_PAIR.blur, 0.5 * loss)
    low, high, _ = found.delta(0.5 * loss)
    assert low < (1.0 - 1e-4) * share  # far losses that other rounds make up for
    return low <= share <= high + found.share * whole


def test_far_rounds_that_others_make_up_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: what they add is forgotten."""
    assert _far_bounded()
    monkeypatch.setattr(far.FarOutcomes, "share", 0.0)
    assert not _far_bounded()


def test_far_rounds_of_the_remove_order() -> None:
    """What they add is bounded by the profile the other way round, here by fiat: a thousandth of their number."""
    pair = replace(FAR_PAIR, order="remove")
    plain, more = (rare.far_outcomes([(pair, 2)], 1.0, 0.0, far.Least(0.0, log)) for log in (-math.inf, math.log(1e-3)))
    assert plain.share == more.share == 0.0
    assert more.delta(0.1)[1] - plain.delta(0.1)[1] == pytest.approx(1e-3 * more.many, rel=1e-9)
    assert more.delta(1.1)[1] == more.probability
