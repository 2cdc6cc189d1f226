"""What an adaptively chosen interaction has spent so far: a reading at any time, with no budget fixed in advance."""

from __future__ import annotations

import math

from ...mechanisms import InputError, Mechanism, Neighbouring, Visibility, default_relation, neighbouring_relation
from ...mechanisms.validate import number, open_probability, positive
from ..conversions.renyi import best_epsilon
from ..rdp.rdp import renyi
from ..rounding import down, up


class RenyiOdometer:
    """What has been spent so far, valid at every moment at once, with no budget fixed in advance.

    Feldman, Zrnic 2021, section 5: budgets rho_k = k * step, k = 1, 2, ..., each a Renyi filter of its own with
    failure probability 6 delta / (pi k)^2; these sum to delta, so all hold together and the reading may
    be taken, and acted upon, at any time.

    >>> from dpcert.mechanisms import Gaussian
    >>> spent = RenyiOdometer(target_delta=1e-5, order=8.0, step=0.5)
    >>> spent.record(Gaussian(4.0))
    >>> round(spent.epsilon, 3)
    1.781
    """

    def __init__(
        self,
        target_delta: float,
        order: float,
        step: float,
        neighbouring: Neighbouring | None = None,
        *,
        participation: Visibility = "hidden",
    ) -> None:
        self.delta = open_probability("target_delta", target_delta)
        if number("order", order) <= 1:
            raise InputError("order", order, "an order above 1")
        self.order, self.step = float(order), positive("step", step)
        self.neighbouring = neighbouring_relation(neighbouring or default_relation("dp", participation))
        self.participation: Visibility = participation
        self.spent = 0.0

    def record(self, mechanism: Mechanism) -> None:
        """Add the mechanism's D_alpha, rounded up."""
        cost = renyi(mechanism, self.order, self.neighbouring, self.participation).upper
        self.spent = up(self.spent + cost)

    @property
    def epsilon(self) -> float:
        """The epsilon spent so far, at the odometer's delta, rounded up."""
        blocks = max(1, math.ceil(up(self.spent / self.step)))
        share = down(6 * self.delta / (math.pi * blocks) ** 2, 4)
        return best_epsilon(self.order, up(blocks * self.step), share)
