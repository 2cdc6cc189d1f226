"""Noisy maxima, sparse vector, staircase: against enumeration in rationals and quadrature."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, permutations, product

import mpmath
import numpy as np
import pytest
from flint import arb
from scipy.integrate import quad

from dpcert import delta, epsilon, rho
from dpcert.accounting.accountants import composed
from dpcert.accounting.bracket import EmptyBracket
from dpcert.accounting.pairs import ApproximateDpPair, BoundedRangePair, EventPair, LaplacePair, noisy_max
from dpcert.accounting.pricing.sparse_vector import chosen, events
from dpcert.accounting.pricing.tied_candidates import wins
from dpcert.mechanisms import (
    Group,
    InputError,
    Mechanism,
    Poisson,
    Repeat,
    ReportNoisyMax,
    SparseVector,
    Staircase,
    exponential_mechanism,
    permute_and_flip,
)
from dpcert.mechanisms.selection import SelectionNoise

ROOT = Fraction(3, 4)
"""e^(-epsilon/2), rational: a score that falls by its sensitivity makes a weight this much smaller."""

EPSILON = -2 * math.log(ROOT)


def exponential_law(scores: tuple[int, ...]) -> list[Fraction]:
    weights = [ROOT**-score for score in scores]
    return [weight / sum(weights) for weight in weights]


def flip_law(scores: tuple[int, ...]) -> list[Fraction]:
    """Permute and flip, over all orders."""
    best, chosen = max(scores), [Fraction(0)] * len(scores)
    orders = list(permutations(range(len(scores))))
    for order in orders:
        left = Fraction(1, len(orders))
        for candidate in order:
            accepted = ROOT ** (best - scores[candidate])
            chosen[candidate] += left * accepted
            left *= 1 - accepted
    return chosen


def hockey_stick(p: list[Fraction], q: list[Fraction], odds: float) -> float:
    return math.fsum(max(0.0, float(a) - odds * float(b)) for a, b in zip(p, q, strict=True))


def worst(law: object, eps: float) -> float:
    """Over small federations' scores, and all ways in which each moves by at most its sensitivity."""
    found = 0.0
    for scores in [(0, 0), (0, 1), (2, 0), (0, 0, 0), (3, 0, 0), (1, 0, 2), (5, 0, 0), (0, 12)]:
        p = law(scores)  # type: ignore[operator]
        for moves in product((-1, 0, 1), repeat=len(scores)):
            q = law(tuple(score + move for score, move in zip(scores, moves, strict=True)))  # type: ignore[operator]
            found = max(found, hockey_stick(p, q, math.exp(eps)))
    return found


@pytest.mark.parametrize(("noise", "law"), [("gumbel", exponential_law), ("exponential", flip_law)])
@pytest.mark.parametrize("share", [0.0, 0.25, 0.6, 0.9])
def test_noisy_max_against_enumeration(noise: SelectionNoise, law: object, share: float) -> None:
    found = delta(ReportNoisyMax(EPSILON, noise), share * EPSILON)
    seen = worst(law, share * EPSILON)
    assert seen <= found.upper * (1 + 1e-12)
    assert found.lower <= found.upper
    assert (seen > 0.0) == (found.lower > 0.0)


def test_the_envelope_is_the_largest_over_all_ranges() -> None:
    """delta* against a maximum over t, on a grid."""
    for eps in (0.0, 0.3, 0.9):
        t = np.linspace(0.0, 1.0, 20_001)
        grid = np.where(t >= eps, (1 - np.exp(t - 1)) * (1 - np.exp(eps - t)) / (1 - math.exp(-1)), 0.0)
        found = composed(((BoundedRangePair(1.0), 1),), "closed-form", "delta", eps, 1e-6)
        assert found.upper == pytest.approx(float(grid.max()), rel=1e-7)
        assert found.lower == 0.0
        attained = delta(exponential_mechanism(1.0), eps)
        assert attained.lower >= 0.85 * found.upper


def test_compositions_of_the_exponential_mechanism() -> None:
    """By hand: 20 rounds at one t by the binomial law; the better of the envelope and of epsilon^2/8."""
    e, rounds, eps, t = 0.5, 20, 2.0, 0.25
    p = (1 - math.exp(t - e)) / (1 - math.exp(-e))
    by_hand = math.fsum(
        math.comb(rounds, k) * p**k * (1 - p) ** (rounds - k) * max(0.0, 1 - math.exp(eps - rounds * (t - e) - k * e))
        for k in range(rounds + 1)
    )
    found = delta(Repeat(exponential_mechanism(e), rounds), eps)
    assert found.lower >= by_hand * (1 - 1e-6)
    assert found.upper < delta(Repeat(ReportNoisyMax(e, "exponential"), rounds), eps).lower
    assert rho(exponential_mechanism(e)).upper == pytest.approx(e * e / 8, rel=1e-3)


