"""Opacus on shuffled batches: what is read of a loader, what is counted in the real Opacus, and what is refused."""

from __future__ import annotations

import copy
import math

import pytest

pytest.importorskip("opacus")
import torch
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, SequentialSampler, TensorDataset, WeightedRandomSampler

from dpcert.accounting import Bracket, epsilon
from dpcert.adapters import opacus_shuffled
from dpcert.adapters.opacus_shuffled import ShuffledAccountant, ShuffledBatches, make_private_shuffled
from dpcert.mechanisms import Gaussian, InputError, Repeat, Sequence, Shuffled

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # Opacus warns about its random numbers.


def data(size=64):
    torch.manual_seed(0)
    return TensorDataset(torch.randn(size, 4), torch.randint(0, 2, (size,)))


@pytest.mark.parametrize(
    ("size", "batch", "drop", "expected"),
    [
        (64, 16, False, ShuffledBatches(4, 4)),
        (70, 16, False, ShuffledBatches(5, 4)),
        (70, 16, True, ShuffledBatches(4, 4, drops=True)),
        (64, 16, True, ShuffledBatches(4, 4)),
        (10, 16, False, ShuffledBatches(1, 0)),
    ],
)
def test_what_a_loader_deals_out(size, batch, drop, expected):
    loader = DataLoader(data(size), batch_size=batch, shuffle=True, drop_last=drop)
    assert ShuffledBatches.of(loader) == expected
    assert expected.batches == len(loader)
    assert expected.full_batches == sum(len(x) == batch for x, _ in loader)


class Mine(torch.utils.data.Sampler):
    def __iter__(self):
        return iter(range(64))

    def __len__(self):
        return 64


LOADERS = {
    "in order": lambda: DataLoader(data(), batch_size=16),
    "with replacement": lambda: DataLoader(
        data(), batch_size=16, sampler=torch.utils.data.RandomSampler(data(), replacement=True)
    ),
    "fewer than there are": lambda: DataLoader(
        data(), batch_size=16, sampler=torch.utils.data.RandomSampler(data(), num_samples=32)
    ),
    "weighted": lambda: DataLoader(data(), batch_size=16, sampler=WeightedRandomSampler([1.0] * 64, 64)),
    "a sampler of one's own": lambda: DataLoader(data(), batch_size=16, sampler=Mine()),
    "batches of one's own": lambda: DataLoader(
        data(), batch_sampler=torch.utils.data.BatchSampler(SequentialSampler(data()), 16, drop_last=False)
    ),
    "no batch is full": lambda: DataLoader(data(), batch_size=100, shuffle=True, drop_last=True),
}


@pytest.mark.parametrize("kind", LOADERS)
def test_a_loader_that_does_not_shuffle_is_refused(kind):
    engine = PrivacyEngine()
    with pytest.raises(InputError, match=r"data_loader|batch_size"):
        make_private_shuffled(engine, data_loader=LOADERS[kind](), neighbouring="zero-out")


def private(neighbouring="zero-out", noise=2.0, workers=0, **loader):
    model = torch.nn.Linear(4, 2)
    engine = PrivacyEngine()
    return engine, *make_private_shuffled(
        engine,
        neighbouring=neighbouring,
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=DataLoader(data(), **{"batch_size": 8, "shuffle": True, "num_workers": workers, **loader}),
        noise_multiplier=noise,
        max_grad_norm=1.0,
    )


def steps(model, optimizer, loader, most=100):
    seen = []
    for number, (x, y) in enumerate(loader, 1):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        seen += [tuple(row.tolist()) for row in x]
        if number == most:
            break
    return seen


@pytest.mark.parametrize("neighbouring", ["zero-out", "replace-one"])
def test_training_counts_every_epoch(neighbouring):
    engine, model, optimizer, loader = private(neighbouring)
    passes = [steps(model, optimizer, loader) for _ in range(3)]
    assert all(len(set(seen)) == 64 for seen in passes)
    assert passes[0] != passes[1]
    assert (engine.accountant.history, len(engine.accountant)) == ([(2.0, 3)], 24)
    expected = epsilon(Repeat(Shuffled(Gaussian(2.0), 8, 8), 3), 1e-5, neighbouring, rtol=1e-2)
    assert engine.accountant.bracket(1e-5) == expected
    assert engine.get_epsilon(1e-5) == expected.upper
    assert 0 < expected.lower < expected.upper < epsilon(Repeat(Gaussian(2.0), 3), 1e-5, neighbouring).upper


def test_a_pass_that_ends_early_counts_in_whole():
    """Two halves of two passes may show an example twice: they are two epochs, not one."""
    engine, model, optimizer, loader = private()
    for _ in range(2):
        steps(model, optimizer, loader, most=4)
    assert engine.accountant.history == [(2.0, 2)]
    next(iter(loader))  # a look at one batch is a pass that has begun, too
    steps(model, optimizer, loader, most=1)
    assert engine.accountant.history == [(2.0, 4)]


