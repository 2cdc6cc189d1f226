"""Synthetic federations have the constants that they state."""

from __future__ import annotations

import numpy as np
import pytest
from cases import many
from known_problems import Quadratic, SoftmaxRegression

from dpcert.mechanisms import InputError
from dpcert.trainers.data import Federation, Samples, load_federation, split_clients
from dpcert.trainers.data.source import SYNTHETIC
from dpcert.trainers.data.synthetic import (
    clustered_tasks,
    fedprox_synthetic,
    logistic_regression,
    mean_estimation,
    related_tasks,
    ridge_regression,
)


def test_mean_estimation_closed_form():
    problem = Quadratic.of(mean_estimation(population=7, dimension=3, curvature=0.4, seed=1))
    strength = 0.7
    expected = (0.4 * problem.centres + strength * problem.centres.mean(axis=0)) / (0.4 + strength)
    np.testing.assert_allclose(problem.optimum(strength), expected, atol=1e-13)
    assert problem.smoothness == pytest.approx(0.4)
    assert problem.strong_convexity == pytest.approx(0.4)


@pytest.mark.parametrize("strength", [0.0, 0.3, 20.0])
def test_ridge_spectrum_and_optimum(strength):
    problem = Quadratic.of(ridge_regression(population=6, dimension=4, strong_convexity=0.2, smoothness=1.5, seed=2))
    eigenvalues = np.linalg.eigvalsh(problem.hessians)
    np.testing.assert_allclose(eigenvalues, np.tile(np.linspace(0.2, 1.5, 4), (6, 1)), atol=1e-12)
    best = problem.optimum(strength)
    value = problem.objective(best, strength)
    rng = np.random.default_rng(0)
    for scale in (1e-3, 1e-1):
        for _ in range(many(20)):
            assert problem.objective(best + scale * rng.standard_normal(best.shape), strength) > value
    # Central differences of the objective vanish at the optimum.
    for client in range(6):
        for axis in range(4):
            step = np.zeros_like(best)
            step[client, axis] = 1e-4
            slope = problem.objective(best + step, strength) - problem.objective(best - step, strength)
            assert abs(slope) / 2e-4 < 1e-9


def test_quadratic_is_the_loss_of_the_samples():
    problem = Quadratic.of(ridge_regression(population=3, dimension=4, seed=5))
    models = np.random.default_rng(1).standard_normal((3, 4))
    losses = [
        0.5 * ((client.train.dense() @ model - client.train.labels[:, 0]) ** 2).mean()
        for client, model in zip(problem.federation.clients, models, strict=True)
    ]
    assert problem.objective(models, 0.0) == pytest.approx(np.mean(losses), rel=1e-12)


def test_logistic_smoothness_and_optimum():
    problem = SoftmaxRegression(logistic_regression(population=4, seed=3))
    rng = np.random.default_rng(0)
    for _ in range(many(50)):
        one, other = rng.standard_normal((2, 4, 3, 4))
        change = np.linalg.norm((problem.gradients(one) - problem.gradients(other)).reshape(4, -1), axis=1)
        assert (change <= problem.smoothness * np.linalg.norm((one - other).reshape(4, -1), axis=1)).all()
    best = problem.optimum(0.5, 0.1)
    residual = problem.gradients(best) + 0.1 * best + 0.5 * (best - best.mean(axis=0))
    assert np.linalg.norm(residual) < 1e-10


def test_related_tasks_labels_follow_the_spread():
    equal = related_tasks(population=4, samples=4000, spread=0.0, seed=1)
    apart = related_tasks(population=4, samples=4000, spread=3.0, seed=1)

    def agreement(federation: Federation) -> float:
        """How well the first client's least-squares classifier predicts the second client's labels."""
        one, other = federation.clients[0].train, federation.clients[1].train
        weights = np.linalg.lstsq(one.dense(), np.eye(federation.outputs)[one.labels.astype(int)], rcond=None)[0]
        return float((np.argmax(other.dense() @ weights, axis=1) == other.labels).mean())

    assert agreement(equal) > 0.75
    assert agreement(apart) < 0.6


def test_clusters_and_fedprox_shapes():
    federation = clustered_tasks(population=10, clusters=3, samples=1000, spread=0.0, test_fraction=0.0)
    means = [client.train.dense().T @ np.eye(5)[client.train.labels] / 1000 for client in federation.clients]
    apart = np.array([[np.linalg.norm(one - other) for other in means] for one in means])
    alike = np.subtract.outer(np.arange(10), np.arange(10)) % 3 == 0  # client k is in cluster k mod 3
    assert apart[alike].max() < 0.5 * apart[~alike].min()
    fedprox = fedprox_synthetic(0.5, 0.5, population=5, largest=200)
    assert (fedprox.shape, fedprox.outputs) == ((60,), 10)
    assert all(50 <= len(client.train) + len(client.test) <= 200 for client in fedprox.clients)


def test_sources():
    assert load_federation("synthetic").name.startswith("synthetic:spread")
    assert load_federation("synthetic:related,population=5").population == 5
    for source, expected in [
        ("nothing:x", "KIND:PATH"),
        ("leaf:", "leaf:PATH"),
        ("synthetic:unknown", "one of related"),
        ("synthetic:related,colour=3", "options among"),
        ("synthetic:related,5", "key=value"),
    ]:
        with pytest.raises(InputError, match=expected):
            load_federation(source)


def test_federation_refuses_what_cannot_be_trained_on():
    good = Samples(np.ones((4, 2), dtype=np.float32), np.zeros(4, dtype=np.int64))

    def build(**changed: Samples) -> Federation:
        return Federation("x", split_clients({"a": good, "b": good} | changed), "classes", 2)

    build()
    empty = Samples(np.ones((0, 2), dtype=np.float32), np.zeros(0, dtype=np.int64))
    other_shape = Samples(np.ones((4, 3), dtype=np.float32), np.zeros(4, dtype=np.int64))
    nan = Samples(np.full((4, 2), np.nan, dtype=np.float32), np.zeros(4, dtype=np.int64))
    beyond = Samples(np.ones((4, 2), dtype=np.float32), np.full(4, 2, dtype=np.int64))
    for samples, expected in [
        (empty, "at least one sample"),
        (other_shape, "shape of the first"),
        (nan, "finite"),
        (beyond, "a class from 0 to 1"),
    ]:
        with pytest.raises(InputError, match=expected):
            build(b=samples)
    with pytest.raises(InputError, match="two clients"):
        Federation("x", split_clients({"a": good}), "classes", 2)


@pytest.mark.parametrize("name", SYNTHETIC)
def test_every_synthetic_federation_by_name(name):
    federation = load_federation(f"synthetic:{name}")
    assert federation.population >= 2
    assert federation.fingerprint() == load_federation(f"synthetic:{name}").fingerprint()
