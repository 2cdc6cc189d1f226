"""One's own distribution of the privacy loss, against sums over all outputs."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
import stated_losses as truth
from scipy.stats import norm

from dpcert.accounting import delta, epsilon, renyi
from dpcert.mechanisms import (
    FixedSize,
    Gaussian,
    Group,
    InputError,
    LossDistribution,
    Mechanism,
    Poisson,
    PureDp,
    RandomizedResponse,
    Repeat,
    Sequence,
)
from dpcert.mechanisms.serialise import from_json, to_json

P, Q = [0.5, 0.3, 0.2], [0.2, 0.2, 0.6]
ALONE = [0.5, 0.3, 0.2, 0.0], [0.2, 0.2, 0.55, 0.05]
"""Of the second, one output tells that the unit is not there; none tells that it is."""

EPSILONS = (0.0, 0.2, 0.7, 1.5)


def _largest(one: truth.Laws, epsilon_: float, build: Callable[[truth.Laws], truth.Laws]) -> mpmath.mpf:
    """Over both orders of the neighbours: P has the unit."""
    made = build(one)
    return max(truth.delta(made, epsilon_), truth.delta(truth.exchanged(made), epsilon_))


@pytest.mark.parametrize("sides", [(P, Q), ALONE, (ALONE[1], ALONE[0])])
@pytest.mark.parametrize("rounds", [1, 2, 5])
@pytest.mark.parametrize("at", EPSILONS)
def test_a_table_of_outputs_is_exact_over_rounds(
    sides: tuple[list[float], list[float]], rounds: int, at: float
) -> None:
    found = delta(Repeat(LossDistribution.from_outcomes(*sides), rounds), at)
    exact = _largest(truth.laws(*sides), at, lambda one: truth.repeated(one, rounds))
    assert found.lower <= exact <= found.upper
    assert found.upper - found.lower <= 1e-5 * float(exact) + 1e-12


@pytest.mark.parametrize("sides", [(P, Q), ALONE, (ALONE[1], ALONE[0])])
@pytest.mark.parametrize("rate", [0.1, 0.6])
@pytest.mark.parametrize("at", EPSILONS)
def test_samples_are_bounded_and_no_looser_than_the_worst_mechanism(
    sides: tuple[list[float], list[float]], rate: float, at: float
) -> None:
    """That which outputs Q where the unit is not in the sample has exactly that much; nothing is said from below."""
    one, drawn = LossDistribution.from_outcomes(*sides), lambda laws: truth.sampled(laws, rate)
    runs: list[tuple[Mechanism, Callable[[truth.Laws], truth.Laws]]] = [
        (Poisson(one, rate), drawn),
        (Repeat(Poisson(one, rate), 3), lambda laws: truth.repeated(drawn(laws), 3)),
        (Poisson(Repeat(one, 2), rate), lambda laws: drawn(truth.repeated(laws, 2))),
    ]
    for run, build in runs:
        found, exact = delta(run, at), _largest(truth.laws(*sides), at, build)
        assert exact <= found.upper <= exact * (1 + 1e-5) + 1e-12
        assert found.lower == 0.0


def test_the_neighbours_exchanged_follow_from_one_law() -> None:
    """Where Q has an output that P never has, its mass is at an infinite loss of the other order."""
    one = LossDistribution.from_outcomes(*ALONE)
    other = LossDistribution(one.losses)
    for run in (lambda mechanism: mechanism, lambda mechanism: Poisson(mechanism, 0.3)):
        for at in EPSILONS:
            assert delta(run(other), at).upper == pytest.approx(delta(run(one), at).upper, abs=1e-9)
    assert epsilon(one, 0.0).lower == math.inf
    assert epsilon(other, 0.0).upper == math.inf


def test_a_law_that_is_a_known_mechanism_s_costs_what_it_costs() -> None:
    """Randomized response; with replaced units in a cohort of a fixed size, and beside other noise."""
    one, known = LossDistribution.from_outcomes([0.75, 0.25], [0.25, 0.75]), RandomizedResponse(0.25)
    for made in (
        lambda mechanism: Repeat(mechanism, 20),
        lambda mechanism: Repeat(FixedSize(mechanism, 100, 10), 20),
        lambda mechanism: Sequence(Repeat(mechanism, 3), Gaussian(2.0)),
        lambda mechanism: Repeat(FixedSize(Sequence(mechanism, Gaussian(4.0)), 100, 10), 3),
    ):
        found, expected = (epsilon(made(mechanism), 1e-5, "replace-one") for mechanism in (one, known))
        assert found.upper == pytest.approx(expected.upper, rel=2e-5)


def _gaussian_grid(step: float, way: int) -> tuple[tuple[float, float], ...]:
    """The loss of N(1, 1) against N(0, 1), L ~ N(1/2, 1), rounded to a grid in one direction; tails as well."""
    edges = np.arange(-8.0, 9.0, step)
    masses = np.diff(norm.cdf(edges - 0.5))
    grid = edges[1:] if way > 0 else edges[:-1]
    if way > 0:
        return (
            (edges[0], norm.cdf(edges[0] - 0.5)),
            *zip(grid, masses, strict=True),
            (math.inf, norm.sf(edges[-1] - 0.5)),
        )
    return tuple(zip(grid, masses, strict=True))


def test_pessimistic_and_optimistic_laws_hold_gaussian_noise_between_them() -> None:
    """From below a law need not be that of two distributions: rounded down, losses would give Q more than 1."""
    above, below = (_gaussian_grid(0.01, way) for way in (1, -1))
    below = (*below, (-9.0, 1.0 - math.fsum(mass for _, mass in below)))
    one = LossDistribution(above, above, below, below)
    for rounds, target in ((1, 1e-5), (10, 1e-5), (10, 0.1)):
        exact, found = epsilon(Repeat(Gaussian(1.0), rounds), target), epsilon(Repeat(one, rounds), target)
        assert found.lower < exact.lower <= exact.upper < found.upper
        assert found.upper - found.lower < 0.06 * rounds
    only_above = epsilon(Repeat(LossDistribution(above), 10), 0.1)
    assert only_above.lower == 0.0
    assert only_above.upper >= exact.upper


@pytest.mark.parametrize("order", [1.5, 2.0, 9.0])
def test_renyi_divergences_are_those_of_the_table(order: float) -> None:
    exact = max(truth.renyi(one, order) for one in (truth.laws(P, Q), truth.laws(Q, P)))
    found = renyi(LossDistribution.from_outcomes(P, Q), order).upper
    assert exact <= found <= float(exact) * (1 + 1e-9)


def test_masses_that_are_missing_count_as_infinite_losses() -> None:
    """What is printed with ten digits may lack 1e-10: at a delta below that nothing is known."""
    one = LossDistribution(((0.5, 0.6), (-0.4, 0.3999999999)))
    assert epsilon(one, 1e-11).upper == math.inf
    assert epsilon(one, 0.3).upper < 0.5


def test_refused() -> None:
    one = LossDistribution.from_outcomes(P, Q)
    with pytest.raises(InputError, match="of a replaced unit both data sets have one"):
        epsilon(one, 1e-5, "replace-one")
    for run in (FixedSize(one, 10, 2), Group(one, 2)):
        with pytest.raises(InputError):
            epsilon(run, 1e-5)
    with pytest.raises(InputError, match=r"add up to 0\.9"):
        LossDistribution(((0.0, 0.9),))
    with pytest.raises(InputError, match="No two distributions"):
        LossDistribution(((-1.0, 0.5), (0.0, 0.5)))
    for bad in ((), ((1.0,),), ((1.0, "x"),), ((-math.inf, 1.0),), ((0.0, -0.5), (0.0, 1.5)), 3, (("inf", True),)):
        with pytest.raises(InputError):
            LossDistribution(bad)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="outputs"):
        LossDistribution.from_outcomes([1.0], [0.5, 0.5])


def test_an_infinite_loss_is_written_and_read() -> None:
    one = LossDistribution(((0.0, 0.99), (math.inf, 0.01)))
    assert from_json(to_json(one)) == one
    assert delta(one, 3.0).upper == pytest.approx(0.01)
    assert epsilon(Poisson(one, 0.1), 0.001 * (1 + 1e-6)).upper < 1e-3
    assert epsilon(Poisson(one, 0.1), 0.001 * (1 - 1e-6)).upper == math.inf


def test_a_loss_that_is_pure_dp_s_is_the_worst_of_it() -> None:
    """Of ln(3): as much as any mechanism of that epsilon, sampled or not."""
    one = LossDistribution.from_outcomes([0.75, 0.25], [0.25, 0.75])
    for made in (lambda mechanism: mechanism, lambda mechanism: Repeat(Poisson(mechanism, 0.1), 30)):
        assert epsilon(made(one), 1e-6).upper == pytest.approx(epsilon(made(PureDp(math.log(3))), 1e-6).upper, rel=1e-5)


def test_a_law_from_below_of_losses_that_all_count_for_nothing() -> None:
    one = LossDistribution(((0.5, 1.0),), optimistic=((-800.0, 1.0),))
    for run in (one, Repeat(one, 3)):
        assert [epsilon(run, at).lower for at in (0.0, 1e-5)] == [0.0, 0.0]
