"""Which samples each local step uses: the same for every solver, which are then equal to rounding."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .settings import LocalSteps

Rows = npt.NDArray[np.int64]


def steps_in_a_round(samples: int, local: LocalSteps) -> int:
    """How many steps a client with so many samples takes."""
    return local.steps or local.epochs * -(-samples // min(samples, local.batch_size or samples))


def batch_plan(samples: int, local: LocalSteps, rng: np.random.Generator) -> list[Rows]:
    """The rows of each step's batch. An epoch visits every sample once, in a fresh order; its last batch is smaller
    where the batch size does not divide the number of samples."""
    size = min(samples, local.batch_size or samples)
    per_epoch, steps = -(-samples // size), steps_in_a_round(samples, local)
    plan: list[Rows] = []
    while len(plan) < steps:
        # With one batch an epoch the order of its rows changes nothing but rounding.
        order = np.arange(samples) if per_epoch == 1 else rng.permutation(samples)
        plan.extend(order[first : first + size] for first in range(0, samples, size))
    return plan[:steps]
