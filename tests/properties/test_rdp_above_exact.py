"""The Renyi bound against the certified tight accountants: never below their lower end, on random settings."""

import numpy as np
import pytest

from dpcert.accounting import delta, epsilon
from dpcert.mechanisms import FixedSize, Gaussian, InputError, Laplace, Poisson, Repeat


def random_run(rng):
    """(run, neighbouring): sampled Gaussian rounds from single ones with tiny rates to long federated runs."""
    noise = Gaussian(10 ** rng.uniform(-0.2, 1.5))
    rounds = int(10 ** rng.uniform(0, 4))
    if rng.random() < 0.5:
        rate = 10 ** rng.uniform(-3, 0) * 0.999
        return Repeat(Poisson(noise, rate), rounds), str(rng.choice(["add-remove", "replace-one", "zero-out"]))
    population = int(rng.integers(2, 1000))
    return Repeat(FixedSize(noise, population, int(rng.integers(1, population))), rounds), "replace-one"


def check(seed, settings):
    """Settings out of the contour accountant's reach (it says so) are left out; at least half must be in reach."""
    rng = np.random.default_rng(seed)
    reached = 0
    for _ in range(settings):
        run, neighbouring = random_run(rng)
        target, share = 10 ** rng.uniform(-12, -1), float(rng.uniform(0, 1))
        try:
            exact = epsilon(run, target, neighbouring, accountant="contour")
            at = share * exact.upper
            exact_delta = delta(run, at, neighbouring, accountant="contour")
        except InputError:
            continue
        reached += 1
        assert epsilon(run, target, neighbouring, accountant="rdp").upper >= exact.lower, (run, neighbouring, target)
        assert delta(run, at, neighbouring, accountant="rdp").upper >= exact_delta.lower, (run, neighbouring, at)
    assert reached >= settings / 2


def test_on_random_settings():
    check(1, 3)


@pytest.mark.nightly
def test_on_many_random_settings():
    check(2, 400)


def test_laplace_against_its_exact_profile():
    """One Laplace round: delta(eps) = 1 - e^((eps - s)/2) for shift s, exactly."""
    for shift in (0.1, 1.0, 3.0):
        for at in (0.0, shift / 3, 0.9 * shift):
            exact = -np.expm1((at - shift) / 2)
            assert delta(Laplace(1 / shift), at, accountant="rdp").upper >= exact
