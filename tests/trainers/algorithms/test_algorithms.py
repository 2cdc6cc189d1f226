"""Algorithms against closed forms and against each other."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from cases import few
from known_problems import Quadratic, SoftmaxRegression

from dpcert.mechanisms import InputError
from dpcert.trainers.algorithms.fixed_omega import decompose
from dpcert.trainers.data.synthetic import (
    clustered_tasks,
    logistic_regression,
    mean_estimation,
    related_tasks,
    ridge_regression,
)
from dpcert.trainers.engine.billboard import RecordingBillboard
from dpcert.trainers.engine.settings import LocalSteps, Settings
from dpcert.trainers.engine.trainer import Trainer
from dpcert.trainers.federated import (
    ClusteredPmtl,
    Ditto,
    DpFedAvg,
    DpFedProx,
    FixedOmega,
    LocalOnly,
    NaiveJoint,
    Pmtl,
    PmtlAsPrinted,
    PmtlIncrements,
    PpSgd,
)
from dpcert.trainers.models import Linear

torch.set_num_threads(1)
FULL = LocalSteps(learning_rate=0.3, steps=5, batch_size=None)


def exact(federation, algorithm, *, local=FULL, rounds=80, cohort=None, sampling="fixed-size", model=None, **changed):
    """A run in double precision, by default without noise or clipping, and its trainer."""
    told = Settings(
        rounds=rounds, cohort=cohort or federation.population, sampling=sampling, local=local, seed=4, dtype="float64"
    )
    told = Settings(**({name: getattr(told, name) for name in told.__slots__} | changed))
    module = model or Linear(federation.shape[0], federation.outputs, bias=False)
    board = RecordingBillboard()
    trainer = Trainer(federation, algorithm, module, told, billboard=board)
    trainer.run()
    return trainer, board


def models(trainer):
    return torch.stack([trainer.client_model(k) for k in range(trainer.federation.population)]).numpy()


# Mean-regularised objectives: optima in closed form


@pytest.mark.parametrize("algorithm", few([Pmtl, PmtlAsPrinted, PmtlIncrements], 8))
@pytest.mark.parametrize("strength", [0.2, 1.0])
def test_pmtl_forms_reach_the_optimum_under_full_participation(algorithm, strength):
    problem = Quadratic.of(mean_estimation(population=20, dimension=3, curvature=1.0, seed=2))
    trainer, _ = exact(problem.federation, algorithm(strength))
    gap = problem.objective(models(trainer), strength) - problem.objective(problem.optimum(strength), strength)
    assert gap + 1e-15 >= 0
    assert gap < 1e-15
    np.testing.assert_allclose(trainer.shared[0].numpy(), models(trainer).mean(axis=0), atol=1e-7)


def test_increments_reach_it_with_cohorts_too_and_the_others_do_not():
    """Register PMTL-ALG-a: q = 5 of 20: 1/m increments are exact, the code's form has a sampling floor, the printed
    form does not approach the optimum."""
    problem = Quadratic.of(mean_estimation(population=20, dimension=3, curvature=1.0, seed=2))
    best = problem.objective(problem.optimum(0.2), 0.2)
    gaps = {}
    for algorithm in (PmtlIncrements(0.2), Pmtl(0.2), PmtlAsPrinted(0.2, curvature=1.0)):
        trainer, _ = exact(problem.federation, algorithm, cohort=5, rounds=250)
        gaps[type(algorithm)] = problem.objective(models(trainer), 0.2) - best
    assert gaps[PmtlIncrements] < 1e-14
    assert 1e-6 < gaps[Pmtl] < 0.1
    assert gaps[PmtlAsPrinted] > 10 * gaps[Pmtl]


def test_ridge_optimum():
    problem = Quadratic.of(ridge_regression(population=6, dimension=4, strong_convexity=0.3, smoothness=1.5, seed=1))
    trainer, _ = exact(problem.federation, Pmtl(0.7), rounds=150)
    np.testing.assert_allclose(models(trainer), problem.optimum(0.7), atol=1e-7)


def test_logistic_optimum():
    problem = SoftmaxRegression(logistic_regression(population=4, dimension=3, classes=3, seed=1))
    local = LocalSteps(learning_rate=1.0, steps=5, batch_size=None, weight_decay=0.2)
    trainer, _ = exact(problem.federation, Pmtl(0.5), rounds=200, local=local)
    found = models(trainer).reshape(4, 3, 3).transpose(0, 2, 1)
    np.testing.assert_allclose(found, problem.optimum(0.5, 0.2), atol=1e-7)


@pytest.mark.nightly
def test_noise_is_a_random_walk_unless_the_mean_is_taken_afresh():
    """Register PMTL-ALG-b: E||w~ - w_bar||^2 is t d sigma^2 for increments and d sigma^2 for the code's form."""
    problem = Quadratic.of(mean_estimation(population=10, dimension=16, curvature=0.2, seed=3))
    distances = {}
    for algorithm in (Pmtl, PmtlIncrements, PmtlAsPrinted):
        squares = []
        for seed in range(3):
            trainer, _ = exact(
                problem.federation, algorithm(1.0), rounds=100, clip_norm=1e3, noise_multiplier=1e-4, seed=seed
            )
            squares.append(float(((trainer.shared[0].numpy() - models(trainer).mean(axis=0)) ** 2).sum()))
        # sigma on the mean is 1e-4 * 1e3 / 10 = 0.01.
        distances[algorithm] = np.mean(squares) / (16 * 0.01**2)
    # Each is a chi-square mean with 48 degrees of freedom, times 1 or 100: within a factor 2.2 at level 1e-6.
    assert 1 / 2.2 < distances[Pmtl] < 2.2
    assert 100 / 2.2 < distances[PmtlIncrements] < 220
    assert 100 / 2.2 < distances[PmtlAsPrinted] < 220


