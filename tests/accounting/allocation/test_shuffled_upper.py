"""Shuffled batches from above: no attacker passes the bound, and it is the theorem's."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from cases import few, many
from clone_formula import bound
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm
from shuffled_game import game_in_the_plane, game_value, laplace, three_batches

from dpcert.accounting import delta, epsilon, question
from dpcert.accounting.allocation import shuffled_epoch, shuffled_replaced
from dpcert.accounting.allocation.clones import Clones, clones, groups
from dpcert.accounting.allocation.profile_nodes import heights, law_above, symmetric_nodes
from dpcert.accounting.allocation.shuffled_epoch import FINE, losses_of_epoch
from dpcert.accounting.allocation.shuffled_replaced import _Blocks as Blocks
from dpcert.accounting.losses.atoms.cells import Atoms
from dpcert.accounting.pairs import BoundedLaplacePair, GaussianPair, LaplacePair, Order
from dpcert.accounting.pricing.dominating import dominating
from dpcert.mechanisms import (
    DiscreteLaplace,
    Gaussian,
    InputError,
    Laplace,
    Mechanism,
    Poisson,
    Repeat,
    Sequence,
    Shuffled,
)

QUADRATURE = 2e-4
"""Of a sum over a kink on the game's grid, and of interpolating V, which is convex, by chords."""

GAMES = [(s, gamma, who) for s in (0.5, 1.0, 0.25, 1.5) for who in ("remove", "add", "replace") for gamma in (1.0, 1.6)]


def upper(noise: Mechanism, gamma: float, neighbours: str) -> float:
    """Of two full batches."""
    relation = "replace-one" if neighbours == "replace" else "zero-out"
    return delta(Shuffled(noise, 2, 2), math.log(gamma), relation).upper  # type: ignore[arg-type]


@pytest.mark.parametrize(("shift", "gamma", "neighbours"), few(GAMES, 10))
def test_no_attacker_of_two_batches_passes_the_bound(shift: float, gamma: float, neighbours: str) -> None:
    value, most = game_value(shift, gamma, neighbours), upper(Gaussian(1 / shift), gamma, neighbours)
    assert value <= most + QUADRATURE
    assert value >= 0.8 * most or value < 0.05  # and the game is near enough to see a fault


@pytest.mark.parametrize(("shift", "gamma", "neighbours"), few(GAMES, 12))
def test_no_attacker_of_three_batches_does_who_turns_everybody_round(
    shift: float, gamma: float, neighbours: str
) -> None:
    relation = "replace-one" if neighbours == "replace" else "zero-out"
    most = delta(Shuffled(Gaussian(1 / shift), 3, 3), math.log(gamma), relation).upper  # type: ignore[arg-type]
    assert three_batches(shift, gamma, neighbours) <= most + 1e-3  # a kink on a grid, and what lies outside of it


@pytest.mark.nightly
@pytest.mark.parametrize(("shift", "gamma", "neighbours"), GAMES)
def test_nor_does_one_in_the_plane(shift: float, gamma: float, neighbours: str) -> None:
    assert game_in_the_plane(shift, gamma, neighbours) <= upper(Gaussian(1 / shift), gamma, neighbours) + 2e-3


@pytest.mark.parametrize(("shift", "gamma", "neighbours"), few([g for g in GAMES if g[2] != "replace"], 8))
def test_nor_with_laplace_noise(shift: float, gamma: float, neighbours: str) -> None:
    line = np.linspace(-14.0, 14.0, 2801)
    value = game_value(shift, gamma, neighbours, laplace, line)
    assert value <= upper(Laplace(1 / shift), gamma, neighbours) + QUADRATURE


