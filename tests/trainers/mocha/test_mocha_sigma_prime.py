"""sigma' of the subproblems (4), by name: each bounds the dual and reaches the same optimum; a smaller one does not."""

from __future__ import annotations

import json

import numpy as np
import pytest
from cases import many
from scipy.linalg import block_diag, eigh

from dpcert.cli import run
from dpcert.mechanisms import InputError
from dpcert.trainers.mocha import sigma_prime
from dpcert.trainers.mocha.cocoa import Subproblem
from dpcert.trainers.mocha.losses import LOSSES
from dpcert.trainers.mocha.methods import Alternating, Setting, ThetaSteps, WeightStep
from dpcert.trainers.mocha.mocha import report
from dpcert.trainers.mocha.objective import dual_value, images, weights_of
from dpcert.trainers.mocha.omegas import clustered, graph_laplacian, mean_regularised
from dpcert.trainers.mocha.sigma_prime import SIGMA_PRIMES, lemma_sigma
from dpcert.trainers.mocha.tasks import Tasks, related_tasks
from dpcert.trainers.mocha.work import FixedTheta, Passes

LAMBDA = 0.1
RING = np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0)
OMEGAS = {
    "mean": mean_regularised(6, 0.1),
    "clustered": clustered([0, 0, 1, 1, 1, 2], 0.05),
    "ring": graph_laplacian(RING, 0.1),
}


@pytest.fixture(scope="module")
def made():
    """Six ragged tasks; those of fewer samples than features span less than the whole space."""
    covariance = np.kron(np.eye(2), np.full((3, 3), 0.9)) + 0.1 * np.eye(6)
    tasks, _ = related_tasks(6, 5, 9, covariance, np.random.default_rng(1))
    return tasks.take([range(9 - task) for task in range(6)])


def quotient(tasks, covariance, alpha):
    """||X alpha||_M^2 / sum ||X_t alpha_t||_{M_t}^2."""
    v = images(tasks, alpha)
    return float(np.einsum("td,ts,sd->", v, covariance, v) / (np.diag(covariance) * (v * v).sum(axis=1)).sum())


def worst_direction(tasks, covariance):
    """(sigma', alpha) by scipy's generalised eigenvalues in alpha itself, which the code does not use."""
    x = block_diag(*(features.T / len(features) for features in tasks.features))
    whole = x.T @ np.kron(covariance, np.eye(tasks.dimension)) @ x
    parts = x.T @ np.kron(np.diag(np.diag(covariance)), np.eye(tasks.dimension)) @ x
    # In the row space of the parts: alpha outside it moves nothing.
    values, vectors = np.linalg.eigh(parts)
    inside = vectors[:, values > 1e-10 * values[-1]]
    largest, found = eigh(inside.T @ whole @ inside, inside.T @ parts @ inside)
    alpha = np.zeros(tasks.padded[1].shape)
    alpha[tasks.present] = inside @ found[:, -1]
    return float(largest[-1]), alpha


@pytest.mark.parametrize("omega", OMEGAS)
def test_lemma_is_the_least_for_the_data_and_the_others_lie_above(made, omega):
    covariance = np.linalg.inv(OMEGAS[omega])
    values = {name: value(made, covariance) for name, value in SIGMA_PRIMES.items()}
    exact, alpha = worst_direction(made, covariance)
    assert values["lemma"] == pytest.approx(exact, rel=1e-8)
    assert quotient(made, covariance, alpha) == pytest.approx(exact, rel=1e-8)
    assert values["lemma"] <= values["tight"] <= values["reference"] <= 6 * (1 + 1e-9)
    rng = np.random.default_rng(0)
    for _ in range(many(200)):
        assert quotient(made, covariance, rng.standard_normal(made.padded[1].shape)) <= values["lemma"]


def test_lemma_is_below_tight_where_samples_span_little():
    """Tasks whose samples are orthogonal to each other's need no more than 1, however related they are."""
    tasks = Tasks(tuple(np.eye(3)[[task]] for task in range(3)), (np.ones(1),) * 3)
    covariance = np.linalg.inv(mean_regularised(3, 0.1))
    assert lemma_sigma(tasks, covariance) == pytest.approx(1)
    assert SIGMA_PRIMES["tight"](tasks, covariance) > 2
    silent = Tasks((np.zeros((2, 3)),) * 3, (np.ones(2),) * 3)
    assert lemma_sigma(silent, covariance) == 1


def broken_bound(tasks, covariance, sigma, alpha, step):
    """How far D(alpha + step), minimised here, lies above the sum of the subproblems: above 0 where (4) fails."""
    loss, scale = LOSSES["squared"], np.diag(covariance) / LAMBDA
    v, moved = images(tasks, alpha), images(tasks, step)
    weights = weights_of(v, covariance, LAMBDA)
    parts = Subproblem(tasks, loss, alpha, weights, scale, sigma).value(alpha + step, moved).sum()
    constant = float(np.einsum("td,ts,sd->", v, covariance, v) / (2 * LAMBDA))
    return -dual_value(tasks, loss, alpha + step, v + moved, covariance, LAMBDA) - (parts + constant)


