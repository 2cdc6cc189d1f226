"""The Renyi order that a filter looks at, fixed in advance, and what may be spent of the divergence at it."""

from __future__ import annotations

import math

from scipy.optimize import minimize_scalar

from ...mechanisms import Mechanism, Neighbouring, Participation, Visibility, relation_meant
from ..losses.crossing import Excess, crossing
from ..renyi.conversions import best_epsilon
from ..renyi.renyi import renyi


def default_order(epsilon: float, delta: float) -> float:
    """1 + 2 log(1/delta)/epsilon: the order that converts a Gaussian run which just meets (epsilon, delta) best."""
    return 1 + 2 * math.log(1 / delta) / epsilon


def planned_order(
    expected: Mechanism,
    target_epsilon: float,
    target_delta: float,
    neighbouring: Neighbouring | None = None,
    *,
    participation: Visibility = Participation.HIDDEN,
) -> float:
    """The order whose filter lets the most events like `expected` through.

    expected: the mechanism of one event as it is planned. target_epsilon: of the whole budget, above 0.

    >>> from dpcert.mechanisms import Gaussian
    >>> 1.0 < planned_order(Gaussian(1.0), target_epsilon=8.0, target_delta=1e-6) < 100.0
    True
    """
    relation = relation_meant(neighbouring, participation=participation)

    def share(log_excess: float) -> float:
        order = 1 + math.exp(log_excess)
        cost = renyi(expected, order, relation, participation).upper
        return cost / max(renyi_budget(order, target_epsilon, target_delta), 1e-300)

    return 1 + math.exp(minimize_scalar(share, bounds=(-2.0, 6.0), method="bounded", options={"xatol": 0.02}).x)


def renyi_budget(order: float, epsilon: float, delta: float) -> float:
    """The largest rho, rounded down, for which (order, rho)-RDP implies (epsilon, delta)-DP."""
    return crossing(lambda rho: Excess(epsilon - best_epsilon(order, rho, delta)), epsilon, close=2.0**-40)[0]
