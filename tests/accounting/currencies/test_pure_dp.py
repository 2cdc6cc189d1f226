"""delta = 0: exact sums of decimals, and largest losses against enumeration with rationals and densities on a grid."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpcert.accounting import calibrate, delta, epsilon
from dpcert.accounting.currencies.pure_dp import pure_epsilon
from dpcert.accounting.ledger import BudgetExceeded, PureFilter, RunningEpsilon
from dpcert.accounting.pairs import AllocationPair, SubsampledPair
from dpcert.mechanisms import (
    ApproximateDp,
    DiscreteLaplace,
    FixedSize,
    Gaussian,
    InputError,
    Laplace,
    Mechanism,
    Poisson,
    PureDp,
    RandomAllocation,
    RandomizedResponse,
    Repeat,
    Sequence,
    Shuffled,
    Staircase,
)


def test_decimals_add_up_exactly() -> None:
    """Google's mobility reports: twelve times 0.11 and six times 0.22 are 2.64 (arXiv 2004.04145)."""
    found = epsilon(Sequence((Repeat(PureDp(0.11), 12), Repeat(PureDp(0.22), 6))), delta=0)
    assert (found.lower, found.upper, found.certified) == (0.0, 2.64, True)
    assert epsilon(Repeat(Laplace(10.0), 3), delta=0).upper == 0.3
    assert epsilon(Repeat(Poisson(Laplace(10.0), 1.0), 3), delta=0).upper == 0.3  # everybody takes part
    assert sum([0.1] * 3) > 0.3  # what a sum of doubles would have said


@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize(("flip", "categories"), [(0.25, 2), (0.5, 3), (0.1, 4)])
def test_randomized_response_by_enumeration(flip: float, categories: int, rounds: int) -> None:
    """Every output of every round, with exact probabilities."""
    lie = Fraction(repr(flip)) / (categories - 1)
    law = [[1 - Fraction(repr(flip)) if k == x else lie for k in range(categories)] for x in (0, 1)]
    outputs = itertools.product(range(categories), repeat=rounds)
    largest = max(math.prod((law[0][k] / law[1][k] for k in output), start=Fraction(1)) for output in outputs)
    found = pure_epsilon(Repeat(RandomizedResponse(flip, categories), rounds), "replace-one")
    assert math.exp(found.lower) <= float(largest) * (1 + 1e-12)
    assert math.exp(found.upper) >= float(largest) * (1 - 1e-12)
    assert found.upper - found.lower < 1e-12


def sampled_laplace_loss(rate: float, shift: float, order: str) -> float:
    """The largest log ratio of the two mixtures on a grid that reaches beyond all kinks."""
    y = np.linspace(-4 * shift - 40, 4 * shift + 40, 400_001)

    def mixed(moved: float) -> np.ndarray:
        return (1 - rate) * np.exp(-np.abs(y)) + rate * np.exp(-np.abs(y - moved))

    if order == "replace":
        return float(np.max(np.log(mixed(shift) / mixed(-shift))))
    plain = np.exp(-np.abs(y))
    return float(max(np.max(np.log(mixed(shift) / plain)), np.max(np.log(plain / mixed(shift)))))


@pytest.mark.parametrize("rate", [0.01, 0.3, 0.9])
@pytest.mark.parametrize("shift", [0.1, 1.0, 3.0])
def test_sampled_laplace_against_densities(rate: float, shift: float) -> None:
    run = Repeat(Poisson(Laplace(1.0 / shift), rate), 5)
    for relation, order in (("add-remove", "remove"), ("replace-one", "replace")):
        true = 5 * sampled_laplace_loss(rate, shift, order)
        found = pure_epsilon(run, relation)
        assert found.lower <= true * (1 + 1e-9)
        assert found.upper >= true * (1 - 1e-9)
        assert found.width <= 1e-9 * found.upper


def test_a_planted_smaller_order_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the unit's leaving priced as its coming, the densities would contradict the upper end."""
    true = sampled_laplace_loss(0.3, 1.0, "remove")
    right = SubsampledPair.supremum

    def planted(pair):  # type: ignore[no-untyped-def]
        return right(SubsampledPair(pair.base, pair.rate, "add"))

    monkeypatch.setattr(SubsampledPair, "supremum", planted)
    assert pure_epsilon(Poisson(Laplace(1.0), 0.3), "add-remove").upper < true


def test_hidden_cohorts_move_twice_as_far() -> None:
    found = pure_epsilon(FixedSize(Laplace(1.0), population=100, cohort=10), "replace-one")
    assert found.lower <= math.log(0.9 + 0.1 * math.e**2) <= found.upper


def allocated_laplace_loss(shift: float, rounds: int, times: int) -> float:
    """The largest |log| of a mean, over all choices of rounds, of products of ratios, each between e^-shift and
    e^shift: it is largest where each is at an end."""
    ratios = itertools.product((math.exp(-shift), math.exp(shift)), repeat=rounds)
    means = [np.mean([math.prod(chosen) for chosen in itertools.combinations(each, times)]) for each in ratios]
    return max(abs(math.log(mean)) for mean in means)


