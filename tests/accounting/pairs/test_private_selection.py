"""The best of several private runs: against enumeration of the outcomes and of the number of runs."""

from __future__ import annotations

import math
from itertools import permutations, product

import numpy as np
import pytest
from cases import few
from dp_accounting import dp_event
from dp_accounting.rdp import RdpAccountant

from dpcert import delta, epsilon, renyi
from dpcert.accounting.renyi import selection_divergence as selection
from dpcert.mechanisms import (
    BestOfSeveral,
    Gaussian,
    Group,
    InputError,
    Laplace,
    Poisson,
    PureDp,
    RandomizedResponse,
    Repeat,
)


def best_law(single: np.ndarray, gamma: float, shape: float) -> np.ndarray:
    """The largest of K outcomes; K truncated negative binomial, summed up to where nothing is left."""
    k = np.arange(1, 20_000)
    log = k * math.log1p(-gamma) + np.concatenate([[0.0], np.cumsum(np.log((k[:-1] + shape) / (k[:-1] + 1)))])
    weights = np.exp(log)
    weights /= weights.sum()
    below = np.cumsum(single)
    at_most = np.array([float(np.sum(weights * part**k)) for part in below])
    return np.diff(at_most, prepend=0.0)


def poisson_law(single: np.ndarray, mean: float) -> np.ndarray:
    """The largest of K outcomes, K Poisson distributed; last: that there is none."""
    return np.append(np.diff(np.exp(mean * (np.cumsum(single) - 1)), prepend=math.exp(-mean)), math.exp(-mean))


def worst_poisson(single: tuple[np.ndarray, np.ndarray], mean: float, value: object) -> float:
    """Over all orders of merit without ties, one with nothing else, and both orders of the neighbours."""
    p, q = (np.append(-math.expm1(-mean) * law, math.exp(-mean)) for law in single)
    found = max(value(p, q), value(q, p))  # type: ignore[operator]
    for order in permutations(range(len(single[0]))):
        p, q = (poisson_law(law[list(order)], mean) for law in single)
        found = max(found, value(p, q), value(q, p))  # type: ignore[operator]
    return found


def worst(single: tuple[np.ndarray, np.ndarray], gamma: float, shape: float, value: object) -> float:
    """Over some orders in which the outcomes may be better, or none is, and both orders of the neighbours."""
    found = max(value(*single), value(*reversed(single)))  # type: ignore[operator]
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0], [0, 2, 1]):
        p, q = (best_law(law[order], gamma, shape) for law in single)
        found = max(found, value(p, q), value(q, p))  # type: ignore[operator]
    return found


SINGLE = np.array([0.6, 0.2, 0.2]), np.array([0.2, 0.6, 0.2])
RUN = RandomizedResponse(0.4, 3)


@pytest.mark.parametrize(("gamma", "shape"), few([(0.2, 1.0), (0.05, 1.0), (0.1, 0.0), (0.1, -0.5), (0.3, 2.5)], 8))
def test_enumeration(gamma: float, shape: float) -> None:
    run = BestOfSeveral(RUN, gamma, shape)
    mean = float(np.sum(best_law(np.array([1.0]), gamma, shape)))
    assert mean == pytest.approx(1.0)
    for alpha in (2.0, 8.0):
        seen = worst(SINGLE, gamma, shape, lambda p, q, a=alpha: math.log(np.sum(p**a * q ** (1 - a))) / (a - 1))
        found = renyi(run, alpha, "replace-one")
        assert found.lower <= seen * (1 + 1e-9)
        assert seen <= found.upper
    for eps in (0.5, 2.0):
        odds = math.exp(eps)
        seen = worst(SINGLE, gamma, shape, lambda p, q, c=odds: float(np.sum(np.maximum(0, p - c * q))))
        assert seen <= delta(run, eps, "replace-one").upper
    pure = epsilon(run, 0, "replace-one")
    seen = worst(SINGLE, gamma, shape, lambda p, q: float(np.max(np.log(p / q))))
    assert seen <= pure.upper <= (2 + shape) * math.log(3) * (1 + 1e-9)
    assert pure.lower == pytest.approx(math.log(3))