@pytest.mark.parametrize("omega", OMEGAS)
@pytest.mark.parametrize("name", SIGMA_PRIMES)
def test_the_subproblems_bound_the_dual(made, omega, name):
    covariance, rng = np.linalg.inv(OMEGAS[omega]), np.random.default_rng(2)
    sigma = SIGMA_PRIMES[name](made, covariance)
    worst = worst_direction(made, covariance)[1]
    for step in (worst, *rng.standard_normal((50, *made.padded[1].shape))):
        alpha = rng.standard_normal(made.padded[1].shape)
        assert broken_bound(made, covariance, sigma, alpha, step) <= 1e-9


@pytest.mark.parametrize("omega", OMEGAS)
def test_planted_smaller_values_break_the_bound(made, omega):
    """1% less than the lemma's value fails on the worst direction, and 1, which forgets the coupling, on many."""
    covariance, rng = np.linalg.inv(OMEGAS[omega]), np.random.default_rng(3)
    exact, worst = worst_direction(made, covariance)
    alpha = rng.standard_normal(made.padded[1].shape)
    assert broken_bound(made, covariance, 0.99 * exact, alpha, worst) > 1e-6
    assert any(
        broken_bound(made, covariance, 1.0, alpha, step) > 1e-6
        for step in rng.standard_normal((50, *made.padded[1].shape))
    )


def rounds_to(method, gap=1e-6, longest=20_000):
    state, rng = method.start(), np.random.default_rng(0)
    while state.rounds < longest:
        state = method.round(state, rng)
        if state.rounds % 5 == 0 and (seen := method.report(state)).gap <= gap:
            return state.rounds, seen.primal
    raise AssertionError("the gap stayed open")


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_all_reach_the_same_optimum(made, loss):
    setting = Setting(made, LOSSES[loss], OMEGAS["ring"], LAMBDA)
    reached = {name: rounds_to(WeightStep(setting, sigma_prime=value)) for name, value in SIGMA_PRIMES.items()}
    values = [primal for _, primal in reached.values()]
    assert values == pytest.approx([values[0]] * len(values), abs=1e-6)
    if loss == "logistic":  # near a hinge optimum nodes work long for their theta
        steered = ThetaSteps(setting, targets=FixedTheta(0.5), sigma_prime=lemma_sigma)
        assert rounds_to(steered)[1] == pytest.approx(values[0], abs=1e-6)


def test_a_planted_small_value_loses_the_ascent(made):
    """A tenth of the lemma's value: some round lowers the dual; with the lemma's own none does."""
    setting = Setting(made, LOSSES["hinge"], mean_regularised(6, 0.01), 0.01)

    def smallest_gain(value):
        method = WeightStep(setting, Passes(20), sigma_prime=value)
        state, rng, gains, before = method.start(), np.random.default_rng(3), [], 0.0
        for _ in range(30):
            state = method.round(state, rng)
            dual = report(made, setting.loss, state, setting.regularisation).dual
            gains.append(dual - before)
            before = dual
        return min(gains)

    assert smallest_gain(lemma_sigma) >= -1e-12
    assert smallest_gain(lambda tasks, covariance: lemma_sigma(tasks, covariance) / 10) < -1e-3


def test_it_follows_omega(made):
    """After an Omega-step the value is that of the new covariance."""
    setting = Setting(made, LOSSES["hinge"], np.eye(6) * 6, LAMBDA)
    seen = []

    def spy(tasks, covariance):
        seen.append(lemma_sigma(tasks, covariance))
        return seen[-1]

    method = Alternating(setting, sigma_prime=spy, rounds_per_step=3)
    state = method.start()
    for _ in range(5):
        state = method.round(state, np.random.default_rng(0))
    assert seen[:3] == [pytest.approx(1)] * 3
    assert seen[3] > 1.01


def test_too_many_directions_are_named(made, monkeypatch):
    monkeypatch.setattr(sigma_prime, "LARGEST", 3)
    tasks, _ = related_tasks(2, 5, 9, np.eye(2), np.random.default_rng(5))
    with pytest.raises(InputError, match="at most 3 directions"):
        lemma_sigma(tasks, np.eye(2))


TINY = ["--data", "synthetic:clustered,tasks=4,dimension=3,samples=10", "--lambda", "0.1", "--seed", "1", "--quiet"]


def test_the_command_line_takes_all_names(capsys):
    found = {}
    for name in SIGMA_PRIMES:
        assert run(["mocha", "mocha", *TINY, "--tolerance", "1e-7", "--sigma-prime", name, "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["sigma_prime"]["name"] == name
        found[name] = document["sigma_prime"]["value"], document["primal"]
    assert found["lemma"][0] <= found["tight"][0] <= found["reference"][0]
    assert max(primal for _, primal in found.values()) == pytest.approx(min(p for _, p in found.values()), rel=2e-7)


@pytest.mark.parametrize(
    "arguments",
    [
        ["mocha", "--sigma-prime", "small"],
        ["mocha", "--sigma-prime", "tight", "--omega", "learned"],
        ["mb-sdca", "--sigma-prime", "tight"],
        ["mocha", "--sigma-prime", "lemma", "--clip-norm", "0.1", "--noise-multiplier", "1"],
    ],
)
def test_the_command_line_refuses_what_means_nothing(capsys, arguments):
    assert run(["mocha", *arguments[:1], *TINY, *arguments[1:]]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "sigma" in captured.err