@pytest.mark.parametrize("times", [1, 2])
def test_allocated_rounds_of_bounded_noise_have_a_largest_loss(times: int) -> None:
    found = pure_epsilon(RandomAllocation(Laplace(2.0), 4, times), "add-remove")
    assert found.lower <= allocated_laplace_loss(0.5, 4, times) * (1 + 1e-14)
    assert found.upper >= allocated_laplace_loss(0.5, 4, times) * (1 - 1e-14)
    assert found.width <= 1e-14


def test_shuffled_batches_of_bounded_noise_have_a_largest_loss() -> None:
    found = pure_epsilon(Shuffled(Laplace(1.0), 10, 10), "zero-out")
    assert found.lower <= 1.0 <= found.upper


def test_an_attained_pair_whose_largest_loss_is_not_known_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """From below it counts as infinite, and a claim of pure DP that is true would be refuted."""
    monkeypatch.delattr(AllocationPair, "supremum")
    assert pure_epsilon(RandomAllocation(Laplace(2.0), 4, 1), "add-remove").lower == math.inf


@pytest.mark.parametrize("run", [Repeat(Staircase(1.0), 3), Laplace(1.0), PureDp(1.0), Poisson(Laplace(1.0), 1.0)])
def test_seen_presence_has_no_add_remove(run: Mechanism) -> None:
    """Not of a sum of stated losses either, for which no pair is asked."""
    for ask in (
        lambda: epsilon(run, 0.0, "add-remove", participation="visible"),
        lambda: pure_epsilon(run, "add-remove", "visible"),
    ):
        with pytest.raises(InputError, match="seeing a unit take part"):
            ask()


def test_unbounded_losses_are_infinite_from_both_sides() -> None:
    for run in (Gaussian(1.0), Sequence((Laplace(1.0), Poisson(Gaussian(5.0), 0.1)))):
        found = epsilon(run, delta=0)
        assert (found.lower, found.upper) == (math.inf, math.inf)
    assert epsilon(ApproximateDp(1.0, 1e-5), delta=0).upper == math.inf


def test_a_stated_bound_has_no_lower_end() -> None:
    found = pure_epsilon(Sequence((PureDp(1.0), Laplace(2.0), Poisson(Laplace(1.0), 0.5))), "add-remove")
    inner = math.log(0.5 + 0.5 * math.e)
    assert 0.5 + inner - 1e-9 < found.lower <= 0.5 + inner <= found.upper - 1.0 < 0.5 + inner + 1e-9


def test_discrete_laplace_is_exact() -> None:
    assert pure_epsilon(Repeat(DiscreteLaplace(scale=4.0), 10), "add-remove").upper == 2.5


@pytest.mark.parametrize("bad", [-1e-9, 1.0, math.nan, "0"])
def test_other_deltas_are_refused(bad: object) -> None:
    with pytest.raises(InputError, match="delta"):
        epsilon(Laplace(1.0), delta=bad)  # type: ignore[arg-type]


def test_calibrating_noise_whose_loss_has_no_bound_says_so() -> None:
    with pytest.raises(InputError, match=r"delta = 0.*above 0: no epsilon holds at delta = 0"):
        calibrate(lambda z: Repeat(Gaussian(z), 10), solve_for="noise_multiplier", epsilon=1.0, delta=0)
    with pytest.raises(InputError, match=r"epsilon = 0\.0: expected a larger target"):
        calibrate(lambda z: Repeat(Laplace(z), 10), solve_for="noise_multiplier", epsilon=0.0, delta=0)


def test_calibrate_and_running_and_filter() -> None:
    found = calibrate(lambda z: Repeat(Laplace(z), 10), solve_for="noise_multiplier", epsilon=1.0, delta=0, rtol=1e-9)
    assert 10.0 <= found.value < 10.0 * (1 + 1e-8)
    running = RunningEpsilon(delta=0)
    running.record(Repeat(Laplace(10.0), 7))
    assert running.epsilon().upper == 0.7
    budget = PureFilter(1.0)
    for _ in range(10):
        budget.record(Laplace(10.0))
    with pytest.raises(BudgetExceeded):
        budget.record(Laplace(1e6))
    assert PureFilter(5.0).would_exceed(Gaussian(100.0))


@pytest.mark.parametrize(
    ("run", "largest"),
    [
        (Laplace(2.0), 0.5),
        (Repeat(Laplace(10.0), 3), 0.3),  # a decimal: three tenths, not the double next to their sum
        (PureDp(1.0), 1.0),
        (Repeat(Poisson(Laplace(1.0), 0.1), 10), 10 * math.log1p(0.1 * math.expm1(1.0)) + 1e-12),
    ],
)
def test_delta_is_0_from_the_largest_loss_on_and_not_before(run: Mechanism, largest: float) -> None:
    beyond = delta(run, largest)
    assert (beyond.lower, beyond.upper, beyond.method) == (0.0, 0.0, "largest-loss")
    assert delta(run, largest * (1 - 1e-6)).upper > 0.0


def test_a_gaussian_round_more_leaves_no_delta_at_0() -> None:
    assert delta([Laplace(2.0), Gaussian(2.0)], 3.0).lower > 0.0
