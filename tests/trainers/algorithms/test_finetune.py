"""Fine-tuning: each penalty against its own definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dpcert.mechanisms import InputError
from dpcert.trainers.algorithms.finetune import FineTuning, fine_tune, fisher_diagonals, tuned_models
from dpcert.trainers.data.synthetic import related_tasks, ridge_regression
from dpcert.trainers.federated import (
    Client,
    DpFedAvg,
    Federation,
    FixedOmega,
    LocalSteps,
    NaiveJoint,
    Pmtl,
    PpSgd,
    Samples,
    Settings,
    Trainer,
)
from dpcert.trainers.solvers.together import StackedSolver

torch.set_num_threads(1)
FEDERATION = related_tasks(population=6, features=4, classes=3, samples=16, seed=3)
STEPS = LocalSteps(learning_rate=0.2, steps=4, batch_size=None)


def trained(algorithm, model="logistic"):
    told = Settings(rounds=5, cohort=4, seed=1, dtype="float64", local=LocalSteps(0.3, batch_size=4))
    trainer = Trainer(FEDERATION, algorithm, model, told)
    trainer.run()
    return trainer


def by_autograd(trainer, client, penalty):
    """Four gradient steps on loss + penalty(w, reference), with nothing of the library's solvers."""
    w = trainer.client_model(client).clone().requires_grad_()
    reference = trainer.reference_models(np.array([client]))[0]
    samples = trainer.local.train(client)
    x, y = samples.features, samples.targets[0]

    def logits(vector):
        return x @ vector[:12].view(4, 3) + vector[12:]

    for _ in range(4):
        loss = torch.nn.functional.cross_entropy(logits(w), y) + penalty(w, reference, logits)
        w = (w - 0.2 * torch.autograd.grad(loss, w)[0]).detach().requires_grad_()
    return w.detach()


def kl(first, second):
    return (first.softmax(1) * (first.log_softmax(1) - second.log_softmax(1))).sum(1).mean()


PENALTIES = {
    "vanilla": lambda w, r, f: 0.0,
    "mean-regularised": lambda w, r, f: 0.35 * ((w - r) ** 2).sum(),
    "symmetrised-kl": lambda w, r, f: 0.7 * (kl(f(w), f(r)) + kl(f(r), f(w))),
}


@pytest.mark.parametrize("algorithm", [Pmtl(0.5), DpFedAvg()])
@pytest.mark.parametrize("name", PENALTIES)
def test_penalties(algorithm, name):
    trainer = trained(algorithm)
    clients = np.array([0, 5])
    tuned = tuned_models(trainer, FineTuning(name, STEPS, 0.7), clients)
    for client, own in zip(clients, tuned, strict=True):
        torch.testing.assert_close(own, by_autograd(trainer, client, PENALTIES[name]), rtol=1e-9, atol=1e-10)


def test_ewc():
    trainer = trained(Pmtl(0.5))
    reference, samples = trainer.reference_models(np.array([2]))[0], trainer.local.train(2)
    fisher = torch.zeros(15, dtype=torch.float64)
    for x, y in zip(samples.features, samples.targets[0], strict=True):
        w = reference.clone().requires_grad_()
        outputs = x @ w[:12].view(4, 3) + w[12:]
        loss = torch.nn.functional.cross_entropy(outputs.unsqueeze(0), y.unsqueeze(0))
        fisher += torch.autograd.grad(loss, w)[0] ** 2 / len(samples)
    found = fisher_diagonals(trainer.local, reference.unsqueeze(0), [samples])[0]
    torch.testing.assert_close(found, fisher, rtol=1e-9, atol=1e-12)
    expected = by_autograd(trainer, 2, lambda w, r, f: 0.35 * (fisher * (w - r) ** 2).sum())
    tuned = tuned_models(trainer, FineTuning("ewc", STEPS, 0.7), np.array([2]))[0]
    torch.testing.assert_close(tuned, expected, rtol=1e-9, atol=1e-10)


SIZES = (7, 1, 12, 5)


def images(changed=None):
    """Clients of different sizes with small pictures; one of them may have others."""
    rng = np.random.default_rng(0)
    clients = []
    for place, size in enumerate(SIZES):
        own = Samples(rng.random((size, 256), dtype=np.float32), rng.integers(0, 3, size))
        own = own if place != changed else Samples(1e3 * own.features, 2 - own.labels)
        clients.append(Client(f"{place}", own, own))
    return Federation("images", tuple(clients), "classes", 3)


