"""Section 5: what Table 1 says of itself, and the simulated time, whose Appendix E is absent.

Table 1's own data are not shipped with this register; trainers/mocha loads them where a user has them.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import islice

import numpy as np
from scipy.stats import norm, ttest_rel

from ....mechanisms.arrays import Floats
from ....trainers.experiments.mocha.recorder import FLOPS, NETWORKS, round_work
from ....trainers.mocha.losses import LOSSES
from ....trainers.mocha.methods import Setting, WeightStep, iterate
from ....trainers.mocha.mini_batches import batch_round
from ....trainers.mocha.mocha import State, federated_round, omega_step, report
from ....trainers.mocha.omegas import mean_regularised
from ....trainers.mocha.sdca import random_order
from ....trainers.mocha.sigma_prime import safe_sigma
from ....trainers.mocha.tasks import Tasks, related_tasks
from ...convergence.mocha_problem import confirm_rounds
from ..row import EXACT, Finding, Statement, looseness, of_a_bound, on_instances, resting_on

TABLE_1 = {
    "Human Activity": {"Global": (2.23, 0.30), "Local": (1.34, 0.21), "MTL": (0.46, 0.11)},
    "Google Glass": {"Global": (5.34, 0.26), "Local": (4.92, 0.26), "MTL": (2.02, 0.15)},
    "Vehicle Sensor": {"Global": (13.4, 0.26), "Local": (7.81, 0.13), "MTL": (6.59, 0.21)},
}
"""Mean error in per cent and its standard error over 10 shuffles."""


@resting_on(on_instances(10, "a test on printed errors"))
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
        holds, f"largest p-value {tests[worst]:.2g} ({worst}), of {len(tests)}", tests, error_probability=0.01
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


@resting_on(on_instances(1, "trainer runs"))
def degrades_with_communication(statement: Statement) -> Finding:
    """Simulated time on 3G over that on WiFi, each tuned for itself, on unbalanced made tasks, hinge loss."""
    confirm_rounds()
    times = _tuned_times(statement.claim["method"])
    growth = times["3G"] / times["WiFi"]
    text = f"{statement.claim['method']} takes {growth:.2f} times as long on 3G as on WiFi"
    limit, most = statement.claim["growth"], statement.claim["relation"] == "at most"
    loose = looseness([growth / limit]) if most and growth <= limit else None
    holds = growth <= limit if most else growth >= limit
    return Finding(holds, text, times, loose=loose)


@resting_on(EXACT)
def time_of_a_round(statement: Statement) -> Finding:
    """One pass over its own data on every node (MOCHA) against the slowest node's steps on all (CoCoA), SIZES tasks."""
    steps = np.array(SIZES)
    if statement.domain["a round takes"] == "the sum of all nodes' work":
        ours, theirs = round_work("mocha", steps), round_work("cocoa", steps)
    else:
        ours, theirs = FLOPS["mocha"] * int(steps.max()), FLOPS["cocoa"] * int(steps.max())
    return Finding(ours < theirs, f"{ours} operations against {theirs}", {"MOCHA": ours, "CoCoA": theirs})


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


@resting_on(on_instances(3, "trainer runs"))
def varied_work(statement: Statement) -> Finding:
    """The work of high variability (10% to 100%) over that of low (90% to 100%), the largest of three runs."""
    confirm_rounds()
    ratios = [_work_where_nodes_vary(0.1, seed) / _work_where_nodes_vary(0.9, seed) for seed in range(3)]
    text = f"high variability takes at most {max(ratios):.3f} times the work of low"
    stated = statement.claim["times the work"]
    return of_a_bound(max(ratios) <= stated, text, {"ratios": ratios}, [ratio / stated for ratio in ratios])


COUNT, DIMENSION, TRAIN, VALIDATION, TEST, DRAWS, LEVEL = 12, 10, 15, 10, 200, 10, 1e-3
LAMBDAS = (1e-3, 1e-2)
SKEWED = (4, 8, 15, 40)
"""Training samples of a group's tasks where they are of very different sizes."""
GROUPS = np.array([[1.0, -0.5, 0.0], [-0.5, 1.0, -0.5], [0.0, -0.5, 1.0]])


