"""The two discrete laws of a step: masses, sampling orders, and domination at every threshold."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from flint import arb, ctx

from dpcert.accounting.losses.atoms.cells import Atoms, optimistic, pessimistic
from dpcert.accounting.losses.atoms.discrete_cells import lattice_cells
from dpcert.accounting.losses.atoms.edges import Resolution
from dpcert.accounting.losses.atoms.steps import steps
from dpcert.accounting.losses.atoms.transform import AtomLaw
from dpcert.accounting.losses.closed_form import profile
from dpcert.accounting.pairs import (
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    GaussianPair,
    LaplacePair,
    Pair,
    Sampling,
    SubsampledPair,
)
from dpcert.accounting.pairs.gaussian import gaussian_masses

SEED = 20261121


def normal_mass(a: float, b: float, centre: float) -> arb:
    with ctx.workprec(4000):
        root = arb(2).sqrt()
        return (((arb(b) - arb(centre)) / root).erf() - ((arb(a) - arb(centre)) / root).erf()) / 2


@pytest.mark.parametrize("centre", [0.0, 1.0, -0.37])
def test_gaussian_masses_are_within_their_stated_error(centre: float) -> None:
    rng = np.random.default_rng(SEED)
    for width in (1e-6, 1e-3, 0.1, 0.6, 3.0):
        starts = rng.uniform(-30, 30, 40)
        for start in starts:
            edges = np.array([start, start + width])
            (mass,), (error,) = gaussian_masses(edges, centre)
            exact = normal_mass(edges[0], edges[1], centre)
            with ctx.workprec(4000):
                assert abs(arb(mass) - exact) <= arb(error) * exact, (edges, centre)


def hockey_stick(atoms: Atoms, epsilon: float) -> float:
    return atoms.infinite + float(np.sum(atoms.mass * np.maximum(-np.expm1(epsilon - atoms.loss), 0.0)))


def laws(pair: Pair, cells: int) -> tuple[Atoms, Atoms]:
    (step,) = steps(((pair, 1),), Resolution(cells, 2.0, 1e-18))
    assert isinstance(step.upper, AtomLaw)
    assert isinstance(step.lower, AtomLaw)
    return step.upper.atoms, step.lower.atoms


@pytest.mark.parametrize("order", ["remove", "add", "hybrid", "replace"])
@pytest.mark.parametrize("base", [GaussianPair(1.0), GaussianPair(0.05), GaussianPair(6.0), LaplacePair(1.5)])
@pytest.mark.parametrize("rate", [1e-5, 0.2, 0.95])
def test_the_exact_profile_is_between_the_two_laws_at_every_threshold(order: Sampling, base: Pair, rate: float) -> None:
    """And at negative eps too, by the reversal formula: domination is for every threshold."""
    if order == "replace" and isinstance(base, LaplacePair):
        pytest.skip("no closed form")
    pair = SubsampledPair(base, rate, order)
    other = SubsampledPair(base, rate, {"remove": "add", "add": "remove"}.get(order, order))  # type: ignore[arg-type]
    pessimist, optimist = laws(pair, 60)
    scale = base.shift + 0.5 * base.shift**2
    for epsilon in (0.0, 1e-3 * rate, 0.1 * rate * scale, 0.5 * scale, scale, 2 * scale):
        exact = float(profile(pair, 1, epsilon).mid())
        assert hockey_stick(optimist, epsilon) <= exact * (1 + 1e-12) <= hockey_stick(pessimist, epsilon) * (1 + 2e-12)
        reverse = -math.expm1(-epsilon) + math.exp(-epsilon) * float(profile(other, 1, epsilon).mid())
        assert hockey_stick(optimist, -epsilon) <= reverse * (1 + 1e-12)
        assert reverse <= hockey_stick(pessimist, -epsilon) * (1 + 1e-12)


def test_both_errors_are_of_second_order() -> None:
    pair = SubsampledPair(GaussianPair(1.0), 0.2, "remove")
    gaps = []
    for cells in (100, 200, 400):
        pessimist, optimist = laws(pair, cells)
        second = [float(np.sum(a.mass * a.loss**2)) for a in (pessimist, optimist)]
        gaps.append(second[0] - second[1])
    assert gaps[0] / gaps[1] == pytest.approx(4, rel=0.3)
    assert gaps[1] / gaps[2] == pytest.approx(4, rel=0.3)


@pytest.mark.parametrize("rate", [0.05, 0.6])
def test_hybrid_is_symmetric_and_has_mass_one(rate: float) -> None:
    for atoms in laws(SubsampledPair(GaussianPair(0.8), rate, "hybrid"), 400):
        assert float(np.sum(atoms.mass)) == pytest.approx(1, abs=1e-12)
        # under a symmetric pair E_P[e^{-L}] = 1 and the law of -L under Q is that of L under P
        assert float(np.sum(atoms.mass * np.exp(-atoms.loss))) == pytest.approx(1, abs=1e-6)
        for threshold in (0.01, 0.1, 0.3):
            p_above = float(np.sum(atoms.mass[atoms.loss > threshold]))
            q_below = float(np.sum((atoms.mass * np.exp(-atoms.loss))[atoms.loss < -threshold]))
            assert p_above == pytest.approx(q_below, abs=2e-3)


def test_discrete_tables_are_the_definitions() -> None:
    with mp.workdps(40):
        for base, weight in (
            (DiscreteGaussianPair(1.7, 2), lambda x: mp.exp(-(mp.mpf(x) ** 2) / (2 * mp.mpf(1.7) ** 2))),
            (DiscreteLaplacePair(1.7, 2), lambda x: mp.exp(-abs(mp.mpf(x)) / mp.mpf(1.7))),
        ):
            total = mp.fsum(weight(x) for x in range(-200, 201))
            cells = lattice_cells(base, 1e-20)
            points = base.points(1e-20, 0)
            for i, x in enumerate(points):
                ends = isinstance(base, DiscreteLaplacePair) and i in (0, points.size - 1)
                xs = [int(x)] if not ends else range(int(x), 200) if i else range(-200, int(x) + 1)
                p, q = (mp.fsum(weight(y - centre) for y in xs) / total for centre in (2, 0))
                assert abs(cells.p[i] - p) <= cells.error[i] * p
                assert abs(cells.q[i] - q) <= cells.error[i] * q
                assert cells.low[i] <= mp.log(p / q) <= cells.high[i]
            assert abs(1 - float(np.sum(cells.p))) <= cells.stray + 1e-13


def test_no_law_gains_or_loses_more_than_rounding() -> None:
    cells = lattice_cells(DiscreteGaussianPair(3.0, 1), 1e-25)
    for atoms in (pessimistic(cells), optimistic(cells)):
        assert float(np.sum(atoms.mass)) + atoms.infinite == pytest.approx(1, abs=1e-12)