def apart(solver, model, changed=None):
    """A trainer whose shared model is not the one that it begins with."""
    told = Settings(rounds=1, cohort=2, sampling="full", seed=1, dtype="float64", solver=solver)
    trainer = Trainer(images(changed), DpFedAvg(), model, told)
    trainer._share(trainer.shared + 0.1)
    return trainer


@pytest.mark.parametrize("penalty", [*PENALTIES, "ewc"])
@pytest.mark.parametrize(
    ("model", "solver"), [("logistic", "dual"), ("mlp", "stacked"), ("mlp", "vmap"), ("cnn", "stacked")]
)
def test_clients_tune_together_as_each_alone_in_the_loop(model, solver, penalty):
    """The trainer's solver does the work, or where it cannot the fastest, for as many clients as train together."""
    tuning, clients = FineTuning(penalty, LocalSteps(0.1, epochs=2, batch_size=4), 0.7), np.arange(len(SIZES))
    loop, together = apart("loop", model), apart(solver, model)
    alone = torch.stack([tuned_models(loop, tuning, clients[k : k + 1])[0] for k in clients])
    torch.testing.assert_close(tuned_models(together, tuning, clients), alone, rtol=1e-9, atol=1e-11)
    together.local.together = 3
    found, expected = fine_tune(together, tuning), fine_tune(loop, tuning)
    np.testing.assert_allclose(found.loss, expected.loss, rtol=1e-9)
    assert found.accuracy.tolist() == expected.accuracy.tolist()
    assert found.samples.tolist() == list(SIZES)


@pytest.mark.parametrize("penalty", [*PENALTIES, "ewc"])
@pytest.mark.parametrize("solver", ["loop", "stacked", "vmap"])
def test_nobody_s_samples_tell_in_another_s_model(solver, penalty):
    clients, tuning = np.arange(len(SIZES)), FineTuning(penalty, LocalSteps(0.1, epochs=2, batch_size=4), 0.7)
    before, after = (tuned_models(apart(solver, "mlp", changed), tuning, clients) for changed in (None, 2))
    assert [torch.equal(*pair) for pair in zip(before, after, strict=True)] == [True, True, False, True]


def test_fine_tuning_is_done_by_the_solver_that_trains(monkeypatch):
    used = []
    monkeypatch.setattr(StackedSolver, "solve", lambda self, work: used.append(len(work.clients)) or work.start)
    fine_tune(apart("stacked", "mlp"), FineTuning())
    assert used == [len(SIZES)]


def test_models_of_the_trainer_stay_and_training_loss_falls():
    trainer = trained(DpFedAvg())
    before = trainer.client_model(0).clone()
    tuning = FineTuning("vanilla", LocalSteps(learning_rate=0.3, epochs=20))
    scores = fine_tune(trainer, tuning)
    assert torch.equal(trainer.client_model(0), before)
    assert np.isfinite(scores.loss).all()
    first = np.array([0])
    tuned = trainer.local.scores(first, tuned_models(trainer, tuning, first), test=False)
    assert tuned[1] < trainer.local.scores(first, before.unsqueeze(0), test=False)[1]


@pytest.mark.parametrize("algorithm", [NaiveJoint(), PpSgd(), FixedOmega(np.eye(6) - 1 / 6)])
def test_every_algorithm_has_a_reference_model(algorithm):
    trainer = trained(algorithm, "mlp")
    assert trainer.reference_models(np.array([3])).shape == trainer.client_models(np.array([3])).shape
    scores = fine_tune(trainer, FineTuning("ewc", STEPS))
    assert np.isfinite(scores.loss).all()
    assert scores.by_sample() == pytest.approx(np.average(scores.accuracy, weights=scores.samples))


def test_bad_input():
    with pytest.raises(InputError, match="one of vanilla"):
        FineTuning("distillation")
    problem = ridge_regression(population=4)
    trainer = Trainer(problem, DpFedAvg(), settings=Settings(rounds=1, cohort=2))
    with pytest.raises(InputError, match="class probabilities"):
        fine_tune(trainer, FineTuning("symmetrised-kl"))
