"""A pair of which the law of its privacy loss is stated, loss by loss."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from flint import arb

from ...mechanisms.arrays import Floats
from ..losses.atoms import discrete_cells, laws, product_cells
from .moments import from_terms
from .pair import Pair
from .tails import positive

_MOST_FOR_BALLS = 2048
"""Losses up to which a sum in balls is quicker than a transform."""

_SLACK = 2.0**-39
"""Relative width given to masses: what is stated adds up to 1 within half of that, or its rest is put at infinity."""


@dataclass(frozen=True, slots=True)
class LossesPair(Pair):
    """P has `masses` at these `stated` losses log(dP/dQ), and Q each times e^-loss. infinite: P's mass where Q has
    none; only_q: Q's mass where P has none. A pair in this order only: `mirrored` is the other one."""

    stated: tuple[float, ...]
    masses: tuple[float, ...]
    infinite: float = 0.0
    only_q: float = 0.0

    def mirrored(self) -> LossesPair:
        p, losses = np.array(self.masses), np.array(self.stated)
        other = (p * np.exp(-losses))[::-1]
        return LossesPair(tuple((-losses[::-1]).tolist()), tuple(other.tolist()), self.only_q, self.infinite)

    def table(self) -> tuple[Floats, Floats, float]:
        """Losses, P's masses, and a relative error of these and of Q's."""
        return np.array(self.stated), np.array(self.masses), _SLACK

    def words(self) -> str:
        """How much is stated."""
        return f"a stated distribution of {len(self.stated)} losses"

    def losses(self) -> laws.Losses | None:
        """The losses themselves, or as many as are asked for."""
        return laws.of_cells(
            lambda resolution: product_cells.merged(discrete_cells.stated_cells(self), resolution.cells)
        )

    def profile(self, epsilon: arb) -> arb | None:
        """E_P[(1 - e^{eps-L})_+], loss by loss, where there are few."""
        if len(self.stated) > _MOST_FOR_BALLS:
            return None
        terms = (
            arb(mass) * positive(1 - (epsilon - arb(loss)).exp())
            for loss, mass in zip(self.stated, self.masses, strict=True)
        )
        return (sum(terms, arb(0)) + arb(self.infinite)) * arb(1, _SLACK)

    def failure(self) -> tuple[arb, LossesPair | None]:
        """As stated; nothing is known given that it is finite, and nothing else is needed."""
        return arb(self.infinite), self if self.infinite == 0.0 and self.only_q == 0.0 else None

    def supremum(self) -> arb | None:
        """The last one; 0 where nothing is stated but what is left out."""
        return None if self.infinite > 0.0 else arb(max((0.0, *self.stated[-1:])))

    def _moment(self, power: arb, rate: arb | None = None) -> arb | None:
        """Infinite where P has outcomes of its own, but for negative powers."""
        return arb.pos_inf() if self.infinite > 0.0 and power > 0 else None

    def _divergence(self, alpha: float) -> float | None:
        """log(sum p e^{(alpha-1) loss}) / (alpha - 1), of losses that are finite in both orders (van Erven, Harremoes
        2014, arXiv 1206.2459, equation 1): that of a pair that dominates is no smaller (Theorem 9, data processing)."""
        if self.failure()[1] is None:
            return None
        losses, masses, slack = self.table()
        terms = np.log(masses) + slack + (alpha - 1) * losses
        return from_terms(terms.tolist(), alpha, max(self.stated[-1], -self.stated[0], 0.0))


def lighter(pair: LossesPair, factor: float) -> LossesPair:
    """With all masses times the factor, at most 1: what the pair dominates, as a law of its loss."""
    return replace(pair, masses=tuple(factor * mass for mass in pair.masses), infinite=factor * pair.infinite)
