"""Reports in random order: how many are for the one value, how many for the other (docs/theory/shuffle_model.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Self

import numpy as np
from flint import arb, ctx

from ...mechanisms.arrays import Floats
from ..losses.atoms import laws
from ..losses.atoms.cells import Cells
from ..losses.atoms.edges import Resolution
from ..losses.atoms.product_cells import merged
from ..losses.atoms.sampled_cells import joined
from ..losses.atoms.transform import AtomLaw, Law
from ..rounding import UNIT, End, up
from .pair import Pair

_BITS = 128
_STRIPES = 200
_MOST_COUNTS = 1 << 15
"""Counts of one kind that are followed: about 17 standard deviations."""

_MOST_CELLS = 1 << 22
_KEPT = 1 << 14


@dataclass(frozen=True, slots=True)
class CountsPair(Pair):
    """The law of (A, B) among `reports` reports, each for the first value, for the second, or for neither.

    Each other report is for the first value with probability `each`, for the second with the same. The unit's is for
    the first with odds e^epsilon under P, with odds e^-epsilon under Q, and for one of them for certain. Symmetric.
    """

    reports: int
    epsilon: float
    each: float

    def losses(self) -> laws.Losses | None:
        """From a table, unless that is too large."""
        return losses_of_counts(self)

    @property
    def unmoved(self) -> float:
        """The unit's report is never for neither."""
        return 0.0

    def moved(self, factor: float) -> Self:
        """In its epsilon; fewer others who could have said the same hide less."""
        return replace(self, epsilon=self.epsilon * factor, each=min(self.each / factor, 0.5 - UNIT))

    def words(self) -> str:
        return (
            f"{self.reports} reports in random order, the others' for either value with probability {self.each:.6g}, "
            f"the unit's for the first or the second with odds e^{self.epsilon:.6g}"
        )

    def supremum(self) -> arb | None:
        """Where all speak for the first value."""
        return arb(self.epsilon)


@dataclass(frozen=True, slots=True)
class ShuffledResponsePair(Pair):
    """Randomized response of at least 3 categories in random order: how many report the unit's one category and its
    other one, where all others' own is a third. Symmetric."""

    reports: int
    flip: float
    categories: int

    @property
    def each(self) -> float:
        """An other unit's probability of reporting the one, or the other."""
        return self.flip / (self.categories - 1)

    def losses(self) -> laws.Losses | None:
        """From a table, unless that is too large."""
        return losses_of_counts(self)

    @property
    def unmoved(self) -> float:
        """The probability that the unit reports neither."""
        return (self.categories - 2) * self.each

    @property
    def epsilon(self) -> float:
        """Of one report by itself."""
        return math.log1p(-self.flip) - math.log(self.each)

    def moved(self, factor: float) -> Self:
        """In its flip: reporting once more at random is post-processing, of all reports at once."""
        return replace(self, flip=min(self.flip / factor, 1 - 1 / self.categories))

    def words(self) -> str:
        return (
            f"{self.reports} reports in random order, all others' own category a third one, each flipped with "
            f"probability {self.flip:.6g} to one of {self.categories - 1}"
        )

    def supremum(self) -> arb | None:
        """Where all report the first category."""
        flip = arb(self.flip)
        return ((1 - flip) * (self.categories - 1) / flip).log()


def losses_of_counts(pair: CountsPair | ShuffledResponsePair) -> laws.Losses | None:
    """None where the table is too large."""
    if not _is_small(pair):
        return None

    def law(end: End, resolution: Resolution) -> Law:
        return AtomLaw(laws.atoms_of(counts_cells(pair, resolution.tail, end), end, resolution.tail))

    return laws.Losses(law)


def _is_small(pair: CountsPair | ShuffledResponsePair) -> bool:
    totals, each = (20 * math.sqrt(pair.reports * part) + 60 for part in (2 * pair.each, pair.each))
    lines = min(totals, _STRIPES) if pair.unmoved == 0.0 else totals
    return max(totals, each) <= _MOST_COUNTS and lines * each <= _MOST_CELLS


