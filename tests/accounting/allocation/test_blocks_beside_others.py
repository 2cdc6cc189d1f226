"""Blocks of random allocation among other pairs: what is surely smaller is not computed, little is asked twice."""

from __future__ import annotations

import pytest

from dpcert.accounting import epsilon, tradeoff
from dpcert.accounting.calibration import plan_schemes
from dpcert.accounting.losses.atoms import pld as lattices
from dpcert.accounting.pairs import AllocationPair, GaussianPair
from dpcert.mechanisms import DiscreteLaplace, Gaussian, Laplace, RandomAllocation, Repeat, Shuffled

EPOCHS = ((AllocationPair(GaussianPair(1.0), 40, 1, "remove"), 10),)


def told_too_early():
    """Whether the quick bound says that a delta suffices where the accountant's lower end is above it."""
    places = [(eps, lattices.delta(EPOCHS, eps, 1e-3).lower) for eps in (0.1, 1.5)]
    return any(lattices.at_most(EPOCHS, eps, 0.99 * delta) for eps, delta in places)


def test_the_quick_bound_is_one_and_says_something():
    assert not told_too_early()
    assert lattices.at_most(EPOCHS, 6.0, 1e-6)
    assert not lattices.at_most(EPOCHS, 2.5, 0.0)


def test_a_quick_bound_of_one_epoch_only_is_caught(monkeypatch):
    known = lattices.LatticeLayout.laws

    def of_one_round(self, *asked):
        return [lattices.Step(step.upper, step.lower, 1, step.sampled) for step in known(self, *asked)]

    places = [lattices.delta(EPOCHS, eps, 1e-3) for eps in (0.1, 1.5)]
    monkeypatch.setattr(lattices, "delta", lambda _, eps, __: places[(0.1, 1.5).index(eps)])
    monkeypatch.setattr(lattices.LatticeLayout, "laws", of_one_round)
    assert told_too_early()


@pytest.mark.parametrize("rtol", [1e-3, 5e-4])
def test_what_is_asked_coarsely_is_cut_coarsely_and_holds_the_narrow_bracket(rtol):
    run = Repeat(RandomAllocation(Gaussian(1.0), 30), 4)
    coarse, fine = epsilon(run, 1e-9, rtol=rtol), epsilon(run, 1e-9)
    assert coarse.lower <= fine.lower <= fine.upper <= coarse.upper
    assert coarse.narrower_than(rtol)
    assert not coarse.narrower_than(0.3 * rtol)


def test_an_attack_on_shuffled_epochs_is_the_stronger_one_and_needs_hardly_a_block(monkeypatch):
    """Each point asked for the law of a block, twice, whose delta was 1e10 times smaller than what is known."""
    blocks, known = [], lattices.LatticeLayout.profile

    def counted(self, *asked):
        blocks.extend(pair for pair, _ in self.composition if isinstance(pair, AllocationPair))
        return known(self, *asked)

    monkeypatch.setattr(lattices.LatticeLayout, "profile", counted)
    curve = tradeoff(Repeat(Shuffled(Gaussian(1.0), 20), 3), "zero-out", points=9, rtol=1e-2)
    assert curve.attained[0][1].lower > 0.4  # blocks: 0.2
    assert len(blocks) < 6


def test_searches_for_several_targets_share_what_they_have_seen(monkeypatch):
    asked = []
    module = __import__("dpcert.accounting.calibration.plan_schemes", fromlist=["answer"])
    known = module.answer
    monkeypatch.setattr(module, "answer", lambda *which: asked.append((which[0].run, which[0].rtol)) or known(*which))
    setting = {"population": 60, "batch_size": 20, "epochs": 2, "delta": 1e-3}
    plan_schemes.plan_schemes(**setting, target_epsilons=[1.0, 1.01, 2.0], schemes=["poisson", "cyclic"])
    assert len(asked) == len(set(asked))
    assert sum(rtol == plan_schemes.RTOL for _, rtol in asked) < 25  # the others are rough, and next to free


@pytest.mark.parametrize("relation", ["zero-out", "replace-one", "add-remove"])
@pytest.mark.parametrize("noise", [DiscreteLaplace(0.4235), Laplace(2.0), Gaussian(3.0)])
def test_all_rounds_of_a_block_are_no_sample(noise, relation):
    """It was [27.03, 236.04] for 236.042: as a sum of scores shows it, and as a bound of a block."""
    assert epsilon(RandomAllocation(noise, 100, 100), 1e-5, relation) == epsilon(Repeat(noise, 100), 1e-5, relation)


@pytest.mark.parametrize("noise", [DiscreteLaplace(1.5), Laplace(2.0), Gaussian(3.0)])
def test_rounds_that_are_seen_are_so_many_rounds(noise):
    seen = epsilon(RandomAllocation(noise, 10, 3), 1e-5, "zero-out", participation="visible")
    assert seen == epsilon(Repeat(noise, 3), 1e-5, "zero-out")
