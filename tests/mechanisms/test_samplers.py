"""Exact samplers: goodness of fit on seeded bits, and proof that a scale 5% off is rejected.

Each chi-square test is at level 1e-6 on fixed seeds (so it never flakes); the same test must reject the
same sampler run with its scale multiplied by 1.05.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from cases import few
from scipy import stats

from dpcert.mechanisms import InputError
from dpcert.mechanisms.randomness import SecureSource, SeededTestSource
from dpcert.mechanisms.samplers import GridGaussian, discrete_gaussian, discrete_laplace

LEVEL = 1e-6
SAMPLES = 30_000


def _pmf(kind: str, scale: float, support: np.ndarray) -> np.ndarray:
    exponent = np.abs(support) / scale if kind == "laplace" else support**2 / (2 * scale**2)
    weights = np.exp(-exponent)
    return weights / weights.sum()


def _p_value(samples: np.ndarray, kind: str, scale: float) -> float:
    """Chi-square of the samples against the stated law, cells of at least 50 expected counts."""
    support = np.arange(-int(40 * scale) - 40, int(40 * scale) + 41)
    probabilities = _pmf(kind, scale, support)
    edges, total = [], 0.0
    for value, probability in zip(support, probabilities, strict=True):
        total += probability * len(samples)
        if total >= 50:
            edges.append(value)
            total = 0.0
    cell = np.searchsorted(edges[:-1], support)
    expected = np.bincount(cell, probabilities * len(samples))
    observed = np.bincount(np.searchsorted(edges[:-1], samples), minlength=len(expected))
    return float(stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue)


SAMPLERS = {"laplace": discrete_laplace, "gaussian": discrete_gaussian}


@pytest.mark.parametrize("kind", SAMPLERS)
@pytest.mark.parametrize("scale", few([2.3, 0.5, 7.75], 6))
def test_fits_its_law_and_not_one_five_percent_off(kind, scale):
    source = SeededTestSource(20261121)
    samples = np.array([SAMPLERS[kind](scale, source) for _ in range(SAMPLES)])
    assert _p_value(samples, kind, scale) > LEVEL
    if scale > 1:  # Below 1, 5% more scale moves the law too little for this many samples.
        wrong = np.array([SAMPLERS[kind](1.05 * scale, source) for _ in range(SAMPLES)])
        assert _p_value(wrong, kind, scale) < LEVEL


def _normal_p_value(standardised: np.ndarray) -> float:
    """Twice the smaller of two p-values: Kolmogorov-Smirnov for the shape, chi-square of the scale."""
    shape = stats.kstest(standardised, "norm").pvalue
    tail = stats.chi2.cdf(float(standardised @ standardised), len(standardised))
    return float(2 * min(shape, 2 * min(tail, 1 - tail)))


def test_grid_gaussian_fits_and_rejects_five_percent():
    """Against the continuous law that the fine grid stands for, level 1e-6."""
    right, wrong = (GridGaussian(3.0 * factor, source=SeededTestSource(7)) for factor in (1.0, 1.05))
    assert _normal_p_value(np.array([right.release(0.1) - 0.1 for _ in range(SAMPLES)]) / 3.0) > LEVEL
    assert _normal_p_value(np.array([wrong.release(0.1) - 0.1 for _ in range(SAMPLES)]) / 3.0) < LEVEL


def test_low_order_bits_do_not_depend_on_the_value():
    """Every output is a whole number of grid steps; textbook float noise is not, and depends on the value."""
    mechanism = GridGaussian(1.0, source=SeededTestSource(3))
    for value in (0.0, 0.1, 1 / 3, 1e6 + 0.7):
        steps = mechanism.release(value) / mechanism.grid
        assert steps == int(steps)
    textbook = 1 / 3 + np.random.default_rng(0).standard_normal(100)
    assert any(step != int(step) for step in textbook / mechanism.grid)


def test_a_fraction_is_exact():
    source = SeededTestSource(1)
    assert {discrete_laplace(Fraction(1, 10**30), source) for _ in range(100)} == {0}


def test_the_default_is_the_secure_source():
    assert isinstance(discrete_gaussian(2.0), int)
    assert len({SecureSource().below(10**30) for _ in range(20)}) == 20


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("inf"), Fraction(0), "1"])
def test_bad_scales_are_named(bad):
    with pytest.raises(InputError, match="sigma"):
        discrete_gaussian(bad)
    with pytest.raises(InputError, match="scale"):
        discrete_laplace(bad)


def test_bad_grids_are_named():
    with pytest.raises(InputError, match="resolution_bits"):
        GridGaussian(1.0, 0)
    with pytest.raises(InputError, match="sigma"):
        GridGaussian(5e-324)
    with pytest.raises(InputError, match="value"):
        GridGaussian(1.0).release(float("nan"))