def test_planted_bounded_range_for_other_noise_is_caught() -> None:
    """Permute-and-flip priced as the exponential mechanism: two rounds of it, enumerated, cost more."""
    p, q = flip_law((2, 0)), flip_law((1, 1))
    pairs = [(a, b) for a, b in zip(p, q, strict=True)]
    twice = [(a * c, b * d) for (a, b), (c, d) in product(pairs, pairs)]
    eps = 0.2
    seen = max(
        hockey_stick([a for a, _ in twice], [b for _, b in twice], math.exp(eps)),
        hockey_stick([b for _, b in twice], [a for a, _ in twice], math.exp(eps)),
    )
    wrong = composed(((BoundedRangePair(EPSILON), 2),), "best", "delta", eps, 1e-6).upper
    right = delta(Repeat(permute_and_flip(EPSILON), 2), eps)
    assert seen <= right.upper
    single = delta(permute_and_flip(1.0), 0.5)
    assert single.lower > composed(((BoundedRangePair(1.0), 1),), "best", "delta", 0.5, 1e-6).upper
    assert wrong < right.upper


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_permute_and_flip_is_exact_for_one_release(share: float) -> None:
    """Two candidates, one ahead by the gap that is worst at this epsilon: they have what Laplace noise's pair has."""
    epsilons = share * EPSILON
    found = delta(permute_and_flip(EPSILON), epsilons)
    a = math.exp((epsilons - EPSILON) / 2)
    seen = 1 - a / 2 - math.exp(epsilons) * math.exp(-EPSILON) / (2 * a)
    assert found.narrower_than(1e-12)
    assert found.lower * (1 - 1e-12) <= seen <= found.upper * (1 + 1e-12)
    assert epsilon(permute_and_flip(1.0), 0.1).upper == pytest.approx(1 + 2 * math.log(0.9), rel=1e-12)


def test_planted_the_exact_pair_of_one_release_in_two_is_not_said_to_be_attained() -> None:
    """The lower end of several releases is what events show, not the envelope's own."""
    twice = Repeat(permute_and_flip(1.0), 2)
    envelope = composed(((LaplacePair(1.0), 2),), "best", "delta", 0.5, 1e-6)
    found = delta(twice, 0.5, rtol=1e-6)
    assert found.lower < envelope.lower <= found.upper * (1 + 1e-6)


@pytest.mark.parametrize("noise", ["exponential", "laplace"])
def test_moved_gradually_bounds_every_event_of_neighbours(noise: SelectionNoise) -> None:
    """Of up to six tied candidates against as many, at all gaps: Laplace noise's pair, and not one that moves a tenth
    less (planted), covers what exponential noise shows; with Laplace noise less is shown."""
    law = {"exponential": lambda x: np.where(x > 0, -np.expm1(-np.maximum(x, 0)), 0.0), "laplace": _laplace_law}[noise]
    x = np.linspace(-30.0, 60.0, 20_001)

    def wins(ours: int, theirs: int, gap: float) -> float:
        best = np.diff(law(x) ** theirs)
        return float(1 - (law((x[1:] + x[:-1]) / 2 - gap) ** ours * best).sum())

    worst_seen = {}
    for eps in (0.0, 0.25, 0.5):
        events_seen = [
            wins(ours, theirs, gap) - math.exp(eps) * wins(ours, theirs, gap - 1.0)
            for ours, theirs, gap in product((1, 2, 6), (1, 2, 6), np.arange(-1.5, 3.0, 0.25))
        ]
        worst_seen[eps] = max(events_seen)
        assert worst_seen[eps] <= delta(ReportNoisyMax(1.0, noise), eps).upper * (1 + 1e-4)
        assert worst_seen[eps] <= delta(ReportNoisyMax(1.0, noise), eps).lower * 1.01
    planted = composed(((LaplacePair(0.9), 1),), "closed-form", "delta", 0.5, 1e-6).upper
    assert (worst_seen[0.5] > planted) == (noise == "exponential")


