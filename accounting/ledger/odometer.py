"""What an adaptively chosen interaction has spent so far: a reading at any time, with no budget fixed in advance."""

from __future__ import annotations

import warnings

from ...mechanisms import Mechanism
from ...mechanisms.neighbours import Neighbouring, Participation, Visibility, relation_meant
from ...mechanisms.validate import InputError, number, open_probability, positive
from ..renyi.conversions import mironov_epsilon
from ..renyi.renyi import renyi
from ..rounding import up


class RenyiOdometer:
    """What has been spent so far, valid at every moment at once, with no budget fixed in advance.

    With probability at least 1 - target_delta the privacy loss exceeds the reading at no moment (the definition of
    Rogers, Roth, Ullman, Vadhan 2016, arXiv 1605.08294, section 3), so it may be taken, and acted upon, at any time.
    With L the loss and S the sum of the D_alpha so far, each chosen before its output is seen, e^{(alpha-1)(L-S)} is a
    supermartingale under the neighbour of which L is the loss (Feldman, Zrnic 2021, arXiv 2008.11193, proof of Theorem
    4.3); so by Ville's inequality it exceeds 1/delta ever with probability delta at most: L <= S +
    log(1/delta)/(alpha - 1) throughout. The smaller conversions of a filter do not bound the loss (docs/ledger.md).

    order: alpha > 1. step: no longer of any use, and to be left out.

    >>> from dpcert.mechanisms import Gaussian
    >>> spent = RenyiOdometer(target_delta=1e-5, order=8.0)
    >>> spent.record(Gaussian(4.0))
    >>> round(spent.epsilon, 3)
    1.895
    """

    def __init__(
        self,
        target_delta: float,
        order: float,
        step: float | None = None,
        neighbouring: Neighbouring | None = None,
        *,
        participation: Visibility = Participation.HIDDEN,
    ) -> None:
        self.delta = open_probability("target_delta", target_delta)
        if number("order", order) <= 1:
            raise InputError("order", order, "an order above 1")
        if step is not None:
            positive("step", step)
            warnings.warn("RenyiOdometer needs no step any more: leave it out", DeprecationWarning, stacklevel=2)
        self.order = float(order)
        self.neighbouring = relation_meant(neighbouring, participation=participation)
        self.participation = Participation.named("participation", participation)
        self.spent = 0.0

    def record(self, mechanism: Mechanism) -> None:
        """Add the mechanism's D_alpha, rounded up."""
        cost = up(renyi(mechanism, self.order, self.neighbouring, self.participation).upper)
        self.spent = up(self.spent + cost)

    @property
    def epsilon(self) -> float:
        """The epsilon spent so far, at the odometer's delta, rounded up."""
        return mironov_epsilon(self.order, self.spent, self.delta)
