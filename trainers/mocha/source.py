"""`kind:argument` strings, as the command line's --data takes them, to multi-task problems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import choice, count, meant, nonnegative, open_probability
from ..data.gleam import load_gleam
from ..data.har import load_har
from ..data.source import check_options, parse_option
from ..data.vehicle import load_vehicle
from .data_sizes import SIZES
from .relationships import clustered_covariance, mean_covariance
from .tasks import Tasks, load_mat, related_tasks, split_from_file, standardised

Read = TypeVar("Read")

TRAINING_FRACTION = 0.75
"""Of every task's samples, as in the paper's section 5.2."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Named tasks for training and for testing. covariance (m, m): what made the weights of synthetic tasks."""

    name: str
    train: Tasks
    test: Tasks
    covariance: Floats | None = None


def synthetic(
    structure: str = "clustered",
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

    structure: clustered (two groups), mean (all alike) or independent; strength: the correlation of related tasks.
    sizes: one of data_sizes.SIZES, whose tasks, features and samples stand in for the three numbers.
    """
    known = {"clustered": clustered_covariance, "mean": mean_covariance, "independent": mean_covariance}
    if structure not in known:
        raise InputError("data", structure, "synthetic: followed by one of " + ", ".join(known))
    if not 0 <= nonnegative("strength", strength) < 1:
        raise InputError("strength", strength, "a correlation of at least 0 and below 1")
    correlation = 0.0 if structure == "independent" else strength
    each: int | tuple[int, ...] = count("samples", samples, least=2)
    if sizes:
        if (tasks, dimension, samples) != (12, 10, 40):
            raise InputError("sizes", sizes, "no tasks, dimension or samples beside it: it stands for all three")
        like = SIZES[choice("sizes", sizes, SIZES)]
        tasks, dimension, each = len(like.samples), like.features, like.samples
    covariance = known[structure](count("tasks", tasks), correlation)
    rng = np.random.default_rng(count("seed", seed, least=0))
    made, _ = related_tasks(tasks, count("dimension", dimension), each, covariance, rng, nonnegative("noise", noise))
    return made, covariance


def _as_they_are(train: Tasks, test: Tasks) -> tuple[Tasks, Tasks]:
    return train, test


PREPARED = {"no": _as_they_are, "per-task": standardised}
FILES: dict[str, Callable[..., Tasks]] = {
    "mat": load_mat,
    "har": load_har,
    "vehicle": load_vehicle,
    "gleam": load_gleam,
}


def load_problem(source: str, split_file: str | Path | None = None, seed: int = 0) -> Problem:
    """A problem from `synthetic[:NAME][,key=value...]` or `mat|har|vehicle|gleam:PATH[,key=value...]`.

    split_file: JSON with the recorded training samples; without it every task is split at random (seeded), with
    option `fraction` (0.75) for training. Option `standardise=per-task` brings each task's features to the mean 0 and
    the deviation 1 of its own training samples. Raises InputError for an unknown kind, option or value.
    """
    kind, _, rest = source.partition(":")
    argument, *options = rest.split(",")
    given = dict(parse_option(source, option) for option in options)
    fraction = open_probability("fraction", given.pop("fraction", TRAINING_FRACTION))
    prepared = PREPARED[choice("standardise", given.pop("standardise", "no"), PREPARED)]
    covariance = None
    if kind == "synthetic":
        tasks, covariance = _call(source, synthetic, argument or "clustered", {"seed": seed} | given)
    elif kind in FILES and argument:
        tasks = _call(source, FILES[kind], argument, given)
    else:
        guess = meant(source, ["synthetic"]) or meant(source.split(":")[0], FILES)
        raise InputError("data", source, "synthetic, or KIND:PATH with KIND one of " + ", ".join(FILES) + guess)
    if split_file is not None:
        return Problem(source, *prepared(*split_from_file(tasks, split_file)), covariance)
    if (tasks.sizes < 2).any():
        raise InputError("data", source, "at least two samples in every task, to train and to test on")
    return Problem(source, *prepared(*tasks.split(fraction, np.random.default_rng(seed))), covariance)


def _call(source: str, loader: Callable[..., Read], argument: str, options: dict[str, Any]) -> Read:
    check_options(source, loader, 1, options)
    return loader(argument, **options)
