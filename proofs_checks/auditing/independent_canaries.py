"""One run, if its canaries answer independently of each other: then every canary is a trial of its own.

**The assumption**: given its own coin, a canary's score depends neither on the coins nor on the scores of the others.
It holds for canaries along orthogonal directions of a noisy sum, say gradients that an adversary puts in directly, with
isotropic Gaussian noise; it fails where canaries meet in a model, and cannot be tested from one run. What is here says
so in `assumes` and refutes nothing.

Canaries may differ: the exact binomial bounds hold for independent trials of different chances (Hoeffding 1956, Annals
of Mathematical Statistics 27(3), Theorem 4, for errors of at most 1/4). Rules are chosen on the first 15% of the
canaries.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import delta_below_one, open_probability
from .audit import audit_samples
from .mu import epsilon_if_gaussian
from .outputs import Outputs
from .result import LowerBound
from .trials import Samples

MOST_ERROR = 0.25
PARTS = {"event": 0.5, "mu": 0.5}


def bounds(scores: ArrayLike, included: ArrayLike, delta: float, error: float) -> tuple[LowerBound, ...]:
    """Lower bounds on epsilon at delta and on mu, as if canaries were independent; together false with `error`.

    scores, included: shape (canaries,). error: at most 1/4. Raises InputError for bad shapes, delta or error.

    >>> coins = np.random.default_rng(1).random(400) < 0.5
    >>> noisy = coins + np.random.default_rng(2).normal(0.0, 0.5, 400)
    >>> [(bound.quantity, bound.assumes) for bound in bounds(noisy, coins, 1e-5, 0.05)]
    [('epsilon', 'independent canaries'), ('mu', 'independent canaries')]
    """
    dataset, neighbour = _sides(scores, included)
    delta_below_one("delta", delta)
    if open_probability("error", error) > MOST_ERROR:
        raise InputError("error", error, f"at most {MOST_ERROR}")
    samples = Samples(Outputs(dataset[:, None]), Outputs(neighbour[:, None]))
    found: list[LowerBound] = []
    for method, part in PARTS.items():
        result = audit_samples(samples, delta=delta, alpha=part * error, method=method)
        plain = [bound for bound in result.bounds if bound.assumes is None]
        found += [
            LowerBound(bound.quantity, bound.value, bound.delta, bound.error, method, "independent canaries")
            for bound in plain
        ]
    return tuple(found)


def if_gaussian(scores: ArrayLike, included: ArrayLike, delta: float, error: float) -> tuple[LowerBound, ...]:
    """The same as if the scores were, besides, normal with one variance and two means: mu, and epsilon at delta.

    The means' difference over the standard deviation is then mu, and the two-sample t statistic has a noncentral t law
    with canaries - 2 degrees of freedom (Johnson, Welch 1940, Biometrika 31), so that the bound is exact. Gaussian
    scores of one run for audits: Agrawal et al. 2026 (arXiv 2606.12733), there in the limit of many steps.
    """
    dataset, neighbour = _sides(scores, included)
    delta_below_one("delta", delta)
    mu = _noncentral(dataset, neighbour, open_probability("error", error))
    return (
        LowerBound("mu", mu, None, error, "t", "gaussian"),
        LowerBound("epsilon", epsilon_if_gaussian(mu, delta), delta, error, "t", "gaussian"),
    )


def _sides(scores: ArrayLike, included: ArrayLike) -> tuple[Floats, Floats]:
    value, truth = np.asarray(scores, float), np.asarray(included, bool)
    if value.ndim != 1 or value.shape != truth.shape:
        raise InputError("included", truth.shape, f"one coin for each score, shape {value.shape}")
    return value[truth], value[~truth]


def _noncentral(dataset: Floats, neighbour: Floats, error: float) -> float:
    """The mu at which a statistic as large as this one has probability `error`; 0 where there is no such mu."""
    freedom = len(dataset) + len(neighbour) - 2
    if min(len(dataset), len(neighbour)) < 1 or freedom < 1:
        return 0.0
    spread = sum(float(((side - side.mean()) ** 2).sum()) for side in (dataset, neighbour))
    apart = float(dataset.mean() - neighbour.mean())
    if apart <= 0 or spread <= 0:
        return 0.0
    width = math.sqrt(1 / len(dataset) + 1 / len(neighbour))
    seen = apart / (math.sqrt(spread / freedom) * width)

    def tail(shift: float) -> float:
        return 1.0 - float(special.nctdtr(freedom, shift, seen))

    if tail(0.0) > error:
        return 0.0
    low, high = 0.0, seen + 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) <= error else (low, middle)
    return low * width
