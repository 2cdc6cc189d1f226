"""Reports in random order (docs/theory/shuffle_model.md): against all outcomes of a few units, and in parts."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from dpcert import delta, epsilon
from dpcert.accounting.accountants import composed
from dpcert.accounting.pairs import CountsPair, ShuffledResponsePair
from dpcert.accounting.pricing import shuffle_model
from dpcert.accounting.pricing.local_randomisers import LocalRandomiser
from dpcert.mechanisms import (
    DuchiMechanism,
    Gaussian,
    HadamardResponse,
    InputError,
    LocalHash,
    PiecewiseMechanism,
    PureDp,
    RandomizedResponse,
    Repeat,
    ShuffledReports,
    UnaryEncoding,
)

Law = dict[tuple[int, ...], Fraction]


def response(value: int, flip: Fraction, categories: int) -> dict[int, Fraction]:
    return {at: 1 - flip if at == value else flip / (categories - 1) for at in range(categories)}


def histogram(values: tuple[int, ...], flip: Fraction, categories: int) -> Law:
    """The law of the reports' histogram, exactly."""
    law: Law = {(0,) * categories: Fraction(1)}
    for value in values:
        following: Counter[tuple[int, ...]] = Counter()
        for counts, mass in law.items():
            for report, chance in response(value, flip, categories).items():
                more = tuple(count + (at == report) for at, count in enumerate(counts))
                following[more] += mass * chance
        law = dict(following)
    return law


def hockey_stick(p: Law, q: Law, eps: float) -> float:
    return math.fsum(max(0.0, float(mass) - math.exp(eps) * float(q.get(at, 0))) for at, mass in p.items())


def worst(n: int, flip: Fraction, categories: int, eps: float) -> float:
    """Over all other units' values, for the unit's values 0 and 1: all pairs are alike by symmetry."""
    found = 0.0
    for others in product(range(categories), repeat=n - 1):
        if others == tuple(sorted(others)):
            p, q = (histogram((value, *others), flip, categories) for value in (0, 1))
            found = max(found, hockey_stick(p, q, eps))
    return found


@pytest.mark.parametrize(
    ("n", "flip", "categories"), [(2, "1/4", 2), (5, "1/3", 2), (4, "2/5", 3), (6, "1/2", 3), (3, "1/2", 4)]
)
@pytest.mark.parametrize("eps", [0.1, 0.6])
def test_all_outcomes_of_a_few_units(n: int, flip: str, categories: int, eps: float) -> None:
    truth = worst(n, Fraction(flip), categories, eps)
    found = delta(ShuffledReports(RandomizedResponse(float(Fraction(flip)), categories), n), eps, "replace-one")
    assert found.lower <= truth * (1 + 1e-9)
    assert truth <= found.upper * (1 + 1e-9)
    assert found.lower > 0.0


def test_the_attained_counts_by_enumeration() -> None:
    """Four units, three categories, all others with the third: the pair is exactly this."""
    flip, eps = Fraction(2, 5), 0.3
    p, q = (histogram((value, 2, 2, 2), flip, 3) for value in (0, 1))
    pair = ShuffledResponsePair(4, 0.4, 3)
    found = composed(((pair, 1),), "pld", "delta", eps, 1e-6)
    assert found.lower * (1 - 1e-6) <= hockey_stick(p, q, eps) <= found.upper * (1 + 1e-6)
    assert found.narrower_than(1e-5)
    two = composed(((pair, 2),), "pld", "delta", eps, 1e-6)
    twice_p = {(*a, *b): p[a] * p[b] for a, b in product(p, p)}
    twice_q = {(*a, *b): q[a] * q[b] for a, b in product(q, q)}
    assert two.lower * (1 - 1e-6) <= hockey_stick(twice_p, twice_q, eps) <= two.upper * (1 + 1e-6)


def test_the_clones_by_enumeration() -> None:
    """The dominating pair, from its words: each other label u or v with probability `each`."""
    n, e, each, eps = 5, 1.2, 0.15, 0.4
    odds = math.exp(e)
    laws: tuple[dict[tuple[int, int], float], dict[tuple[int, int], float]] = ({}, {})
    for c in range(n):
        for a in range(c + 1):
            mass = math.comb(n - 1, c) * (2 * each) ** c * (1 - 2 * each) ** (n - 1 - c) * math.comb(c, a) / 2**c
            for law, first in zip(laws, (odds / (1 + odds), 1 / (1 + odds)), strict=True):
                for at, chance in (((a + 1, c - a), first), ((a, c - a + 1), 1 - first)):
                    law[at] = law.get(at, 0.0) + mass * chance
    seen = math.fsum(max(0.0, laws[0][at] - math.exp(eps) * laws[1][at]) for at in laws[0])
    found = composed(((CountsPair(n, e, each), 1),), "pld", "delta", eps, 1e-6)
    assert found.lower * (1 - 1e-6) <= seen <= found.upper * (1 + 1e-6)
    assert found.narrower_than(1e-5)


