"""dpcert.adapters.opacus_shuffled where Opacus is not installed: loaders and an engine that stand in for its own.

What this cannot see, that Opacus calls its accountant as the stand-in does, is in test_opacus_shuffled.py.
"""

from __future__ import annotations

import importlib
import math
import sys
from types import ModuleType

import opacus_stand_in as stand_in
import pytest
from opacus_stand_in import BatchSampler, DataLoader, Optimizer, PrivacyEngine, RandomSampler, SequentialSampler

from dpcert.accounting import Bracket, epsilon
from dpcert.mechanisms import Gaussian, InputError, Repeat, Sequence, Shuffled

NAME = "dpcert.adapters.opacus_shuffled"
DATA = range(64)


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Imported anew on the stand-ins; what was imported before is put back afterwards."""
    for name, module in stand_in.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    parent = importlib.import_module("dpcert.adapters")
    monkeypatch.setattr(parent, "opacus_shuffled", None, raising=False)
    found = importlib.import_module(NAME)
    monkeypatch.setitem(sys.modules, NAME, found)
    return found


@pytest.mark.parametrize(
    ("size", "batch", "drop", "expected"),
    [(64, 16, False, (4, 4)), (70, 16, False, (5, 4)), (70, 16, True, (4, 4, True)), (10, 16, False, (1, 0))],
)
def test_what_a_loader_deals_out(adapter, size, batch, drop, expected):
    loader = DataLoader(range(size), batch_size=batch, shuffle=True, drop_last=drop)
    dealt = adapter.ShuffledBatches.of(loader)
    assert dealt == adapter.ShuffledBatches(*expected)
    assert [dealt.batches, dealt.full_batches] == [len(list(loader)), sum(len(each) == batch for each in loader)]


@pytest.mark.parametrize(
    "loader",
    [
        DataLoader(DATA, batch_size=16),
        DataLoader(DATA, batch_size=16, sampler=RandomSampler(DATA, replacement=True)),
        DataLoader(DATA, batch_size=16, sampler=RandomSampler(DATA, num_samples=32)),
        DataLoader(DATA, batch_sampler=BatchSampler(SequentialSampler(DATA), 16, drop_last=False)),
        DataLoader(DATA, batch_size=100, shuffle=True, drop_last=True),
    ],
    ids=["in order", "with replacement", "fewer than there are", "batches of one's own", "no batch is full"],
)
def test_a_loader_that_does_not_shuffle_is_refused(adapter, loader):
    with pytest.raises(InputError, match=r"data_loader|batch_size"):
        adapter.make_private_shuffled(PrivacyEngine(), data_loader=loader, neighbouring="zero-out")


def private(adapter, noise=2.0, **loader):
    engine = PrivacyEngine()
    _, optimizer, dealt = adapter.make_private_shuffled(
        engine,
        neighbouring="zero-out",
        module=None,
        optimizer=Optimizer(),
        data_loader=DataLoader(DATA, **{"batch_size": 8, "shuffle": True} | loader),
        noise_multiplier=noise,
    )
    return engine, optimizer, dealt


def trained(optimizer, dealt, most=100):
    seen = []
    for batch in dealt:
        optimizer.step()
        seen += batch
        most -= 1
        if not most:
            break
    return seen


def test_every_pass_that_has_begun_is_an_epoch(adapter):
    engine, optimizer, dealt = private(adapter)
    assert sorted(trained(optimizer, dealt)) == list(DATA)
    trained(optimizer, dealt, most=4)
    next(iter(dealt))
    trained(optimizer, dealt, most=1)
    assert (engine.accountant.history, len(engine.accountant)) == ([(2.0, 4)], 13)
    assert engine.accountant.run() == Sequence(Repeat(Shuffled(Gaussian(2.0), 8, 8), 4))


def test_planted_steps_alone_do_not_tell_passes_apart(adapter, monkeypatch):
    """The plant: a new pass is not told; the test above would notice."""
    began = adapter.ShuffledAccountant.begin_epoch
    monkeypatch.setattr(
        adapter.ShuffledAccountant, "begin_epoch", lambda self: None if self.history else began(self), raising=True
    )
    engine, optimizer, dealt = private(adapter)
    for _ in range(2):
        trained(optimizer, dealt, most=4)
    assert engine.accountant.history == [(2.0, 1)]


def test_what_the_accountant_says(adapter):
    """In one batch nobody hides: one Gaussian release an epoch."""
    accountant = adapter.ShuffledAccountant(adapter.ShuffledBatches(1, 1), "zero-out")
    assert accountant.bracket(1e-5) == Bracket(0.0, 0.0, True, "nothing to account for")
    for noise in (3.0, 2.0, 2.0):
        accountant.begin_epoch()
        accountant.step(noise_multiplier=noise, sample_rate=1.0)
    plain = epsilon(Sequence(Gaussian(3.0), Repeat(Gaussian(2.0), 2)), 1e-5, "zero-out").upper
    assert accountant.history == [(3.0, 1), (2.0, 2)]
    assert plain <= accountant.get_epsilon(1e-5) <= plain * 1.01
    left_over = adapter.ShuffledAccountant(adapter.ShuffledBatches(1, 1, drops=True), "zero-out")
    left_over.load_state_dict({**accountant.state_dict(), "sampling": {"batches": 1, "full_batches": 1, "drops": True}})
    assert left_over.bracket(1e-5).lower == 0.0
    accountant.begin_epoch()
    accountant.step(noise_multiplier=0.0, sample_rate=1.0)
    assert accountant.get_epsilon(0.5) == math.inf


def test_the_smallest_noise_of_an_epoch_counts(adapter):
    accountant = adapter.ShuffledAccountant(adapter.ShuffledBatches(4, 4), "zero-out")
    for noises in ([3.0, 3.0], [3.0, 2.0, 4.0], [4.0]):
        accountant.begin_epoch()
        for noise in noises:
            accountant.step(noise_multiplier=noise, sample_rate=0.25)
    assert accountant.history == [(3.0, 1), (2.0, 1), (4.0, 1)]


def test_steps_that_are_no_part_of_a_pass_are_refused(adapter):
    accountant = adapter.ShuffledAccountant(adapter.ShuffledBatches(1, 1), "zero-out")
    with pytest.raises(InputError, match="pass over the loader"):
        accountant.step(noise_multiplier=1.0, sample_rate=1.0)
    accountant.begin_epoch()
    accountant.step(noise_multiplier=1.0, sample_rate=1.0)
    with pytest.raises(InputError, match="at most 1 in a pass"):
        accountant.step(noise_multiplier=1.0, sample_rate=1.0)
    _, optimizer, dealt = private(adapter)
    optimizer.accumulated_iterations = 8
    with pytest.raises(InputError, match="accumulated_iterations = 8"):
        trained(optimizer, dealt)
    first = iter(dealt)
    next(iter(dealt))
    with pytest.raises(InputError, match="after the next one has begun"):
        next(first)


def test_state_of_another_run_is_refused(adapter):
    engine, optimizer, dealt = private(adapter)
    trained(optimizer, dealt)
    state = engine.accountant.state_dict()
    other = adapter.ShuffledAccountant(adapter.ShuffledBatches(8, 8), "zero-out")
    other.load_state_dict(state)
    assert (other.history, len(other), other.run()) == ([(2.0, 1)], 8, engine.accountant.run())
    for change in ({"mechanism": "rdp"}, {"neighbouring": "replace-one"}, {"history": [(-1.0, 1)]}, {"steps": 9}):
        with pytest.raises(ValueError):  # noqa: PT011  (some are Opacus's own)
            other.load_state_dict({**state, **change})
        assert other.history == [(2.0, 1)]


def test_what_has_no_meaning_is_refused(adapter):
    loader = DataLoader(DATA, batch_size=8, shuffle=True)
    with pytest.raises(InputError, match="moves all others"):
        adapter.ShuffledAccountant(adapter.ShuffledBatches(8, 8), "add-remove")
    with pytest.raises(InputError, match="poisson_sampling"):
        adapter.make_private_shuffled(
            PrivacyEngine(), data_loader=loader, neighbouring="zero-out", poisson_sampling=True
        )
    engine, optimizer, dealt = private(adapter)
    trained(optimizer, dealt, most=1)
    with pytest.raises(InputError, match="new engine"):
        adapter.make_private_shuffled(engine, data_loader=loader, neighbouring="zero-out")
