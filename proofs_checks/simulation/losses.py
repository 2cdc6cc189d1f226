"""Correlated noise whose participants are sampled: the loss of all rounds together, drawn.

For b-min-sep sampling, and for balls in bins with correlated noise, no closed form is known: the likelihood ratio of
all rounds is a sum over participation patterns (Choquette-Choo, Ganesh, Thakurta 2024, arXiv 2410.06266; arXiv
2601.21636; 2602.09338). The pair is the one that the unit attains by contributing u, |u| = 1, whenever it takes part,
while nobody else contributes (docs/theory/correlated_noise.md, "Sampled rounds"). What is made of the draws:
estimates.py.

A *tilt* makes large losses frequent: the unit's part enlarged by a factor, coins of another rate, and a drift of the
noise along the mean move. Draws are taken from the tilted law or from the untilted one, at even odds, so that no draw
weighs more than 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ...mechanisms import BallsInBins, MinSeparated
from ...mechanisms.arrays import Floats
from ...mechanisms.matrix_sensitivity import moves_of_bins
from ...mechanisms.sampled_matrix import Noise, encoder_columns

Sampled = BallsInBins | MinSeparated

LARGEST_WEIGHT = 2.0
"""Of one draw, against the mean over draws from the untilted law."""

_AT_ONCE = 1 << 21
"""Numbers drawn together, about."""


@dataclass(frozen=True, slots=True)
class Tilt:
    """enlarged: by how much the unit's part is. rate: of the coins, where there are coins. drift: in mean moves."""

    enlarged: float = 1.0
    rate: float = 1.0
    drift: float = 0.0


@dataclass(frozen=True, slots=True)
class Direction:
    """Tilts that differ in size: by how much each part grows with it."""

    rate: float
    enlarging: float
    drifting: float

    def tilt(self, size: float) -> Tilt:
        """The tilt of that size, at least 0."""
        return Tilt(1 + self.enlarging * size, self.rate, self.drifting * size)


@dataclass(frozen=True, slots=True)
class Draws:
    """losses: log dP/dQ; weights: dP over the law that was drawn from. Shape (draws,) each."""

    losses: Floats
    weights: Floats

    def gains(self, epsilon: float) -> Floats:
        """Whose mean is delta at epsilon: from 0 to LARGEST_WEIGHT."""
        return np.asarray(self.weights * np.maximum(-np.expm1(np.minimum(epsilon - self.losses, 0.0)), 0.0))


