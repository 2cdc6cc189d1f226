"""Planted faults in what is made of stated Renyi guarantees and stated losses: the comparisons must catch each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import stated_losses as truth
from flint import arb

from dpcert.accounting import delta, epsilon
from dpcert.accounting.bracket import EmptyBracket
from dpcert.accounting.losses.atoms import product_cells
from dpcert.accounting.pairs import LossesPair, RenyiPoints, renyi_bounds
from dpcert.accounting.renyi import renyi, sampled_divergence
from dpcert.mechanisms import (
    FixedSize,
    Gaussian,
    LossDistribution,
    Mechanism,
    Poisson,
    RenyiDp,
    Repeat,
    TruncatedLaplace,
)

P, Q = [0.5, 0.3, 0.2, 0.0], [0.2, 0.2, 0.55, 0.05]
AT = (0.0, 0.2, 0.7, 1.5)


@pytest.fixture(autouse=True)
def nothing_is_remembered() -> Iterator[None]:
    """What a fault made, and what was known before it."""
    renyi.divergence.cache_clear()
    yield
    renyi.divergence.cache_clear()


def losses_missed() -> list[object]:
    """Where a table of outputs reveals more than what is certified, sampled or not, or a law from below less."""
    one, found = LossDistribution.from_outcomes(P, Q), list[object]()
    builds: list[tuple[Mechanism, Callable[[truth.Laws], truth.Laws]]] = [
        (Repeat(one, 2), lambda laws: truth.repeated(laws, 2)),
        (Poisson(one, 0.3), lambda laws: truth.sampled(laws, 0.3)),
        (Poisson(LossDistribution(one.losses), 0.3), lambda laws: truth.sampled(laws, 0.3)),
        (Repeat(LossDistribution(one.losses), 2), lambda laws: truth.repeated(laws, 2)),
    ]
    for run, build in builds:
        made = build(truth.laws(P, Q))
        for at in AT:
            exact = max(truth.delta(made, at), truth.delta(truth.exchanged(made), at))
            try:
                bracket = delta(run, at)
            except EmptyBracket:  # two accountants contradict each other
                found.append((run, at))
                continue
            if not bracket.lower <= exact <= bracket.upper:
                found.append((run, at))
    return found


def renyi_missed() -> list[object]:
    """Where Gaussian noise, whose divergences are stated, reveals more than what is certified."""
    stated = RenyiDp(tuple((order, order / 8) for order in (1.5, 2.5, 4.0)))
    pairs = [
        (stated, Gaussian(2.0), "add-remove"),
        (Poisson(stated, 0.5), Poisson(Gaussian(2.0), 0.5), "add-remove"),
        (FixedSize(stated, 10, 5), FixedSize(Gaussian(4.0), 10, 5), "replace-one"),
    ]
    return [
        bound for bound, known, relation in pairs for target in (1e-2, 1e-9)
        if epsilon(Repeat(bound, 3), target, relation).upper < epsilon(Repeat(known, 3), target, relation).lower
    ]  # fmt: skip


def cut_missed() -> bool:
    """Two releases of cut noise about one sample: where only one neighbour can be is the union of two events."""
    one = TruncatedLaplace(1.0, 1.5)
    alone, together = delta(one, 50.0).lower, delta(Poisson(Repeat(one, 2), 0.5), 50.0)
    return not together.lower <= 0.5 * (1 - (1 - alone) ** 2) <= together.upper + 1e-9


def test_nothing_is_missed_as_it_is() -> None:
    assert losses_missed() == []
    assert renyi_missed() == []
    assert not cut_missed()


def _mirrored(pair: LossesPair, **changed: Any) -> LossesPair:
    right = LossesPair(tuple(-loss for loss in pair.stated[::-1]), pair.masses[::-1], pair.only_q, pair.infinite)
    kept = [mass * math.exp(-loss) for loss, mass in zip(pair.stated, pair.masses, strict=True)][::-1]
    return LossesPair(right.stated, tuple(changed.get("masses") or kept), changed.get("infinite", right.infinite))


@pytest.mark.parametrize(
    "mirrored",
    [
        lambda pair: pair,  # one order for both
        lambda pair: _mirrored(pair, infinite=0.0),  # what Q alone has is forgotten
        lambda pair: _mirrored(pair, masses=[0.9 * mass for mass in pair.masses[::-1]]),
    ],
)
def test_a_wrong_mirror_image_is_noticed(mirrored: Callable[[LossesPair], LossesPair], monkeypatch: Any) -> None:
    monkeypatch.setattr(LossesPair, "mirrored", mirrored)
    assert losses_missed()


def test_a_table_of_losses_without_what_is_infinite_is_noticed(monkeypatch: Any) -> None:
    failure = LossesPair.failure
    monkeypatch.setattr(LossesPair, "failure", lambda pair: (arb(0), failure(pair)[1]))
    monkeypatch.setattr(LossesPair, "profile", lambda pair, at: 0 * at)
    assert losses_missed()


def test_a_last_order_that_holds_of_larger_ones_is_noticed(monkeypatch: Any) -> None:
    real = RenyiPoints._divergence
    monkeypatch.setattr(RenyiPoints, "_divergence", lambda pair, alpha: real(pair, min(alpha, pair.points[-1][0])))
    assert renyi_missed()


def test_chords_of_what_is_not_convex_are_noticed(monkeypatch: Any) -> None:
    """Epsilon by itself, which is less between orders than where it is known: from 0 at the order 1."""
    monkeypatch.setattr(
        renyi_bounds, "_lowest_chords", lambda points: ((1.0, points[-1][0]), (0.0, 0.3 * points[-1][1]))
    )
    assert renyi_missed()


def test_a_sum_of_moments_that_forgets_terms_is_noticed(monkeypatch: Any) -> None:
    real = sampled_divergence._log_moment
    monkeypatch.setattr(
        sampled_divergence, "_log_moment", lambda bound, rate, how, order: real(bound, rate / 4, how, order)
    )
    assert renyi_missed()


def test_events_that_are_added_where_they_overlap_are_noticed(monkeypatch: Any) -> None:
    monkeypatch.setattr(product_cells, "_either", lambda first, second: first + second)
    assert cut_missed()
