"""Zero-out in cohorts of a fixed size, Gaussian noise: many rounds, and what the accountants make of the pairs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cases import few
from numpy.typing import NDArray

from dpcert.accounting import delta, epsilon
from dpcert.accounting.bracket import EmptyBracket
from dpcert.accounting.currencies import gdp
from dpcert.accounting.losses import closed_form
from dpcert.accounting.losses.atoms import pld
from dpcert.accounting.losses.atoms import zeroed_cells as pld_zeroed
from dpcert.accounting.losses.atoms.cells import Atoms
from dpcert.accounting.losses.atoms.edges import Resolution
from dpcert.accounting.losses.atoms.steps import steps
from dpcert.accounting.losses.atoms.transform import AtomLaw
from dpcert.accounting.losses.closed_form import profile
from dpcert.accounting.losses.smooth import contour
from dpcert.accounting.pairs import GaussianPair, OpposedPair, Pair, SubsampledPair, ZeroedPair
from dpcert.accounting.participation import revealed
from dpcert.accounting.pricing.dominating import dominating
from dpcert.accounting.renyi import renyi as rdp
from dpcert.mechanisms import FixedSize, Gaussian, Laplace, Poisson, Repeat, Sequence

Vector = NDArray[np.float64]


def losses(pair: Pair, points: int) -> tuple[Vector, Vector, Vector]:
    """Values of the loss with their masses under P and Q: midpoints, by the densities themselves."""
    assert isinstance(pair, OpposedPair | ZeroedPair)
    s, rate = pair.shift, pair.rate
    edges = np.linspace(-9 - s, 9 + s, points + 1)
    x, width = (edges[1:] + edges[:-1]) / 2, edges[1] - edges[0]
    near = {c: np.exp(-0.5 * (x - c) ** 2) * width / math.sqrt(2 * math.pi) for c in (-s, 0.0, s)}
    p, q = (1 - rate) * near[-s] + rate * near[s], (1 - rate) * near[-s] + rate * near[0.0]
    if isinstance(pair, ZeroedPair):
        same_p, same_q = near[s], (1 - rate) * near[s] + rate * near[0.0]
        above, below = p > q, same_p < same_q
        rest = 1 - p[above].sum() - same_p[below].sum()
        p, q = (np.concatenate([a[above], b[below], [rest]]) for a, b in ((p, same_p), (q, same_q)))
    if pair.order == "add":
        p, q = q, p
    return np.log(p / q), p, q


def two_rounds(pair: Pair, eps: float) -> float:
    """delta(eps) of two rounds, as a sum over pairs of outcomes."""
    _, p, q = losses(pair, 1600)
    return float(np.sum(np.maximum(np.outer(p, p) - math.exp(eps) * np.outer(q, q), 0.0)))


@pytest.mark.parametrize("order", few(["remove", "add"], 4))
@pytest.mark.parametrize("kind", [OpposedPair, ZeroedPair])
def test_two_rounds_against_sums_over_pairs_of_outcomes(kind: type[OpposedPair | ZeroedPair], order: str) -> None:
    pair = kind(0.8, 0.35, order)  # type: ignore[arg-type]
    for eps in (0.05, 0.4, 1.2):
        found = pld.delta(((pair, 2),), eps)
        assert found.width <= 1e-5 * found.upper + 1e-30  # the last is 0: no loss is so large
        assert found.lower == pytest.approx(two_rounds(pair, eps), rel=2e-4, abs=2e-6)


def hockey_stick(atoms: Atoms, eps: float) -> float:
    return atoms.infinite + float(np.sum(atoms.mass * np.maximum(-np.expm1(eps - atoms.loss), 0.0)))


@pytest.mark.parametrize("order", ["remove", "add"])
@pytest.mark.parametrize("kind", [OpposedPair, ZeroedPair])
@pytest.mark.parametrize(("s", "rate"), [(0.01, 0.4), (0.5, 1e-4), (1.0, 0.2), (4.0, 0.95)])
def test_the_exact_profile_is_between_the_two_laws(
    kind: type[OpposedPair | ZeroedPair], order: str, s: float, rate: float
) -> None:
    """At negative eps too, by the reversal formula: domination is for every threshold."""
    pair = kind(s, rate, order)  # type: ignore[arg-type]
    back = kind(s, rate, "add" if order == "remove" else "remove")
    (step,) = steps(((pair, 1),), Resolution(60, 2.0, 1e-18))
    assert isinstance(step.upper, AtomLaw)
    assert isinstance(step.lower, AtomLaw)
    scale = s + 0.5 * s * s
    for eps in (0.0, 1e-3 * rate * scale, 0.1 * rate * scale, 0.5 * rate * scale, 0.7 * scale, 2 * scale):
        exact = float(profile(pair, 1, eps).mid())
        reverse = -math.expm1(-eps) + math.exp(-eps) * float(profile(back, 1, eps).mid())
        for at, value in ((eps, exact), (-eps, reverse)):
            assert hockey_stick(step.lower.atoms, at) <= value * (1 + 1e-12) + 1e-300
            assert value * (1 - 1e-12) <= hockey_stick(step.upper.atoms, at)


def planted_bug_shows(monkeypatch: pytest.MonkeyPatch, name: str, broken: object) -> bool:
    """Whether some bracket of one round, cut coarsely, excludes the formula's value."""
    monkeypatch.setattr(pld.LatticeLayout, "stages", lambda layout: [(64, 1e-5)])
    monkeypatch.setattr(pld_zeroed, name, broken)
    for pair in (OpposedPair(1.0, 0.3, "remove"), ZeroedPair(1.0, 0.3, "remove"), ZeroedPair(0.5, 0.6, "add")):
        for eps in (0.02, 0.2, 0.6):
            exact = closed_form.delta(((pair, 1),), eps)
            try:
                found = pld.delta(((pair, 1),), eps)
            except EmptyBracket:
                return True
            if found.upper < exact.lower or found.lower > exact.upper:
                return True
    return False


