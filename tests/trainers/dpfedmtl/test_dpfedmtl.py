"""Algorithm 1 and its corrections against a plain implementation with one torch module for each client."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import torch
from cases import few
from torch import nn

from dpcert.mechanisms import (
    DistributedGaussian,
    FixedSize,
    Gaussian,
    InputError,
    Poisson,
    Repeat,
    VisibleParticipation,
)
from dpcert.trainers.data import Client, Federation, Samples
from dpcert.trainers.data.synthetic import related_tasks
from dpcert.trainers.dpfedmtl import DpFedMtl, DpFedMtlAsPrinted, DpFedMtlClipped, DpFedMtlLocalNoise
from dpcert.trainers.engine.algorithm import StabilityWarning
from dpcert.trainers.engine.billboard import RecordingBillboard
from dpcert.trainers.engine.settings import LocalSteps, Settings
from dpcert.trainers.engine.trainer import Trainer
from dpcert.trainers.federated import DpFedAvg

torch.set_num_threads(1)
pytestmark = pytest.mark.filterwarnings("ignore::dpcert.trainers.engine.algorithm.StabilityWarning")
VARIANTS = (DpFedMtl, DpFedMtlLocalNoise, DpFedMtlClipped, DpFedMtlAsPrinted)
NO_BIAS = nn.Sequential(nn.Linear(4, 5), nn.Linear(5, 6, bias=False))
POPULATION, FEATURES, CLASSES, HIDDEN, RATE = 10, 4, 6, 5, 0.3


def disjoint_labels():
    """Clients 0, 3, 6, 9 have classes 0 and 1; 1, 4, 7 have 2, 3, 4; the others 5 and 0."""
    rng = np.random.default_rng(3)
    sets = ([0, 1], [2, 3, 4], [5, 0])
    clients = []
    for place in range(POPULATION):
        own = np.array(sets[place % 3])
        features = rng.standard_normal((12, FEATURES))
        labels = own[np.argmax(features[:, : len(own)], axis=1)]
        labels[: len(own)] = own
        samples = Samples(features, labels.astype(np.int64))
        clients.append(Client(str(place), samples, samples))
    return Federation("disjoint", tuple(clients), "classes", CLASSES)


def module(outputs=CLASSES):
    torch.manual_seed(5)
    return nn.Sequential(nn.Linear(FEATURES, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, outputs)).double()


def run(algorithm, federation=None, model=None, **changed):
    told = {"rounds": 5, "cohort": 4, "seed": 2, "dtype": "float64", "sampling": "fixed-size"}
    told |= {"local": LocalSteps(learning_rate=RATE, steps=1, batch_size=None)} | changed
    board = RecordingBillboard()
    trainer = Trainer(federation or disjoint_labels(), algorithm, model or module(), Settings(**told), billboard=board)
    trainer.run()
    return trainer, board


class Plain:
    """One module for each client, gradients by autograd, averages by hand: the oracle."""

    def __init__(self, federation, widths=None):
        self.federation = federation
        self.maps = [sorted({*c.train.labels.tolist()}) for c in federation.clients] if widths == "own" else None
        self.models = []
        for place in range(federation.population):
            full = module()
            if self.maps is not None:
                own = self.maps[place]
                narrow = nn.Linear(HIDDEN, len(own)).double()
                narrow.weight.data, narrow.bias.data = full[2].weight.data[own].clone(), full[2].bias.data[own].clone()
                full[2] = narrow
            self.models.append(full)
        self.shared = torch.cat([p.detach().reshape(-1) for p in module()[0].parameters()])

    def step(self, cohort, clip_norm):
        """Eqs. (3) to (5) without noise: the clients' shared gradients."""
        gradients = []
        for k in cohort:
            model, samples = self.models[k], self.federation.clients[k].train
            nn.utils.vector_to_parameters(self.shared.clone(), model[0].parameters())
            model.zero_grad()
            labels = samples.labels.tolist()
            labels = [self.maps[k].index(label) for label in labels] if self.maps else labels
            loss = nn.functional.cross_entropy(model(torch.from_numpy(samples.features)), torch.tensor(labels))
            loss.backward()
            gradient = torch.cat([p.grad.reshape(-1) for p in model[0].parameters()])
            gradients.append(gradient * min(1.0, clip_norm / float(gradient.norm())))
            with torch.no_grad():
                for parameter in model[2].parameters():
                    parameter -= RATE * parameter.grad
        return gradients


