"""Many deltas, or epsilons, of one run: what shared lines give is what each point by itself gives, and true."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest

from dpcert.accounting import Bracket, accountants, delta, deltas, epsilon, epsilons, products, tradeoff
from dpcert.accounting.losses import crossing
from dpcert.accounting.losses.smooth import batch
from dpcert.accounting.pairs import Composition, GaussianPair, Sampling, SubsampledPair
from dpcert.accounting.question import Question
from dpcert.mechanisms import Gaussian, Mechanism, Poisson, Repeat, Sequence

RUNS: list[Mechanism] = [
    Repeat(Poisson(Gaussian(1.0), 0.01), 10_000),
    Sequence((Repeat(Poisson(Gaussian(1.5), 0.05), 300), Repeat(Gaussian(20.0), 30))),
]
SHIFT, ROUNDS = 0.05, 400


def _gaussian_delta(eps: mpmath.mpf) -> mpmath.mpf:
    """delta of ROUNDS Gaussian rounds of shift SHIFT: Balle, Wang 2018, Theorem 8."""
    mu = mpmath.mpf(SHIFT) * mpmath.sqrt(ROUNDS)
    return mpmath.ncdf(mu / 2 - eps / mu) - mpmath.exp(eps) * mpmath.ncdf(-mu / 2 - eps / mu)


def _violations() -> int:
    """Ends of shared brackets on the wrong side of the closed form, in 40 digits."""
    product, wrong = ((GaussianPair(SHIFT), ROUNDS),), 0
    with mpmath.workdps(40):
        given = np.geomspace(1e-14, 1e-2, 40).tolist()
        for at, found in zip(given, batch.epsilons(product, given, 1e-6), strict=True):
            if found is not None:
                wrong += bool(_gaussian_delta(mpmath.mpf(found.lower)) < at or _gaussian_delta(found.upper) > at)
        for at, found in zip(given, batch.deltas(product, [40 * x**0.1 for x in given], 1e-6), strict=True):
            if found is not None:
                truth = _gaussian_delta(mpmath.mpf(40 * at**0.1))
                wrong += not found.lower <= truth <= found.upper
    return wrong


def test_closed_form() -> None:
    assert _violations() == 0
    given = np.geomspace(1e-14, 1e-2, 40).tolist()
    served = [found for found in batch.epsilons(((GaussianPair(SHIFT), ROUNDS),), given, 1e-6) if found is not None]
    assert len(served) == len(given)
    assert all(found.narrower_than(1e-6) for found in served)


def _swapped(found: crossing.BoundedAtMany, low: batch.Real, high: batch.Real, start: batch.Real) -> batch.Found:
    least, most = crossing.crossings(found, low, high, start)
    return least * (1 + 2e-6), most * (1 + 2e-6)


def _unchecked(found: crossing.BoundedAtMany, low: batch.Real, high: batch.Real, start: batch.Real) -> batch.Found:
    return start, start * (1 + 1e-7)


@pytest.mark.parametrize("fault", [_swapped, _unchecked])
def test_planted_faults(monkeypatch: pytest.MonkeyPatch, fault: object) -> None:
    monkeypatch.setattr(batch, "crossings", fault)
    assert _violations() > 5


def test_deltas_below_all_doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of them is 0. The plant: their logarithms' exponentials to nearest."""
    product, points = ((GaussianPair(SHIFT), ROUNDS),), [36.0, 38.0, 40.0, 50.0]

    def wrong() -> int:
        both = zip(batch.deltas(product, points, 1e-3), map(mpmath.mpf, points), strict=True)
        with mpmath.workdps(40):
            return sum(bool(found and found.upper < _gaussian_delta(at)) for found, at in both)

    def nearest(least: float, most: float) -> Bracket:
        return Bracket(math.exp(least), math.exp(most), True, "contour")

    assert wrong() == 0
    monkeypatch.setattr(batch, "from_logarithms", nearest)
    assert wrong() >= 2


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_same_as_one_by_one(run: Mechanism, relation: str) -> None:
    given = np.geomspace(1e-15, 1e-3, 60).tolist()
    several = epsilons(run, given, relation)
    assert all(found.reached and found.method == "contour" for found in several)
    assert sorted(several, key=lambda found: -found.upper) == list(several)
    for k in range(0, 60, 15):
        alone = epsilon(run, given[k], relation)
        assert several[k].intersect(alone).narrower_than(1e-6)
    points = np.linspace(0.0, several[0].upper, 60).tolist()
    for at, found in list(zip(points, deltas(run, points, relation), strict=True))[::15]:
        assert found.intersect(delta(run, at, relation)).narrower_than(1e-6)