@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize(("batches", "share", "failing_at"), [(2, 0.3, 2.0), (3, 0.5, 1.2)])
def test_one_share_of_clones_gives_the_theorems_bound(
    order: Order, batches: int, share: float, failing_at: float
) -> None:
    """Every term counts here: clones fail often. Each number is a group of its own."""
    base = GaussianPair(0.8)
    failing = float(np.exp(-failing_at)) * 0.05
    of = Clones(share, failing)
    cut = shuffled_epoch.cells(base, 0.01, 0.0, 1e-12)
    cut = cut if order is Order.REMOVE else cut.mirrored()
    law = shuffled_epoch._by_clones(
        base, of, groups(of, batches, 32, 1e-12), order, cut.at(np.argsort(-cut.low)), FINE, 1e-12
    )
    nodes = np.array([-0.5, 0.0, 0.3, 0.9, 4.0, 12.0])
    found = heights(law, nodes)
    for at, node in enumerate(nodes[:4].tolist()):
        wanted = bound(share, failing, batches, base.shift, math.exp(node), order.value)
        assert wanted * (1 - 2e-3) <= found[at] <= wanted * (1 + 1e-2)


@pytest.mark.parametrize(("batches", "share"), [(2, 0.4), (30, 0.2), (1000, 0.3), (10**6, 1e-3)])
def test_groups_hold_every_number_of_clones(batches: int, share: float) -> None:
    found = groups(Clones(share, 1e-6), batches, 16, 1e-9)
    assert found[0].least == 0
    assert [group.least for group in found[1:]] == [group.most + 1 for group in found[:-1]]
    total = math.exp((batches - 1) * math.log1p(share * 1e-6))
    law = binom(batches - 1, share / (1 + share * 1e-6))
    for group in found[:-1]:
        likely = total * (law.cdf(group.most) - law.cdf(group.least - 1))
        assert likely * (1 - 1e-9) - 1e-15 <= group.weight <= likely * (1 + 1e-9) + 1e-15
    assert sum(group.weight for group in found) == pytest.approx(total, rel=1e-9)
    assert sum(group.weight for group in found) >= total * (1 - 1e-12)


def test_few_clones_leave_the_pair_without_amplification() -> None:
    of = Clones(1e-9, 0.0)
    base = GaussianPair(0.8)
    cut = shuffled_epoch.cells(base, 0.01, 0.0, 1e-12)
    law = shuffled_epoch._by_clones(base, of, groups(of, 50, 32, 1e-12), Order.REMOVE, cut, FINE, 1e-12)
    found = heights(law, np.array([0.2, 1.0, 9.0]))
    exact = [delta(Gaussian(1 / 0.8), at, "zero-out").upper for at in (0.2, 1.0)]
    assert found[:2] == pytest.approx(exact, rel=2e-3)


@pytest.mark.parametrize("relation", ["zero-out", "replace-one"])
def test_more_batches_and_more_noise_hide_more(relation) -> None:
    def at(noise: float, batches: int) -> float:
        run = Repeat(Shuffled(Gaussian(noise), batches, batches), 3)
        return epsilon(run, 1e-5, relation, rtol=0.1).upper

    by_batches, by_noise = [at(2.0, n) for n in (1, 2, 8, 64)], [at(z, 20) for z in (0.5, 1.0, 2.0, 4.0)]
    assert by_batches == sorted(by_batches, reverse=True)
    assert by_noise == sorted(by_noise, reverse=True)
    assert by_batches[0] == epsilon(Repeat(Gaussian(2.0), 3), 1e-5, relation).upper


@settings(max_examples=many(4), deadline=None)
@given(st.floats(0.4, 8.0), st.integers(2, 400), st.integers(1, 30), st.sampled_from([1e-8, 1e-5, 1e-3]))
def test_the_upper_end_is_above_the_attained_one_and_below_no_amplification(noise, batches, epochs, target) -> None:
    found = epsilon(Repeat(Shuffled(Gaussian(noise), batches, batches), epochs), target, "zero-out", rtol=0.1)
    assert found.lower <= found.upper <= epsilon(Repeat(Gaussian(noise), epochs), target, "zero-out").upper


def test_laws_have_all_of_the_mass() -> None:
    for base in (GaussianPair(0.5), LaplacePair(0.7)):
        for order in Order:
            law = losses_of_epoch(base, 30, order, FINE, 1e-12)
            assert float(law.mass.sum()) + law.infinite >= 1.0
            assert float((law.mass * np.exp(-law.loss)).sum()) <= 1.0 + 1e-9


