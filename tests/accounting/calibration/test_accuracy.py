"""How close noise leaves a number to the truth, against densities integrated and masses summed at 30 digits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath as mp
import pytest

from dpcert import accuracy, epsilon, noise_within
from dpcert.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    InputError,
    Laplace,
    Mechanism,
    Poisson,
    PureDp,
    Skellam,
    Staircase,
    TruncatedLaplace,
)


def integrated(density: Callable[[Any], Any], end: Any, inside: float) -> Any:
    """The share of a density on [0, end) that is within [0, inside]; steps of 1 keep quadrature exact at kinks."""
    cuts = [mp.mpf(k) / 2 for k in range(int(2 * end) + 1)]
    near = [cut for cut in cuts if cut < inside]
    return mp.quad(density, [*near, mp.mpf(inside)]) / mp.quad(density, cuts)


def summed(mass: Callable[[int], Any], end: int, inside: float) -> Any:
    masses = [mass(0), *(2 * mass(k) for k in range(1, end))]
    return mp.fsum(masses[: math.floor(inside) + 1]) / mp.fsum(masses)


def staircase(noise: Staircase, x: Any) -> Any:
    step = int(mp.floor(x))
    return mp.exp(-noise.epsilon * (step if x - step < noise.gamma else step + 1))


def of_two_poissons(variance: float, k: int) -> Any:
    mean = mp.mpf(variance) / 2
    each = [mp.exp(-mean) * mean**j / mp.factorial(j) for j in range(80)]
    return mp.fsum(each[j] * each[j + k] for j in range(80 - k))


WITHIN: dict[str, tuple[Mechanism, Callable[[float], Any]]] = {
    "gaussian": (Gaussian(2.0), lambda a: mp.erf(mp.mpf(a) / (2 * mp.sqrt(2)))),
    "laplace": (Laplace(2.0), lambda a: integrated(lambda x: mp.exp(-x / 2), 100, a)),
    "truncated laplace": (TruncatedLaplace(2.0, 5.0), lambda a: integrated(lambda x: mp.exp(-x / 2), 5, a)),
    "staircase": (Staircase(0.7), lambda a: integrated(lambda x: staircase(Staircase(0.7), x), 80, a)),
    "discrete gaussian": (DiscreteGaussian(3.0), lambda a: summed(lambda k: mp.exp(-(mp.mpf(k) ** 2) / 18), 80, a)),
    "discrete gaussian, narrow": (
        DiscreteGaussian(0.3),
        lambda a: summed(lambda k: mp.exp(-(k**2) / mp.mpf("0.18")), 20, a),
    ),
    "discrete laplace": (DiscreteLaplace(2.0), lambda a: summed(lambda k: mp.exp(-mp.mpf(k) / 2), 250, a)),
    "skellam": (Skellam(12.0, 1.0, 3), lambda a: summed(lambda k: of_two_poissons(12.0, k), 60, a)),
}


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.9999])
@pytest.mark.parametrize("name", WITHIN)
def test_the_least_distance_with_the_confidence(name: str, confidence: float) -> None:
    noise, share = WITHIN[name]
    found = accuracy(noise, confidence)
    with mp.workdps(30):
        asked = mp.mpf(repr(confidence))  # the decimal that is written
        assert share(found.distance) >= asked
        assert found.beyond < 0 or share(found.beyond) < asked
    assert found.distance - found.beyond <= max(1.0 if found.distance.is_integer() else 0.0, 1e-9 * found.distance)


MAKES: dict[str, tuple[Callable[[float], Mechanism], str]] = {
    "gaussian": (Gaussian, "noise_multiplier"),
    "laplace": (Laplace, "noise_multiplier"),
    "discrete gaussian": (DiscreteGaussian, "sigma"),
    "discrete laplace": (DiscreteLaplace, "scale"),
    "staircase": (lambda noise: Staircase(1 / noise), "epsilon"),
    "skellam": (lambda variance: Skellam(variance, 1.0, 1), "variance"),
}


@pytest.mark.parametrize("name", MAKES)
def test_and_back(name: str) -> None:
    """The most noise: so close with it, and farther with a little more."""
    make, key = MAKES[name]
    found = noise_within(make, 5.0, 0.95)
    assert found.distance <= 5.0
    assert accuracy(found.mechanism, 0.95).distance <= 5.0 + 1e-12
    size = getattr(found.mechanism, key)
    assert accuracy(make((1 / size if name == "staircase" else size) * (1 + 1e-9)), 0.95).distance > 5.0


def test_wide_noise_on_a_grid_is_nearly_the_gaussian() -> None:
    wide = accuracy(DiscreteGaussian(5000.0), 0.95)
    assert wide.beyond <= accuracy(Gaussian(5000.0), 0.95).distance <= wide.distance <= wide.beyond + 2


def test_several_numbers_are_all_so_close() -> None:
    """Of ten with noise of their own: the tenth root of the confidence for each."""
    ten = accuracy(Laplace(2.0), 0.95, numbers=10)
    assert ten.distance == pytest.approx(accuracy(Laplace(2.0), 0.95**0.1).distance, rel=1e-9)
    assert "all 10 released numbers" in str(ten)


def test_units_are_the_clip_norm_s() -> None:
    assert accuracy(Gaussian(2.0), clip_norm=10.0).distance == pytest.approx(10 * accuracy(Gaussian(2.0)).distance)
    found = noise_within(Laplace, 5.0, clip_norm=10.0)
    assert epsilon(found.mechanism, 0).upper == pytest.approx(10 * math.log(20) / 5)


@pytest.mark.parametrize(
    ("ask", "named"),
    [
        (lambda: accuracy(PureDp(1.0)), "mechanism"),
        (lambda: accuracy(Poisson(Gaussian(1.0), 0.1)), "mechanism"),
        (lambda: accuracy(Gaussian(1.0), 1.0), "confidence"),
        (lambda: accuracy(Gaussian(1.0), numbers=0), "numbers"),
        (lambda: accuracy(Gaussian(1.0), numbers=10**40), "fewer numbers"),
        (lambda: accuracy(DiscreteGaussian(1.0), numbers=10**40), "fewer numbers"),
        (lambda: accuracy(DiscreteLaplace(1.0), clip_norm=2.0), "clip_norm"),
        (lambda: noise_within(Laplace, -1.0), "distance"),
        (lambda: noise_within(lambda size: TruncatedLaplace(size, 3.0), 5.0), "smaller distance"),
    ],
)
def test_bad_input(ask: Callable[[], Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        ask()
