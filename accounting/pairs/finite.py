"""Pairs on finitely many outcomes, which have to state no more than their masses."""

from __future__ import annotations

import numpy as np
from flint import arb, ctx

from ...mechanisms import InputError
from ..losses.atoms import discrete_cells, laws
from ..renyi import sampled_other
from ..rounding import float_above
from .order import Sampling
from .pair import Pair, failing
from .tails import positive

_BITS = 256


class FinitePair(Pair):
    """A pair that a subclass, a frozen dataclass, describes by `outcomes`. P and Q must be each other's mirror image.

    Everything else follows, for every accountant; what is not overridden is computed in ball arithmetic.
    """

    __slots__ = ()

    def outcomes(self) -> list[tuple[arb, arb]]:
        """Balls around the masses that P and Q give to each outcome; parameters are the doubles that they are."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        """InputError for what is no pair, or one that needs two entries: accountants take it for both orders."""
        with ctx.workprec(_BITS):
            left = self.outcomes()
            for side in zip(*left, strict=True):
                if not sum(side, arb(0)).contains(1) or not all(mass.is_zero() or mass > 0 for mass in side):
                    raise InputError("outcomes", self, "masses of at least 0 that add up to 1, under P and under Q")
            for p, q in self.outcomes():
                mirror = next((other for other in left if other[0].overlaps(q) and other[1].overlaps(p)), None)
                if mirror is None:
                    raise InputError("outcomes", self, "for each outcome with masses (p, q) one with (q, p)")
                left.remove(mirror)

    def losses(self) -> laws.Losses | None:
        return laws.of_cells(lambda resolution: discrete_cells.outcome_cells(self))

    def profile(self, epsilon: arb) -> arb:
        """E_P[(1 - e^{eps-L})_+], outcome by outcome."""
        odds = epsilon.exp()
        return sum((positive(p - odds * q) for p, q in self.outcomes()), arb(0))

    def failure(self) -> tuple[arb, Pair | None]:
        """Of the outcomes that Q never has."""
        return failing(self, sum((p for p, q in self.outcomes() if q.is_zero()), arb(0)))

    def supremum(self) -> arb | None:
        kept = [(p, q) for p, q in self.outcomes() if not p.is_zero()]
        if any(q.is_zero() for _, q in kept):
            return None
        most = arb(0)
        for p, q in kept:
            most = most.max((p / q).log())
        return most

    def _divergence(self, alpha: float) -> float:
        """log(sum p^alpha q^(1-alpha)) / (alpha - 1) (van Erven, Harremoes 2014, arXiv 1206.2459, equation 1), p
        divided by their sum over the outcomes that Q has, too."""
        with ctx.workprec(_BITS):
            kept = [(p, q) for p, q in self.outcomes() if not p.is_zero() and not q.is_zero()]
            finite = sum((p for p, _ in kept), arb(0))
            if not finite > 0:  # nothing is left to tell apart
                return 0.0
            order = arb(alpha)
            moment = sum((p**order * q ** (1 - order) for p, q in kept), arb(0)) / finite**order
            return max(0.0, float_above(moment.log() / (order - 1)))

    def _behind_coin(self, rate: float, coin: Sampling, alpha: float) -> float | None:
        """From the outcomes' likelihood ratios; the replace order is of additive noise."""
        if coin == Sampling.REPLACE:
            return None
        with ctx.workprec(_BITS):
            known = [(float(q.log()), float((p / q).log())) for p, q in self.outcomes()]
        log_mass, log_ratio = zip(*known, strict=True)
        return sampled_other.of_ratios((np.array(log_mass), np.array(log_ratio)), rate, coin, alpha)
