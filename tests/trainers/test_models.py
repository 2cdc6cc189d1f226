"""Whatever module one brings: it trains, reproducibly, or is refused with one clear error before training."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import nn

from dpcert.mechanisms import InputError
from dpcert.trainers.data.synthetic import related_tasks
from dpcert.trainers.federated import DpFedAvg, Pmtl, Settings, Trainer

torch.set_num_threads(1)
FEDERATION = related_tasks(population=6, features=4, classes=3, samples=8, seed=2)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells, self.output = nn.LSTM(1, 5, batch_first=True), nn.Linear(5, 3)

    def forward(self, x):
        return self.output(self.cells(x.unsqueeze(-1))[0][:, -1])


class Attention(nn.Module):
    """With dropout inside, as torch has it by default."""

    def __init__(self):
        super().__init__()
        self.layer, self.output = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), nn.Linear(4, 3)

    def forward(self, x):
        return self.output(self.layer(x.unsqueeze(1))[:, 0])


class Dropping(nn.Linear):
    """Random without a dropout layer to tell by."""

    def forward(self, x):
        return super().forward(nn.functional.dropout(x, 0.5, self.training))


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.output = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 3)
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.output(torch.tanh(self.second(torch.tanh(self.first(x)))))


class Words(nn.Module):
    """Sparse gradients, integer inputs."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(10, 3, sparse=True)

    def forward(self, x):
        return self.table(x.abs().clamp(max=9).long()).mean(1)


class Branching(nn.Linear):
    """Control flow that depends on the data."""

    def forward(self, x):
        return super().forward(x if float(x.sum()) > 0 else -x)


class Averaging(nn.Linear):
    """Running statistics by hand."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x):
        if self.training:
            self.mean = 0.9 * self.mean + 0.1 * x.detach().mean(0)
        return super().forward(x - self.mean)


class Pair(nn.Linear):
    def forward(self, x):
        return super().forward(x), x


class TwoInputs(nn.Linear):
    def forward(self, x, y):
        return super().forward(x + y)


def old_weight_norm():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return nn.Sequential(nn.utils.weight_norm(nn.Linear(4, 3)))


def train(module, algorithm=DpFedAvg, **changed):
    told = {"rounds": 3, "cohort": 3, "clip_norm": 1.0, "noise_multiplier": 0.1, "seed": 1}
    trainer = Trainer(FEDERATION, algorithm(), module, Settings(**(told | changed)))
    trainer.run()
    return trainer


TRAINED = {
    "recurrent": Recurrent,
    "attention": Attention,
    "dropping": lambda: Dropping(4, 3),
    "tied": Tied,
    "words": Words,
    "branching": lambda: Branching(4, 3),
    "frozen": lambda: nn.Sequential(nn.Linear(4, 4).requires_grad_(False), nn.Linear(4, 3)),
    "group norm": lambda: nn.Sequential(nn.Linear(4, 4), nn.GroupNorm(2, 4), nn.Linear(4, 3)),
    "weight norm": lambda: nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(4, 3))),
    "in place": lambda: nn.Sequential(nn.Linear(4, 6), nn.ReLU(inplace=True), nn.Linear(6, 3)),
}
RANDOM = ("attention", "dropping")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", TRAINED)
def test_modules_train_to_the_same_bits_twice(name, dtype):
    module = TRAINED[name]()
    before = torch.random.get_rng_state()
    one, other = (train(module, Pmtl, dtype=dtype) for _ in range(2))
    assert torch.equal(one.shared, other.shared)
    assert all(torch.equal(one.client_model(k), other.client_model(k)) for k in range(6))
    assert not torch.equal(one.shared[0].to(one.local.dtype), one.local.initial)
    assert one.local.model.is_random == (name in RANDOM)
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.parametrize("name", RANDOM)
def test_random_modules_resume_to_the_bit(tmp_path, name):
    module = TRAINED[name]()

    def at(rounds, folder):
        settings = Settings(rounds=rounds, cohort=3, clip_norm=1.0, noise_multiplier=0.1, seed=1)
        trainer = Trainer(FEDERATION, Pmtl(), module, settings, checkpoint=folder)
        torch.manual_seed(rounds)  # the caller's generator has no part in it
        trainer.run()
        return trainer

    at(2, tmp_path / "run")
    assert torch.equal(at(4, tmp_path / "run").shared, at(4, None).shared)


@pytest.mark.parametrize("name", ["dropping", "branching"])
def test_modules_that_vmap_cannot_run_are_refused_by_it(name):
    with pytest.raises(InputError, match="another solver"):
        train(TRAINED[name](), solver="vmap")


REFUSED = {
    "running statistics": (lambda: nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 3)), "running"),
    "batch statistics": (
        lambda: nn.Sequential(nn.BatchNorm1d(4, track_running_stats=False), nn.Linear(4, 3)),
        "one sample",
    ),
    "statistics by hand": (lambda: Averaging(4, 3), "buffers do not change"),
    "spectral norm": (lambda: nn.utils.parametrizations.spectral_norm(nn.Linear(4, 3)), "buffers do not change"),
    "two outputs": (lambda: Pair(4, 3), "3 outputs"),
    "two inputs": (lambda: TwoInputs(4, 3), "takes one sample"),
    "other features": (lambda: nn.Linear(5, 3), "features of shape"),
    "other classes": (lambda: nn.Linear(4, 4), "3 outputs"),
    "no parameters": (nn.Flatten, "trainable parameter"),
    "lazy": (lambda: nn.LazyLinear(3), "called once"),
    "complex": (lambda: nn.Linear(4, 3, dtype=torch.complex64), "real parameters"),
    "not to be copied": (old_weight_norm, "can be copied"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_come_before_training_and_leave_no_folder(tmp_path, name):
    build, expected = REFUSED[name]
    with pytest.raises(InputError, match=expected):
        Trainer(FEDERATION, DpFedAvg(), build(), Settings(rounds=1, cohort=3), checkpoint=tmp_path / "run")
    assert not (tmp_path / "run").exists()
