"""The sizes of the paper's data sets: tasks, features and samples n_t, and how samples are made highly skewed.

The paper's own tables of n_t, and its way of making them skewed (Table 4), are in an appendix that was not at hand:
where it has no other source, n_t is assumed: spaced evenly between a least and a most that nothing here confirms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .tasks import Tasks

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