def test_many_reports() -> None:
    few, many = (epsilon(ShuffledReports(PureDp(1.0), n), 1e-6, "replace-one", rtol=1e-2).upper for n in (200, 2000))
    assert many < 0.4 * few  # about one over the root
    response = epsilon(ShuffledReports(RandomizedResponse(0.25, 2), 500), 1e-6, "replace-one", rtol=1e-2)
    assert 0.6 * response.upper < response.lower
    twice = epsilon(Repeat(ShuffledReports(RandomizedResponse(0.25, 2), 500), 2), 1e-6, "replace-one", rtol=1e-2)
    assert response.upper < twice.upper < 2 * response.upper


@pytest.mark.parametrize(
    "report", [HadamardResponse(1.0), LocalHash(1.0, 4), PiecewiseMechanism(1.0), DuchiMechanism(1.0)]
)
def test_every_randomiser_is_at_most_what_its_epsilon_says(report: object) -> None:
    own = delta(ShuffledReports(report, 30), 0.3, "replace-one", rtol=1e-2)  # type: ignore[arg-type]
    assert own.upper <= delta(ShuffledReports(PureDp(1.0), 30), 0.3, "replace-one", rtol=1e-2).upper * (1 + 1e-6)


def test_who_knows_the_reports_and_pure_dp_gain_nothing() -> None:
    run, report = ShuffledReports(DuchiMechanism(1.0), 1000), DuchiMechanism(1.0)
    assert epsilon(run, 1e-6, "replace-one", notion="joint") == epsilon(report, 1e-6, "replace-one")
    few = ShuffledReports(report, 30)  # everybody reports: who is seen to take part is one of them
    assert epsilon(few, 1e-2, participation="visible", rtol=0.1) == epsilon(few, 1e-2, "replace-one", rtol=0.1)
    assert epsilon(ShuffledReports(RandomizedResponse(0.25, 3), 10), 0, "replace-one").upper >= math.log(6)
    assert epsilon(ShuffledReports(report, 1), 1e-6, "replace-one") == epsilon(report, 1e-6, "replace-one")


def test_planted_more_clones_than_are_proved_are_caught() -> None:
    """Were every other report taken for one of the two values, 5 units' outcomes would contradict the upper end."""
    truth = worst(5, Fraction(1, 3), 2, 0.1)
    wrong = composed(((CountsPair(5, math.log(2), 0.5 - 1e-12), 1),), "pld", "delta", 0.1, 1e-6)
    assert wrong.upper < truth


def test_bad_input() -> None:
    with pytest.raises(InputError, match="always reports"):
        epsilon(ShuffledReports(DuchiMechanism(1.0), 10), 1e-6, "add-remove")
    with pytest.raises(InputError, match="local randomiser"):
        epsilon(ShuffledReports(Gaussian(1.0), 10), 1e-6, "replace-one")
    with pytest.raises(InputError, match="reports"):
        ShuffledReports(DuchiMechanism(1.0), 0)


UNARY = UnaryEncoding(keep=0.75, false=0.25)
SIDES = [
    (UNARY, 0.75**2, 0.25**2),  # the one bit set, the other one not
    (HadamardResponse(1.0), 0.5 / (1 + math.exp(-1)), 0.5 / (1 + math.e)),
    (PiecewiseMechanism(1.0), math.sqrt(math.e) / (math.sqrt(math.e) + 1), 1 / (math.e + math.sqrt(math.e))),
]


@pytest.mark.parametrize(("report", "own", "others"), SIDES)
def test_reports_on_one_side_are_a_lower_end(
    report: LocalRandomiser, own: float, others: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their law by convolution, where all others have the other value: no more than this is said to be attained, but is
    where the others are taken to be on that side half as often (planted)."""

    def shown(eps: float) -> float:
        law = binom.pmf(np.arange(30), 29, others)
        moved = [np.append(law, 0.0) * (1 - p) + np.append(0.0, law) * p for p in (own, others)]
        return float(np.maximum(moved[0] - math.exp(eps) * moved[1], 0.0).sum())

    for eps in (0.1, 0.4):
        found = delta(ShuffledReports(report, 30), eps, "replace-one")
        assert 0.0 < found.lower <= shown(eps) * (1 + 1e-9)
        assert shown(eps) <= found.upper
    real = shuffle_model._first_category
    monkeypatch.setattr(shuffle_model, "_first_category", lambda truth, false, n: real(truth, false / 2, n))
    events = shuffle_model.of_shuffled_reports(ShuffledReports(report, 30)).lower
    assert max(event.likely - math.exp(0.1) * event.unlikely for event in events) > shown(0.1)
