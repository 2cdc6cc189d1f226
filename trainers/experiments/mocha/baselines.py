"""Global, local and multi-task models with lambda chosen by cross-validation: MOCHA's Table 1 (section 5.2)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....mechanisms.arrays import Floats
from ...engine.streams import Streams
from ...mocha.losses import Loss
from ...mocha.methods import Joint, Method, Setting, WeightStep, approached
from ...mocha.run import accuracies
from ...mocha.tasks import Tasks

Fit = Callable[[Tasks, Loss, float, int], Floats]
"""(tasks, loss, lambda, seed) -> (d, m) weights."""

LAMBDAS = (1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0)
"""The paper's grid."""

REPORT_EVERY = 10
"""Rounds between looks at the gap."""

FOLDS = 5
TOLERANCE = 1e-3
"""Relative gap at which a fit is good enough to compare errors."""


def fit_global(tasks: Tasks, loss: Loss, regularisation: float, seed: int) -> Floats:
    """One model for all: mean loss over all samples + lambda/2 ||w||^2."""
    merged = Tasks((np.concatenate(tasks.features),), (np.concatenate(tasks.labels),))
    weights = _solved(WeightStep(Setting(merged, loss, np.eye(1), regularisation)), seed, 20)
    return np.repeat(weights, tasks.count, axis=1)


def fit_local(tasks: Tasks, loss: Loss, regularisation: float, seed: int) -> Floats:
    """A model a task: mean loss over its samples + lambda/2 ||w_t||^2."""
    return _solved(WeightStep(Setting(tasks, loss, np.eye(tasks.count), regularisation)), seed, 200)


def fit_multi_task(tasks: Tasks, loss: Loss, regularisation: float, seed: int) -> Floats:
    """The joint optimum in (W, Omega), relationships learned as in Zhang and Yeung (the paper's [57])."""
    return _solved(Joint(Setting(tasks, loss, np.eye(tasks.count), regularisation)), seed, 300)


MODELS: dict[str, Fit] = {"global": fit_global, "local": fit_local, "mtl": fit_multi_task}


def mean_error(tasks: Tasks, weights: Floats) -> float:
    """Share of wrong predictions, averaged over tasks."""
    return float(1 - accuracies(tasks, weights).mean())


def cross_validated(fit: Fit, tasks: Tasks, loss: Loss, seed: int) -> float:
    """The lambda of LAMBDAS with the least error over FOLDS folds of every task, the first of equals.

    Fold f of a task holds its samples f, f + FOLDS, ...; tasks with fewer samples than folds sit some folds out.
    """
    errors = np.zeros(len(LAMBDAS))
    for fold in range(FOLDS):
        held = [[i for i in range(size) if i % FOLDS == fold and size > 1] for size in tasks.sizes]
        kept = [sorted(set(range(size)) - set(out)) for size, out in zip(tasks.sizes, held, strict=True)]
        training, judges = tasks.take(kept), [task for task, out in enumerate(held) if out]
        validation = Tasks(
            tuple(tasks.features[task][held[task]] for task in judges),
            tuple(tasks.labels[task][held[task]] for task in judges),
        )
        for place, regularisation in enumerate(LAMBDAS):
            errors[place] += mean_error(validation, fit(training, loss, regularisation, seed)[:, judges])
    return LAMBDAS[int(np.argmin(errors))]


def _solved(method: Method, seed: int, longest: int) -> Floats:
    """Within so many rounds."""
    streams = Streams(seed)
    return approached(method, lambda done: streams.generator("batches", done), longest, REPORT_EVERY, TOLERANCE)[0]
