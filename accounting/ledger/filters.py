"""Budgets under full adaptivity: the mechanisms themselves may be chosen from earlier outputs.

`epsilon(run)` prices a run whose description was fixed beforehand. Where noise, cohort or the decision to go
on depend on what was released, the guarantee is a filter's: stop before a budget is exceeded, and the
whole interaction, however it was steered, keeps the budget.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import NamedTuple, Protocol, runtime_checkable

from ...mechanisms import Gaussian, Mechanism, PureDp, rounds_by_step
from ...mechanisms import sensitivity as clip_sensitivity
from ...mechanisms.client_noise import refuse_absent_shares
from ...mechanisms.neighbours import (
    Neighbouring,
    Participation,
    Relation,
    Visibility,
    relation_meant,
)
from ...mechanisms.validate import InputError, count, number, open_probability, positive
from ..currencies.pure_dp import decimal, decimal_above, pure_epsilon
from ..currencies.zcdp import rho
from ..epsilon import epsilon
from ..losses.crossing import Excess, crossing
from ..losses.gaussian_rounds import shift_below
from ..renyi.renyi import renyi
from ..rounding import down, up
from .planned_order import default_order, renyi_budget

MOST_EPSILON, CLOSE = 1e4, 1e-6
"""How far, and relatively how closely, it is searched for what may still be spent."""

ROUNDED = 2.0**-51
"""At least what adding two numbers, rounded up, adds to the sum."""

MANY = 10_000
"""So many releases are added one after the other, to see whether they fit."""


class BudgetExceeded(RuntimeError):
    """Recording this event would exceed the budget; nothing was recorded.

    >>> from dpcert.mechanisms import Gaussian
    >>> spent = GaussianFilter(target_epsilon=1.0, target_delta=1e-5)
    >>> try:
    ...     spent.record(Gaussian(0.1))
    ... except BudgetExceeded as problem:
    ...     print(problem)
    Gaussian(noise_multiplier=0.1) would bring the budget to 100 of 0.0718514
    """


class Remaining(NamedTuple):
    """What each of several more releases may cost, rounded down: (epsilon, delta)-DP.

    >>> epsilon, delta = PureFilter(1.0).remaining(4)
    >>> epsilon, delta
    (0.25, 0.0)
    """

    epsilon: float
    delta: float


@runtime_checkable
class Filter(Protocol):
    """Ask `would_exceed` before a release, `record` it before its output is seen.

    >>> from dpcert.mechanisms import Gaussian
    >>> budget: Filter = GaussianFilter(target_epsilon=3.0, target_delta=1e-5)
    >>> budget.record(Gaussian(4.0))
    >>> budget.would_exceed(Gaussian(1.0))
    True
    """

    @property
    def spent(self) -> float: ...
    @property
    def budget(self) -> float: ...

    def would_exceed(self, mechanism: Mechanism) -> bool: ...

    def record(self, mechanism: Mechanism) -> None: ...

    def remaining(self, k: int = 1) -> Remaining: ...


class _Additive(ABC):
    """A budget spent in non-negative amounts, every sum rounded up."""

    def __init__(
        self,
        budget: float,
        neighbouring: Neighbouring | None = None,
        participation: Visibility = Participation.HIDDEN,
    ) -> None:
        self.budget = budget
        self.spent = 0.0
        self.neighbouring = relation_meant(neighbouring, participation=participation)
        self.participation = Participation.named("participation", participation)
        self._known: dict[Mechanism, float] = {}

    def cost(self, mechanism: Mechanism) -> float:
        """What the mechanism takes of the budget, rounded up; remembered by description."""
        if mechanism not in self._known:
            self._known[mechanism] = self._cost(mechanism)
        return self._known[mechanism]

    @abstractmethod
    def _cost(self, mechanism: Mechanism) -> float: ...

    def added(self, cost: float) -> float:
        """What would be spent with the cost, rounded up."""
        return up(self.spent + cost)

    def would_exceed(self, mechanism: Mechanism) -> bool:
        """Whether recording the mechanism would take more than is left. Changes nothing."""
        return not self.added(self.cost(mechanism)) <= self.budget  # nor what is no number

    def record(self, mechanism: Mechanism) -> None:
        """Spend the mechanism's cost; BudgetExceeded, and nothing spent, when too little is left."""
        after = self.added(self.cost(mechanism))
        if not after <= self.budget:
            raise BudgetExceeded(f"{mechanism} would bring the budget to {after:.6g} of {self.budget:.6g}")
        self.spent = after

    def remaining(self, k: int = 1) -> Remaining:
        """The (epsilon, delta) that each of k more equal releases may cost; delta is 0 in this budget.

        Any k releases that are epsilon-DP fit, one after the other. (0, 0) where nothing is left.
        """
        releases = count("k", k)
        needed = 1 + releases * ROUNDED  # of k sums, each rounded up

        def left(epsilon: float) -> Excess:
            return Excess(self.budget - up((self.spent + releases * self.cost(PureDp(epsilon))) * needed, 4))

        start = math.sqrt(self.budget / releases)
        return Remaining(crossing(left, start, close=CLOSE, farthest=MOST_EPSILON)[0], 0.0)


