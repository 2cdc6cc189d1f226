"""Section 5: what Table 1 says of itself, and the simulated time, whose Appendix E is absent.

Table 1's own data are not shipped with this register; trainers/mocha loads them where a user has them.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from scipy.stats import norm

from ....trainers.experiments.mocha.simulated_time import FLOPS, NETWORKS, round_work
from ....trainers.mocha.losses import LOSSES
from ....trainers.mocha.mb_sdca import batch_round
from ....trainers.mocha.mocha import State, federated_round, report
from ....trainers.mocha.relationships import mean_regularised, safe_sigma
from ....trainers.mocha.sdca import random_order
from ....trainers.mocha.tasks import Tasks, related_tasks
from ...convergence.mocha_round import confirm_rounds
from ..row import EXACT, Finding, Statement, looseness, on_instances

TABLE_1 = {
    "Human Activity": {"Global": (2.23, 0.30), "Local": (1.34, 0.21), "MTL": (0.46, 0.11)},
    "Google Glass": {"Global": (5.34, 0.26), "Local": (4.92, 0.26), "MTL": (2.02, 0.15)},
    "Vehicle Sensor": {"Global": (13.4, 0.26), "Local": (7.81, 0.13), "MTL": (6.59, 0.21)},
}
"""Mean error in per cent and its standard error over 10 shuffles."""


def significantly_lower(statement: Statement) -> Finding:
    """One-sided z-tests of two means from their standard errors, Bonferroni over the comparisons.

    The shuffles of one data set are shared by the models and share samples among themselves: independence of the means
    is the assumption under which the standard errors are printed.
    """
    best, tests = statement.claim["lower"], {}
    for data in statement.domain["data"]:
        for rival in statement.claim["than"]:
            (low, low_error), (high, high_error) = TABLE_1[data][best], TABLE_1[data][rival]
            tests[f"{data}, {rival}"] = float(norm.sf((high - low) / math.hypot(low_error, high_error)))
    worst = max(tests, key=lambda name: tests[name])
    holds = tests[worst] * len(tests) <= 0.01
    return Finding(
        holds,
        f"largest p-value {tests[worst]:.2g} ({worst}), of {len(tests)}",
        tests,
        error_probability=0.01,
        basis=on_instances(10, "a test on printed errors"),
    )


SIZES = (10, 10, 20, 20, 40, 40, 80, 160)
LAMBDA = 0.05


@cache
def _unbalanced() -> Tasks:
    count = len(SIZES)
    covariance = 0.8 * np.ones((count, count)) + 0.2 * np.eye(count)
    tasks, _ = related_tasks(count, 5, max(SIZES), covariance, np.random.default_rng(1))
    return tasks.take([range(size) for size in SIZES])


def _work_and_rounds(method: str, share: float) -> tuple[float, int]:
    """(operations, rounds) to a duality gap of 1e-3 a task; `share`: passes of MOCHA, batch share of Mb-SDCA."""
    tasks, loss, rng = _unbalanced(), LOSSES["hinge"], np.random.default_rng(0)
    state, work = State.start(tasks, mean_regularised(tasks.count, 0.1)), 0.0
    steps = np.maximum(1, np.floor(share * tasks.sizes)).astype(np.int64)
    for h in range(1, 4000):
        order = random_order(tasks, steps, rng)
        if method == "mocha":
            state = federated_round(tasks, loss, state, LAMBDA, order, safe_sigma(state.covariance))
        else:
            state = batch_round(tasks, loss, state, LAMBDA, order, tasks.count / float(steps.sum()))
        work += round_work(method, steps)
        if h % 5 == 0 and report(tasks, loss, state, LAMBDA).gap <= 1e-3 * tasks.count:
            return work, h
    return math.inf, 4000


@cache
def _tuned_times(method: str) -> dict[str, float]:
    """The shortest simulated time over a small grid, by network."""
    runs = [_work_and_rounds(method, share) for share in ((1.0, 2.0, 4.0) if method == "mocha" else (0.25, 0.5, 1.0))]
    return {network: min(work + cost * rounds for work, rounds in runs) for network, cost in NETWORKS.items()}


def degrades_with_communication(statement: Statement) -> Finding:
    """Simulated time on 3G over that on WiFi, each tuned for itself, on unbalanced made tasks, hinge loss."""
    confirm_rounds()
    times = _tuned_times(statement.claim["method"])
    growth = times["3G"] / times["WiFi"]
    text = f"{statement.claim['method']} takes {growth:.2f} times as long on 3G as on WiFi"
    limit, most = statement.claim["growth"], statement.claim["relation"] == "at most"
    loose = looseness([growth / limit]) if most and growth <= limit else None
    holds = growth <= limit if most else growth >= limit
    return Finding(holds, text, times, basis=on_instances(1, "trainer runs"), loose=loose)


def time_of_a_round(statement: Statement) -> Finding:
    """One pass over its own data on every node (MOCHA) against the slowest node's steps on all (CoCoA), SIZES tasks."""
    steps = np.array(SIZES)
    if statement.domain["a round takes"] == "the sum of all nodes' work":
        ours, theirs = round_work("mocha", steps), round_work("cocoa", steps)
    else:
        ours, theirs = FLOPS["mocha"] * int(steps.max()), FLOPS["cocoa"] * int(steps.max())
    return Finding(ours < theirs, f"{ours} operations against {theirs}", {"MOCHA": ours, "CoCoA": theirs}, basis=EXACT)


@cache
def _work_where_nodes_vary(low: float, seed: int) -> int:
    """Steps of all nodes to a duality gap of 1e-3 a task, each making low to 1 times the smallest task's a round."""
    tasks, loss, rng = _unbalanced(), LOSSES["hinge"], np.random.default_rng(seed)
    state, work = State.start(tasks, mean_regularised(tasks.count, 0.1)), 0
    for h in range(1, 4000):
        share = rng.uniform(low, 1.0, tasks.count)
        steps = np.maximum(1, np.floor(share * int(tasks.sizes.min()))).astype(np.int64)
        order = random_order(tasks, steps, rng)
        state = federated_round(tasks, loss, state, LAMBDA, order, safe_sigma(state.covariance))
        work += int(steps.sum())
        if h % 5 == 0 and report(tasks, loss, state, LAMBDA).gap <= 1e-3 * tasks.count:
            break
    return work


def varied_work(statement: Statement) -> Finding:
    """The work of high variability (10% to 100%) over that of low (90% to 100%), the largest of three runs."""
    confirm_rounds()
    ratios = [_work_where_nodes_vary(0.1, seed) / _work_where_nodes_vary(0.9, seed) for seed in range(3)]
    text = f"high variability takes at most {max(ratios):.3f} times the work of low"
    stated = statement.claim["times the work"]
    loose = looseness(ratio / stated for ratio in ratios) if max(ratios) <= stated else None
    return Finding(max(ratios) <= stated, text, {"ratios": ratios}, basis=on_instances(3, "trainer runs"), loose=loose)