def draws(run: Sampled, tilt: Tilt, total: int, rng: np.random.Generator, *, replaced: bool) -> Draws:
    """So many draws. replaced: the second neighbour's unit contributes -u, instead of nothing."""
    law = law_of(run)
    losses, weights, left = np.empty(total), np.empty(total), total
    while left:
        size = min(left, max(1, _AT_ONCE // law.size))
        part = slice(total - left, total - left + size)
        tilted = int(rng.binomial(size, 0.5))
        along = np.concatenate([law.drawn(rng, tilted, tilt), law.drawn(rng, size - tilted, law.untilted)])
        ratio = law.log_ratio(along, law.untilted)
        losses[part] = ratio - law.log_ratio(-along, law.untilted) if replaced else ratio
        weights[part] = 2 / (1 + np.exp(np.minimum(law.log_ratio(along, tilt) - ratio, 700.0)))
        left -= size
    return Draws(losses, weights)


def tilts(run: Sampled, epsilon: float, rng: np.random.Generator) -> list[Tilt]:
    """Some to choose from: in each direction up to where about half of the draws have a loss above epsilon."""
    law = law_of(run)
    found = [law.untilted]
    for direction in law.directions:
        below, above = 0.0, _SMALLEST

        def half(size: float, direction: Direction = direction) -> bool:
            along = law.drawn(rng, _TRIED, direction.tilt(size))
            return float(np.median(law.log_ratio(along, law.untilted))) > epsilon

        while above < _LARGEST and not half(above):
            below, above = above, 2 * above
        while above - below > 0.3 * above:
            middle = 0.5 * (below + above)
            below, above = (below, middle) if half(middle) else (middle, above)
        found += [direction.tilt(share * above) for share in (0.7, 1.0)]
    return found


_SMALLEST, _LARGEST, _TRIED = 0.25, 4096.0, 64


def law_of(run: Sampled) -> Bins | Separated:
    """The law of <move, x> for the unit's moves, in units of the noise."""
    columns, noise = encoder_columns(run.noise), run.noise_multiplier
    if isinstance(run, BallsInBins):
        return Bins.of(moves_of_bins(columns, run.bins) / noise)
    return Separated(_matrix(run.noise) / noise, run.sampling_rate, run.noise.min_separation)


def _matrix(noise: Noise) -> sparse.csr_array:
    """The encoder's columns, as rows."""
    columns = encoder_columns(noise)
    entries = [
        (at, at + down, value) for at, column in enumerate(columns) for down, value in enumerate(column) if value
    ]
    rows, places, values = zip(*entries, strict=True) if entries else ((), (), ())
    return sparse.csr_array((values, (rows, places)), shape=(len(columns), len(columns)))


@dataclass(frozen=True, slots=True)
class Bins:
    """One of these moves, uniformly: only their inner products with the noise matter."""

    gram: Floats
    root: Floats

    @classmethod
    def of(cls, moves: Floats) -> Bins:
        """moves: shape (bins, rounds)."""
        gram = moves @ moves.T
        values, vectors = np.linalg.eigh(gram)
        return cls(gram, vectors * np.sqrt(np.maximum(values, 0.0)))

    @property
    def size(self) -> int:
        """Numbers of one draw."""
        return len(self.gram)

    @property
    def untilted(self) -> Tilt:
        """The law itself."""
        return Tilt()

    @property
    def directions(self) -> list[Direction]:
        """Ways to make losses large: a larger part of the unit, and a drift."""
        return [Direction(1.0, 1.0, 0.0), Direction(1.0, 0.0, 1.0), Direction(1.0, 0.5, 0.5)]

    def drawn(self, rng: np.random.Generator, size: int, tilt: Tilt) -> Floats:
        """<move, x> for every bin, one row a draw."""
        moved = tilt.enlarged * self.gram[rng.integers(self.size, size=size)]
        moved += tilt.drift * self.gram.mean(axis=0)
        return np.asarray(moved + rng.standard_normal((size, self.size)) @ self.root.T)

    def log_ratio(self, along: Floats, tilt: Tilt) -> Floats:
        """log of the mean over bins of exp(<move, x> - |move|^2/2), moves enlarged; and of the drift."""
        drifted = tilt.drift * along.mean(axis=1) - 0.5 * tilt.drift**2 * np.mean(self.gram)
        rest = along - tilt.drift * self.gram.mean(axis=0)
        exponents = tilt.enlarged * rest - 0.5 * tilt.enlarged**2 * np.diag(self.gram)
        top = exponents.max(axis=1)
        return np.asarray(drifted + top + np.log(np.mean(np.exp(exponents - top[:, None]), axis=1)))


@dataclass(frozen=True, slots=True)
class Separated:
    """Columns at least `separation` apart do not overlap, so that patterns are summed up round by round."""

    columns: sparse.csr_array
    rate: float
    separation: int

    @property
    def size(self) -> int:
        """Numbers of one draw."""
        return int(self.columns.shape[0])

    @property
    def untilted(self) -> Tilt:
        """The law itself."""
        return Tilt(1.0, self.rate)

    @property
    def directions(self) -> list[Direction]:
        """Ways to make losses large: a larger part of the unit, in more rounds as well, and a drift."""
        more = [max(self.rate, min(0.9, times * self.rate)) for times in (1.0, 3.0)]
        enlarging = [Direction(rate, 1.0, 0.0) for rate in dict.fromkeys(more)]
        return [*enlarging, Direction(self.rate, 0.0, 1.0), Direction(self.rate, 0.5, 0.5)]

    @property
    def _squares(self) -> Floats:
        return np.asarray((self.columns**2).sum(axis=1)).ravel()

    @property
    def _mean_move(self) -> Floats:
        """What the noise is moved by on average: every round is drawn as often."""
        return np.asarray(self.columns.sum(axis=0)).ravel() * self.rate * self._free(self.rate)

    def _free(self, rate: float) -> float:
        """The probability of being free to flip a coin, in any round of a warm start."""
        return 1 / (1 + (self.separation - 1) * rate)

    def drawn(self, rng: np.random.Generator, size: int, tilt: Tilt) -> Floats:
        """<column, x> for every round, one row a draw."""
        taken = tilt.enlarged * self.taken(rng, size, tilt.rate)
        products = (self.columns.T @ taken.T).T + rng.standard_normal((size, self.size)) + tilt.drift * self._mean_move
        return np.asarray((self.columns @ products.T).T)

    def taken(self, rng: np.random.Generator, size: int, rate: float) -> Floats:
        """Who takes part when: 1 or 0, one row a draw."""
        free = rng.random(size) < self._free(rate)
        wait = np.where(free, 0, rng.integers(1, max(2, self.separation), size=size))
        taken = np.zeros((size, self.size))
        for at in range(self.size):
            taken[:, at] = (wait == 0) & (rng.random(size) < rate)
            wait = np.where(taken[:, at] == 1, self.separation - 1, np.maximum(wait - 1, 0))
        return taken

    def log_ratio(self, along: Floats, tilt: Tilt) -> Floats:
        """log of the mean over patterns of prod exp(<c_i, x> - |c_i|^2/2), columns enlarged; and of the drift.

        `free` has the log of the sum over patterns that may flip a coin in this round, `resting` of those that may
        again after one more round, two more, ...
        """
        drifted = tilt.drift * self.rate * self._free(self.rate) * along.sum(axis=1)
        drifted -= 0.5 * tilt.drift**2 * float(np.sum(self._mean_move**2))
        rest = along - tilt.drift * (self.columns @ self._mean_move)
        jumps = tilt.enlarged * rest - 0.5 * tilt.enlarged**2 * self._squares
        start, rests = self._free(tilt.rate), self.separation - 1
        coin = np.log(tilt.rate), np.log1p(-tilt.rate) if tilt.rate < 1 else -np.inf
        free = np.full(len(along), np.log(start))
        resting = [np.full(len(along), np.log(tilt.rate * start)) for _ in range(rests)]
        for at in range(self.size):
            resting.append(free + coin[0] + jumps[:, at])
            free = np.logaddexp(free + coin[1], resting.pop(0))
        for part in resting:
            free = np.logaddexp(free, part)
        return np.asarray(free + drifted)