@lru_cache(maxsize=8)  # one question asks for the same table many times
def counts_cells(pair: CountsPair | ShuffledResponsePair, tail: float, end: End) -> Cells:
    """The cells; what is put together dominates for the upper end, and is dominated for the lower one."""
    n, always = pair.reports, pair.unmoved == 0.0
    first, masses, beyond = _binomial(n - 1 if always else n, 2 * pair.each, 0.25 * tail)
    wide = max(1, math.ceil(masses.size / _STRIPES)) if always else 1
    parts = []
    for start in range(0, masses.size, wide):
        stripe = masses[start : start + wide]
        total = first + (start if end is End.UPPER else start + stripe.size - 1) + (1 if always else 0)
        parts.append(_of_total(pair, total, float(np.sum(stripe)), 0.25 * tail, 8 * masses.size * UNIT))
    found = joined(parts)
    return merged(replace(found, stray=up(found.stray + _heaviest(pair) * beyond, 4)), _KEPT)


def _heaviest(pair: CountsPair | ShuffledResponsePair) -> float:
    """At least the factor by which the unit's report makes an outcome of reports alike likelier."""
    if pair.unmoved == 0.0:
        return 1.0
    truth = (1 - pair.unmoved) / (1 + math.exp(-pair.epsilon))
    return 1.01 * max(truth / pair.each, pair.unmoved / (1 - 2 * pair.each))


def _of_total(
    pair: CountsPair | ShuffledResponsePair, total: int, mass: float, tail: float, mass_error: float
) -> Cells:
    """The cells of one T; mass: of the number of others, or, where the unit's may be for neither, of T of n reports
    that are all alike, which the unit's own then makes likelier or not."""
    odds = math.exp(pair.epsilon)
    first, binomial, beyond = _binomial(total, 0.5, tail)
    a = first + np.arange(binomial.size, dtype=float)
    b = total - a
    if pair.unmoved == 0.0:
        neither, scale = 0.0, 2 * mass / (total * (1 + odds))
    else:
        unit = (1 - pair.unmoved) / (1 + odds)
        neither = pair.unmoved * pair.each * (pair.reports - total) / ((1 - 2 * pair.each) * unit)
        scale = mass * unit / (pair.reports * pair.each)
    p, q = (scale * binomial * (odds * x + y + neither) for x, y in ((a, b), (b, a)))
    apart = (odds - 1) * (a - b) / (a + odds * b + neither)
    loss = np.log1p(apart)
    rounding = UNIT * (64 + 16 * pair.epsilon)
    slack = rounding * (np.abs(loss) + np.abs(apart) / (1 + apart) * (1 + pair.epsilon))
    error = np.full(a.size, mass_error + 8 * binomial.size * UNIT + rounding)
    return Cells(p, q, loss - slack, loss + slack, error, stray=2 * _heaviest(pair) * mass * beyond)


def _binomial(n: int, rate: float, tail: float) -> tuple[int, Floats, float]:
    """(first count, the masses from there on, at least what is left out), by ratios of neighbouring masses.

    Each mass is a product of rounded ratios from one that is exact: the relative error is below 8 UNIT for each mass.
    Left out are deviations beyond Bernstein's inequality: P(|X - mean| >= sqrt(2 v L) + 2 L/3) <= 2 e^-L.
    """
    log = 1.0 - math.log(max(tail, 1e-290))
    reach = math.ceil(math.sqrt(2 * n * rate * (1 - rate) * log) + 2 * log / 3) + 2
    mode = min(n, math.floor((n + 1) * rate))
    low, high = max(0, mode - reach - 1), min(n, mode + reach + 1)
    with ctx.workprec(_BITS):
        q = arb(rate)
        centre = float((arb.bin_uiui(n, mode) * q**mode * (1 - q) ** (n - mode)).mid())
    above, below = np.arange(mode, high, dtype=float), np.arange(mode, low, -1, dtype=float)
    right = np.cumprod((n - above) / (above + 1) * (rate / (1 - rate)))
    left = np.cumprod(below / (n - below + 1) * ((1 - rate) / rate))
    return low, centre * np.concatenate([left[::-1], [1.0], right]), 2 * max(tail, 1e-290)