def _fitted(train: Tasks, regularisation: float, omega_steps: int, rng: np.random.Generator) -> Floats:
    """(d, tasks): weights after 15 rounds for every Omega."""
    method = WeightStep(Setting(train, LOSSES["hinge"], train.count * np.eye(train.count), regularisation))
    state = method.start()
    for step in range(omega_steps + 1):
        if step:
            scale = float(np.square(state.weights).sum()) or 1.0
            state = omega_step(state, regularisation, 1e-2 * scale / train.count)
        state = next(islice(iterate(method, rng, state), 14, None))
    return state.weights


def _error(weights: Floats, tasks: Tasks) -> float:
    pairs = zip(tasks.features, tasks.labels, strict=True)
    return float(np.mean([np.mean(np.sign(x @ weights[:, t]) != y) for t, (x, y) in enumerate(pairs)]))


def _model(name: str, train: Tasks, regularisation: float, rng: np.random.Generator) -> Floats:
    if name != "Global":
        return _fitted(train, regularisation, 2 if name == "MTL" else 0, rng)
    pooled = Tasks((np.concatenate(train.features),), (np.concatenate(train.labels),))
    return np.repeat(_fitted(pooled, regularisation, 0, rng), COUNT, axis=1)


@cache
def _errors(tasks: str) -> dict[str, tuple[float, ...]]:
    """Test error of each model on every draw."""
    related = 0.05 * np.eye(COUNT) + 0.95 * np.kron(GROUPS, np.ones((COUNT // 3, COUNT // 3)))
    covariance = related if tasks.startswith("in groups") else np.eye(COUNT)
    sizes = SKEWED * 3 if tasks.endswith("sizes") else (TRAIN,) * COUNT
    most = max(sizes)
    errors: dict[str, list[float]] = {name: [] for name in ("MTL", "Local", "Global")}
    for draw in range(DRAWS):
        rng = np.random.default_rng(draw)
        size = most + VALIDATION + TEST
        made, _ = related_tasks(COUNT, DIMENSION, size, covariance, np.random.default_rng(1000 + draw))
        order = [rng.permutation(size).tolist() for _ in range(COUNT)]
        train = made.take([each[:own] for each, own in zip(order, sizes, strict=True)])
        validation = made.take([each[most : most + VALIDATION] for each in order])
        test = made.take([each[most + VALIDATION :] for each in order])
        for name, found in errors.items():
            models = [_model(name, train, regularisation, rng) for regularisation in LAMBDAS]
            found.append(_error(min(models, key=lambda weights: _error(weights, validation)), test))
    return {name: tuple(found) for name, found in errors.items()}


@resting_on(on_instances(DRAWS, "trainer runs"))
def beats(statement: Statement) -> Finding:
    """Paired one-sided t-tests over the draws, of the model against each rival: its error is smaller, or larger.

    "not smaller" is the failure of the first test against one rival at least.
    """
    confirm_rounds()
    errors, model, relation = _errors(statement.domain["tasks"]), statement.claim["model"], statement.claim["error"]
    side = "greater" if relation == "larger" else "less"
    tests = {
        rival: float(ttest_rel(errors[model], errors[rival], alternative=side).pvalue)
        for rival in statement.claim["than"]
    }
    means = {name: float(np.mean(found)) for name, found in errors.items()}
    worst = max(tests, key=lambda rival: tests[rival])
    text = ", ".join(f"{name} {100 * mean:.1f} %" for name, mean in means.items())
    text += f"; p-value {tests[worst]:.2g} against {worst}"
    shown = bool(tests[worst] <= LEVEL)
    numbers = {"mean errors": means, "p-values": tests}
    return Finding(shown != (relation == "not smaller"), text, numbers, error_probability=LEVEL)
