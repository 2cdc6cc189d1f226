"""Planted bugs of the PLD accountant: each must show as a bracket that excludes the truth, or as an empty one.

The first is the known defect of another accountant: rounding of the transforms unaccounted, at small delta.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from cases import few

from dpcert.accounting.bracket import Bracket, EmptyBracket
from dpcert.accounting.losses import closed_form, line
from dpcert.accounting.losses import gaussian_rounds as gaussian
from dpcert.accounting.losses.atoms import composed_profile as pld_profile
from dpcert.accounting.losses.atoms import laws as pld_laws
from dpcert.accounting.losses.atoms import pld
from dpcert.accounting.losses.atoms import steps as pld_steps
from dpcert.accounting.losses.atoms import transform as pld_transform
from dpcert.accounting.losses.atoms.cells import Atoms, Cells, optimistic, pessimistic
from dpcert.accounting.losses.atoms.linear_payoff import LinearPayoff
from dpcert.accounting.losses.atoms.moment_table import MomentTable
from dpcert.accounting.losses.atoms.pld import LatticeLayout
from dpcert.accounting.losses.atoms.transform import AtomLaw, Frequencies
from dpcert.accounting.losses.line import Inversion, Plan, Sum
from dpcert.accounting.pairs import Composition, DiscreteGaussianPair, GaussianPair, LaplacePair, SubsampledPair
from dpcert.accounting.rounding import UNIT
from dpcert.mechanisms.arrays import Complex

SINGLE: list[Composition] = [
    ((SubsampledPair(GaussianPair(1.0), 0.2, "remove"), 1),),
    ((SubsampledPair(GaussianPair(0.5), 0.6, "add"), 1),),
    ((SubsampledPair(GaussianPair(1.5), 0.3, "hybrid"), 1),),
    ((SubsampledPair(LaplacePair(2.0), 0.4, "remove"), 1),),
    ((DiscreteGaussianPair(2.0, 1), 1),),
]
"""One round each, so that the closed forms are an independent reference."""


def excludes(compute: Callable[[], Bracket], truth: Bracket) -> bool:
    """Whether the accountant's answer excludes the true one, or is no interval at all."""
    try:
        found = compute()
    except EmptyBracket:
        return True
    return found.upper < truth.lower or found.lower > truth.upper


def contradicted(composition: Composition, epsilon: float) -> bool:
    """Whether the accountant's delta at epsilon is wrong."""
    return excludes(lambda: pld.delta(composition, epsilon), closed_form.delta(composition, epsilon))


def exposed() -> int:
    """In how many settings the truth is excluded."""
    return sum(contradicted(composition, epsilon) for composition in SINGLE for epsilon in (0.02, 0.3, 0.9))


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """One small level, so that each error is as large as it gets."""
    _one_stage(monkeypatch, 64, 1e-3)


def _one_stage(patch: pytest.MonkeyPatch, cells: int, tolerance: float) -> None:
    patch.setattr(LatticeLayout, "stages", lambda layout: [(cells, tolerance)])


@pytest.mark.usefixtures("coarse")
def test_nothing_is_exposed_without_a_bug() -> None:
    assert exposed() == 0


@pytest.mark.usefixtures("coarse")
def test_swapped_pessimism(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pld_laws, "pessimistic", optimistic)
    monkeypatch.setattr(pld_laws, "optimistic", pessimistic)
    assert exposed() >= 4


def _without_stray(discrete: Callable[[Cells], Atoms]) -> Callable[[Cells], Atoms]:
    return lambda cells: discrete(replace(cells, stray=0.0))


@pytest.mark.parametrize("trimmed", [1e-3, 1.0])
@pytest.mark.parametrize("dropped", [True, False])
def test_dropped_truncation_mass(monkeypatch: pytest.MonkeyPatch, dropped: bool, trimmed: float) -> None:
    """Tails of 1e-3 cut off: harmless while their mass is counted, an under-report once it is dropped.

    trimmed: the share of it that large losses may lose, as it is or all.
    """
    monkeypatch.setattr(pld_laws, "_TRIMMED", trimmed)
    _one_stage(monkeypatch, 1 << 12, 1e-5)
    monkeypatch.setattr(pld, "lost_tail", lambda composition, delta, rtol: 1e-3)
    if dropped:
        monkeypatch.setattr(pld_laws, "pessimistic", _without_stray(pessimistic))
    found = sum(
        excludes(partial(pld.epsilon, composition, delta), closed_form.epsilon(composition, delta))
        for composition in SINGLE
        if "Laplace" not in str(composition)
        for delta in (4e-3, 1e-2)
    )
    assert (found >= 3) if dropped else (found == 0)