def test_lines_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Point by point only what no line serves: here none of them."""

    def never(*_: object) -> None:
        raise AssertionError("asked by itself")

    monkeypatch.setattr(products, "composed", never)
    laid = []
    whole = batch.laid_around
    monkeypatch.setattr(batch, "laid_around", lambda *args: laid.append(args) or whole(*args))
    assert len(epsilons(RUNS[0], np.geomspace(1e-12, 1e-3, 1000).tolist())) == 1000
    assert len(laid) <= 6


ADD, FEW = 0.05, 20
"""In the add order no round's loss is above -log(1 - ADD)."""
FEW_ROUNDS = Repeat(Poisson(Gaussian(1.0), ADD), FEW)


def _wrong_deltas() -> list[Bracket]:
    """Shared deltas next to the largest loss, and past it, that are not what the point by itself gives."""
    product = ((SubsampledPair(GaussianPair(1.0), ADD, Sampling.ADD), FEW),)
    points = [-FEW * math.log1p(-ADD) * share for share in (0.2, 0.4, 0.6, 0.8, 0.95, 1.0, 1.2, 2.0)]
    alone = [accountants.composed(product, "best", "delta", at, 1e-6) for at in points]
    both = list(zip(batch.deltas(product, points, 1e-6), alone, strict=True))
    together = products.together(Question.about(FEW_ROUNDS, "delta", None), points)
    both += [(together.get(at), delta(FEW_ROUNDS, at)) for at in points]
    return [one for one, other in both if one and (one.lower > other.upper or one.upper < other.lower)]


def test_next_to_the_largest_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plant: half of the largest loss taken for it."""
    assert _wrong_deltas() == []
    whole = batch.largest_total
    monkeypatch.setattr(batch, "largest_total", lambda product: whole(product) / 2)
    assert len(_wrong_deltas()) >= 2


def test_an_order_that_no_line_serves_may_be_the_larger_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plant: it is taken for the smaller one."""
    points, served = np.linspace(0.1, 0.5, 40).tolist(), products.composed_together

    def of_one_order(product: Composition, *asked: Any) -> list[Bracket | None]:
        added = any(getattr(pair, "order", None) == Sampling.ADD for pair, _ in product)
        return served(product, *asked) if added else [None] * len(asked[2])

    monkeypatch.setattr(products, "composed_together", of_one_order)
    truth = [delta(FEW_ROUNDS, at) for at in points[::8]]
    assert all(one.upper >= at.lower for one, at in zip(deltas(FEW_ROUNDS, points)[::8], truth, strict=True))
    monkeypatch.setattr(products, "_exceeded", lambda *_: True)
    assert all(one.upper < at.lower for one, at in zip(deltas(FEW_ROUNDS, points)[::8], truth, strict=True))


def test_what_no_line_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deltas of 0, those that hide everything, and few points are answered by themselves."""
    run = RUNS[0]
    found = epsilons(run, [0.0, 1e-5, 1e-6, 1e-7, 1e-8, 0.999])
    assert found[0].upper == math.inf
    assert found[-1].upper == 0.0
    assert all(bracket.reached for bracket in found)
    monkeypatch.setattr(accountants.batch, "epsilons", None)
    assert epsilons(run, [1e-5, 1e-6])[1] == found[2] or epsilons(run, [1e-6])[0].reached


def test_order_and_repetitions() -> None:
    run, given = RUNS[1], [1e-5, 1e-9, 1e-5, 1e-7, 1e-3]
    several = epsilons(run, given)
    assert several[0] == several[2]
    assert several[1].upper > several[3].upper > several[0].upper > several[4].upper


def test_a_curve_asks_together(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = []
    one = products.composed
    monkeypatch.setattr(products, "composed", lambda *args: alone.append(args) or one(*args))
    curve = tradeoff(RUNS[0], points=33)
    assert len(curve.knots) == 33
    assert len(alone) < 8
