"""What MOCHA's evidence computes, against the trainer and against computations that share nothing with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cases import many
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from dpcert.proofs_checks.convergence import UnlikeTheTrainer, mocha_problem
from dpcert.proofs_checks.convergence.mocha_problem import (
    confirm_rounds,
    lone_sample,
    made_problem,
    part_way,
    squared_optimum,
    squared_theta,
    tight_problem,
)
from dpcert.proofs_checks.papers.mocha.alternation import _joint_optimum, _joint_value
from dpcert.proofs_checks.papers.mocha.subproblem import cocoa_plus
from dpcert.proofs_checks.papers.mocha.theorem_1 import constant, expected_dual
from dpcert.proofs_checks.papers.mocha.theorem_2 import spread
from dpcert.trainers.mocha.cocoa import Subproblem
from dpcert.trainers.mocha.mocha import report


@pytest.mark.parametrize("loss", ["squared", "hinge"])
def test_scale_is_the_papers(loss: str) -> None:
    """D and the gap are the trainer's, times n_t."""
    problem = made_problem(3, 4, 5, loss=loss)
    state = problem.round(problem.round(problem.start()))
    seen = report(problem.tasks, problem.loss, state, problem.regularisation)
    assert problem.dual(state.alpha) == pytest.approx(-5 * seen.dual, rel=1e-12)
    assert problem.gap(state.alpha) == pytest.approx(5 * seen.gap, rel=1e-9)


def test_optimum_has_no_gap_and_nothing_below_it() -> None:
    problem = made_problem(3, 4, 5, coupling=0.9)
    best, value = squared_optimum(problem)
    assert problem.gap(best) < 1e-12
    rng = np.random.default_rng(0)
    assert all(problem.dual(best + 0.01 * rng.standard_normal(best.shape)) > value for _ in range(50))


def test_theta_is_one_for_silence_small_for_many_passes_and_below_the_trainers_bound() -> None:
    problem = made_problem(3, 4, 5, coupling=0.9)
    state = problem.round(problem.start(), passes=1)
    assert squared_theta(problem, state, state) == pytest.approx(np.ones(3))
    assert squared_theta(problem, state, problem.round(state, passes=60)).max() < 1e-9
    after = problem.round(state, passes=1)
    scale = np.diag(problem.covariance) / problem.regularisation
    sub = Subproblem(problem.tasks, problem.loss, state.alpha, state.weights, scale, problem.sigma_prime)
    bound = sub.theta_bound(after.alpha, after.v - state.v)
    assert (squared_theta(problem, state, after) <= bound + 1e-12).all()


def test_expected_dual_is_the_mean_over_drops() -> None:
    """20 000 drawn outcomes of one round, within five standard errors."""
    problem = made_problem(3, 4, 5, coupling=0.9)
    state = problem.round(problem.start(), passes=1)
    full, rng = problem.round(state), np.random.default_rng(1)
    masks = rng.random((20_000, 3)) >= 0.4
    change = full.alpha - state.alpha
    values = {
        key: problem.dual(state.alpha + np.array(key)[:, None] * change) for key in set(map(tuple, masks.tolist()))
    }
    drawn = np.array([values[tuple(mask)] for mask in masks.tolist()])
    assert abs(drawn.mean() - expected_dual(problem, state, full, 0.4)) <= 5 * drawn.std() / np.sqrt(20_000)


@settings(deadline=None, max_examples=many(40))
@given(
    seed=st.integers(0, 10**6),
    coupling=st.floats(0.0, 0.99),
    regularisation=st.floats(0.01, 5.0),
    drop=st.floats(0.0, 0.95),
)
def test_one_round_contracts_as_theorem_1_says(seed: int, coupling: float, regularisation: float, drop: float) -> None:
    problem = made_problem(3, 4, 4, coupling=coupling, regularisation=regularisation, seed=seed)
    _, best = squared_optimum(problem)
    rng, state = np.random.default_rng(seed), problem.start()
    for _ in range(4):
        full = problem.round(state, passes=2)
        theta = drop + (1 - drop) * float(squared_theta(problem, state, full).max())
        excess = problem.dual(state.alpha) - best
        if excess < 1e-9:
            break
        after = expected_dual(problem, state, full, drop) - best
        assert after <= (1 - (1 - theta) * constant(problem)) * excess * (1 + 1e-9)
        state = problem.round(state, rng.random(3) >= drop)


def test_constants_by_their_definitions() -> None:
    problem = tight_problem(1.0)
    scale = 1.0 / (3 * 0.05)
    assert problem.block_norms == pytest.approx(np.full(4, scale))
    assert problem.sigma_prime == pytest.approx(1 + 3 * 0.99)
    assert spread(problem) == pytest.approx(4 * 4 * 3 * scale * (1 + 3 * 0.99))


def test_lone_sample_in_closed_form() -> None:
    """Squared loss, sigma_1 = 4: D = 5 a^2/2 - a, gap = (D - D*) 5; half an update halves the distance to 1/5."""
    problem = lone_sample("squared", 4.0)
    best, value = squared_optimum(problem)
    assert best[0, 0] == pytest.approx(0.2)
    assert value == pytest.approx(-0.1)
    assert problem.gap(problem.start().alpha) == pytest.approx(0.5)
    state = problem.start()
    half = part_way(state, problem.round(state), 0.5)
    assert half.alpha[0, 0] == pytest.approx(0.1)
    assert squared_theta(problem, state, half) == pytest.approx(0.25)
    assert half.weights[0, 0] == pytest.approx(4 * 0.1)


def test_our_cocoa_reaches_the_ridge_solution() -> None:
    problem = made_problem(4, 5, 6, seed=7, regularisation=1.0)
    x, y = np.concatenate(problem.tasks.features), np.concatenate(problem.tasks.labels)
    ridge = np.linalg.solve(x.T @ x + problem.samples * problem.regularisation * np.eye(5), x.T @ y)
    assert cocoa_plus(problem)[-1] == pytest.approx(ridge, abs=1e-6)


@pytest.mark.parametrize("smoothing", [0.0, 1e-2])
def test_joint_optimum_against_a_general_minimiser(smoothing: float) -> None:
    curvature = np.array([4.0, 0.5])
    found = minimize(lambda w: _joint_value(w, curvature, 0.5, smoothing), np.array([0.7, 0.4]), tol=1e-12)
    assert _joint_optimum(curvature, 0.5, smoothing) == pytest.approx(float(found.fun), rel=1e-8)


def test_a_round_is_the_one_written_out() -> None:
    confirm_rounds()


@pytest.mark.parametrize("bug", ["sigma'", "a passed node", "a coordinate"])
def test_another_round_is_noticed(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = mocha_problem.written_out

    def planted(problem: Any, loss: str, alpha: Any, answering: list[bool], passes: int) -> Any:
        if bug == "sigma'":
            return right(replace(problem, regularisation=1.01 * problem.regularisation), loss, alpha, answering, passes)
        if bug == "a passed node":
            return right(problem, loss, alpha, [True] * 3, passes)
        return right(problem, loss, alpha, answering, passes - 1)

    monkeypatch.setattr(mocha_problem, "written_out", planted)
    with pytest.raises(UnlikeTheTrainer, match="away from Algorithm 1"):
        confirm_rounds()