# Equivalences


def test_fixed_omega_of_the_mean_regulariser_is_pmtl():
    problem = Quadratic.of(ridge_regression(population=8, dimension=3, seed=4))
    omega = np.eye(8) - np.full((8, 8), 1 / 8)
    pmtl, _ = exact(problem.federation, Pmtl(0.6), cohort=4, rounds=12)
    general, board = exact(problem.federation, FixedOmega(omega, 0.6), cohort=4, rounds=12)
    np.testing.assert_allclose(models(general), models(pmtl), atol=1e-8)
    assert board.billboard[0].size == 3


def test_fixed_omega_reaches_the_optimum_of_a_random_omega():
    problem = Quadratic.of(ridge_regression(population=5, dimension=3, strong_convexity=0.5, seed=6))
    factor = np.random.default_rng(0).standard_normal((5, 2))
    omega = 2 * np.eye(5) - 1.5 * factor @ np.linalg.inv(factor.T @ factor) @ factor.T
    trainer, _ = exact(problem.federation, FixedOmega(omega, 0.4), rounds=200)
    found = models(trainer)
    gradient = np.einsum("kij,kj->ki", problem.hessians, found - problem.centres) + 0.4 * omega @ found
    assert np.abs(gradient).max() < 1e-7


def test_omega_decomposition():
    rng = np.random.default_rng(1)
    for size in (2, 5, 9):
        factor = rng.standard_normal((size, size))
        for omega in (factor @ factor.T, np.eye(size) - np.full((size, size), 1 / size)):
            level, signs, rows = decompose(omega)
            np.testing.assert_allclose(level * np.eye(size) - (rows * signs) @ rows.T, omega, atol=1e-9)
    assert decompose(np.eye(9) - np.full((9, 9), 1 / 9))[2].shape == (9, 1)
    for bad, expected in [
        (np.eye(3), "relates tasks"),
        (-np.eye(3), "positive semi-definite"),
        (np.ones((2, 3)), "symmetric square"),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), "symmetric"),
    ]:
        with pytest.raises(InputError, match=expected):
            FixedOmega(bad)


def test_one_cluster_is_pmtl_and_two_do_not_mix():
    federation = related_tasks(population=8, features=4, classes=3, samples=8)
    pmtl, _ = exact(federation, Pmtl(0.5), cohort=4, rounds=6, sampling="poisson")
    single, _ = exact(federation, ClusteredPmtl([0] * 8, 0.5), cohort=4, rounds=6, sampling="poisson")
    np.testing.assert_array_equal(models(single), models(pmtl))
    problem = Quadratic.of(mean_estimation(population=8, dimension=3, seed=2))
    clusters = [0, 0, 0, 0, 0, 1, 1, 1]
    trainer, _ = exact(problem.federation, ClusteredPmtl(clusters, 0.5))
    for cluster in (0, 1):
        members = np.flatnonzero(np.array(clusters) == cluster)
        centres = problem.centres[members]
        np.testing.assert_allclose(models(trainer)[members], (centres + 0.5 * centres.mean(axis=0)) / 1.5, atol=1e-7)


