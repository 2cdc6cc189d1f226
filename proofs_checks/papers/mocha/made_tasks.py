"""Section 5.2's comparison on made tasks: multi-task against local and global models, lambda chosen on held-out data.

Twelve binary tasks in three groups, 15 training, 10 validation and 200 test samples each, hinge loss, ten draws. MTL
alternates MOCHA's rounds with the trace-norm Omega-step; local is Omega = m I; global pools all data.
"""

from __future__ import annotations

from functools import cache
from itertools import islice

import numpy as np
from scipy.stats import ttest_rel

from ....mechanisms.arrays import Floats
from ....trainers.mocha.losses import LOSSES
from ....trainers.mocha.methods import Setting, WeightStep, iterate
from ....trainers.mocha.mocha import omega_step
from ....trainers.mocha.tasks import Tasks, related_tasks
from ...convergence.mocha_round import confirm_rounds
from ..row import Finding, Statement, on_instances

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
    return Finding(
        shown != (relation == "not smaller"),
        text,
        numbers,
        error_probability=LEVEL,
        basis=on_instances(DRAWS, "trainer runs"),
    )
