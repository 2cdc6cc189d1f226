"""Conversions from rho-zCDP, D_alpha <= rho alpha for every alpha > 1, to approximate differential privacy.

Each under its authors' name, rounded up. Published zCDP claims differ mostly in which one printed them: Google's
Gboard notebooks and the 2020 Census used Canonne, Kamath and Steinke's, older documents Bun and Steinke's.
"""

from __future__ import annotations

import math

from scipy.special import erfcx

from ...accounting.losses.crossing import Excess, crossing, over
from ...accounting.renyi.conversions import canonne_epsilon
from ...accounting.renyi.orders import best_order
from ...accounting.rounding import widened_up

_SLACK = 2.0**-40
_RELATIVE = 1e-12


def bun_steinke_epsilon(rho: float, delta: float) -> float:
    """rho + 2 sqrt(rho log(1/delta)): Bun, Steinke 2016, arXiv 1605.02065, Proposition 1.3."""
    return widened_up(rho + 2 * math.sqrt(rho * -math.log(delta)), _SLACK)


def bun_steinke_integral_delta(rho: float, epsilon: float) -> float:
    """e^epsilon sqrt(4 pi rho) Phi(-(epsilon + rho)/sqrt(2 rho)) for epsilon >= rho.

    The tail bound P[loss > t] <= e^(-(t - rho)^2 / (4 rho)), t >= rho, integrated instead of taken at one point
    (Bun, Steinke 2016, section 3.2: their min{1, sqrt(pi rho), ...} bounds this integral by elementary functions;
    docs/theory/rdp.md, "Conversions"). Below rho the tail bound is 1.
    """
    if epsilon < rho:
        return min(1.0, widened_up(1 - math.exp(epsilon - rho) * (1 - bun_steinke_integral_delta(rho, rho)), _SLACK))
    mills = math.sqrt(math.pi * rho) * float(erfcx((epsilon + rho) / (2 * math.sqrt(rho)))) * (1 + _SLACK)
    exponent = -((epsilon - rho) ** 2) / (4 * rho)
    return min(1.0, mills) * math.exp(exponent) * (1 + _SLACK * (1 - exponent))


def bun_steinke_integral_epsilon(rho: float, delta: float) -> float:
    """The smallest epsilon at which `bun_steinke_integral_delta` is at most delta, rounded up."""
    most = bun_steinke_epsilon(rho, delta)
    found = crossing(lambda at: Excess(over(bun_steinke_integral_delta(rho, at), delta)), most, close=_RELATIVE)
    return min(most, found[1])


def canonne_zcdp_epsilon(rho: float, delta: float) -> float:
    """The best order of Canonne, Kamath, Steinke 2020, arXiv 2004.00010 v4, Proposition 12, for D_alpha = rho alpha."""
    alpha = canonne_zcdp_order(rho, delta)
    return canonne_epsilon(alpha, widened_up(rho * alpha, _SLACK), delta)


def canonne_zcdp_order(rho: float, delta: float) -> float:
    """The order at which `canonne_zcdp_epsilon` is found: what rho says of larger ones is not used at this delta."""
    return best_order(lambda order: canonne_epsilon(order, rho * order, delta), _start(rho, delta), 1e-6)


def _start(rho: float, delta: float) -> float:
    return 1 + math.sqrt(-math.log(delta) / rho)
