"""Clipping that is missing, that lets NaN pass, or that weights undo."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from dpcert.mechanisms.arrays import Floats
from dpcert.proofs_checks.auditing import gdp

from .case import Planted

Client = tuple[int, float]
"""(number of samples, clipped update)."""


def unclipped(dataset: Sequence[float], rng: Generator, size: int) -> Floats:
    """A sum that trusts its inputs to be in [-1, 1]."""
    return float(np.sum(dataset)) + rng.normal(0.0, 1.0, size)


def nan_passing(dataset: Sequence[float], rng: Generator, size: int) -> Floats:
    """Scales down what is longer than 1; a comparison with NaN is false, so NaN is not."""
    values = np.asarray(dataset, float)
    clipped = np.where(np.abs(values) > 1.0, np.sign(values), values)
    return float(clipped.sum()) + rng.normal(0.0, 1.0, size)


def clipped(dataset: Sequence[float], rng: Generator, size: int) -> Floats:
    """The correct twin: NaN counts as 0, the rest is clipped."""
    values = np.clip(np.nan_to_num(np.asarray(dataset, float), nan=0.0, posinf=1.0, neginf=-1.0), -1.0, 1.0)
    return float(values.sum()) + rng.normal(0.0, 1.0, size)


def weighted_by_samples(clients: Sequence[Client], rng: Generator, size: int) -> Floats:
    """An average weighted by sample counts, with noise for the uniform weight 1/q (noise multiplier 2)."""
    counts, updates = np.array(clients, float).T
    average = float((counts * np.clip(updates, -1.0, 1.0)).sum() / counts.sum())
    return average + rng.normal(0.0, 2.0 / len(counts), size)


def weighted_uniformly(clients: Sequence[Client], rng: Generator, size: int) -> Floats:
    """The correct twin: replacing one client moves the average by at most 2/q."""
    updates = np.clip(np.array(clients, float)[:, 1], -1.0, 1.0)
    return float(updates.mean()) + rng.normal(0.0, 2.0 / len(updates), size)


CASES = (
    Planted("un-clipped", "one value of 5 in a sum of [-1, 1]", gdp(1.0), ([0.5, 5.0], [0.5]), unclipped, clipped),
    Planted(
        "NaN-passing clipping", "NaN is not larger than 1", gdp(1.0), ([0.5, float("nan")], [0.5]), nan_passing, clipped
    ),
    Planted(
        "sample-count weights",
        "the largest of four clients has 70% of the weight, the noise is for 25%",
        gdp(1.0),
        ([(10, 0.0), (10, 0.0), (10, 0.0), (70, 1.0)], [(10, 0.0), (10, 0.0), (10, 0.0), (70, -1.0)]),
        weighted_by_samples,
        weighted_uniformly,
    ),
)