@pytest.mark.parametrize("mean", [0.05, 1.0, 10.0, 60.0])
def test_poisson_by_enumeration(mean: float) -> None:
    run = BestOfSeveral(RUN, poisson_mean=mean)
    for alpha in (1.25, 2.0, 8.0):
        seen = worst_poisson(SINGLE, mean, lambda p, q, a=alpha: math.log(np.sum(p**a * q ** (1 - a))) / (a - 1))
        assert seen <= renyi(run, alpha, "replace-one").upper
    for eps in (0.5, 2.0):
        odds = math.exp(eps)
        seen = worst_poisson(SINGLE, mean, lambda p, q, c=odds: float(np.sum(np.maximum(0, p - c * q))))
        found = delta(run, eps, "replace-one")
        assert found.lower <= seen * (1 + 1e-9)
        assert seen <= found.upper
    pure = epsilon(run, 0, "replace-one")
    seen = worst_poisson(SINGLE, mean, lambda p, q: float(np.max(np.log(p / q))))
    assert seen <= pure.upper * (1 + 1e-12)
    assert pure.lower == pytest.approx(math.log(3))


def test_poisson_without_what_worse_results_tell() -> None:
    """Planted: the bound without delta' (Theorem 6 with its condition forgotten) is contradicted by enumeration."""
    mean, alpha = 10.0, 8.0
    seen = worst_poisson(SINGLE, mean, lambda p, q: math.log(np.sum(p**alpha * q ** (1 - alpha))) / (alpha - 1))
    one = renyi(RUN, alpha, "replace-one").upper
    forgotten = one + math.log(mean) / (alpha - 1)
    assert forgotten < 0.9 * seen
    assert seen <= renyi(BestOfSeveral(RUN, poisson_mean=mean), alpha, "replace-one").upper


def test_poisson_by_hand() -> None:
    """Gaussian, with its exact delta at log(alpha / (alpha - 1))."""
    alpha, mean, run = 8.0, 10.0, Gaussian(4.0)
    by_hand = alpha / 32 + mean * delta(run, math.log(8 / 7)).upper + math.log(mean) / (alpha - 1)
    assert by_hand <= renyi(BestOfSeveral(run, poisson_mean=mean), alpha).upper <= by_hand * (1 + 1e-9)


@pytest.mark.parametrize("mean", [0.01, 0.3, 1.0, 1.5])
def test_few_runs_by_enumeration(mean: float) -> None:
    """Of many fine outcomes and of laws that are nearly equal, where the bound is nearly met; a bound of another form
    that the paper states is below the truth for few runs."""
    rng, alpha = np.random.default_rng(17), 3.0
    for spread in (0.05, 0.3, 1.0):
        q = rng.dirichlet(np.full(400, 20.0))
        p = q * np.exp(spread * rng.uniform(-1, 1, q.size))
        p /= p.sum()
        order = np.argsort(rng.uniform(size=q.size) + rng.choice([-3, 0, 3]) * np.log(p / q))
        one = math.log(max(np.sum(p**alpha * q ** (1 - alpha)), np.sum(q**alpha * p ** (1 - alpha)))) / (alpha - 1)
        apart = max(np.sum(np.maximum(0, p - 1.5 * q)), np.sum(np.maximum(0, q - 1.5 * p)))
        largest = math.log(mean) + (alpha - 1) * mean * apart
        bound = selection._log_few((alpha - 1) * one, largest) if largest < 0 else (alpha - 1) * one + largest
        laws = [poisson_law(law[order], mean) for law in (p, q)]
        for first, second in (laws, reversed(laws)):
            seen = math.log(np.sum(first**alpha * second ** (1 - alpha)))
            assert seen <= bound * (1 + 1e-9) + 1e-12
            if mean < 0.5:
                assert (alpha - 1) * one + largest < 0 < seen
                assert bound < 2 * seen


def test_a_poisson_number_of_trainings() -> None:
    training = Repeat(Poisson(Gaussian(1.1), 0.01), 1000)
    found = epsilon(BestOfSeveral(training, poisson_mean=10), 1e-5)
    assert epsilon(training, 1.001e-5).lower < found.lower
    assert found.upper < epsilon(BestOfSeveral(training, 0.1), 1e-5).upper  # the geometric law with the same mean
    rarely = epsilon(BestOfSeveral(training, poisson_mean=1e-3), 1e-5)
    assert rarely.upper < epsilon(training, 1e-5).lower  # hardly ever there is a run at all


def test_the_geometric_law_needs_about_three_epsilons() -> None:
    """Planted: one run's epsilon, or two, is contradicted by enumeration with many repetitions."""
    single = np.array([math.e, 1.0]) / (math.e + 1), np.array([1.0, math.e]) / (math.e + 1)
    rare = tuple(np.array([1 - 1e-4 * odds, 1e-4 * odds]) for odds in (1.0, math.e))
    seen = 0.0
    for pair in (single, rare):
        p, q = (best_law(law, 0.001, 1.0) for law in pair)
        seen = max(seen, float(np.max(np.abs(np.log(p / q)))))
    assert seen > 1.5
    assert epsilon(BestOfSeveral(PureDp(1.0), 0.001), 0).upper == pytest.approx(3.0)


