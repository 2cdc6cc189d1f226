"""Lower ends of runs some steps of which are only bounded: the other steps' outputs alone need that much."""

from __future__ import annotations

import math

import pytest

from dpcert.accounting import delta, dominating, epsilon
from dpcert.accounting.pricing.counterexamples import counterexample
from dpcert.mechanisms import (
    ApproximateDp,
    FixedSize,
    Gaussian,
    Laplace,
    Poisson,
    PureDp,
    Repeat,
    Sequence,
    Shuffled,
    Zcdp,
)

DELTA = 1e-6
ROUNDS = Repeat(Poisson(Gaussian(1.0), 0.01), 1000)
BOUNDED = (Zcdp(0.01), PureDp(0.1), ApproximateDp(0.1, 1e-7), Repeat(Zcdp(0.001), 10))


@pytest.mark.parametrize("bounded", BOUNDED)
def test_the_described_steps_alone_give_the_lower_end(bounded) -> None:
    """Dropping an output is post-processing: 2.1245 is needed, whatever else is released (it was 0)."""
    alone, both = epsilon(ROUNDS, DELTA), epsilon(Sequence((ROUNDS, bounded)), DELTA)
    assert alone.lower > 2.12
    assert both.lower == pytest.approx(alone.lower, rel=1e-6)
    assert both.upper >= alone.upper
    assert both.certified


def test_delta_and_the_counterexample_too() -> None:
    run = Sequence((ROUNDS, Zcdp(0.01)))
    assert delta(run, 1.0).lower == pytest.approx(delta(ROUNDS, 1.0).lower, rel=1e-6)
    found = counterexample(run, 1.0, DELTA)
    assert found is not None
    assert sum(rounds for _, rounds in found[0]) == 1000
    assert found[1].lower > DELTA


def test_all_described_steps_are_kept() -> None:
    """Two described steps and one bounded: both count, by the closed form for Gaussian noise."""
    run = Sequence((Gaussian(2.0), Zcdp(0.01), Repeat(Gaussian(4.0), 3)))
    mu = math.sqrt(1 / 4 + 3 / 16)
    assert epsilon(run, DELTA).lower == pytest.approx(epsilon(Gaussian(1 / mu), DELTA).lower, rel=1e-9)
    assert [len(product) for product in dominating(run, "add-remove").lower] == [2]


def test_a_shuffled_epoch_beside_described_rounds() -> None:
    """Whichever shows more: the rounds, or the epoch (whose pair is no product)."""
    epoch, loud, quiet = Shuffled(Gaussian(0.4), 20), Gaussian(0.3), Gaussian(50.0)
    alone = epsilon(epoch, DELTA, "replace-one").lower
    assert alone > 0
    assert epsilon(Sequence((epoch, quiet)), DELTA, "replace-one").lower >= alone
    shown = epsilon(loud, DELTA, "replace-one").lower
    assert epsilon(Sequence((epoch, loud)), DELTA, "replace-one").lower >= shown > alone


@pytest.mark.parametrize("run", [Zcdp(0.1), Sequence((Zcdp(0.1), PureDp(1.0)))])
def test_nothing_described_nothing_below(run) -> None:
    assert epsilon(run, DELTA).lower == 0.0
    assert dominating(run, "add-remove").lower == ()


@pytest.mark.parametrize("step", [Laplace(3.0), FixedSize(Gaussian(4.0), 100, 10)])
def test_the_interval_is_one(step) -> None:
    bracket = epsilon(Sequence((Repeat(step, 3), Zcdp(0.05))), DELTA)
    assert 0 < bracket.lower <= bracket.upper < math.inf
