"""The data of a multi-task problem: one design matrix and one label vector a task, ragged sizes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats


@dataclass(frozen=True, eq=False)
class Tasks:
    """m tasks: `features[t]` is (n_t, d), `labels[t]` is (n_t,); validated once, here."""

    features: tuple[Floats, ...]
    labels: tuple[Floats, ...]

    def __post_init__(self) -> None:
        if not self.features or len(self.features) != len(self.labels):
            raise InputError(
                "tasks", (len(self.features), len(self.labels)), "as many feature as label arrays, and one"
            )
        for task, (x, y) in enumerate(zip(self.features, self.labels, strict=True)):
            if x.ndim != 2 or y.shape != (x.shape[0],) or x.shape[1] != self.features[0].shape[1]:
                raise InputError(f"task {task}", (x.shape, y.shape), "features (n, d) and labels (n,), one d for all")
            if len(y) == 0:
                raise InputError(f"task {task}", 0, "at least one sample")
            if not (np.isfinite(x).all() and np.isfinite(y).all()):
                raise InputError(f"task {task}", "NaN or infinity", "finite features and labels")

    @property
    def count(self) -> int:
        """m, the number of tasks."""
        return len(self.labels)

    @property
    def dimension(self) -> int:
        """d, the number of features."""
        return int(self.features[0].shape[1])

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """n_t for each task."""
        return np.array([len(y) for y in self.labels])

    @cached_property
    def padded(self) -> tuple[Floats, Floats]:
        """Features (m, max n_t, d) and labels (m, max n_t), zero beyond each task's own samples."""
        x = np.zeros((self.count, int(self.sizes.max()), self.dimension))
        y = np.zeros(x.shape[:2])
        for task, (features, labels) in enumerate(zip(self.features, self.labels, strict=True)):
            x[task, : len(labels)], y[task, : len(labels)] = features, labels
        return x, y

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """(m, max n_t): which entries of the padded arrays are samples."""
        return np.arange(int(self.sizes.max())) < self.sizes[:, None]

    def take(self, indices: Sequence[Sequence[int]]) -> Tasks:
        """The tasks restricted to the given sample indices, one list a task."""
        if len(indices) != self.count:
            raise InputError("indices", len(indices), f"one list for each of the {self.count} tasks")
        for task, chosen in enumerate(indices):
            if len(set(chosen)) < len(chosen):
                raise InputError(f"indices of task {task}", len(chosen), "each sample once")
            if len(chosen) and not 0 <= min(chosen) <= max(chosen) < self.sizes[task]:
                raise InputError(f"indices of task {task}", max(chosen), f"0 to {self.sizes[task] - 1}")
        return Tasks(
            tuple(x[np.asarray(chosen, dtype=int)] for x, chosen in zip(self.features, indices, strict=True)),
            tuple(y[np.asarray(chosen, dtype=int)] for y, chosen in zip(self.labels, indices, strict=True)),
        )

    def split(self, fraction: float, rng: np.random.Generator) -> tuple[Tasks, Tasks]:
        """A random (train, test) split of every task, at least one sample on each side where there are two."""
        train, test = [], []
        for size in self.sizes:
            order = rng.permutation(size)
            cut = min(max(1, round(fraction * size)), max(1, size - 1))
            train.append(np.sort(order[:cut]))
            test.append(np.sort(order[cut:]))
        return self.take(train), self.take(test)  # type: ignore[arg-type]


def load_mat(path: str | Path) -> Tasks:
    """A MATLAB v5 file with cells X (n_t x d) and Y (n_t x 1), as the MOCHA authors publish theirs."""
    from scipy.io import loadmat

    if not Path(path).is_file():
        raise InputError("path", str(path), "an existing MATLAB v5 file")
    try:
        content = loadmat(path)
        x, y = ([np.asarray(cell, dtype=float) for cell in content[name].ravel()] for name in ("X", "Y"))
    except Exception as error:  # What scipy raises on a damaged file depends on where the damage is.
        raise InputError("path", str(path), f"a MATLAB v5 file with cells X and Y ({error})") from error
    return Tasks(tuple(x), tuple(labels.ravel() for labels in y))


def split_from_file(tasks: Tasks, path: str | Path) -> tuple[Tasks, Tasks]:
    """The (train, test) split recorded in a JSON file with `train_index_0based`, one list a task."""
    try:
        chosen = json.loads(Path(path).read_text())["train_index_0based"]
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError) as error:
        raise InputError("split_file", str(path), f"JSON with train_index_0based ({error})") from error
    whole = isinstance(chosen, list) and all(
        isinstance(task, list) and all(type(sample) is int for sample in task) for task in chosen
    )
    if not whole:
        raise InputError("split_file", str(path), "train_index_0based as one list of whole numbers a task")
    train = tasks.take(chosen)
    rest = [sorted(set(range(size)) - set(index)) for size, index in zip(tasks.sizes, chosen, strict=True)]
    return train, tasks.take(rest)


def standardised(train: Tasks, test: Tasks) -> tuple[Tasks, Tasks]:
    """Both with features of mean 0 and deviation 1 on each task's own training samples, which a node does alone.

    A feature that does not vary there is only centred.
    """
    means = [x.mean(axis=0) for x in train.features]
    spreads = [np.where(spread > 0, spread, 1.0) for spread in (x.std(axis=0) for x in train.features)]

    def moved(tasks: Tasks) -> Tasks:
        parts = zip(tasks.features, means, spreads, strict=True)
        return Tasks(tuple((x - mean) / spread for x, mean, spread in parts), tasks.labels)

    return moved(train), moved(test)


def related_tasks(
    count: int,
    dimension: int,
    samples: int | Sequence[int],
    covariance: Floats,
    rng: np.random.Generator,
    noise: float = 0.1,
) -> tuple[Tasks, Floats]:
    """Synthetic binary tasks, weights of the given (count, count) covariance; returns tasks and weights (d, m).

    samples: of every task, or of each.
    """
    if covariance.shape != (count, count):
        raise InputError("covariance", covariance.shape, f"({count}, {count})")
    weights = rng.standard_normal((dimension, count)) @ np.linalg.cholesky(covariance).T
    sizes = [samples] * count if isinstance(samples, int) else samples
    features = tuple(rng.standard_normal((size, dimension)) for size in sizes)
    labels = tuple(
        np.where(x @ weights[:, task] + noise * rng.standard_normal(len(x)) >= 0, 1.0, -1.0)
        for task, x in enumerate(features)
    )
    return Tasks(features, labels), weights