def test_a_search_over_training_runs() -> None:
    """Ten runs on average cost more than one, and less than ten composed."""
    training = Repeat(Poisson(Gaussian(1.1), 0.01), 1000)
    one, best = epsilon(training, 1e-5), epsilon(BestOfSeveral(training, 0.1), 1e-5)
    assert best.lower == pytest.approx(one.lower, rel=1e-6)
    assert 2 * one.upper < best.upper < epsilon(Repeat(training, 10), 1e-5).upper * 1.5
    logarithmic = epsilon(BestOfSeveral(training, 0.1, 0.0), 1e-5)
    assert logarithmic.upper < best.upper
    both = epsilon([BestOfSeveral(training, 0.1), Gaussian(5.0)], 1e-5)
    assert best.upper < both.upper
    assert both.lower > one.lower


def test_by_hand() -> None:
    """Gaussian: rho = 1/(2 z^2), all formulas closed; the best beta by calculus."""
    gamma, z, alpha = 0.1, 5.0, 6.0
    run, slope = BestOfSeveral(Gaussian(z), gamma), 1 / (2 * z * z)
    beta = math.sqrt(math.log(1 / gamma) / slope)
    least = max(alpha, 1 + math.sqrt(math.log(10) / slope))  # a divergence of a larger order is one of a smaller order
    by_hand = slope * least + 2 * (beta - 1) * slope + 2 * math.log(1 / gamma) / beta + math.log(10) / (least - 1)
    assert by_hand <= renyi(run, alpha).upper <= by_hand * 1.01
    assert run.mean == pytest.approx(10.0)


@pytest.mark.parametrize(("gamma", "shape"), [(0.0, 1.0), (1.0, 1.0), (0.5, -1.0), (0.5, math.inf)])
def test_bad_input(gamma: float, shape: float) -> None:
    with pytest.raises(InputError):
        BestOfSeveral(Laplace(1.0), gamma, shape)
    with pytest.raises(InputError, match="beside poisson_mean"):
        BestOfSeveral(Laplace(1.0), 0.5, poisson_mean=3.0)
    with pytest.raises(InputError, match="poisson_mean in its place"):
        BestOfSeveral(Laplace(1.0))
    with pytest.raises(InputError, match="poisson_mean"):
        BestOfSeveral(Laplace(1.0), poisson_mean=0.0)
    with pytest.raises(InputError, match="group"):
        epsilon(Group(BestOfSeveral(Laplace(1.0), 0.5), 2), 1e-5)


def below_dp_accounting(noise: float, mean: float, shape: float, delta: float) -> bool:
    """Its bound searches beta on the grid of its orders."""
    event = dp_event.RepeatAndSelectDpEvent(dp_event.GaussianDpEvent(noise), mean, shape)
    found = epsilon(BestOfSeveral.with_mean(Gaussian(noise), mean, shape), delta)
    return found.upper <= RdpAccountant().compose(event).get_epsilon(delta)


@pytest.mark.parametrize("mean", [1.5, 10.0])
@pytest.mark.parametrize("noise", [1.0, 4.0])
@pytest.mark.parametrize("shape", [1.0, math.inf])
def test_at_least_as_tight_as_dp_accounting(mean: float, noise: float, shape: float) -> None:
    assert below_dp_accounting(noise, mean, shape, 1e-6)
    assert epsilon(BestOfSeveral.with_mean(Gaussian(4.0), 10, 1.0), 1e-6).upper <= 2.27162


@pytest.mark.nightly
@pytest.mark.parametrize("shape", [0.0, 0.5, 1.0, 3.0, math.inf])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-10])
def test_at_least_as_tight_over_a_grid(shape: float, delta: float) -> None:
    """300 settings in all."""
    grid = product([0.5, 1.0, 4.0, 20.0], [1.2, 3.0, 10.0, 100.0, 1000.0])
    assert [(noise, mean) for noise, mean in grid if not below_dp_accounting(noise, mean, shape, delta)] == []


def test_planted_coarse_orders_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plant: beta is one of a few."""
    event = dp_event.RepeatAndSelectDpEvent(dp_event.GaussianDpEvent(4.0), 10.0, 1.0)
    monkeypatch.setattr(selection, "best_order", lambda at, start=8.0, tolerance=0.0: start)
    selection._several.cache_clear()
    found = epsilon(BestOfSeveral(Gaussian(4.0 + 1e-9), gamma=0.1, shape=1.0), 1e-6)
    assert found.upper > RdpAccountant().compose(event).get_epsilon(1e-6)