def cohorts(board, rounds):
    return [sorted(client for t, client in board.messages if t == round_index) for round_index in range(rounds)]


@pytest.mark.parametrize("variant", few(VARIANTS, 4))
@pytest.mark.parametrize("sampling", ["fixed-size", "poisson"])
@pytest.mark.parametrize("label_sets", ["all", "own"])
def test_a_run_without_noise_is_the_plain_one(variant, sampling, label_sets):
    clip_norm = 0.05
    federation = disjoint_labels()
    trainer, board = run(variant(label_sets=label_sets), federation, sampling=sampling, clip_norm=clip_norm)
    plain = Plain(federation, label_sets)
    drawn = cohorts(board, 5)
    assert (sampling == "poisson") == any(len(cohort) != 4 for cohort in drawn)
    for cohort in drawn:
        gradients = plain.step(cohort, math.inf if variant is DpFedMtlAsPrinted else clip_norm)
        total = sum(gradients, torch.zeros_like(plain.shared))
        if variant in (DpFedMtlAsPrinted, DpFedMtlClipped):
            uploads = [plain.shared - RATE * gradient for gradient in gradients]  # eq. (4)
            plain.shared = sum(uploads, torch.zeros_like(plain.shared)) / 4  # eq. (6)
        else:
            plain.shared = plain.shared - RATE * total / 4
    # The grid has 40 bits below the clip norm, 2^-32 without one.
    np.testing.assert_allclose(trainer.shared[0].numpy(), plain.shared.numpy(), atol=1e-9)
    for k, model in enumerate(plain.models):
        nn.utils.vector_to_parameters(plain.shared.clone(), model[0].parameters())
        x = torch.from_numpy(federation.clients[k].train.features)
        ours = module()
        nn.utils.vector_to_parameters(trainer.client_model(k), ours.parameters())
        outputs = ours(x).detach()
        if plain.maps:
            absent = [c for c in range(CLASSES) if c not in plain.maps[k]]
            assert float(outputs[:, absent].max()) < -1e8
            outputs = outputs[:, plain.maps[k]]
        np.testing.assert_allclose(outputs.numpy(), model(x).detach().numpy(), atol=1e-8)


def test_heads_of_different_widths_learn_their_own_classes():
    trainer, _ = run(DpFedMtl(label_sets="own"), rounds=150, model=module())
    scores = trainer.scores()
    assert scores.accuracy.mean() > 0.9
    assert np.isfinite(scores.loss).all()


def test_an_empty_cohort_wipes_the_printed_model_and_leaves_the_corrected_one():
    shared = torch.ones(1, 3, dtype=torch.float64)
    nothing = torch.zeros(1, 3, dtype=torch.float64)
    printed, corrected = DpFedMtlAsPrinted(), DpFedMtl()
    printed.learning_rate = corrected.learning_rate = RATE
    assert torch.equal(printed.aggregate(shared, nothing.clone(), 4, 0, 0.4), nothing)
    assert torch.equal(printed.aggregate(shared, nothing.clone(), 4, 6, 0.4), 1.5 * shared)
    assert torch.equal(corrected.aggregate(shared, nothing.clone(), 4, 0, 0.4), shared)


def test_empty_cohorts_are_predicted():
    with pytest.warns(StabilityWarning, match=r"0\.966 rounds without any client"):
        # (1 - 2/10)^10 = .107 a round.
        run(DpFedMtlAsPrinted(), rounds=9, cohort=2, sampling="poisson", clip_norm=1.0)


def test_a_cohort_s_varying_size_is_predicted():
    """sqrt(30 (1 - 5/10) / 5) = 1.73; exact cohorts, or dividing by what is expected of gradients, vary nothing."""

    def begun(algorithm, sampling):
        return Trainer(disjoint_labels(), algorithm, module(), Settings(30, 5, sampling, clip_norm=1.0, seed=2))

    with pytest.warns(StabilityWarning, match=r"varies by 1\.7 "):
        begun(DpFedMtlClipped(), "poisson")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        begun(DpFedMtlClipped(), "fixed-size")
        begun(DpFedMtl(), "poisson")


