"""Correlated noise whose participants are sampled: what delta is, by simulation, with a bound that can refute.

For b-min-sep sampling, and for balls in bins with correlated noise, no closed form is known: the likelihood ratio of
all rounds is a sum over participation patterns (Choquette-Choo, Ganesh, Thakurta 2024, arXiv 2410.06266; arXiv
2601.21636; 2602.09338), and delta(eps) = E_P(1 - e^{eps - L})_+ is estimated from draws of the loss L under P.
Each draw is made a coin of that very mean, so that Clopper and Pearson's bounds hold for every number of draws.

The pair is the one that the unit attains by contributing u, |u| = 1, whenever it takes part, while nobody else
contributes: a lower bound refutes a claim with the stated probability of error. An upper bound proves nothing: other
contributions may reveal more, and a simulation may err.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...mechanisms import InputError, MatrixFactorisation, Neighbouring, ToeplitzFactorisation
from ...mechanisms.arrays import Floats
from ...mechanisms.validate import choice, count, nonnegative, open_probability, rate
from .clopper_pearson import lower, upper

Noise = ToeplitzFactorisation | MatrixFactorisation

_AT_ONCE = 1 << 21
"""Numbers drawn together, about."""


@dataclass(frozen=True, slots=True)
class BallsInBins:
    """Every unit draws one of `bins` rounds, once for the whole run, and takes part in that round of each pass."""

    noise: Noise
    bins: int


@dataclass(frozen=True, slots=True)
class MinSeparated:
    """In each round every unit that took part in none of the last min_separation - 1 flips a coin (the noise's own).

    The run starts in the middle of such rounds (a "warm start"), so that all cohorts are of one expected size:
    population / (min_separation - 1 + 1/sampling_rate).
    """

    noise: Noise
    sampling_rate: float


Sampled = BallsInBins | MinSeparated


@dataclass(frozen=True, slots=True)
class DeltaEstimate:
    """An estimate of delta at epsilon; lower and upper each miss the attained pair's delta with probability `error`
    at most. Never certified."""

    epsilon: float
    delta: float
    lower: float
    upper: float
    error: float
    draws: int
    certified: Literal[False] = False

    def refutes(self, delta: float) -> bool:
        """Whether a claim of this delta is refuted, with probability of error `error`; nothing can make it hold."""
        return self.lower > delta


def estimate_delta(
    run: Sampled,
    epsilon: float,
    *,
    neighbouring: Neighbouring = "add-remove",
    draws: int = 100_000,
    error: float = 1e-3,
    seed: int = 0,
) -> DeltaEstimate:
    """Simulate the loss of all rounds together, the unit being there under the first neighbour.

    Raises InputError for values out of range, and for min-separated sampling with more bands than the separation.

    >>> noise = ToeplitzFactorisation(1.0, coefficients=(1.0, 0.5), rounds=20)
    >>> found = estimate_delta(BallsInBins(noise, bins=10), 1.0, draws=20_000)
    >>> found.lower <= found.delta <= found.upper, found.refutes(1e-6)
    (True, True)
    """
    nonnegative("epsilon", epsilon)
    open_probability("error", error)
    total = count("draws", draws)
    choice("neighbouring", neighbouring, ("add-remove", "zero-out", "replace-one"))
    law = _law(run)
    rng = np.random.default_rng(count("seed", seed, least=0))
    coins, mean, left = 0, 0.0, total
    while left:
        size = min(left, max(1, _AT_ONCE // law.size))
        gain = np.maximum(-np.expm1(epsilon - law.losses(rng, size, neighbouring == "replace-one")), 0.0)
        coins += int(np.count_nonzero(rng.random(size) < gain))
        mean, left = mean + float(np.sum(gain)) / total, left - size
    ends = float(lower(coins, total, error)), float(upper(coins, total, error))
    return DeltaEstimate(epsilon, mean, min(ends[0], mean), max(ends[1], mean), error, total)


def _law(run: Sampled) -> _Bins | _Separated:
    columns = _columns(run.noise)
    if isinstance(run, BallsInBins):
        bins = count("bins", run.bins)
        if bins > len(columns):
            raise InputError("bins", bins, f"at most the {len(columns)} rounds")
        return _Bins.of(np.array([columns[first::bins].sum(axis=0) for first in range(bins)]))
    separation = run.noise.min_separation
    gram = columns @ columns.T
    if np.any(np.triu(gram, separation) != 0):
        raise InputError("min_separation", separation, "at least the number of bands: columns must not overlap")
    return _Separated(columns, rate("sampling_rate", run.sampling_rate), separation)


def _columns(noise: Noise) -> Floats:
    """The encoder's columns, as rows, in units of the noise."""
    if isinstance(noise, MatrixFactorisation):
        return np.array(noise.encoder).T / noise.noise_multiplier
    taps, rounds = np.array(noise.coefficients), noise.rounds
    columns = np.zeros((rounds, rounds))
    for at in range(rounds):
        columns[at, at : at + taps.size] = taps[: rounds - at]
    return columns / noise.noise_multiplier


@dataclass(frozen=True, slots=True)
class _Bins:
    """One of these moves, uniformly: only their inner products with the noise matter."""

    gram: Floats
    root: Floats

    @classmethod
    def of(cls, moves: Floats) -> _Bins:
        gram = moves @ moves.T
        values, vectors = np.linalg.eigh(gram)
        return cls(gram, vectors * np.sqrt(np.maximum(values, 0.0)))

    @property
    def size(self) -> int:
        return len(self.gram)

    def losses(self, rng: np.random.Generator, draws: int, replaced: bool) -> Floats:
        drawn = rng.integers(self.size, size=draws)
        products = self.gram[drawn] + rng.standard_normal((draws, self.size)) @ self.root.T
        ratio = self._log_mean(products)
        return ratio - self._log_mean(-products) if replaced else ratio

    def _log_mean(self, products: Floats) -> Floats:
        exponents = products - 0.5 * np.diag(self.gram)
        top = exponents.max(axis=1)
        return np.asarray(top + np.log(np.mean(np.exp(exponents - top[:, None]), axis=1)))


@dataclass(frozen=True, slots=True)
class _Separated:
    """Columns at least `separation` apart do not overlap, so that patterns are summed up round by round."""

    columns: Floats
    rate: float
    separation: int

    @property
    def size(self) -> int:
        return len(self.columns)

    @property
    def _free(self) -> float:
        """The probability of being free to flip a coin, in any round of a warm start."""
        return 1 / (1 + (self.separation - 1) * self.rate)

    def losses(self, rng: np.random.Generator, draws: int, replaced: bool) -> Floats:
        products = self._drawn(rng, draws) @ self.columns + rng.standard_normal((draws, self.size))
        along = products @ self.columns.T
        ratio = self._log_ratio(along)
        return ratio - self._log_ratio(-along) if replaced else ratio

    def _drawn(self, rng: np.random.Generator, draws: int) -> Floats:
        """Who takes part when: 1 or 0, one row a draw."""
        free = rng.random(draws) < self._free
        wait = np.where(free, 0, rng.integers(1, max(2, self.separation), size=draws))
        taken = np.zeros((draws, self.size))
        for at in range(self.size):
            taken[:, at] = (wait == 0) & (rng.random(draws) < self.rate)
            wait = np.where(taken[:, at] == 1, self.separation - 1, np.maximum(wait - 1, 0))
        return taken

    def _log_ratio(self, along: Floats) -> Floats:
        """log of the mean over patterns of prod exp(<c_i, x> - |c_i|^2/2): `open_` has the patterns that may flip a
        coin in this round, `busy` those that may again after so many more; all divided by e^scale."""
        jumps = along - 0.5 * np.sum(self.columns**2, axis=1)
        draws, wait = len(along), self.separation - 1
        open_, scale = np.full(draws, self._free), np.zeros(draws)
        busy = [np.full(draws, self.rate * self._free) for _ in range(wait)]
        for at in range(self.size):
            top = np.maximum(jumps[:, at], 0.0)
            taking = open_ * self.rate * np.exp(jumps[:, at] - top)
            shrink = np.exp(-top)
            staying = open_ * (1 - self.rate) * shrink
            busy = [*(part * shrink for part in busy), taking]
            open_, scale = staying + busy.pop(0), scale + top
            total = open_ + sum(busy)
            open_, busy, scale = open_ / total, [part / total for part in busy], scale + np.log(total)
        return scale