def test_planted_steps_alone_do_not_tell_passes_apart(monkeypatch):
    """The plant: a new pass is not told, so that two halves are counted as one epoch; the test above notices."""
    began = ShuffledAccountant.begin_epoch
    monkeypatch.setattr(
        ShuffledAccountant, "begin_epoch", lambda self: None if self.history else began(self), raising=True
    )
    engine, model, optimizer, loader = private()
    for _ in range(2):
        steps(model, optimizer, loader, most=4)
    assert engine.accountant.history == [(2.0, 1)]


def test_the_smallest_noise_of_an_epoch_counts():
    accountant = ShuffledAccountant(ShuffledBatches(4, 4), "zero-out")
    for noises in ([3.0, 3.0], [3.0, 2.0, 4.0], [4.0]):
        accountant.begin_epoch()
        for noise in noises:
            accountant.step(noise_multiplier=noise, sample_rate=0.25)
    assert accountant.history == [(3.0, 1), (2.0, 1), (4.0, 1)]
    run = Sequence(tuple(Shuffled(Gaussian(noise), 4, 4) for noise in (3.0, 2.0, 4.0)))
    assert accountant.bracket(1e-5) == epsilon(run, 1e-5, "zero-out", rtol=1e-2)
    accountant.step(noise_multiplier=0.0, sample_rate=0.25)
    assert accountant.get_epsilon(0.5) == math.inf


def test_steps_that_are_no_part_of_a_pass_are_refused():
    accountant = ShuffledAccountant(ShuffledBatches(2, 2), "zero-out")
    with pytest.raises(InputError, match="pass over the loader"):
        accountant.step(noise_multiplier=1.0, sample_rate=0.5)
    accountant.begin_epoch()
    for _ in range(2):
        accountant.step(noise_multiplier=1.0, sample_rate=0.5)
    with pytest.raises(InputError, match="at most 2 in a pass"):
        accountant.step(noise_multiplier=1.0, sample_rate=0.5)
    _, model, optimizer, loader = private()
    for x, y in loader:
        torch.nn.functional.cross_entropy(model(x), y).backward()
    with pytest.raises(InputError, match="accumulated_iterations = 8"):
        optimizer.step()
    first = iter(loader)
    next(iter(loader))
    with pytest.raises(InputError, match="after the next one has begun"):
        next(first)


def test_examples_that_are_left_over_leave_an_upper_end_only():
    engine, model, optimizer, loader = private(batch_size=10, drop_last=True)
    assert len(steps(model, optimizer, loader)) == 60
    found = engine.accountant.bracket(1e-5)
    assert found.lower == 0.0 < found.upper
    assert found.upper == epsilon(Shuffled(Gaussian(2.0), 6, 6), 1e-5, "zero-out", rtol=1e-2).upper


def test_state_round_trip():
    engine, model, optimizer, loader = private()
    steps(model, optimizer, loader)
    state = engine.accountant.state_dict()
    other = ShuffledAccountant(ShuffledBatches(8, 8), "zero-out")
    other.load_state_dict(copy.deepcopy(state))
    assert other.bracket(1e-5) == engine.accountant.bracket(1e-5)
    assert len(other) == 8
    with pytest.raises(InputError, match="pass over the loader"):
        other.step(noise_multiplier=2.0, sample_rate=0.125)
    for bad in (
        {},
        {**state, "mechanism": "rdp"},
        {**state, "neighbouring": "replace-one"},
        {**state, "sampling": {"batches": 9, "full_batches": 8, "drops": False}},
        {**state, "history": [(-1.0, 1)]},
        {**state, "steps": 9},
    ):
        with pytest.raises(ValueError):  # noqa: PT011  (some are Opacus's own)
            other.load_state_dict(bad)
        assert other.history == [(2.0, 1)]


def test_nothing_yet_and_what_has_no_meaning():
    accountant = ShuffledAccountant(ShuffledBatches(8, 8), "zero-out")
    assert accountant.bracket(1e-5) == Bracket(0.0, 0.0, True, "nothing to account for")
    with pytest.raises(InputError, match="moves all others"):
        ShuffledAccountant(ShuffledBatches(8, 8), "add-remove")
    with pytest.raises(InputError, match="sampling"):
        ShuffledAccountant(0.1, "zero-out")
    loader = DataLoader(data(), batch_size=8, shuffle=True)
    with pytest.raises(InputError, match="poisson_sampling"):
        make_private_shuffled(PrivacyEngine(), data_loader=loader, neighbouring="zero-out", poisson_sampling=True)
    engine = PrivacyEngine()
    engine.accountant.step(noise_multiplier=1.0, sample_rate=0.1)
    with pytest.raises(InputError, match="new engine"):
        make_private_shuffled(engine, data_loader=loader, neighbouring="zero-out")
    assert accountant.mechanism() == opacus_shuffled.NAME
