"""Several units at once: a group of clients, or a user with several examples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr

from dpcert import delta, epsilon, rho
from dpcert.accounting.accountants import composed
from dpcert.accounting.ledger import Ledger
from dpcert.accounting.pairs import MixedGaussianPair
from dpcert.accounting.pricing.dominating import dominating
from dpcert.mechanisms import (
    ApproximateDp,
    DiscreteLaplace,
    FixedSize,
    Gaussian,
    Group,
    InputError,
    Laplace,
    Mechanism,
    Poisson,
    PureDp,
    RandomizedResponse,
    Repeat,
    Sequence,
    TreeAggregation,
    Zcdp,
    rounds_by_step,
)


def mixture_delta(z: float, q: float, k: int, eps: float, order: str) -> float:
    """One Poisson round by hand: the likelihood ratio grows, so one threshold decides."""
    j = np.arange(k + 1)
    w = np.array([math.comb(k, int(i)) * q**i * (1 - q) ** (k - i) for i in j])
    odds = math.exp(eps)
    level = odds if order == "remove" else 1 / odds
    if level <= w[0]:
        return 0.0
    t = brentq(lambda x: math.log(float(np.sum(w * np.exp(j * x / z - (j / z) ** 2 / 2)))) - math.log(level), -60, 90)
    tail = float(np.sum(w * ndtr(j / z - t)))
    if order == "remove":
        return tail - odds * float(ndtr(-t))
    return float(ndtr(t)) - odds * float(np.sum(w * ndtr(t - j / z)))


@pytest.mark.parametrize("relation", ["add-remove", "zero-out"])
@pytest.mark.parametrize(("z", "q", "k", "eps"), [(1.1, 0.01, 3, 0.4), (0.6, 0.2, 2, 1.0), (2.0, 0.5, 6, 0.05)])
def test_one_poisson_round_is_a_mixture_of_gaussians(relation: str, z: float, q: float, k: int, eps: float) -> None:
    found = delta(Group(Poisson(Gaussian(z), q), k), eps, relation)
    truth = max(mixture_delta(z, q, k, eps, order) for order in ("remove", "add"))
    assert found.lower * (1 - 1e-9) <= truth <= found.upper * (1 + 1e-9)
    assert found.width <= 1e-9 * found.upper


@pytest.mark.parametrize(("order", "eps"), [("remove", 0.8), ("add", 0.3)])
def test_two_rounds_against_a_convolution(order: str, eps: float) -> None:
    """The loss's law on a fine grid, rounded both ways: an oracle of its own."""
    z, q, k, x = 1.0, 0.1, 3, np.linspace(-12, 16, 40_001)
    j = np.arange(k + 1)
    w = np.array([math.comb(k, int(i)) * q**i * (1 - q) ** (k - i) for i in j])
    mixed = np.sum(w[:, None] * np.diff(ndtr(x - j[:, None] / z), axis=1), axis=0)
    single = np.diff(ndtr(x))
    middle = 0.5 * (x[1:] + x[:-1])
    loss = np.log(np.sum(w[:, None] * np.exp(j[:, None] * middle / z - (j[:, None] / z) ** 2 / 2), axis=0))
    p, loss = (mixed, loss) if order == "remove" else (single, -loss)
    cells, step = np.round(loss / 2e-3).astype(int), 2e-3
    law = np.bincount(cells - cells.min(), weights=p)
    twice = np.convolve(law, law)
    losses = (np.arange(twice.size) + 2 * cells.min()) * step
    by_hand = float(np.sum(twice * np.maximum(0.0, -np.expm1(eps - losses))))
    pair = MixedGaussianPair(1 / z, q, k, order)  # type: ignore[arg-type]
    found = composed(((pair, 2),), "pld", "delta", eps, 1e-6)
    assert found.narrower_than(1e-5)
    assert found.lower == pytest.approx(by_hand, rel=2e-3)


def test_a_mixture_is_worse_than_its_units_apart_and_better_than_all_at_once() -> None:
    one = Repeat(Poisson(Gaussian(1.1), 0.01), 200)
    group = epsilon(Group(one, 3), 1e-5)
    assert epsilon(one, 1e-5).upper < group.lower
    assert group.upper < epsilon(Repeat(Poisson(Gaussian(1.1 / 3), 0.03), 200), 1e-5).lower  # all three or none
    assert group.narrower_than(1e-5)