def test_planted_a_density_of_a_quarter_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of Laplace noise, that an event changes no faster than by a third of the move: two candidates against two do by
    .28 of it, with a move of 1, and by more with a small one."""
    e = 0.01
    seen = max(
        float((wins(ours, theirs, arb(e / 2)) - wins(ours, theirs, arb(-e / 2))).mid())
        for ours, theirs in ((1, 1), (2, 2), (3, 3))
    )
    assert e / 4 < seen <= delta(ReportNoisyMax(e, "laplace"), 0.0).upper
    monkeypatch.setattr(noisy_max, "_beyond", lambda left: left / 4)
    with pytest.raises(EmptyBracket):  # what tied candidates show is above it
        delta(ReportNoisyMax(e, "laplace"), 0.0)
    assert seen > composed(((noisy_max.LaplaceMaximumPair(e), 1),), "closed-form", "delta", 0.0, 1e-6).upper


@pytest.mark.parametrize(("ours", "theirs"), [(1, 1), (2, 3), (1, 6)])
@pytest.mark.parametrize("lead", [-2.5, 0.0, 0.75])
def test_who_wins_by_quadrature(ours: int, theirs: int, lead: float) -> None:
    """mpmath, in pieces between the kinks."""

    def law(y: mpmath.mpf) -> mpmath.mpf:
        return mpmath.exp(y) / 2 if y < 0 else 1 - mpmath.exp(-y) / 2

    def loses(y: mpmath.mpf) -> mpmath.mpf:
        return theirs * law(y) ** (theirs - 1) * mpmath.exp(-abs(y)) / 2 * law(y - lead) ** ours

    cuts = sorted({mpmath.mpf(0), mpmath.mpf(lead)})
    true = 1 - mpmath.quad(loses, [-mpmath.inf, *cuts, mpmath.inf])
    assert abs(float(wins(ours, theirs, arb(lead)).mid()) - float(true)) < 1e-13


def test_epsilons_without_measure_have_ends() -> None:
    for e in (1e-9, 600.0, 5000.0):
        found = delta(ReportNoisyMax(e, "laplace"), e / 2)
        assert 0.0 <= found.lower <= found.upper <= 1.0


def _laplace_law(x: np.ndarray) -> np.ndarray:
    tail = np.exp(-np.abs(x)) / 2
    return np.where(x < 0, tail, 1 - tail)


def test_laplace_noise_by_quadrature() -> None:
    """Two candidates: the difference of two Laplace variables beyond a gap."""
    e = 1.0

    def behind(x: float) -> float:  # the other candidate's noise is above x + 1
        beyond = 0.5 * math.exp(-(1.0 + x)) if x > -1 else 1 - 0.5 * math.exp(1 + x)
        return 0.5 * math.exp(-abs(x)) * beyond

    tail = quad(behind, -60, 60, limit=400, points=[-1, 0])[0]
    seen = 0.5 - math.exp(0.3) * tail
    found = delta(ReportNoisyMax(e, "laplace"), 0.3)
    assert found.lower >= seen * (1 - 1e-9)
    assert found.upper <= 0.3681


@pytest.mark.parametrize("noise", ["gumbel", "exponential", "laplace"])
def test_pure_dp_is_exact_and_groups_multiply(noise: SelectionNoise) -> None:
    found = epsilon(Repeat(ReportNoisyMax(0.1, noise), 3), 0)
    assert (found.lower, found.upper) == (0.3, 0.3)
    assert epsilon(Group(ReportNoisyMax(0.1, noise), 3), 0, "replace-one").upper == 0.3
    assert epsilon(Group(ReportNoisyMax(0.25, noise), 4), 1e-3).upper == epsilon(ReportNoisyMax(1.0, noise), 1e-3).upper


def above_threshold(queries: tuple[float, ...], threshold: float, query: float) -> float:
    """P(all but the last query below, the last one above) for Laplace noise, by quadrature."""

    def below(gap: float) -> float:
        return 0.5 * math.exp(gap / query) if gap < 0 else 1 - 0.5 * math.exp(-gap / query)

    def density(z: float) -> float:
        answered = math.prod(below(z - value) for value in queries[:-1]) * (1 - below(z - queries[-1]))
        return math.exp(-abs(z) / threshold) / (2 * threshold) * answered

    return quad(density, -80, 80, limit=800, points=sorted({0.0, *queries}), epsabs=0.0, epsrel=1e-8)[0]


def test_sparse_vector_costs_what_its_variant_says() -> None:
    assert epsilon(SparseVector(2.0, 4.0), 0).upper == 1.0  # 1/2 + 2/4
    assert epsilon(SparseVector(2.0, 4.0, monotone=True), 0).upper == 0.75
    assert epsilon(SparseVector(2.0, 20.0, hits=3, value_scale=10.0), 0).upper == pytest.approx(1.1)
    assert epsilon(Group(SparseVector(2.0, 4.0), 2), 0).upper == 2.0
    seen = [
        math.log(above_threshold((0.0,) * k + (far,), 2.0, 4.0) / above_threshold((1.0,) * k + (far - 1.0,), 2.0, 4.0))
        for k, far in [(1, 0.0), (30, 0.0), (3000, -10.0)]
    ]
    assert all(one < other for one, other in pairwise(seen))
    assert 0.85 < seen[-1] <= 1.0
    assert seen[-1] > 1 / 2 + 1 / 4  # planted: the monotone constant for queries that move either way is refuted


@pytest.mark.parametrize("monotone", [False, True])
def test_sparse_vector_from_below_is_what_neighbours_have(monotone: bool) -> None:
    run = SparseVector(2.0, 4.0, monotone=monotone)
    places = tuple(dict.fromkeys(chosen(run)))
    pairs = events(run)
    assert len(places) == len(pairs) > 3
    for (k, low, high), pair in zip(places, pairs, strict=True):
        likely = above_threshold((low,) * k + (high,), 2.0, 4.0)
        unlikely = above_threshold((low + 1.0,) * k + (high if monotone else high - 1.0,), 2.0, 4.0)
        assert likely * (1 - 1e-6) < pair.likely <= likely * (1 + 1e-7)
        assert unlikely * (1 - 1e-7) <= pair.unlikely < unlikely * (1 + 1e-6)
    bracket = epsilon(run, 1e-6)
    assert 0.99 * bracket.upper < bracket.lower <= bracket.upper
    pure = epsilon(run, 0)
    assert pure.lower == pure.upper == (0.75 if monotone else 1.0)


def test_a_query_that_moves_twice_as_far_is_caught() -> None:
    """Planted: an event of datasets that are no neighbours is likelier than epsilon allows."""
    k, low, high = list(chosen(SparseVector(2.0, 4.0)))[-1]
    likely, unlikely = (above_threshold((low + m,) * k + (high - 2 * m,), 2.0, 4.0) for m in (0.0, 1.0))
    assert math.log(likely / unlikely) > epsilon(SparseVector(2.0, 4.0), 0).upper * 1.1


def test_staircase_by_quadrature() -> None:
    e, gamma = 0.8, 0.3
    a = (1 - math.exp(-e)) / (2 * (gamma + math.exp(-e) * (1 - gamma)))

    def density(x: float) -> float:
        k = math.floor(abs(x))
        return a * math.exp(-k * e) * (1.0 if abs(x) - k < gamma else math.exp(-e))

    cuts = sorted({sign * (k + part) for sign in (-1, 1) for k in range(60) for part in (0, gamma, 1 - gamma, 1)})
    for eps in (0.0, 0.5):
        seen = math.fsum(
            (right - left) * max(0.0, density((left + right) / 2 - 1) - math.exp(eps) * density((left + right) / 2))
            for left, right in pairwise(cuts)
        )
        found = delta(Staircase(e, gamma), eps)
        assert found.lower * (1 - 1e-9) <= seen <= found.upper * (1 + 1e-9)
        assert found.narrower_than(1e-9)
    assert epsilon(Staircase(e, gamma), 0).lower == e
    nearer = math.fsum(
        1e-3 * max(0.0, density(x - 0.4) - math.exp(0.5) * density(x)) for x in np.arange(-40, 40, 1e-3) + 5e-4
    )
    assert nearer < delta(Staircase(e, gamma), 0.5).lower


@pytest.mark.parametrize(
    "build",
    [
        lambda: ReportNoisyMax(0.0, "gumbel"),
        lambda: ReportNoisyMax(1.0, "cauchy"),  # type: ignore[arg-type]
        lambda: SparseVector(1.0, -1.0),
        lambda: SparseVector(1.0, 1.0, hits=0),
        lambda: SparseVector(1.0, 1.0, monotone=1),  # type: ignore[arg-type]
        lambda: Staircase(1.0, 1.0),
        lambda: EventPair(0.1, 0.2),
    ],
)
def test_bad_input(build: object) -> None:
    with pytest.raises(InputError):
        build()  # type: ignore[operator]


def test_a_sampled_selection_costs_less_than_the_selection() -> None:
    run: Mechanism = Poisson(exponential_mechanism(1.0), 0.1)
    assert 0 < epsilon(run, 1e-5).upper < epsilon(exponential_mechanism(1.0), 1e-5).lower
    assert ApproximateDpPair(1.0, 0.0).envelope is False
