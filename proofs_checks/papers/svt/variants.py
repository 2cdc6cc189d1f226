"""Sparse-vector mechanisms, and of the six algorithms of Lyu, Su, Li 2017 those that are audited.

PVLDB 10(6), Figure 1; arXiv 1603.01699. 1 is epsilon-DP, 4 is (1 + 6c)/4 epsilon-DP, 6 is not private for any epsilon
(with enough queries). The dataset is the vector of the queries' answers, of sensitivity 1 each; the threshold is 0.
Outputs of the algorithms are one column per query: 1 above, 0 below, -1 not asked any more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from ....mechanisms.arrays import Floats

Mechanism = Callable[..., Any]


def sparse_vector(threshold: float, query: float, most: int | None, *, anew: float | None = None) -> Mechanism:
    """Scales of the two noises; stops after `most` above. anew: the threshold's noise is drawn again after each."""

    def mechanism(data: Any, rng: Any) -> list[bool]:
        bound, out, count = rng.laplace(0, threshold), [], 0
        for answer in data:
            noise = rng.laplace(0, query) if query else 0
            above = bool(answer + noise >= bound)
            out.append(above)
            if above:
                count += 1
                if count == most:
                    break
                if anew is not None:
                    bound = rng.laplace(0, anew)
        return out

    return mechanism


def numeric(threshold: float, query: float, released: float | None) -> Mechanism:
    """Releases the first answer above: with fresh noise of scale `released`, or (None) with what it was tested with."""

    def mechanism(data: Any, rng: Any) -> list[Any]:
        bound, out = rng.laplace(0, threshold), []
        for answer in data:
            noisy = answer + rng.laplace(0, query)
            if noisy >= bound:
                out.append(noisy if released is None else answer + rng.laplace(0, released))
                break
            out.append(False)
        return out

    return mechanism


Batched = Callable[..., Any]
"""mechanism(dataset, rng, size) -> outputs, trial first."""


def _answers(
    queries: Sequence[float], rng: Generator, size: int, threshold: float, query: float, most: int | None
) -> Floats:
    """1 above and 0 below the noisy threshold; at most `most` above, then -1. Scales of Laplace noise."""
    bound = rng.laplace(0.0, threshold, (size, 1))
    noise = rng.laplace(0.0, query, (size, len(queries)))
    above = (np.asarray(queries, float)[None, :] + noise >= bound).astype(float)
    return above if most is None else stopped(above, most)


def stopped(above: Floats, most: int) -> Floats:
    """Marks of 0 and 1 with -1 after the `most`-th 1."""
    before = np.cumsum(above, axis=1) - above
    return np.where(before >= most, -1.0, above)


def algorithm_1(epsilon: float, most: int) -> Batched:
    """Lyu, Su, Li: threshold noise 2/epsilon, query noise 4c/epsilon, stops after c."""
    return lambda dataset, rng, size: _answers(dataset, rng, size, 2 / epsilon, 4 * most / epsilon, most)


def algorithm_4(epsilon: float, most: int) -> Batched:
    """Lee, Clifton 2014: threshold noise 4/epsilon, query noise 4/(3 epsilon) whatever c is."""
    return lambda dataset, rng, size: _answers(dataset, rng, size, 4 / epsilon, 4 / (3 * epsilon), most)


def algorithm_6(epsilon: float) -> Batched:
    """Chen et al. 2015: query noise 2/epsilon, no stop."""
    return lambda dataset, rng, size: _answers(dataset, rng, size, 2 / epsilon, 2 / epsilon, None)


CROSSED = ([0.0] * 5 + [1.0] * 5, [1.0] * 5 + [0.0] * 5)
"""Ten queries that all change by 1, half of them up: what the answers are least able to hide."""