def test_aggregation_interval():
    trainer, board = run(DpFedMtlClipped(aggregation_interval=3), rounds=7, noise_multiplier=1.0, clip_norm=0.5)
    assert len(board.billboard) == 1 + 3
    assert {t for t, _ in board.messages} == {0, 3, 6}
    cohorts = FixedSize(DistributedGaussian(1.0), population=POPULATION, cohort=4)
    expected = Repeat(VisibleParticipation(cohorts), rounds=3)
    assert trainer.mechanism() == trainer.cost.mechanism(trainer.spent) == expected
    # Round 6 is the last release; heads have learned in the rounds between.
    stopped, _ = run(DpFedMtlClipped(aggregation_interval=3), rounds=4, noise_multiplier=1.0, clip_norm=0.5)
    between, _ = run(DpFedMtlClipped(aggregation_interval=3), rounds=6, noise_multiplier=1.0, clip_norm=0.5)
    assert torch.equal(stopped.shared, between.shared)
    assert any(not torch.equal(stopped.client_model(k), between.client_model(k)) for k in range(POPULATION))


def test_local_steps_contribute_the_sum_of_their_gradients():
    several = {"local": LocalSteps(learning_rate=RATE, steps=3, batch_size=None), "rounds": 1}
    trainer, board = run(DpFedMtl(), **several)
    start = board.billboard[0][0]
    moved = start - RATE * board.billboard[1][0] / 4
    np.testing.assert_allclose(trainer.shared[0].numpy(), moved, atol=1e-12)
    _, single = run(DpFedMtl(), rounds=1)
    assert np.linalg.norm(board.billboard[1]) > 2 * np.linalg.norm(single.billboard[1])


def test_without_a_head_it_is_dp_fedavg():
    """dp-fedavg clips updates, eta times as long as gradients."""
    federation = related_tasks(population=POPULATION, features=FEATURES, classes=CLASSES, samples=8)
    same = {"sampling": "poisson", "federation": federation}
    ours, _ = run(DpFedMtl(head_layers=0), clip_norm=0.1, **same)
    average, _ = run(DpFedAvg(), clip_norm=0.1 * RATE, **same)
    np.testing.assert_allclose(ours.shared.numpy(), average.shared.numpy(), atol=1e-9)
    ours, _ = run(DpFedMtl(head_layers=0), clip_norm=0.5, noise_multiplier=0.7, **same)
    average, _ = run(DpFedAvg(), clip_norm=0.5 * RATE, noise_multiplier=0.7, **same)
    assert ours.cost.notion == "dp"
    assert ours.personal is None
    assert ours.mechanism() == average.mechanism() == Repeat(Poisson(Gaussian(0.7), 0.4), 5)


@pytest.mark.parametrize(
    ("variant", "expected"),
    [(DpFedMtlAsPrinted, 2 * 3 / 174), (DpFedMtlClipped, 2 * 3 / 174), (DpFedMtlLocalNoise, 2.0), (DpFedMtl, 2.0)],
)
def test_sigma_is_in_units_of_the_form_s_own_s(variant, expected):
    """K = 3 of M = 174, the paper's FEMNIST: S/C is 2K/M as printed and 2 in truth."""
    assert variant().noise_multiplier(9.69, 3, 174) == pytest.approx(9.69 * expected, rel=1e-15)


def test_fine_tuning_starts_from_a_client_s_own_model():
    from dpcert.trainers.algorithms.finetune import FineTuning, fine_tune

    trainer, _ = run(DpFedMtl(), rounds=3)
    before = trainer.scores().loss.mean()
    for penalty in ("vanilla", "mean-regularised"):
        tuned = fine_tune(trainer, FineTuning(penalty, LocalSteps(learning_rate=RATE, epochs=20), 0.01))
        assert tuned.loss.mean() < before


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: DpFedMtl(head_layers=-1), "head_layers"),
        (lambda: DpFedMtl(aggregation_interval=0), "aggregation_interval"),
        (lambda: DpFedMtl(label_sets="some"), "label_sets"),
        (lambda: DpFedMtl(head_layers=0, label_sets="own"), "label_sets"),
        (lambda: run(DpFedMtl(head_layers=2)), "head_layers"),
        (lambda: run(DpFedMtl(), model="logistic"), "head_layers"),
        (lambda: run(DpFedMtl(), clipping="per-layer", clip_norm=1.0), "clipping"),
        (lambda: run(DpFedMtlLocalNoise(), clipping="adaptive", clip_norm=1.0), "clipping"),
        (lambda: run(DpFedMtlAsPrinted(), noise_multiplier=1.0), "clip_norm"),
        (lambda: run(DpFedMtl(label_sets="own"), model=NO_BIAS), "label_sets"),
    ],
)
def test_bad_input(build, field):
    with pytest.raises(InputError) as caught:
        build()
    assert caught.value.field == field
