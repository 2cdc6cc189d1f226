"""Learned scores: classifiers that tell the dataset's outputs from the neighbour's, for where simpler scores fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from ...mechanisms.arrays import Floats
from ...mechanisms.validate import lacks
from .layout import Layout
from .outputs import Outputs
from .scores import Interval, Score, Scorer, finite
from .simple_scores import Features, features

FEWEST, WIDEST = 400, 512
"""Exploration trials, and numbers an output, between which trees are worth their time."""


@dataclass(frozen=True, slots=True)
class Classifier:
    """Decision values of a scikit-learn classifier. make: seed below 2^32 -> unfitted classifier."""

    name: str
    make: Callable[[int], Any]
    learns: bool = True

    def fit(self, dataset: Outputs, neighbour: Outputs, seed: int) -> Scorer:
        prepare = features(dataset, neighbour)
        model = self.make(seed % 2**32)  # all that scikit-learn takes
        y = np.concatenate([np.ones(len(dataset)), np.zeros(len(neighbour))])
        with _one_thread():
            model.fit(np.concatenate([prepare(dataset), prepare(neighbour)]), y)
        return _Decided(self.name, prepare, model)


@dataclass(frozen=True, slots=True)
class _Decided:
    """What a fitted classifier makes of outputs: log odds of the dataset, or some other increasing function of them."""

    name: str
    prepare: Features
    model: Any

    def __call__(self, outputs: Outputs) -> Floats:
        x = self.prepare(outputs)
        if len(x) == 0:
            return np.empty(0)
        with _one_thread():
            if hasattr(self.model, "decision_function"):
                return finite(np.asarray(self.model.decision_function(x), float))
            chance = np.clip(np.asarray(self.model.predict_proba(x), float)[:, 1], 1e-12, 1 - 1e-12)
        return np.asarray(np.log(chance) - np.log1p(-chance), float)

    def says(self, interval: Interval, layout: Layout) -> str:
        """No condition on single numbers: the outputs that look to the classifier like the dataset's, or do not."""
        return interval.told(f"the score (large where it looks like the dataset's) by {self.name}")


def _one_thread() -> Any:
    """Small fits, which more threads slow down, most of all beside other busy processes."""
    return import_module("threadpoolctl").threadpool_limits(1)


def _sklearn(module: str, name: str) -> Any:
    """A scikit-learn class, imported when it is first used; InputError when the [audit] extra is missing."""
    if find_spec("sklearn") is None:
        raise lacks(f"The score {name}", "scikit-learn", "dpcert[audit]")
    return getattr(import_module(f"sklearn.{module}"), name)


def logistic() -> Classifier:
    """Logistic regression (scikit-learn, the [audit] extra)."""

    def make(seed: int) -> Any:
        return _sklearn("linear_model", "LogisticRegression")(max_iter=300, random_state=seed)

    return Classifier("logistic regression on the output", make)


def boosted_trees() -> Classifier:
    """Gradient-boosted trees (scikit-learn, the [audit] extra)."""

    def make(seed: int) -> Any:
        return _sklearn("ensemble", "HistGradientBoostingClassifier")(max_iter=60, max_leaf_nodes=15, random_state=seed)

    return Classifier("gradient-boosted trees on the output", make)


def network() -> Classifier:
    """A small neural network (scikit-learn's, one hidden layer of 32; the [audit] extra)."""

    def make(seed: int) -> Any:
        return _sklearn("neural_network", "MLPClassifier")((32,), early_stopping=True, max_iter=60, random_state=seed)

    return Classifier("neural network on the output", make)


def learned(dataset: Outputs, neighbour: Outputs) -> tuple[Score, ...]:
    """What to try where the simple scores fail: boosted trees on outputs of several numbers, where scikit-learn is."""
    width, trials = max(dataset.width, neighbour.width), len(dataset) + len(neighbour)
    wanted = 1 < width <= WIDEST and trials >= FEWEST
    return (boosted_trees(),) if wanted and find_spec("sklearn") is not None else ()