def test_planted_bugs_in_the_cells_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    losses_of = pld_zeroed._losses
    assert not planted_bug_shows(monkeypatch, "_losses", losses_of)

    def at_left_edges(s: float, rate: float, edges: Vector) -> tuple[Vector, Vector]:
        low, _ = losses_of(s, rate, edges)
        return low, low + 1e-9

    assert planted_bug_shows(monkeypatch, "_losses", at_left_edges)
    monkeypatch.undo()

    shifted = pld_zeroed.gaussian_masses

    def rest_is_forgotten(edges: Vector, centre: float) -> tuple[Vector, Vector]:
        mass, error = shifted(edges, centre)
        return (0.9 * mass, error) if mass.size == 1 else (mass, error)

    monkeypatch.setattr(pld_zeroed, "gaussian_masses", rest_is_forgotten)
    pair = ZeroedPair(0.8, 0.35, "remove")
    assert pld.delta(((pair, 2),), 0.4).upper < 0.99 * two_rounds(pair, 0.4)


# What is built on it.

RUN = Repeat(FixedSize(Gaussian(8.0), 515, 100), 1000)


def test_the_run_s_pairs_are_the_proved_ones() -> None:
    found = dominating(FixedSize(Gaussian(8.0), 400, 100), "zero-out")
    coin = {order: SubsampledPair(GaussianPair(0.125), 0.25, order) for order in ("remove", "add")}  # type: ignore[arg-type]
    assert set(found.upper) == {((ZeroedPair(0.125, 0.25, order), 1),) for order in ("remove", "add")}  # type: ignore[arg-type]
    opposed_pair = OpposedPair(0.125, 0.25, "remove")
    assert set(found.lower) == {((pair, 1),) for pair in (*coin.values(), opposed_pair)}
    other = dominating(FixedSize(Laplace(8.0), 400, 100), "zero-out")
    assert all(
        isinstance(pair, SubsampledPair) and pair.order == "hybrid" for product in other.upper for pair, _ in product
    )