@pytest.mark.usefixtures("coarse")
def test_the_majorant_of_the_payoff_for_lower_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The smoothed payoff is above the payoff at its kink: at an atom, a lower bound made of it is too high."""
    right = line.summed
    monkeypatch.setattr(line, "summed", lambda at, c, found, square, upper: right(at, c, found, square, True))
    monkeypatch.setattr(pld_laws, "optimistic", pessimistic)
    atomic: Composition = ((DiscreteGaussianPair(2.0, 1), 1),)
    atoms = [(2 * x - 1) / 8 for x in range(2, 9)]
    assert sum(contradicted(atomic, atom) for atom in atoms) >= 4


@pytest.mark.usefixtures("coarse")
def test_aliases_not_subtracted(monkeypatch: pytest.MonkeyPatch) -> None:
    def short(part: object, plan: Plan, accuracy: float, square: float) -> Plan:
        return replace(plan, period=8 / plan.c)

    monkeypatch.setattr(pld_profile, "_refined", short)
    assert exposed() == 0, "short periods alone only widen"
    monkeypatch.setattr(Inversion, "_log_aliases", lambda self, epsilon: -math.inf)
    assert exposed() >= 5


def _perturbed(law: AtomLaw, c: float, grid: Frequencies) -> tuple[Complex, np.ndarray]:
    """A transform with errors of a few units in the last place, of either sign, all inside the stated bound."""
    value, error = ORIGINAL(law, c, grid)
    rng = np.random.default_rng(5)
    noise = 30 * UNIT * rng.choice([-1.0, 1.0], value.size)
    return value + np.where(np.abs(noise) <= error, noise, 0.0), error


ORIGINAL = AtomLaw.normalised


@pytest.mark.parametrize("ignored", few([True, False], 4))
def test_rounding_ignored_at_small_delta(monkeypatch: pytest.MonkeyPatch, ignored: bool) -> None:
    """With hardly a tilt errors exceed delta: reported, the bracket is wide; ignored (planted), it is wrong.

    A rate so near 1 that the composed pair is the Gaussian one to 12 digits, but goes through the transforms.
    """
    right = MomentTable.plan

    def hardly_tilted(moments: MomentTable, *given: object) -> Plan:
        plan = right(moments, *given)  # type: ignore[arg-type]
        return replace(plan, c=0.5, sides=(0.25, 1.0))

    monkeypatch.setattr(MomentTable, "plan", hardly_tilted)
    monkeypatch.setattr(pld_transform.AtomLaw, "normalised", _perturbed)
    _one_stage(monkeypatch, 1 << 14, 1e-4)
    if ignored:
        honest = Sum.at
        monkeypatch.setattr(Sum, "at", lambda self, *given: (*honest(self, *given)[:2], 0.0))
    wrong = 0
    for shift, rounds in ((0.02, 4000), (0.01, 16_000)):
        composition: Composition = ((SubsampledPair(GaussianPair(shift), 1 - 1e-15, "remove"), rounds),)
        plain: Composition = ((GaussianPair(shift), rounds),)
        for delta in (1e-12, 1e-13, 1e-14):
            epsilon = gaussian.epsilon(plain, delta).upper
            exact = gaussian.delta(plain, epsilon)
            wide = Bracket(exact.lower * (1 - 1e-9), exact.upper * (1 + 1e-9), True, "gaussian")
            wrong += excludes(partial(pld.delta, composition, epsilon), wide)
    assert (wrong >= 3) if ignored else (wrong == 0)


def test_parameters_rounded_the_wrong_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed-form law is as narrow as its parameters' rounding, so its direction shows against the exact formula."""
    monkeypatch.setattr(pld_steps, "dominating_parameters", lambda pair: replace(pair, shift=pair.shift * (1 - 1e-4)))
    composition: Composition = ((GaussianPair(1.0), 4),)
    assert excludes(lambda: pld.delta(composition, 5.0), gaussian.delta(composition, 5.0))


RARE: Composition = ((SubsampledPair(GaussianPair(2.0), 1e-3, "remove"), 1),)


@pytest.mark.parametrize("plant", [None, "forgotten", "in full"])
def test_far_losses(monkeypatch: pytest.MonkeyPatch, plant: str | None) -> None:
    """Outcomes with a loss far above eps are in no sum: forgotten, upper ends are too low; without what Q has of them,
    lower ends are too high."""
    if plant == "forgotten":
        monkeypatch.setattr(LinearPayoff, "upper", lambda self, epsilon: 0.0)
    if plant == "in full":
        monkeypatch.setattr(LinearPayoff, "lower", lambda self, epsilon: self.apart)
    layout = LatticeLayout(RARE, 1e-20, 1e-6, pld.COARSE_BLOCK)
    wrong = 0
    for epsilon in (0.8, 1.0, 1.2):
        truth = closed_form.delta(RARE, epsilon)
        found = layout.profile((epsilon, epsilon), math.log(truth.upper), 5.0, 4096, 1e-5, 1 << 18)
        low, high, _ = found.log_delta(epsilon)
        wrong += math.exp(high) < truth.lower or math.exp(low) > truth.upper
    assert wrong == (0 if plant is None else 3)