class RenyiFilter(_Additive):
    """(epsilon, delta)-DP under full adaptivity, through one Renyi order fixed in advance.

    Feldman, Zrnic 2021 (arXiv 2008.11193), Theorem 4.3: while the adaptively chosen D_alpha add up to at most
    rho, the whole interaction is (alpha, rho)-RDP. order: alpha > 1; the default suits unsampled Gaussian
    events, `planned_order` finds the one for the events that are expected.

    >>> from dpcert.mechanisms import Gaussian
    >>> budget = RenyiFilter(target_epsilon=3.0, target_delta=1e-5)
    >>> budget.record(Gaussian(20.0))
    >>> 0 < budget.spent < budget.budget
    True
    """

    def __init__(
        self,
        target_epsilon: float,
        target_delta: float,
        neighbouring: Neighbouring | None = None,
        *,
        order: float | None = None,
        participation: Visibility = Participation.HIDDEN,
    ) -> None:
        positive("target_epsilon", target_epsilon)
        open_probability("target_delta", target_delta)
        self.order = default_order(target_epsilon, target_delta) if order is None else number("order", order)
        if self.order <= 1:
            raise InputError("order", order, "an order above 1")
        super().__init__(renyi_budget(self.order, target_epsilon, target_delta), neighbouring, participation)

    def _cost(self, mechanism: Mechanism) -> float:
        """D_alpha of the mechanism at the filter's order, rounded up as a double."""
        return up(renyi(mechanism, self.order, self.neighbouring, self.participation).upper)


class PureFilter(_Additive):
    """(epsilon, 0)-DP under full adaptivity: the largest losses add up (Rogers, Roth, Ullman, Vadhan 2016, arXiv
    1605.08294, Theorem 4.1 with delta = 0). Stated decimals add up exactly: ten times 0.1 are 1.

    >>> from dpcert.mechanisms import Laplace, Repeat
    >>> budget = PureFilter(1.0)
    >>> budget.record(Repeat(Laplace(10.0), 10))
    >>> budget.would_exceed(Laplace(1000.0))
    True
    """

    def __init__(
        self,
        target_epsilon: float,
        neighbouring: Neighbouring | None = None,
        *,
        participation: Visibility = Participation.HIDDEN,
    ) -> None:
        super().__init__(positive("target_epsilon", target_epsilon), neighbouring, participation)

    def _cost(self, mechanism: Mechanism) -> float:
        """The mechanism's largest loss; infinite for Gaussian noise."""
        return pure_epsilon(mechanism, self.neighbouring, self.participation).upper

    def remaining(self, k: int = 1) -> Remaining:
        """The (epsilon, 0) that each of k more equal releases may cost: what is left, in k equal parts, a double or two
        less where sums, added one after the other, are rounded up.

        >>> PureFilter(1.0).remaining(10)
        Remaining(epsilon=0.1, delta=0.0)
        """
        releases = count("k", k)
        share = float((decimal(self.budget) - decimal(self.spent)) / releases)
        if releases > MANY:
            share = down(share * (1 - releases * ROUNDED))
        while share > 0 and releases <= MANY and not self._takes(share, releases):
            share = down(share)
        return Remaining(max(0.0, share), 0.0)

    def _takes(self, cost: float, releases: int) -> bool:
        """As they are added, one after the other."""
        after = self.spent
        for _ in range(releases):
            after = decimal_above(decimal(after) + decimal(cost))
        return after <= self.budget

    def added(self, cost: float) -> float:
        """The decimals' exact sum."""
        return math.inf if cost == math.inf else decimal_above(decimal(self.spent) + decimal(cost))


