"""Fine-tuning: each penalty against its own definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dpcert.mechanisms import InputError
from dpcert.trainers.algorithms.finetune import FineTuning, fine_tune, fisher_diagonal, tuned_model
from dpcert.trainers.data.synthetic import related_tasks, ridge_regression
from dpcert.trainers.federated import DpFedAvg, FixedOmega, LocalSteps, NaiveJoint, Pmtl, PpSgd, Settings, Trainer

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
    reference = trainer.reference_model(client)
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
    for client in (0, 5):
        tuned = tuned_model(trainer, FineTuning(name, STEPS, 0.7), client)
        torch.testing.assert_close(tuned, by_autograd(trainer, client, PENALTIES[name]), rtol=1e-9, atol=1e-10)


def test_ewc():
    trainer = trained(Pmtl(0.5))
    reference, samples = trainer.reference_model(2), trainer.local.train(2)
    fisher = torch.zeros(15, dtype=torch.float64)
    for x, y in zip(samples.features, samples.targets[0], strict=True):
        w = reference.clone().requires_grad_()
        outputs = x @ w[:12].view(4, 3) + w[12:]
        loss = torch.nn.functional.cross_entropy(outputs.unsqueeze(0), y.unsqueeze(0))
        fisher += torch.autograd.grad(loss, w)[0] ** 2 / len(samples)
    torch.testing.assert_close(fisher_diagonal(trainer, reference, samples), fisher, rtol=1e-9, atol=1e-12)
    expected = by_autograd(trainer, 2, lambda w, r, f: 0.35 * (fisher * (w - r) ** 2).sum())
    torch.testing.assert_close(tuned_model(trainer, FineTuning("ewc", STEPS, 0.7), 2), expected, rtol=1e-9, atol=1e-10)


def test_models_of_the_trainer_stay_and_training_loss_falls():
    trainer = trained(DpFedAvg())
    before = trainer.client_model(0).clone()
    tuning = FineTuning("vanilla", LocalSteps(learning_rate=0.3, epochs=20))
    scores = fine_tune(trainer, tuning)
    assert torch.equal(trainer.client_model(0), before)
    assert np.isfinite(scores.loss).all()
    tuned = trainer.local.scores(0, tuned_model(trainer, tuning, 0), test=False)
    assert tuned[1] < trainer.local.scores(0, before, test=False)[1]


@pytest.mark.parametrize("algorithm", [NaiveJoint(), PpSgd(), FixedOmega(np.eye(6) - 1 / 6)])
def test_every_algorithm_has_a_reference_model(algorithm):
    trainer = trained(algorithm, "mlp")
    assert trainer.reference_model(3).shape == trainer.client_model(3).shape
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
