"""Two-sided bands of a trade-off curve from samples: that of the tests "score >= t", for all t at once.

For every level alpha, and every epsilon, the band has the true curve of these tests inside with probability 1 - error,
for any distributions (continuous, discrete, mixed). Read for the pair of neighbours itself:

- `high` bounds its trade-off curve, and the lower end of `delta` its privacy profile, without any assumption: a test's
  errors are what they are;
- `low`, and the upper end of `delta`, do so **only if the likelihood ratio is monotone in the score**. No sample shows
  that, and none bounds privacy from above without such knowledge (Shi, Ma 2025, arXiv 2503.12045). It proves no claim.

Each side's distribution function is in a band by two means at half of the error: Massart's constant in the inequality
of Dvoretzky, Kiefer, Wolfowitz (1990, Annals of Probability 18(3)) in the middle, and exact Beta laws of the smallest
and largest order statistics (David, Nagaraja 2003, section 2.3; atoms make the bounds wider than needed) in the tails,
where privacy is decided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from ...mechanisms import InputError
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import nonnegative, open_probability
from . import convex_hull

RATIO, TAIL = 1.05, 0.3
"""Order statistics that get a Beta law: ranks that grow by this ratio, within this part of the sample at either end."""


@dataclass(frozen=True, slots=True)
class ThresholdCurve:
    """For each threshold t: size = P(score >= t) on the neighbour, miss = P(score < t) on the dataset; both bounded.

    size, miss: (lower, upper) bounds, each of shape (thresholds,). All hold together but for `error`.
    """

    size: tuple[Floats, Floats]
    miss: tuple[Floats, Floats]
    error: float

    def tradeoff(self, alpha: ArrayLike) -> tuple[Floats, Floats]:
        """(low, high) of the least error of the second kind at levels alpha, of threshold tests that may toss coins."""
        at = np.asarray(alpha, float)
        low, high = (
            np.column_stack([np.append(size, [0.0, 1.0]), np.append(miss, [end, 0.0])])
            for size, miss, end in zip(self.size, self.miss, (self.miss[0].max(), 1.0), strict=True)
        )
        return tuple(convex_hull.below(points[np.lexsort(points.T[::-1])], at) for points in (low, high))  # type: ignore[return-value]

    def delta(self, epsilon: float) -> tuple[float, float]:
        """(low, high) of the largest P(dataset in event) - e^epsilon P(neighbour in event), events "score >= t"."""
        odds = math.exp(nonnegative("epsilon", epsilon))
        high, low = (1 - miss - odds * size for miss, size in zip(self.miss, self.size, strict=True))
        return max(0.0, float(low.max(initial=0.0))), min(1.0, max(0.0, float(high.max(initial=0.0))))


def threshold_curve(dataset: ArrayLike, neighbour: ArrayLike, error: float = 0.05) -> ThresholdCurve:
    """The band from independent scores of outputs on either side, each of shape (trials,).

    Raises InputError for scores that are NaN or not in one dimension, for no score, and for a bad error.

    >>> rng = np.random.default_rng(0)
    >>> low, high = threshold_curve(rng.normal(1.0, 1.0, 20_000), rng.normal(0.0, 1.0, 20_000)).delta(1.0)
    >>> 0.09 < low < 0.1269 < high < 0.18  # the profile of two Gaussians at distance 1
    True
    """
    open_probability("error", error)
    sides = [np.sort(np.asarray(side, float)) for side in (dataset, neighbour)]
    for name, side in zip(("dataset", "neighbour"), sides, strict=True):
        if side.ndim != 1 or len(side) == 0 or np.isnan(side).any():
            raise InputError(
                name, f"an array of shape {side.shape}", "at least one score, one-dimensional, without NaN"
            )
    thresholds = np.append(np.unique(np.concatenate(sides)), np.inf)
    low, high = _below(sides[0], thresholds, error / 2)
    less, more = _below(sides[1], thresholds, error / 2)
    return ThresholdCurve((1 - more, 1 - less), (low, high), error)


def _below(scores: Floats, thresholds: Floats, error: float) -> tuple[Floats, Floats]:
    """(lower, upper) bounds on P(score < t) at the thresholds, all at once; scores: sorted.

    Between two neighbouring scores of either side the bounds are constant, so that they hold for every t.
    """
    count = len(scores)
    before = np.searchsorted(scores, thresholds, side="left")
    width = math.sqrt(math.log(2 / (error / 2)) / (2 * count)) + 1e-12
    low, high = np.maximum(0.0, before / count - width), np.minimum(1.0, before / count + width)
    ranks = _ranks(count)
    each = error / 2 / (2 * len(ranks))
    # P(score <= k-th smallest) is at least, P(score < k-th smallest) at most a Beta(k, count + 1 - k) variable.
    least = special.betaincinv(ranks, count + 1 - ranks, each) * (1 - 1e-9)
    most = special.betaincinv(ranks, count + 1 - ranks, 1 - each) * (1 + 1e-9)
    passed = np.searchsorted(ranks, before, side="right")  # ranks <= before: these scores are below t
    low = np.maximum(low, np.append(0.0, least)[passed])
    # ... and the first rank above `before` belongs to a score that is not below t.
    return low, np.minimum(high, np.append(np.minimum(1.0, most), 1.0)[passed])


def _ranks(count: int) -> Floats:
    """Ranks from 1 up and, mirrored, from `count` down, to TAIL of the sample."""
    steps = math.floor(math.log(max(2.0, TAIL * count)) / math.log(RATIO))
    up = np.unique(np.round(RATIO ** np.arange(steps + 1)))
    up = up[up <= count]
    return np.unique(np.concatenate([up, count + 1 - up]))