def test_a_step_without_opposed_others_keeps_the_direction() -> None:
    """Beside the opposed pair, in which P has the unit, a Poisson step must be "remove", where P has it too."""
    steps_ = (Poisson(Laplace(2.0), 0.5), FixedSize(Gaussian(8.0), 400, 100))
    for run in (Sequence(steps_), Sequence(steps_[::-1])):
        for product in dominating(run, "zero-out").lower:
            orders = {pair.order for pair, _ in product if isinstance(pair, SubsampledPair | OpposedPair)}
            assert len(orders) == 1


def test_the_interval_is_narrow_and_inside_the_old_one() -> None:
    found = epsilon(RUN, 1e-5, "zero-out")
    rate = 100 / 515
    old_upper = contour.epsilon(((SubsampledPair(GaussianPair(0.25), rate, "hybrid"), 1000),), 1e-5).upper
    old_lower = contour.epsilon(((SubsampledPair(GaussianPair(0.125), rate, "remove"), 1000),), 1e-5).lower
    assert found.certified
    assert old_lower < found.lower < found.upper < old_upper
    assert old_upper > 2.4 * old_lower
    assert found.upper < 1.064 * found.lower


def test_one_round_is_tight() -> None:
    run = FixedSize(Gaussian(0.9), 30, 10)
    for eps in (0.01, 0.3, 1.5):
        found = delta(run, eps, "zero-out")
        assert found.width <= 1e-12 * found.upper


def test_zero_out_costs_no_more_than_replace_one() -> None:
    for run in (Repeat(FixedSize(Gaussian(3.0), 200, 20), 50), Repeat(FixedSize(Gaussian(0.5), 40, 20), 3)):
        assert epsilon(run, 1e-6, "zero-out").upper < epsilon(run, 1e-6, "replace-one").lower


@pytest.mark.parametrize("order", ["remove", "add"])
@pytest.mark.parametrize("kind", [OpposedPair, ZeroedPair])
@pytest.mark.parametrize(("s", "rate"), [(0.1, 0.5), (1.2, 0.03), (1.2, 0.8)])
def test_other_accountants_never_promise_less(
    kind: type[OpposedPair | ZeroedPair], order: str, s: float, rate: float
) -> None:
    """Renyi moments and the revealed coin, against sums over the law of one round; the CLT's variance likewise."""
    pair = kind(s, rate, order)  # type: ignore[arg-type]
    loss, p, q = losses(pair, 20000)
    for alpha in (1.5, 2.0, 7.0):
        renyi = math.log(float(np.sum(q * np.exp(alpha * loss)))) / (alpha - 1)
        assert renyi <= rdp.divergence(pair, alpha) < math.inf
    for eps in (0.05, 0.5):
        exact = float(np.sum(np.maximum(p - math.exp(eps) * q, 0.0)))
        assert exact <= revealed.delta(((pair, 1),), eps).upper + 1e-9
    moments = gdp.loss_moments(pair)
    mean = float(np.sum(p * loss))
    assert moments.mean == pytest.approx(mean, rel=1e-4)
    assert moments.variance == pytest.approx(float(np.sum(p * (loss - mean) ** 2)), rel=1e-4)


@pytest.mark.parametrize("kind", [OpposedPair, ZeroedPair])
def test_the_limit_s_variance_is_that_of_small_rates(kind: type[OpposedPair | ZeroedPair]) -> None:
    pair = kind(0.7, 1e-6, "remove")
    loss, p, _ = losses(pair, 20000)
    assert gdp.clt_mu(((pair, 1),)) ** 2 == pytest.approx(float(np.sum(p * loss**2)), rel=1e-4)
