"""What no auditor can show from outputs alone, for Gaussian noise.

Whoever reports 95% lower bounds on epsilon keeps that level on every (epsilon, delta)-DP pair, also on one that is
very close to the truth. "The bound exceeds epsilon" is then a test of that pair at level 5%, and the Neyman-Pearson
test is the most powerful one. Where even that has a power below 1/2, the median of the bound is at most epsilon.
Proof: docs/auditing-power.md, section "The limit".
"""

from __future__ import annotations

import math

import numpy as np
from scipy import optimize, special

from dpcert.mechanisms.arrays import Floats
from dpcert.mechanisms.validate import count, open_probability, positive

STEP = 8e-6
"""Log likelihood ratios are rounded up to multiples of this."""
BINS = 1 << 21
CELLS = 100_000
LOWEST = -6.0
"""Log likelihood ratios of one trial below this are rounded up to it."""
PLAIN = 3.0
"""Expected log likelihood ratio of all trials from which on the power is not computed: it may be 1."""


def gaussian_power(trials: int, epsilon: float, delta: float, mu: float = 1.0, level: float = 0.05) -> float:
    """An upper bound on P(a bound on epsilon(delta) at error `level` exceeds epsilon), for two Gaussians mu apart.

    trials: calls a side. The pair in between: where p/q > e^epsilon, up to a point beyond which there is only delta,
    the two densities share p + q in the ratio e^epsilon to 1, likewise on the other side; elsewhere they are p and q.
    Raises InputError for values out of range.
    """
    runs = 2 * count("trials", trials)
    open_probability("level", level)
    chances, losses = _one_trial(positive("epsilon", epsilon), delta, positive("mu", mu))
    if runs * float(chances @ losses) > PLAIN:
        return 1.0
    steps = np.ceil(losses / STEP).astype(np.int64) % BINS
    law = np.bincount(steps, chances, BINS)
    law[0] += 1 - chances.sum()
    total = np.maximum(np.fft.irfft(np.fft.rfft(law) ** runs, BINS), 0.0)
    descending = np.roll(total, BINS // 2)[::-1]
    value = np.arange(BINS // 2 - 1, -BINS // 2 - 1, -1) * STEP
    power, size = np.cumsum(descending), np.cumsum(descending * np.exp(-value))
    found = float(np.interp(level, size, power))  # between two values the best test tosses a coin
    return min(1.0, found + _beyond_the_bins(runs, chances, losses))


def gaussian_limit(trials: int, delta: float, mu: float = 1.0, level: float = 0.05) -> float:
    """The largest median that lower bounds on epsilon(delta) at error `level` can have; trials: calls a side."""
    low, high = 0.1 * mu, 10.0 * mu
    return float(optimize.brentq(lambda e: gaussian_power(trials, e, delta, mu, level) - 0.5, low, high, xtol=1e-3))


def _one_trial(epsilon: float, delta: float, mu: float) -> tuple[Floats, Floats]:
    """Chances under the truth, and largest log likelihood ratios, of cells of one trial's outcome.

    The outcome is the output seen from its own side: the density ratio own : other = e^s. Only |s| > epsilon counts.
    """
    end = _beyond(epsilon, delta, mu)
    edges = np.linspace(epsilon, min(end, epsilon + 12 * mu), CELLS)
    if end == math.inf:
        edges = np.append(edges, math.inf)
    # The privacy loss s is normal with mean mu^2/2 and deviation mu on its own side, with mean -mu^2/2 on the other.
    up = special.ndtr(edges[1:] / mu - mu / 2) - special.ndtr(edges[:-1] / mu - mu / 2)
    down = special.ndtr(-edges[:-1] / mu - mu / 2) - special.ndtr(-edges[1:] / mu - mu / 2)
    gain = np.log1p(math.exp(-epsilon)) - np.log1p(np.exp(-edges[1:]))
    loss = np.log1p(math.exp(epsilon)) - np.log1p(np.exp(edges[:-1]))
    return np.concatenate([up, down]), np.concatenate([gain, np.maximum(loss, LOWEST)])


def _beyond_the_bins(runs: int, chances: Floats, losses: Floats) -> float:
    """Chernoff's bound on the chance of a sum too large for the bins, which the transform puts at their other end."""
    tilts = np.arange(0.5, 8.0, 0.5)
    logs = [
        runs * math.log1p(float(chances @ np.expm1(tilt * losses))) - tilt * STEP * (BINS // 2 - 1) for tilt in tilts
    ]
    return math.exp(min(0.0, *logs))


def _beyond(epsilon: float, delta: float, mu: float) -> float:
    """The loss beyond which P exceeds e^epsilon Q by delta altogether; infinite for delta = 0."""
    if delta <= 0.0:
        return math.inf

    def excess(s: float) -> float:
        odds = math.exp(epsilon + float(special.log_ndtr(-s / mu - mu / 2)))
        return float(special.ndtr(mu / 2 - s / mu)) - odds - delta

    return epsilon if excess(epsilon) <= 0 else float(optimize.brentq(excess, epsilon, epsilon + 40 * mu))