def test_nodes_keep_the_profile_of_atoms_at_nodes_and_raise_it_between() -> None:
    rng = np.random.default_rng(3)
    atoms = Atoms(rng.normal(0.3, 1.0, 40), np.full(40, (1 - 1e-7) / 40), 1e-7)
    nodes = symmetric_nodes(0.05, 0.05, 6.0)

    def profile(law: Atoms, at: float) -> float:
        return law.infinite + float((law.mass * np.maximum(-np.expm1(at - law.loss), 0.0)).sum())

    values = heights(atoms, nodes)
    law = law_above(nodes, values)
    for at, value in zip(nodes.tolist(), values.tolist(), strict=True):
        assert profile(atoms, at) <= value <= profile(atoms, at) * (1 + 1e-9) + 1e-12
    for at in np.linspace(-6.5, 6.5, 301).tolist():
        assert profile(atoms, at) <= profile(law, at) + 1e-15


def test_epochs_compose_with_other_rounds_and_with_epochs_of_other_noise() -> None:
    epochs, others = Repeat(Shuffled(Gaussian(2.0), 40, 40), 4), Repeat(Poisson(Gaussian(1.5), 0.02), 200)
    alone, beside = epsilon(epochs, 1e-5, "zero-out"), epsilon(Sequence(epochs, others), 1e-5, "zero-out")
    without = epsilon(Sequence(Repeat(Gaussian(2.0), 4), others), 1e-5, "zero-out")
    assert alone.upper < beside.upper < without.upper
    changed = epsilon(Sequence(epochs, Shuffled(Gaussian(3.0), 40, 40)), 1e-5, "zero-out")
    assert alone.upper < changed.upper < epsilon(Repeat(epochs, 2), 1e-5, "zero-out").upper


@pytest.mark.parametrize("noise", [Laplace(3.0), DiscreteLaplace(scale=3.0, clip=1)])
def test_other_noise_is_amplified(noise: Mechanism) -> None:
    for relation in ("zero-out", "replace-one"):
        found = epsilon(Repeat(Shuffled(noise, 60, 60), 4), 1e-6, relation, rtol=0.1)
        assert found.lower < found.upper < 0.9 * epsilon(Repeat(noise, 4), 1e-6, relation).upper


def test_who_sees_the_batches_is_told_nothing_less() -> None:
    run = Repeat(Shuffled(Gaussian(2.0), 40, 40), 4)
    plain = epsilon(Repeat(Gaussian(2.0), 4), 1e-5, "zero-out").upper
    for asked in ({"participation": "visible"}, {"notion": "joint"}):
        assert epsilon(run, 1e-5, "zero-out", **asked).upper == plain  # type: ignore[arg-type]


def test_a_last_batch_may_be_smaller_unless_it_is_said() -> None:
    assert Shuffled(Gaussian(1.0), 5).full_batches == 4
    less, more = (delta(Shuffled(Gaussian(1.0), 5, full), 0.5, "zero-out").upper for full in (5, 4))
    assert less < more
    with pytest.raises(InputError, match="if the last batch"):
        Shuffled(Gaussian(1.0), 5, 3)


def test_at_delta_zero_nothing_is_hidden() -> None:
    assert epsilon(Shuffled(Gaussian(1.0), 5), 0.0, "zero-out").upper == math.inf
    assert epsilon(Shuffled(Laplace(2.0), 5), 0.0, "zero-out").upper == pytest.approx(0.5)


@pytest.mark.parametrize("noise", [Gaussian(0.01), Laplace(0.01)])
def test_noise_that_hides_nothing_is_not_amplified(noise: Mechanism) -> None:
    """Planted by a user's typing error: losses beyond what a double's exponential holds."""
    asked = Shuffled(noise, 100, 100)
    assert dominating(asked, "zero-out").amplified == ()
    assert dominating(Shuffled(Gaussian(1.0), 100), "zero-out").amplified != ()


def test_a_base_whose_orders_may_differ_has_no_bound_by_clones() -> None:
    """Its failing probability is that of one order."""
    with pytest.raises(TypeError, match="its orders may differ"):
        clones(BoundedLaplacePair(1.0, 3.0, 1.0), 1.0)


