"""Gaussian differential privacy: limits against published numbers and exact values, the error bar against the truth."""

import math

import mpmath
import numpy as np
import pytest
from scipy.signal import fftconvolve

from dpcert.accounting import epsilon
from dpcert.accounting.accountants import CERTIFIED
from dpcert.accounting.currencies import gdp
from dpcert.accounting.pairs import GaussianPair, LaplacePair, SubsampledPair
from dpcert.accounting.pricing.dominating import dominating
from dpcert.accounting.renyi import renyi as rdp
from dpcert.mechanisms import FixedSize, Gaussian, InputError, Laplace, Poisson, Repeat


def exact_gdp_delta(mu, eps):
    """Dong, Roth, Su 2022, Corollary 2.13, at 50 digits: a small oracle of its own."""
    with mpmath.workdps(50):
        m, e = mpmath.mpf(mu), mpmath.mpf(eps)
        return mpmath.ncdf(-e / m + m / 2) - mpmath.exp(e) * mpmath.ncdf(-e / m - m / 2)


@pytest.mark.parametrize(("mu", "eps"), [(0.1, 0.2), (1.0, 3.0), (5.0, 30.0), (0.01, 0.09)])
def test_exact_profile(mu, eps):
    exact, got = exact_gdp_delta(mu, eps), gdp.gdp_delta(mu, eps)
    assert got.certified
    assert got.lower <= exact <= got.upper
    back = gdp.gdp_epsilon(mu, float(exact))
    assert back.lower == pytest.approx(eps, rel=1e-9)


def test_gaussian_rounds_are_exact_even_here():
    got = epsilon(Repeat(Gaussian(2.0), 4), 1e-5, accountant="gdp-clt")
    assert got.certified
    assert got.upper == pytest.approx(gdp.gdp_epsilon(1.0, 1e-5).upper, rel=1e-12)


def test_sampled_rounds_are_estimates():
    run = Repeat(Poisson(Gaussian(3.0), 0.2), 50)
    got = epsilon(run, 1 / 48_000, accountant="gdp-clt")
    assert not got.certified
    assert math.floor(100 * got.upper) == 183  # printed as 1.83 in an Opacus issue (meta-pytorch/opacus 643)
    assert got.upper == pytest.approx(gdp.gdp_epsilon(gdp.bu_mu(3.0, 0.2, 50), 1 / 48_000).upper, rel=1e-12)


@pytest.mark.parametrize(
    ("noise_multiplier", "rounds", "printed"), [(1.06, 4687, 1.34), (0.638, 16406, 8.68)], ids=["s1.06", "s0.638"]
)
def test_published_figures(noise_multiplier, rounds, printed):
    """Bu, Dong, Long, Su 2020, Figure 4 (MNIST, batches of 256 of 60,000, delta = 1e-5), the noise as rounded there."""
    half_unit = 0.5 * 10.0 ** -len(str(noise_multiplier).split(".")[1])
    less, more = (
        gdp.gdp_epsilon(gdp.bu_mu(noise_multiplier + change, 256 / 60_000, rounds), 1e-5).upper
        for change in (half_unit, -half_unit)
    )
    assert less - 0.005 < printed < more + 0.005


def test_never_part_of_best():
    assert "gdp-clt" not in {accountant.name for accountant in CERTIFIED}
    with pytest.raises(InputError, match="gdp-clt"):
        epsilon(Repeat(Gaussian(1.0), 2), 1e-5, accountant="gdp")


def test_uniform_sampling_uses_dong_et_al():
    run = Repeat(FixedSize(Gaussian(2.0), 100, 10), 30)
    product = dominating(run, "replace-one").upper[0]
    assert gdp.clt_mu(product) == pytest.approx(gdp.dong_mu(1.0, 0.1, 30), rel=1e-12)


@pytest.mark.parametrize("order", ["remove", "add", "replace", "hybrid"])
@pytest.mark.parametrize("shift", [0.1, 0.7, 2.0])
def test_limit_is_the_small_rate_limit_of_the_renyi_divergence(order, shift):
    """D_alpha / rate^2 tends to alpha mu_1^2 / 2 per round: an independent derivation of every mu."""
    rate = 1e-7
    pair = SubsampledPair(GaussianPair(shift), rate, order)
    assert rdp.divergence(pair, 2.0) == pytest.approx(gdp.clt_mu(((pair, 1),)) ** 2, rel=1e-4)


@pytest.mark.parametrize("order", ["remove", "add", "replace", "hybrid"])
def test_loss_moments_against_the_moment_generating_function(order):
    """Central differences of t -> t D_{1+t} at 0 against the first moments."""
    pair = SubsampledPair(GaussianPair(0.8), 0.3, order)
    moments, step = gdp.loss_moments(pair), 1e-3
    first = rdp.divergence(pair, 1 + step)
    second = 2 * rdp.divergence(pair, 1 + 2 * step)
    mean = (4 * first - second) / 2
    variance = (second - 2 * first) / step
    assert moments.mean == pytest.approx(mean, rel=1e-4)
    assert moments.variance == pytest.approx(variance, rel=1e-2)


def truth(pair, rounds, eps):
    """delta(eps) of a few rounds by a fine-grid convolution of the loss, enough to place the error bar."""
    losses, masses = gdp._loss_law(gdp._hidden_noise(pair))
    step = 1e-3
    low = math.floor(losses.min() / step)
    grid = np.zeros(math.ceil(losses.max() / step) - low + 1)
    np.add.at(grid, np.round(losses / step).astype(int) - low, masses)
    total = grid
    for _ in range(rounds - 1):
        total = fftconvolve(total, grid)
    values = (np.arange(len(total)) + rounds * low) * step
    return float(np.sum(total * np.maximum(0.0, -np.expm1(np.minimum(eps - values, 0.0)))))


@pytest.mark.parametrize("order", ["remove", "add", "hybrid"])
@pytest.mark.parametrize("eps", [0.0, 0.3, 1.0])
def test_error_bar_holds_the_truth(order, eps):
    pair = SubsampledPair(GaussianPair(0.5), 0.5, order)
    bar = gdp.error_bar(((pair, 6),), eps)
    assert not bar.certified
    assert bar.lower <= truth(pair, 6, eps) <= bar.upper
    assert bar.width > 0


def test_error_bar_shrinks_with_the_root_of_the_rounds():
    pair = SubsampledPair(GaussianPair(0.5), 0.5, "remove")
    widths = [gdp.error_bar(((pair, rounds),), 1.0 + rounds * 0.01).width for rounds in (100, 10_000)]
    assert widths[1] < widths[0] / 5


def test_overflow_is_infinite_not_an_error():
    run = Repeat(Poisson(Gaussian(0.02), 0.001), 100)
    assert epsilon(run, 1e-5, accountant="gdp-clt").upper == math.inf


def test_what_has_no_limit_is_refused():
    assert not gdp.supports(((LaplacePair(1.0), 1),))
    with pytest.raises(InputError, match="accountant"):
        epsilon(Repeat(Laplace(1.0), 3), 1e-5, accountant="gdp-clt")
