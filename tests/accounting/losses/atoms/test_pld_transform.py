"""Transforms and the inversion: stated error bounds against 40-digit values, and the payoff from above and below."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from cases import few

from dpcert.accounting.losses.atoms.cells import Atoms
from dpcert.accounting.losses.atoms.composition import Product
from dpcert.accounting.losses.atoms.laws import VisibleLaw
from dpcert.accounting.losses.atoms.transform import AtomLaw, Frequencies, Law, log_moment
from dpcert.accounting.losses.line import Plan, invert, summed
from dpcert.accounting.pairs.gaussian import GaussianLaw
from dpcert.accounting.pairs.laplace import LaplaceLaw
from dpcert.accounting.rounding import End

SEED = 20261122


def random_atoms(count: int) -> AtomLaw:
    rng = np.random.default_rng(SEED + count)
    mass = rng.dirichlet(np.full(count, 0.3))
    return AtomLaw(Atoms(rng.normal(0.05, 0.4, count), mass, 0.0))


def exact_transform(law: Law, t: mp.mpc) -> mp.mpc:
    if isinstance(law, AtomLaw):
        pairs = zip(law.atoms.mass, law.atoms.loss, strict=True)
        return mp.fsum(mp.mpf(float(m)) * mp.exp(t * mp.mpf(float(x))) for m, x in pairs)
    if isinstance(law, GaussianLaw):
        return mp.exp(mp.mpf(law.shift) ** 2 * t * (t + 1) / 2)
    if isinstance(law, LaplaceLaw):
        s = mp.mpf(law.shift)
        middle = mp.quad(lambda x: mp.exp(t * (2 * x - s) + x - s) / 2, mp.linspace(0, s, 30))
        return mp.exp(t * s) / 2 + mp.exp(-(1 + t) * s) / 2 + middle
    assert isinstance(law, VisibleLaw)
    return 1 - mp.mpf(law.rate) + mp.mpf(law.rate) * exact_transform(law.base, t)


def test_an_atom_without_mass_changes_nothing() -> None:
    """It once made the stated error no number: samples of several stated bounds had no answer at large deltas."""
    law = random_atoms(5)
    more = AtomLaw(Atoms(np.append(law.atoms.loss, 0.3), np.append(law.atoms.mass, 0.0), 0.0))
    grid = Frequencies.covering(5.0, 256)
    for found, expected in zip(more.normalised(0.7, grid), law.normalised(0.7, grid), strict=True):
        assert np.allclose(found, expected, rtol=1e-12, atol=1e-15)


LAWS = [
    random_atoms(5),
    random_atoms(300),
    GaussianLaw(0.7),
    LaplaceLaw(1.3),
    VisibleLaw(LaplaceLaw(0.4), 0.05),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
@pytest.mark.parametrize("c", few([0.3, 20.0], 4))
def test_transforms_are_within_their_stated_errors(law: Law, c: float) -> None:
    grid = Frequencies.covering(5.0, 256)
    value, error = law.normalised(c, grid)
    error = np.broadcast_to(error, value.shape)
    assert float(np.max(error[:129])) < 1e-12, "half of the frequencies; the last ones count for less"
    assert float(np.max(error)) < 1e-8
    with mp.workdps(40):
        scale = mp.exp(mp.mpf(log_moment(law, c)))
        for k in (0, 1, 7, 100, 255, 256):
            exact = exact_transform(law, mp.mpc(c, 2 * mp.pi * k / mp.mpf(grid.period))) / scale
            computed = mp.mpc(float(value[k].real), float(value[k].imag))
            assert abs(exact - computed) <= error[k], (k, abs(exact - computed), error[k])


@pytest.mark.parametrize("sigma", [0.01, 0.1, 2.0])
def test_the_smoothed_payoffs_bracket_the_payoff(sigma: float) -> None:
    """One atom: the profile is the payoff itself, at kinks and away from them; at a kink the smoothed one is .4 sigma
    above it."""
    rng = np.random.default_rng(SEED)
    plan = Plan(3.0, (0.0, 9.0), 14.0, 1.0, -1.0, 0.0)
    places = np.concatenate([[1.0], rng.uniform(0.2, 4, 20), 1 + sigma * rng.uniform(-3, 3, 60)])
    for place in places:
        measure = Product([(AtomLaw(Atoms(np.array([place]), np.ones(1), 0.0)), 1)])
        exact = max(0.0, -math.expm1(1.0 - place))
        found = invert(measure, measure, plan, 25.0, sigma**2, 1 << 15)
        low, high = (math.exp(log) for log in found.log_delta(1.0)[:2])
        assert low <= exact <= high
        if sigma > 1.0:
            continue
        assert high - low <= 0.45 * sigma + 1e-8
        if abs(place - 1.0) > 8.0 * sigma:
            assert high - low <= 1e-8


def test_few_frequencies_are_wide_not_wrong() -> None:
    measure = Product([(AtomLaw(Atoms(np.array([1.3]), np.ones(1), 0.0)), 1)])
    for count in (5, 20, 60):
        plan = Plan(3.0, (0.0, 9.0), 14.0, 1.0, -1.0, 0.0)
        line = measure.on(3.0)
        above = summed(line, 3.0, line.transform(plan.period, count), 1e-4, End.UPPER)
        angle = np.asarray(line.transform(plan.period, count).s)
        base, value, error = above.at(3.0, np.ones(1), np.cos(angle)[None], np.sin(angle)[None])
        assert math.exp(base[0]) * (value[0] + error[0]) >= -math.expm1(-0.3)


def test_grid_steps_have_few_bits() -> None:
    for period in (1e-7, 0.3, 12345.678):
        grid = Frequencies.covering(period, 1 << 13)
        assert period <= grid.period <= period * (1 + 1e-5)
        assert (grid.step * 2**20 / 2.0 ** math.frexp(grid.step)[1]).is_integer()


def test_atoms_on_the_grid_have_no_moves_to_sum() -> None:
    """The moves' moments are all 0 then, which once divided 0 by 0."""
    grid = Frequencies.covering(8.0, 1 << 10)
    places = grid.step * np.arange(100.0)
    law = AtomLaw(Atoms(places, np.full(100, 0.01), 0.0))
    value, error = law.normalised(1.0, grid)
    weights = np.exp(places) / np.sum(np.exp(places))
    for k in (0, 1, 300, 1024):
        exact = np.sum(weights * np.exp(1j * grid.omega[k] * places))
        assert abs(value[k] - exact) <= error[k] + 1e-14
