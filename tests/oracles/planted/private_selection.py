"""Private selection: samplers of the best of a random number of runs, for every law of the number, and their faults.

The dataset is a list of numbers in [0, 1] whose sum each run reports with Laplace noise of scale 1 / each of its own
(one setting by which it is judged; more of them tell no more): the better result is the larger one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpcert.accounting import epsilon
from dpcert.mechanisms import BestOfSeveral, PureDp
from dpcert.mechanisms.arrays import Floats
from dpcert.proofs_checks.auditing import ClaimedCurve, approximate_dp

from .case import Batched, Planted

Runs = Callable[[Generator, int], NDArray[np.int64]]
"""Draws so many numbers of runs."""

NOTHING = -1e9
"""What is released where there was no run: it depends on no data."""


def truncated_negative_binomial(gamma: float, shape: float) -> Runs:
    """At least one run (Papernot, Steinke 2022, arXiv 2110.03620, Definition 1), by rejection."""
    if shape == 0.0:
        return lambda rng, size: rng.logseries(1 - gamma, size)
    if shape < 0.0:
        raise ValueError(f"shape = {shape}: expected at least 0, of which samples are drawn here")

    def draw(rng: Generator, size: int) -> NDArray[np.int64]:
        found = rng.negative_binomial(shape, gamma, size)
        while (none := found == 0).any():
            found[none] = rng.negative_binomial(shape, gamma, int(none.sum()))
        return found

    return draw


def poisson(mean: float) -> Runs:
    """Any number of runs, none among them."""
    return lambda rng, size: rng.poisson(mean, size)


def fixed(runs: int) -> Runs:
    """The broken one: no secret number."""
    return lambda rng, size: np.full(size, runs)


def best_of(each: float, runs: Runs) -> Batched:
    """The largest of the runs' noisy sums."""

    def mechanism(dataset: Sequence[float], rng: Generator, size: int) -> Floats:
        times = runs(rng, size)
        first = np.cumsum(times) - times
        noisy = np.append(sum(dataset) + rng.laplace(0.0, 1 / each, int(times.sum())), NOTHING)
        largest = np.maximum.reduceat(noisy, np.minimum(first, len(noisy) - 1))
        return np.where(times > 0, largest, NOTHING)

    return mechanism


ADDED: tuple[list[float], list[float]] = ([1.0], [0.0])


def proved(run: BestOfSeveral) -> ClaimedCurve:
    """What the accountants prove of the search at delta = 0."""
    return approximate_dp(epsilon(run, 0.0).upper)


_HALF = 0.5
_ONE_RUN = approximate_dp(_HALF)
_GEOMETRIC, _MANY = truncated_negative_binomial(0.2, 1.0), poisson(30.0)


def _for_one(law: str, runs: Runs, fewer: float) -> Planted:
    """A search priced as one run; the twin's runs have so much less epsilon that it keeps the claim."""
    name = f"best of a {law} number for one"
    return Planted(name, "priced as one run", _ONE_RUN, ADDED, best_of(_HALF, runs), best_of(fewer, runs), 20_000)


CASES = (
    Planted(
        "best of thirty runs", "a fixed number of runs, priced as a geometric one",
        proved(BestOfSeveral(PureDp(_HALF), 0.2)), ADDED, best_of(_HALF, fixed(30)), best_of(_HALF, _GEOMETRIC), 20_000,
    ),
    _for_one("geometric", truncated_negative_binomial(0.1, 1.0), _HALF / 3),
    _for_one("logarithmic", truncated_negative_binomial(0.002, 0.0), _HALF / 2),
    _for_one("negative binomial", truncated_negative_binomial(0.1, 3.0), _HALF / 5),
    Planted(
        "best of a Poisson number for one", "priced as one run", _ONE_RUN, ADDED,
        best_of(_HALF, _MANY), best_of(_HALF, _MANY), 20_000,
        twin_claim=proved(BestOfSeveral(PureDp(_HALF), poisson_mean=30.0)),
    ),
)  # fmt: skip
