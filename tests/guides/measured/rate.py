"""One rate of a theorem: a quantity of trainer runs against one parameter, and what is measured of it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from dpcert.mechanisms.arrays import Floats

ALPHA = 1e-3
"""The probability that an interval over seeds misses the mean slope, for normal slopes."""
SLACK = 0.05
"""What is left to sizes that are finite: a theorem's exponent is that of a limit."""

Relation = Literal["is", "at most", "at least"]
Verdict = Literal["attained", "loose", "not reached", "contradicted", "outside"]
"""The slope is the stated one; on its safe side; on the other side, but under the theorem's bound at every size, so
that these sizes are too small for the rate; on the other side; there too, of runs that clip, which is not covered."""


@dataclass(frozen=True, slots=True, eq=False)
class Rate:
    """quantity ~ parameter^stated, or at most that in the theorem's direction.

    place: theorem, equation. problem: on what the trainer runs. clipping: whether updates are shortened. measure(size,
    seed): the quantity on a run. bound(size): what the theorem says at most, None where a constant is not known.
    towards: whether the stated power bounds the quantity for large or small values of the parameter.
    """

    paper: str
    place: str
    quantity: str
    parameter: str
    stated: float
    sizes: tuple[float, ...]
    measure: Callable[[float, int], float]
    bound: Callable[[float], float] | None = None
    relation: Relation = "is"
    problem: str = "quadratic"
    clipping: bool = False
    towards: Literal["large", "small"] = "large"

    @property
    def key(self) -> str:
        """A file name."""
        power, clipped = f"{abs(self.stated):g}", "clipped" if self.clipping else ""
        words = (self.paper, self.problem, self.quantity, self.parameter, power, clipped)
        return "-".join(re.findall("[a-z0-9]+", " ".join(words).lower()))


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """values (seeds, sizes); slope of their means with its interval; bound over truth, smallest and median, or None.

    exceeded: some size's mean is above the bound, with the interval of its mean.
    """

    rate: Rate
    values: Floats
    slope: float
    low: float
    high: float
    loose: tuple[float, float] | None
    exceeded: bool

    @property
    def verdict(self) -> Verdict:
        """What the interval says of the stated exponent."""
        stated = self.rate.stated
        if self.low - SLACK <= stated <= self.high + SLACK:
            return "attained"
        below = self.high < stated
        keeps = {"is": False, "at most": below, "at least": not below}[self.rate.relation]
        if self.rate.towards == "small" and self.rate.relation != "is":
            keeps = not keeps
        if keeps:
            return "loose"
        if self.rate.clipping:
            return "outside"
        return "not reached" if self.loose is not None and not self.exceeded else "contradicted"


def measured(rate: Rate, seeds: int) -> Measured:
    """Every size with seeds 0, 1, ...: least squares on the logarithms of the means, by the jackknife over seeds."""
    values = np.array([[rate.measure(size, seed) for size in rate.sizes] for seed in range(seeds)])
    slope = _slope(rate.sizes, values)
    left_out = [_slope(rate.sizes, np.delete(values, seed, axis=0)) for seed in range(seeds)]
    each = seeds * slope - (seeds - 1) * np.array(left_out)
    reach = float(stats.t.ppf(1 - ALPHA / 2, seeds - 1)) * float(each.std(ddof=1)) / math.sqrt(seeds)
    loose, exceeded = None, False
    if rate.bound is not None:
        bounds, means = np.array([rate.bound(size) for size in rate.sizes]), values.mean(axis=0)
        ratios = sorted(bounds / means)
        loose = float(ratios[0]), float(ratios[len(ratios) // 2])
        errors = values.std(axis=0, ddof=1) / math.sqrt(seeds)
        far = float(stats.t.isf(ALPHA / len(bounds), seeds - 1)) * errors
        exceeded = bool((means - far > bounds * (1 + 1e-9)).any())
    return Measured(rate, values, slope, slope - reach, slope + reach, loose, exceeded)


def _slope(sizes: tuple[float, ...], values: Floats) -> float:
    logs = np.log(sizes)
    off = logs - logs.mean()
    return float(np.log(values.mean(axis=0)) @ off / (off @ off))
