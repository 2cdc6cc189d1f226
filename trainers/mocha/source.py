"""`kind:argument` strings, as the command line's --data takes them, to multi-task problems; the paper's data sizes.

The paper's own tables of n_t, and its way of making them skewed (Table 4), are in an appendix that was not at hand:
where it has no other source, n_t is assumed: spaced evenly between a least and a most that nothing here confirms.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import choice, count, nonnegative, open_probability
from ..data.gleam import load_gleam
from ..data.har import load_har
from ..data.source import Loaders, called, loader_of, parsed
from ..data.vehicle import load_vehicle
from .omegas import clustered_covariance, mean_covariance
from .tasks import Tasks, load_mat, related_tasks, split_from_file, standardised

SKEWED_SHARE = 0.01
"""Of its training samples, what the task that loses most of them keeps: two orders of magnitude below the first."""


@dataclass(frozen=True, slots=True)
class DataSize:
    """features: d. samples: n_t for each task, training and test together. known: where the numbers are from."""

    features: int
    samples: tuple[int, ...]
    known: str


def _between(tasks: int, least: int, most: int) -> tuple[int, ...]:
    return tuple(np.linspace(least, most, tasks).round().astype(int).tolist())


LANDMINE: tuple[int, ...] = (69, 69, 68, 50, 50, 50, 51, 51, 50, 50, 68, 68, 50, 51, 50)
LANDMINE += (44, 44, 44, 44, 44, 45, 45, 44, 44, 44, 44, 44, 45, 44)
HUMAN_ACTIVITY: tuple[int, ...] = (347, 302, 341, 317, 302, 325, 308, 281, 288, 294, 316, 320, 327, 323, 328)
HUMAN_ACTIVITY += (366, 368, 364, 360, 354, 408, 321, 372, 381, 409, 392, 376, 382, 344, 383)

_ASSUMED = "tasks and features as printed; n_t is assumed, its appendix was not at hand"

SIZES = {
    "landmine": DataSize(9, LANDMINE, "the small data that the authors publish with their code"),
    "human-activity": DataSize(561, HUMAN_ACTIVITY, "the publisher's data: 10,299 samples of 30 people"),
    "google-glass": DataSize(180, _between(38, 699, 775), _ASSUMED),
    "vehicle-sensor": DataSize(100, _between(23, 1163, 2577), _ASSUMED),
}


def highly_skewed(tasks: Tasks, rng: np.random.Generator) -> Tasks:
    """Each task keeps a random part of its samples, at least one; shares fall evenly (in their logarithm) from 1 to
    SKEWED_SHARE over the tasks in random order."""
    shares = np.geomspace(1.0, SKEWED_SHARE, tasks.count)[rng.permutation(tasks.count)]
    kept = [
        np.sort(rng.permutation(size)[: max(1, round(share * size))]).tolist()
        for share, size in zip(shares.tolist(), tasks.sizes.tolist(), strict=True)
    ]
    return tasks.take(kept)


TRAINING_FRACTION = 0.75
"""Of every task's samples, as in the paper's section 5.2."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Named tasks for training and for testing. covariance (m, m): what made the weights of synthetic tasks."""

    name: str
    train: Tasks
    test: Tasks
    covariance: Floats | None = None


STRUCTURES = {"clustered": clustered_covariance, "mean": mean_covariance, "independent": mean_covariance}


def synthetic(
    structure: str,
    *,
    tasks: int = 12,
    dimension: int = 10,
    samples: int = 40,
    sizes: str = "",
    strength: float = 0.9,
    noise: float = 0.1,
    seed: int = 0,
) -> tuple[Tasks, Floats]:
    """Binary tasks whose weights have a known covariance, and that (tasks, tasks) covariance.

    structure: one of STRUCTURES, two groups, all alike, or independent; strength: the correlation of related tasks.
    sizes: one of SIZES, whose tasks, features and samples stand in for the three numbers.
    """
    if not 0 <= nonnegative("strength", strength) < 1:
        raise InputError("strength", strength, "a correlation of at least 0 and below 1")
    correlation = 0.0 if structure == "independent" else strength
    each: int | tuple[int, ...] = count("samples", samples, least=2)
    if sizes:
        if (tasks, dimension, samples) != (12, 10, 40):
            raise InputError("sizes", sizes, "no tasks, dimension or samples beside it: it stands for all three")
        like = SIZES[choice("sizes", sizes, SIZES)]
        tasks, dimension, each = len(like.samples), like.features, like.samples
    covariance = STRUCTURES[structure](count("tasks", tasks), correlation)
    rng = np.random.default_rng(count("seed", seed, least=0))
    made, _ = related_tasks(tasks, count("dimension", dimension), each, covariance, rng, nonnegative("noise", noise))
    return made, covariance


def _as_they_are(train: Tasks, test: Tasks) -> tuple[Tasks, Tasks]:
    return train, test


PREPARED = {"no": _as_they_are, "per-task": standardised}
FILES: Loaders = {"mat": load_mat, "har": load_har, "vehicle": load_vehicle, "gleam": load_gleam}
SYNTHETIC: Loaders = {name: partial(synthetic, structure=name) for name in STRUCTURES}


def load_problem(source: str, split_file: str | Path | None = None, seed: int = 0) -> Problem:
    """A problem from `synthetic[:NAME][,key=value...]` or `mat|har|vehicle|gleam:PATH[,key=value...]`.

    split_file: JSON with the recorded training samples; without it every task is split at random (seeded), with
    option `fraction` (0.75) for training. Option `standardise=per-task` brings each task's features to the mean 0 and
    the deviation 1 of its own training samples. Raises InputError for an unknown kind, option or value.
    """
    kind, _, given = parsed(source)
    fraction = open_probability("fraction", given.pop("fraction", TRAINING_FRACTION))
    prepared = PREPARED[choice("standardise", given.pop("standardise", "no"), PREPARED)]
    made = {"seed": seed} if kind == "synthetic" else {}
    found = called(source, loader_of(source, FILES, SYNTHETIC, "clustered"), made | given)
    tasks, covariance = found if made else (found, None)
    if split_file is not None:
        return Problem(source, *prepared(*split_from_file(tasks, split_file)), covariance)
    if (tasks.sizes < 2).any():
        raise InputError("data", source, "at least two samples in every task, to train and to test on")
    return Problem(source, *prepared(*tasks.split(fraction, np.random.default_rng(seed))), covariance)