class ZcdpFilter(_Additive):
    """rho-zCDP under full adaptivity: Feldman, Zrnic 2021 (arXiv 2008.11193), Theorem 4.3, at every order at once.

    >>> from dpcert.mechanisms import Gaussian, Repeat
    >>> budget = ZcdpFilter(0.5)
    >>> budget.would_exceed(Repeat(Gaussian(noise_multiplier=10.0), 101))
    True
    """

    def __init__(
        self,
        target_rho: float,
        neighbouring: Neighbouring | None = None,
        *,
        participation: Visibility = Participation.HIDDEN,
    ) -> None:
        super().__init__(positive("target_rho", target_rho), neighbouring, participation)

    def _cost(self, mechanism: Mechanism) -> float:
        """The mechanism's least rho, rounded up."""
        return rho(mechanism, self.neighbouring, participation=self.participation).upper


class GaussianFilter(_Additive):
    """mu-GDP under full adaptivity where every event is Gaussian: the squared shifts add up to at most mu^2.

    Smith, Thakurta 2022 (arXiv 2210.17520), Theorem 3.1; tight, and exact for what is spent in full.

    >>> from dpcert.mechanisms import Gaussian
    >>> budget = GaussianFilter(target_epsilon=3.0, target_delta=1e-5)
    >>> budget.record(Gaussian(4.0))
    >>> budget.would_exceed(Gaussian(1.0)), budget.would_exceed(Gaussian(4.0))
    (True, False)
    """

    def __init__(
        self, target_epsilon: float, target_delta: float, neighbouring: Neighbouring = Relation.ADD_REMOVE
    ) -> None:
        positive("target_epsilon", target_epsilon)
        open_probability("target_delta", target_delta)
        mu = shift_below(target_epsilon, target_delta)
        super().__init__(down(mu * mu), neighbouring)
        self.target_delta = target_delta

    def remaining(self, k: int = 1) -> Remaining:
        """The (epsilon, delta) that each of k more equal Gaussian releases may cost, at the budget's delta.

        >>> GaussianFilter(target_epsilon=3.0, target_delta=1e-5).remaining(1).epsilon > 2.999
        True
        """
        releases = count("k", k)
        share = down((self.budget - self.spent) / releases * (1 - (releases + 8) * ROUNDED), 4)
        if share <= 0:
            return Remaining(0.0, self.target_delta)
        noise = Gaussian(up(clip_sensitivity(self.neighbouring) / math.sqrt(share), 4))
        return Remaining(epsilon(noise, self.target_delta, self.neighbouring).lower, self.target_delta)

    def _cost(self, mechanism: Mechanism) -> float:
        """The sum of squared shifts of its Gaussian rounds; InputError for any other mechanism."""
        total = 0.0
        for step, rounds in rounds_by_step(mechanism).items():
            if not isinstance(step, Gaussian):
                raise InputError("mechanism", step, "Gaussian releases only; use RenyiFilter for others")
            refuse_absent_shares(step, self.neighbouring)
            shift = up(clip_sensitivity(self.neighbouring) / step.noise_multiplier)
            total = up(total + up(rounds * up(shift * shift)))
        return total