@pytest.mark.parametrize(
    ("group", "same"),
    [
        (Group(Repeat(Gaussian(6.0), 5), 3), Repeat(Gaussian(2.0), 5)),
        (Group(Laplace(6.0), 2), Laplace(3.0)),
        (Group(DiscreteLaplace(6.0, 1), 2), DiscreteLaplace(6.0, 2)),
        (Group(PureDp(0.25), 4), PureDp(1.0)),
        (Group(Zcdp(0.25), 2), Zcdp(1.0)),
        (Group(RandomizedResponse(0.2, 3), 5), Repeat(RandomizedResponse(0.2, 3), 5)),
        (Group(TreeAggregation(4.0, 8), 2), TreeAggregation(2.0, 8)),
        (Group(Sequence(Gaussian(1.0), Laplace(2.0)), 1), Sequence(Gaussian(1.0), Laplace(2.0))),
        (Group(Group(Gaussian(6.0), 2), 3), Gaussian(1.0)),
        (Group(Poisson(Gaussian(6.0), 1.0), 6), Gaussian(1.0)),
    ],
)
def test_what_a_group_costs(group: Mechanism, same: Mechanism) -> None:
    left, right = epsilon(group, 1e-5, "replace-one"), epsilon(same, 1e-5, "replace-one")
    assert left.lower == pytest.approx(right.lower, rel=1e-9)
    assert left.upper == pytest.approx(right.upper, rel=1e-9)


def test_approximate_dp_of_a_group() -> None:
    """By hand: two steps of (1, 1e-6) are (2, (1 + e) 1e-6)."""
    found = delta(Group(ApproximateDp(1.0, 1e-6), 2), 2.0)
    assert (1 + math.e) * 1e-6 <= found.upper <= (1 + math.e) * 1e-6 * (1 + 1e-9)
    with pytest.raises(InputError, match="smaller group"):
        epsilon(Group(ApproximateDp(1.0, 1e-3), 50), 1e-5)


def test_pure_dp_of_a_group_is_exact() -> None:
    assert epsilon(Group(Repeat(Laplace(10.0), 3), 3), 0).upper == 0.9
    assert epsilon(Group(Poisson(Gaussian(1.0), 0.5), 2), 0).lower == math.inf
    assert rho(Group(Gaussian(10.0), 2)).upper == pytest.approx(0.02)


@pytest.mark.parametrize(
    ("run", "relation"),
    [
        (Group(FixedSize(Gaussian(1.0), 10, 5), 2), "replace-one"),
        (Group(Poisson(Gaussian(1.0), 0.1), 2), "replace-one"),
        (Group(Poisson(Laplace(1.0), 0.1), 2), "add-remove"),
        (Group(Poisson(Gaussian(1.0), 0.1), 1001), "add-remove"),
        (Group(Poisson(Sequence(Gaussian(1.0), Gaussian(2.0)), 0.1), 2), "add-remove"),
    ],
)
def test_what_is_not_known_is_refused(run: Mechanism, relation: str) -> None:
    with pytest.raises(InputError, match="group"):
        epsilon(run, 1e-5, relation)
    with pytest.raises(InputError, match="units"):
        Group(Gaussian(1.0), 0)


def test_groups_are_pushed_to_the_rounds_and_recorded() -> None:
    run = Group(Sequence(Repeat(Gaussian(1.0), 3), Laplace(1.0)), 2)
    assert rounds_by_step(run) == {Group(Gaussian(1.0), 2): 3, Group(Laplace(1.0), 2): 1}
    ledger = Ledger()
    ledger.record(run)
    assert ledger.epsilon(1e-5).upper == epsilon(run, 1e-5).upper


def test_planted_independent_units() -> None:
    """The fault this file is to catch: a user with k examples taken for k units, by k times the rounds."""
    wrong = dominating(Repeat(Poisson(Gaussian(1.0), 0.1), 3), "add-remove").upper[-1]
    truth = mixture_delta(1.0, 0.1, 3, 0.8, "remove")
    assert composed(wrong, "best", "delta", 0.8, 1e-6).upper < 0.8 * truth
    assert delta(Group(Poisson(Gaussian(1.0), 0.1), 3), 0.8).lower >= truth * (1 - 1e-9)