def forget() -> None:
    """What was found before a fault was planted, or with it."""
    for kept in (
        shuffled_epoch.values,
        shuffled_epoch.losses_of_epoch,
        shuffled_replaced.losses_of_replaced_epoch,
        question._pairs,
    ):
        kept.cache_clear()


@pytest.fixture(autouse=True)
def _nothing_planted_is_kept() -> Iterator[None]:
    yield
    forget()


def planted(monkeypatch: pytest.MonkeyPatch, place: object, name: str, fault: object) -> None:
    """The fault in place of what is there."""
    monkeypatch.setattr(place, name, fault)
    forget()


def test_clones_that_fail_and_reveal_nothing_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plant: no R."""
    nothing = Atoms(np.zeros(0), np.zeros(0), 0.0)
    planted(monkeypatch, shuffled_epoch, "revealed", lambda *_: nothing)
    assert upper(Gaussian(4.0), 1.2, "remove") < game_value(0.25, 1.2, "remove") - QUADRATURE


def test_the_same_with_a_replaced_unit_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    planted(monkeypatch, Blocks, "beyond", lambda self, mass: np.zeros(self._nodes.size))
    assert upper(Gaussian(4.0), 1.6, "replace") < game_value(0.25, 1.6, "replace") - QUADRATURE


@pytest.mark.parametrize("neighbours", ["remove", "replace"])
def test_contributions_of_less_than_the_clip_norm_are_caught(neighbours: str) -> None:
    """The plant: a smaller move."""
    assert upper(Gaussian(4.0 / 0.85), 1.6, neighbours) < game_value(0.25, 1.6, neighbours) - QUADRATURE


def test_all_clones_hiding_though_some_fail_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plant: one of C + 1 rounds alone."""
    real = shuffled_epoch.hidden
    planted(monkeypatch, shuffled_epoch, "hidden", lambda *asked: real(*asked)[:1])
    with pytest.raises(AssertionError):
        test_one_share_of_clones_gives_the_theorems_bound(Order.REMOVE, 3, 0.5, -3.0)


@pytest.mark.parametrize("mass", [0.5, 1e-2, 1e-5])
def test_what_a_replaced_unit_reveals_is_both_of_its_moves(mass: float) -> None:
    """R with N(s) against N(-s), on the outcomes of that mass under N(0); and the plant, N(s/2) against N(-s/2)."""
    nodes, s = np.array([0.0, 0.3, 0.9, 4.0, 20.0]), 0.8
    start = np.maximum(norm.isf(mass), nodes / (2 * s))
    wanted = norm.sf(start - s) - np.exp(nodes) * norm.sf(start + s)
    found = Blocks(s, nodes, 1e-12).beyond(mass)
    assert np.all((wanted <= found * (1 + 1e-12))[:3] & (found <= wanted * 1.02 + 1e-9)[:3])
    assert np.all((Blocks(s / 2, nodes, 1e-12).beyond(mass) < wanted)[:3])


def test_an_epoch_has_one_law_for_both_ends() -> None:
    """Nothing is said from below by clones: parameters rounded the other way would only take as long again."""
    forget()
    found = epsilon(Repeat(Shuffled(Gaussian(2.5), 20, 20), 2), 1e-5, "zero-out", rtol=0.1)
    assert 0 < found.lower < found.upper
    assert shuffled_epoch.values.cache_info().misses == 1


def test_a_loss_that_is_nearly_always_the_same_has_nodes() -> None:
    """Two batches of discrete noise, by sums over outcomes."""
    eps, scale = 0.1, 0.4
    places = np.arange(-40, 41)
    law = {move: math.tanh(1 / (2 * scale)) * np.exp(-np.abs(places - move) / scale) for move in (-1, 0, 1)}
    unit, none = (np.outer(law[move], law[-1]) + np.outer(law[-1], law[move]) for move in (1, 0))
    truth = max(float(np.maximum(p - math.exp(eps) * q, 0.0).sum()) / 2 for p, q in ((unit, none), (none, unit)))
    found = delta(Shuffled(DiscreteLaplace(scale=scale, clip=1), 2, 2), eps, "zero-out", rtol=0.01).upper
    assert 0.8 * found < truth <= found < 1
