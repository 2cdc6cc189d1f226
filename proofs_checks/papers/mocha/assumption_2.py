"""Assumption 2 and Definition 1: what may be assumed of nodes that drop out, and what happens at the boundary."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from ...convergence.mocha_problem import confirm_rounds, made_problem, squared_optimum, squared_theta
from ..row import Finding, Statement, on_instances, resting_on
from .theorem_1 import constant


@resting_on(on_instances(3))
def theta_at_the_ends(statement: Statement) -> Finding:
    """theta of every node by (5), with no update and after 100 passes, on three coupled tasks."""
    problem = made_problem(3, 4, 5, coupling=0.9)
    state = problem.round(problem.start(), passes=1)
    exact, none = squared_theta(problem, state, problem.round(state, passes=100)), squared_theta(problem, state, state)
    of_exact, of_none = statement.claim["theta of the exact update, of none"]
    off = max(float(np.abs(exact - of_exact).max()), float(np.abs(none - of_none).max()))
    text = f"theta is {exact.max():.3g} after 100 passes and {none.min():.3g} with no update"
    return Finding(off < 1e-9, text, {"after 100 passes": exact.tolist(), "no update": none.tolist()})


@resting_on(on_instances(1))
def theta_defined(statement: Statement) -> Finding:
    """The denominator of (5), G(0) - min G, of one node with sigma' = 1, at the start and once it has converged."""
    problem = made_problem(1, 3, 4, coupling=0.0)
    x, y = problem.tasks.features[0], problem.tasks.labels[0]
    best, _ = squared_optimum(problem)
    alpha = best[0] if statement.domain["subproblem"] == "already solved" else np.zeros_like(y)
    slope = alpha - y + problem.scale[0] * x @ (alpha @ x)
    curvature = np.eye(problem.samples) + problem.kernel
    denominator = float(slope @ np.linalg.solve(curvature, slope) / 2)
    holds = denominator > 1e-12
    return Finding(holds, f"the denominator of (5) is {denominator:.3g}", {"G(0) - min G": denominator})


@cache
def _limits(silent: float) -> tuple[float, float, int]:
    """(D - D* if node 0 drops for ever, D - D* if it drops each round with probability `silent`, rounds by (6)).

    The rounds are those of (6) for epsilon_D = 1e-3 and Theta = p_max + (1 - p_max) Theta_max.
    """
    problem = made_problem(3, 5, 6, coupling=0.8, regularisation=0.5)
    _, best = squared_optimum(problem)
    first = problem.start()
    theta = silent + (1 - silent) * float(squared_theta(problem, first, problem.round(first)).max())
    rounds = math.ceil(math.log(problem.total / 1e-3) / ((1 - theta) * constant(problem)))
    answering, rng = np.array([False, True, True]), np.random.default_rng(5)
    never, sometimes = problem.start(), problem.start()
    for _ in range(rounds):
        never = problem.round(never, answering)
        sometimes = problem.round(sometimes, np.array([rng.random() >= silent, True, True]))
    return problem.dual(never.alpha) - best, problem.dual(sometimes.alpha) - best, rounds


@resting_on(on_instances(1, "trainer runs"))
def forgetful_probability(statement: Statement) -> Finding:
    """A node that tosses one coin before the run, and one that tosses a coin every round, P[theta = 1] = 1/2 for both.

    E[D - D*] after the H of (6) for epsilon_D = 1e-3: the first is an average of two deterministic runs.
    """
    confirm_rounds()
    never, sometimes, rounds = _limits(0.5)
    answered = _limits(0.0)[1]
    once = statement.domain["p_t^h given"] == "nothing"
    excess = (never + answered) / 2 if once else sometimes
    holds = excess <= 1e-3
    text = f"after H = {rounds} rounds E[D - D*] is {excess:.3g}, the target 0.001"
    return Finding(
        holds, text, {"E[D - D*]": excess, "rounds": rounds}, None if holds else {"coin": "once, before the run"}
    )


@resting_on(on_instances(1, "trainer runs"))
def wrong_limit(statement: Statement) -> Finding:
    """D - D* after a long run in which node 0 drops with probability p, against the optimum."""
    confirm_rounds()
    p = statement.domain["p"]
    excess = _limits(0.5)[0] if p == 1 else _limits(p)[1]
    holds = excess > 1e-3
    return Finding(holds, f"D - D* ends at {excess:.3g}", {"D - D*": excess})


@resting_on(on_instances(1, "trainer runs"))
def asymptotic(statement: Statement) -> Finding:
    """P[node 0 never answers], the product of its drop probabilities over 10^6 rounds, times where it then ends.

    The product is at least that share of E[D - D*] for ever; 1e-3 of the limit's excess counts as none.
    """
    confirm_rounds()
    rounds = np.arange(1, 10**6 + 1, dtype=float)
    answers = {"2^-h": 0.5**rounds, "1/(h + 1)": 1 / (rounds + 1)}[statement.domain["probability of an answer"]]
    silent = math.exp(float(np.log1p(-answers).sum()))
    excess = silent * _limits(0.5)[0]
    text = f"the node stays silent with probability {silent:.3g}: E[D - D*] is at least {excess:.3g}"
    return Finding(excess < 1e-3 * _limits(0.5)[0], text, {"P[never answers]": silent, "E[D - D*] at least": excess})
