"""Pairs that report one category out of several: only two of them tell P and Q apart."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from flint import arb

from ...mechanisms.arrays import Floats
from ..losses.atoms import discrete_cells, laws
from ..renyi import sampled_other
from .order import Sampling
from .pair import Pair


class CategoriesPair(Pair):
    """P gives the first category `high`, the second `low`, Q the reverse, and both `low` to each of `others`."""

    __slots__ = ()

    @abstractmethod
    def likely(self) -> tuple[arb, arb, int]:
        """high, low, others, given that no round fails."""

    @abstractmethod
    def _divergence(self, alpha: float) -> float:
        """At least D_alpha, given that no round fails."""

    @abstractmethod
    def doubles(self) -> tuple[list[float], float, float]:
        """P's masses of the two categories and of the others together, to nearest; the log of their odds; failure."""

    def losses(self) -> laws.Losses | None:
        """Two or three losses."""
        return laws.of_cells(lambda resolution: discrete_cells.finite_cells(self))

    def ratios(self) -> tuple[Floats, Floats]:
        """log(Q-masses) and log(dP/dQ) on them, to nearest, where it is not 0; given that no round fails."""
        (first, second, _), odds, failing = self.doubles()
        return np.log(np.array([second, first]) / (1 - failing)), np.array([odds, -odds])

    def _behind_coin(self, rate: float, coin: Sampling, alpha: float) -> float | None:
        """From the likelihood ratios; the replace order is of additive noise."""
        return None if coin == Sampling.REPLACE else sampled_other.of_ratios(self.ratios(), rate, coin, alpha)

    def _moment(self, power: arb, rate: arb | None = None) -> arb | None:
        """A sum over the categories."""
        high, low, others = self.likely()
        share = arb(1) if rate is None else rate
        rarer, commoner = 1 - share + share * high / low, 1 - share + share * low / high
        return low * rarer**power + high * commoner**power + others * low


def two_valued(pair: Pair) -> tuple[arb, arb] | None:
    """(e^-c, P(L finite)) where a finite loss is c or -c; None where there are other losses."""
    if not isinstance(pair, CategoriesPair):
        return None
    high, low, others = pair.likely()
    return None if others else (low / high, 1 - pair.failure()[0])
