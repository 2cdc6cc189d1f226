"""Questions far out: every one has an interval that is not empty, and none ends in an error."""

import math
import random

import mpmath as mp
import pytest
from cases import few, many
from leaves_nested import LEAVES

from dpcert import delta, epsilon, rho, risk
from dpcert.accounting.billboard.guarantees import EVERYBODY_ELSE, OUTSIDE
from dpcert.accounting.billboard.observers import observer_epsilon
from dpcert.accounting.calibration.calibrate_risk import calibrate_risk
from dpcert.accounting.losses.atoms import pld as lattices
from dpcert.accounting.pairs import EventPair
from dpcert.mechanisms import (
    Gaussian,
    InputError,
    Laplace,
    PiecewiseMechanism,
    Poisson,
    PureDp,
    RandomAllocation,
    RandomizedResponse,
    Repeat,
    StableHistogram,
    TruncatedPoisson,
)


@pytest.mark.parametrize("threshold", few([10.0, 9.5, 40.0], 6))
def test_buckets_that_are_all_but_never_released(threshold):
    """It raised: of three new buckets the lower end was 5e-324, where no more than 0 is known from below."""
    run = StableHistogram(Gaussian(1.0), threshold, 3)
    noise = delta([Gaussian(1.0)] * 3, 1.0)
    assert delta(run, 1.0) == noise


def test_an_event_that_is_certain_tells_nothing():
    assert lattices.delta(((EventPair(1.0, 1.0), 3),), 1.0).lower == 0.0


SMALLEST = [(PureDp(9.449934238321082e-4), 5.0759215584793925e-251)]


@pytest.mark.parametrize("seed", few(range(40), 40))
def test_small_losses_at_tiny_deltas(seed):
    """About 2% of these had no root: next to the largest loss the profile falls by a hundred powers of ten."""
    draw = random.Random(seed)
    asked = list(SMALLEST)
    for _ in range(many(60)):
        loss = 10.0 ** draw.uniform(-5, 0)
        kind = draw.choice([PureDp, PiecewiseMechanism, lambda e: RandomizedResponse(1 / (1 + math.exp(e)))])
        asked.append((kind(loss), 10.0 ** draw.uniform(-300, -150)))
    for run, at in asked:
        found = epsilon(run, at, "replace-one")
        assert found.certified
        assert found.upper <= epsilon(run, 0.0, "replace-one").upper * (1 + 1e-9)
        if not isinstance(run, PureDp):  # a stated bound is attained by nobody that is known
            assert found.narrower_than(1e-6)


@pytest.mark.parametrize("rate", [1 - 2**-53, 1 - 2**-52])
def test_coins_that_all_but_always_come_up(rate):
    """It raised: the rate, rounded up, was 1. Between the costs of nearly that rate and of no coin."""
    for run in (Poisson(Gaussian(1.5), rate), Repeat(Poisson(Gaussian(1.5), rate), 3)):
        found = epsilon(run, 1e-3, rtol=1e-3)
        least = epsilon(Repeat(Poisson(Gaussian(1.5), 1 - 1e-6), getattr(run, "rounds", 1)), 1e-3).lower
        most = epsilon(Repeat(Gaussian(1.5), getattr(run, "rounds", 1)), 1e-3).upper
        assert least <= found.upper
        assert found.lower <= most


def test_everybody_in_cohorts_that_are_never_cut():
    """It raised: the logarithm of how often a unit is left out."""
    run = TruncatedPoisson(Gaussian(1.5), 1.0, population=2, max_cohort=2)
    assert rho(run, neighbouring="replace-one").upper == pytest.approx(8 / 9, rel=1e-9)


@pytest.mark.parametrize("observer", [OUTSIDE, EVERYBODY_ELSE])
def test_gaussian_noise_at_delta_0_before_named_observers(observer):
    """It raised: the logarithm of a delta rounded down, below 0."""
    for run in (Gaussian(3.0), RandomAllocation(Gaussian(3.0), 10), Repeat(RandomAllocation(Gaussian(3.0), 10, 2), 2)):
        assert observer_epsilon(run, observer, 0.0, "zero-out").epsilon.lower == math.inf


@pytest.mark.parametrize("rate", [1.318e-145, 1e-300])
def test_the_power_at_tiny_rates(rate):
    """It raised: 200 bits leave 1e-60 of a power of 1e-139."""
    with mp.workdps(700):
        threshold = mp.sqrt(2) * mp.erfinv(1 - 2 * mp.mpf(rate))
        power = mp.erfc((threshold - 1 / mp.mpf(1.686043)) / mp.sqrt(2)) / 2
    (row,) = risk(Gaussian(1.686043), false_positive_rates=[rate]).rates
    assert row.true_positive_rate.lower <= power <= row.true_positive_rate.upper
    assert row.true_positive_rate.narrower_than(1e-9)


@pytest.mark.parametrize("rate", few([1e-90, 1e-140, 1e-290], 2))
def test_noise_for_a_risk_at_tiny_rates(rate):
    """Laplace noise: the power at small rates is e^(1/noise) times the rate; it raised below 1e-85."""
    found = calibrate_risk(Laplace, solve_for="noise_multiplier", tpr=100 * rate, fpr=rate)
    assert found.value == pytest.approx(1 / math.log(100), rel=1e-4)


@pytest.mark.parametrize("leaf", few(sorted(LEAVES), 16))
def test_every_mechanism_far_out(leaf):
    """Deltas from 1e-300 to nearly 1, epsilons from 1e-300 to 1e300."""
    run = LEAVES[leaf]
    for at in (1e-300, 1e-200, 1e-80, 0.5, 1 - 1e-12):
        assert ask(epsilon, run, at)
    for at in (1e-300, 1e-30, 40.0, 1e300):
        assert ask(delta, run, at)


def ask(question, run, at):
    for relation in ("replace-one", "zero-out"):
        try:
            assert question(run, at, relation, rtol=1e-3).certified
        except InputError:
            continue
        return True
    return False
