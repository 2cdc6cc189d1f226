"""Random allocation's Renyi bound against exact divergences of blocks of two and three rounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cases import at_night, few
from scipy.special import ndtr

from dpcert.accounting import epsilon
from dpcert.accounting.pairs import AllocationPair, GaussianPair, ReplacedAllocationPair
from dpcert.accounting.participation.hidden_bounds import total_statistic_lower
from dpcert.accounting.renyi import allocation_divergence as allocation
from dpcert.accounting.renyi.renyi import renyi
from dpcert.mechanisms import Gaussian, InputError, Laplace, Poisson, RandomAllocation, Repeat

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(120)
WEIGHTS = WEIGHTS / math.sqrt(2 * math.pi)


def exact(shift: float, rounds: int, alpha: float) -> float:
    """The larger of both orders, by product Gauss-Hermite quadrature."""
    ratio = np.exp(shift * NODES - shift**2 / 2)
    mean, weight = ratio / rounds, WEIGHTS
    for _ in range(rounds - 1):
        mean = np.add.outer(mean, ratio / rounds)
        weight = np.multiply.outer(weight, WEIGHTS)
    return max(float(np.log((weight * mean**power).sum())) / (alpha - 1) for power in (alpha, 1 - alpha))


@pytest.mark.parametrize("rounds", [2, 3])
@pytest.mark.parametrize("shift", [0.2, 0.5, 1.0])
@pytest.mark.parametrize("alpha", [1.5, 2.0, 3.3, 6.0])
def test_small_blocks_are_bounded(rounds, shift, alpha):
    bound = renyi(RandomAllocation(Gaussian(1 / shift), rounds), alpha).upper
    truth = exact(shift, rounds, alpha)
    assert truth <= bound <= alpha * shift**2 / 2 * (1 + 1e-9)
    if shift == 0.2:
        assert bound <= 1.25 * truth or alpha < 2


def test_orders_beyond_doubles_get_the_bound_without_amplification():
    bound = renyi(RandomAllocation(Gaussian(5.0), 2), 56.0).upper
    assert exact(0.2, 2, 56.0) <= bound == pytest.approx(56 * 0.2**2 / 2, rel=1e-9)


def test_cells_taken_at_the_wrong_end_are_caught(monkeypatch):
    right = allocation._growth_above
    shift, rounds, power = 0.3, 2, 3.0
    truth = math.log(np.sum(np.multiply.outer(WEIGHTS, WEIGHTS) * _mean(shift) ** -power))
    assert allocation._log_inverse_moment(shift, rounds, power) >= truth
    monkeypatch.setattr(allocation, "_growth_above", lambda *given: np.append(0.0, right(*given)[:-1]))
    monkeypatch.setattr(allocation, "_rest", lambda *given: 0.0)
    assert allocation._log_inverse_moment(shift, rounds, power) < truth


def _mean(shift: float) -> np.ndarray:
    ratio = np.exp(shift * NODES - shift**2 / 2) / 2
    return np.add.outer(ratio, ratio)


@pytest.mark.parametrize(("noise", "rounds", "blocks"), few([(1.0, 1000, 10), (2.0, 100, 100), (0.8, 500, 1)], 6))
def test_amplification_by_far_and_never_below_what_is_attained(noise, rounds, blocks):
    block = RandomAllocation(Gaussian(noise), rounds)
    hidden = epsilon(Repeat(block, blocks), 1e-6)
    seen = epsilon(Repeat(block, blocks), 1e-6, "zero-out", participation="visible")
    poisson = epsilon(Repeat(Poisson(Gaussian(noise), 1 / rounds), rounds * blocks), 1e-6)
    assert hidden.upper < 0.3 * seen.upper
    assert hidden.upper == pytest.approx(poisson.upper, rel=0.1)
    assert total_statistic_lower(block, blocks, 1e-6, "zero-out") <= hidden.upper
    assert seen.upper == pytest.approx(epsilon(Repeat(Gaussian(noise), blocks), 1e-6).upper, rel=1e-12)


def test_several_participations_are_at_most_blocks_of_one():
    four = epsilon(RandomAllocation(Gaussian(1.0), 40, 4), 1e-6)
    blocks = epsilon(Repeat(RandomAllocation(Gaussian(1.0), 10), 4), 1e-6)
    assert four.upper <= blocks.upper * (1 + 1e-3)
    assert 0.9 * blocks.upper < four.lower < blocks.lower


def replaced(shift: float, rounds: int, alpha: float) -> float:
    """Two units that pull into opposite directions, by product Gauss-Hermite quadrature around no unit."""
    towards, away = (np.exp(sign * shift * NODES - shift**2 / 2) / rounds for sign in (1, -1))
    one, other, weight = towards, away, WEIGHTS
    for _ in range(rounds - 1):
        one, other = np.add.outer(one, towards), np.add.outer(other, away)
        weight = np.multiply.outer(weight, WEIGHTS)
    return float(np.log((weight * one**alpha * other ** (1 - alpha)).sum())) / (alpha - 1)


@pytest.mark.parametrize("rounds", [2, 3])
@pytest.mark.parametrize("shift", [0.2, 0.5])
@pytest.mark.parametrize("alpha", [1.5, 2.0, 3.3, 6.0])
def test_small_blocks_of_a_replaced_unit_are_bounded(rounds, shift, alpha):
    bound = renyi(RandomAllocation(Gaussian(1 / shift), rounds), alpha, "replace-one").upper
    assert replaced(shift, rounds, alpha) <= bound <= 2 * alpha * shift**2 * (1 + 1e-9)


def test_a_triangle_inequality_that_keeps_the_order_is_caught(monkeypatch):
    """The plant: D_alpha(P||R) <= D_alpha(P||Q) + D_alpha(Q||R), as if Renyi divergences were a distance."""
    shift, rounds, alpha = 0.5, 2, 6.0
    monkeypatch.setattr(
        allocation, "_by_way", lambda apart, alpha, p: 2 * allocation.allocation_divergence(apart, alpha)
    )
    pair = ReplacedAllocationPair(AllocationPair(GaussianPair(shift), rounds, 1, "remove"))
    assert allocation.replaced_divergence(pair, alpha) < replaced(shift, rounds, alpha)


@pytest.mark.nightly
def test_replacing_a_unit_is_amplified_where_blocks_are_long_and_never_above_the_plain_gaussian():
    blocks = Repeat(RandomAllocation(Gaussian(2.0), 100), 100)
    seen = epsilon(Repeat(Gaussian(2.0), 100), 1e-6, "replace-one").upper
    assert epsilon(blocks, 1e-6, "replace-one").upper < 0.3 * seen
    short = RandomAllocation(Gaussian(0.3), 2)
    plain = epsilon(Gaussian(0.3), 1e-6, "replace-one").upper
    assert epsilon(short, 1e-6, "replace-one").upper == pytest.approx(plain, rel=1e-9)


@pytest.mark.parametrize("relation", few(["add-remove", "replace-one"], 4))
@pytest.mark.parametrize(("rounds", "times", "blocks"), [(2, 1, 1), (10, 3, 40), at_night((100, 1, 100))])
def test_lower_ends_are_at_least_those_of_the_sum_of_all_releases(relation, rounds, times, blocks):
    """Its law is N(blocks * times * move, blocks * rounds), whichever rounds were picked; checked in closed form."""
    found = epsilon(Repeat(RandomAllocation(Gaussian(1.5), rounds, times), blocks), 1e-6, relation)
    move = (2 if relation == "replace-one" else 1) * blocks * times / (1.5 * math.sqrt(blocks * rounds))
    delta = ndtr(move / 2 - found.lower / move) - math.exp(found.lower) * ndtr(-move / 2 - found.lower / move)
    assert 0 < found.lower <= found.upper
    assert delta <= 1e-6 * (1 + 1e-6)


def test_whoever_sees_a_unit_take_part_sees_that_it_is_there():
    with pytest.raises(InputError) as problem:
        epsilon(RandomAllocation(Gaussian(1.0), 10), 1e-6, "add-remove", participation="visible")
    assert problem.value.field == "neighbouring"


def test_a_single_round_and_tiny_noise_are_the_plain_gaussian():
    plain = epsilon(Gaussian(1.0), 1e-6, accountant="rdp").upper
    assert epsilon(RandomAllocation(Gaussian(1.0), 1), 1e-6, accountant="rdp").upper == pytest.approx(plain, rel=1e-9)
    tiny = renyi(RandomAllocation(Gaussian(0.01), 50), 200.0).upper
    assert tiny == pytest.approx(renyi(Gaussian(0.01), 200.0).upper, rel=1e-9)


def test_bad_input():
    with pytest.raises(InputError) as problem:
        epsilon(RandomAllocation(Laplace(1.0), 10), 1e-6, "replace-one")
    assert problem.value.field == "mechanism"
