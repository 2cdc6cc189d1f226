"""Who is evaluated together has the scores that each has alone; samples are made ready once for all runs on them."""

from __future__ import annotations

import gc
import math
import weakref

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from dpcert.trainers.engine import local
from dpcert.trainers.engine.evaluation import TOP
from dpcert.trainers.federated import Client, DpFedAvg, Federation, PpSgd, Samples, Settings, Trainer
from dpcert.trainers.solvers import together

torch.set_num_threads(1)
SIZES = (7, 0, 1, 45, 5)
LABELS = {
    "classes": lambda rng, n: rng.integers(0, 7, n),
    "tags": lambda rng, n: (rng.random((n, 7)) < 0.2).astype(np.float32),
    "regression": lambda rng, n: rng.standard_normal((n, 7)).astype(np.float32),
}
SOLVERS = [("logistic", "loop"), ("logistic", "dual")]
SOLVERS += [(model, solver) for model in ("logistic", "mlp", "cnn") for solver in ("stacked", "vmap")]
BY_DAY = {("logistic", "loop", "tags"), ("logistic", "dual", "classes"), ("mlp", "vmap", "classes")}
BY_DAY |= {("mlp", "stacked", task) for task in LABELS}
"""Every solver and every task once; single precision, below, has the CNN with each solver."""

EVERY = [(*solver, task) for solver in SOLVERS for task in LABELS]
CASES = [pytest.param(*case, marks=() if case in BY_DAY else pytest.mark.nightly) for case in EVERY]


def federation(task="classes", sizes=SIZES, changed=None):
    """Clients with small pictures, of which so many are for testing; one of them may have others."""
    rng = np.random.default_rng(0)
    clients = []
    for place, size in enumerate(sizes):
        own = Samples(rng.random((size + 1, 256), dtype=np.float32), LABELS[task](rng, size + 1))
        own = own if place != changed else Samples(1e6 * own.features, own.labels[::-1].copy())
        clients.append(Client(f"{place}", own.take(np.arange(size, size + 1)), own.take(np.arange(size))))
    return Federation("pictures", tuple(clients), task, 7)


def trainer_of(model, solver, data, dtype="float64", algorithm=None):
    """Every client has a model of its own, after a round of everybody, in which no two outputs are the same."""
    told = Settings(rounds=1, cohort=2, sampling="full", seed=1, dtype=dtype, solver=solver, device="cpu")
    trainer = Trainer(data, algorithm or PpSgd(), model, told)
    trainer._round()
    apart = torch.randn(trainer.shared.shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    trainer._share(trainer.shared + 0.1 * apart)
    return trainer


def of_one(outputs, labels, task):
    """Accuracy and mean loss, from their definitions, with nothing of the library."""
    wrong = [math.nan, math.nan]
    if not len(outputs):
        return wrong
    if task == "classes":
        loss = (outputs.logsumexp(1) - outputs[torch.arange(len(outputs)), labels]).mean()
        return [float((outputs.argmax(1) == labels).double().mean()), float(loss)]
    if task == "regression":
        return [math.nan, float((outputs - labels).square().sum(1).mean() / 2)]
    loss = (torch.nn.functional.softplus(outputs) - labels * outputs).sum(1).mean()
    recalls = [
        sum(float(own[place]) for place in row.argsort(descending=True)[:TOP].tolist()) / float(own.sum())
        for row, own in zip(outputs, labels, strict=True)
        if own.any()
    ]
    return [float(np.mean(recalls)) if recalls else math.nan, float(loss)]


@pytest.mark.parametrize(("model", "solver", "task"), CASES)
def test_scores_of_clients_together_are_those_of_each_alone(model, solver, task):
    """Clients of none to 45 samples, more than are predicted at once; in double precision to 1e-9."""
    data = federation(task)
    trainer = trainer_of(model, solver, data)
    found = trainer.scores(test=True)
    for place, client in enumerate(data.clients):
        with torch.no_grad():
            trainer.local.model.vector.copy_(trainer.client_model(place))
            features = torch.from_numpy(client.test.features).double()
            shown = trainer.local.model.module.eval()(features) if len(features) else features
        labels = torch.from_numpy(client.test.labels)
        expected = of_one(shown, labels if task == "classes" else labels.double(), task)
        np.testing.assert_allclose([found.accuracy[place], found.loss[place]], expected, rtol=1e-9, atol=1e-11)
    assert found.samples.tolist() == list(SIZES)
    trainer.local.together = 2
    again = trainer.scores(test=True)
    np.testing.assert_allclose(again.loss, found.loss, rtol=1e-9)
    assert np.array_equal(again.accuracy, found.accuracy, equal_nan=True)


@pytest.mark.parametrize("solver", ["stacked", "vmap"])
def test_single_precision_differs_by_the_order_of_sums_alone(solver):
    data = federation(sizes=(3, 0, 1))
    alone, found = (trainer_of("cnn", each, data, "float32", DpFedAvg()) for each in ("loop", solver))
    found._share(alone.shared)
    np.testing.assert_allclose(found.scores().loss, alone.scores().loss, rtol=1e-5)
    assert np.array_equal(found.scores().loss, found.scores().loss, equal_nan=True)


@pytest.mark.parametrize("solver", ["loop", "stacked", "vmap"])
def test_nobody_s_samples_tell_in_another_s_scores(solver):
    before, after = (trainer_of("mlp", solver, federation(changed=changed)) for changed in (None, 3))
    after.personal = before.personal
    after._share(before.shared)
    same = [before.scores().loss[place] == after.scores().loss[place] for place in (0, 2, 3, 4)]
    assert same == [True, True, False, True]


def test_another_client_s_model_would_be_noticed(monkeypatch):
    """Planted: models stay in the clients' order where samples go by their number."""
    monkeypatch.setattr(together, "per_client", lambda start, clients: start.flip(0))
    with pytest.raises(AssertionError):
        test_scores_of_clients_together_are_those_of_each_alone("mlp", "stacked", "classes")


class Calls(TorchDispatchMode):
    """Counts what a GPU would be told."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, operation, types, arguments=(), options=None):
        self.count += 1
        return operation(*arguments, **(options or {}))


def calls(clients, solver="stacked"):
    trainer = trainer_of("mlp", solver, federation(sizes=(9,) * clients), algorithm=DpFedAvg())
    trainer.scores()
    with Calls() as counted:
        trainer.scores()
    return counted.count


def test_a_device_is_told_as_much_of_many_clients_as_of_few():
    """But for the one view that each client's samples take to be put beside the others'."""
    few, many = calls(5), calls(20)
    assert many - few <= 15 < few
    assert calls(20, "loop") - calls(5, "loop") > 4 * 15


def test_samples_are_made_ready_once_for_all_runs_on_a_federation(monkeypatch):
    made, honest = [], local.to_tensors
    monkeypatch.setattr(local, "to_tensors", lambda samples, *told: made.append(samples) or honest(samples, *told))
    data = federation()
    first, second = (trainer_of("mlp", solver, data) for solver in ("loop", "stacked"))
    first.scores(), second.scores()
    assert len(made) == 2 * len(SIZES)  # training and test samples
    assert first.local.kept is second.local.kept
    other = trainer_of("mlp", "loop", data, "float32")
    assert other.local.kept is not first.local.kept
    assert other.local.train(0).features.dtype == torch.float32
    assert trainer_of("mlp", "loop", federation()).local.kept is not first.local.kept


def test_samples_go_with_their_federation():
    data = federation()
    held = weakref.ref(trainer_of("mlp", "loop", data).local.train(0).features)
    assert held() is not None
    del data
    gc.collect()
    assert held() is None