def test_clusters_are_checked():
    federation, clusters = clustered_tasks(population=6, clusters=3), (0, 1, 2, 0, 1, 2)
    with pytest.raises(InputError, match="one cluster for each of 6 clients"):
        exact(federation, ClusteredPmtl(clusters[:-1]))
    with pytest.raises(InputError, match="without gaps"):
        ClusteredPmtl([0, 2])


def test_naive_joint_without_noise_is_pmtl_and_all_blocks_get_noise():
    problem = Quadratic.of(mean_estimation(population=6, dimension=3, seed=2))
    joint, _ = exact(problem.federation, NaiveJoint(0.5))
    np.testing.assert_allclose(models(joint), problem.optimum(0.5), atol=1e-7)
    _, board = exact(problem.federation, NaiveJoint(0.5), cohort=2, rounds=1, clip_norm=1.0, noise_multiplier=1.0)
    assert (board.noise[1] != 0).all()
    assert board.noise[1].shape == (6, 3)
    assert ((board.pre_noise[1] != 0).any(axis=1)).sum() == 2


def test_fedavg_one_full_batch_step_is_gradient_descent():
    problem = Quadratic.of(ridge_regression(population=6, dimension=4, seed=3))
    local = LocalSteps(learning_rate=0.2, steps=1, batch_size=None)
    trainer, board = exact(problem.federation, DpFedAvg(), local=local, rounds=30)
    w = np.zeros(4)
    for _ in range(30):
        w = w - 0.2 * np.einsum("kij,kj->ki", problem.hessians, w - problem.centres).mean(axis=0)
    np.testing.assert_allclose(trainer.shared[0].numpy(), w, atol=1e-8)
    np.testing.assert_array_equal(models(trainer), np.tile(models(trainer)[0], (6, 1)))
    assert board.outputs


def test_fedprox_holds_back_and_is_fedavg_at_zero():
    federation = related_tasks(population=6, features=4, classes=3, samples=8)
    average, _ = exact(federation, DpFedAvg(), rounds=3)
    free, _ = exact(federation, DpFedProx(0.0), rounds=3)
    held, _ = exact(federation, DpFedProx(2.0), rounds=3)
    np.testing.assert_array_equal(models(free), models(average))
    assert np.linalg.norm(models(held)) < np.linalg.norm(models(average))


def test_local_only_publishes_nothing():
    problem = Quadratic.of(mean_estimation(population=6, dimension=3, seed=2))
    trainer, board = exact(problem.federation, LocalOnly(), clip_norm=1.0, noise_multiplier=1.0)
    np.testing.assert_allclose(models(trainer), problem.centres, atol=1e-12)
    assert len(board.billboard) == 1
    assert not board.messages


def test_ditto_global_model_is_fedavg_and_personal_ones_stay_near_it():
    problem = Quadratic.of(mean_estimation(population=6, dimension=3, seed=2))
    average, _ = exact(problem.federation, DpFedAvg())
    ditto, _ = exact(problem.federation, Ditto(0.5))
    np.testing.assert_allclose(ditto.shared.numpy(), average.shared.numpy(), atol=1e-12)
    expected = (problem.centres + 0.5 * ditto.shared.numpy()) / 1.5
    np.testing.assert_allclose(models(ditto), expected, atol=1e-7)


def test_pp_sgd_one_step_is_the_papers_update():
    problem = Quadratic.of(ridge_regression(population=5, dimension=3, seed=3))
    local = LocalSteps(learning_rate=0.1, steps=1, batch_size=None)
    trainer, _ = exact(problem.federation, PpSgd(alpha=2.0), local=local, rounds=25)
    w, theta = np.zeros(3), np.zeros((5, 3))
    for _ in range(25):
        gradient = np.einsum("kij,kj->ki", problem.hessians, w + theta - problem.centres)
        w, theta = w - 0.1 * gradient.mean(axis=0), theta - 0.2 * gradient
    np.testing.assert_allclose(trainer.shared[0].numpy(), w, atol=1e-8)
    np.testing.assert_allclose(models(trainer), w + theta, atol=1e-8)


def test_pp_sgd_without_local_part_is_fedavg():
    federation = related_tasks(population=6, features=4, classes=3, samples=8)
    average, _ = exact(federation, DpFedAvg(), rounds=3)
    without, _ = exact(federation, PpSgd(alpha=0.0), rounds=3)
    np.testing.assert_allclose(models(without), models(average), atol=1e-12)


@pytest.mark.parametrize("algorithm", [Pmtl, DpFedProx, Ditto, NaiveJoint])
def test_negative_strength(algorithm):
    with pytest.raises(InputError, match="lambda"):
        algorithm(-1.0)
