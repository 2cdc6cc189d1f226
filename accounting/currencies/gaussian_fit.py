"""The Gaussian curve that describes a run best from above, and how far off it is.

The least mu for which the run is mu-GDP where both error rates are at least a given one says of every attack in that
range what it can find out at most; it says more than can be found out by `off`, the largest difference of the two
true-positive rates at one false-positive rate (Gomez et al. 2025, arXiv 2503.10945, measure it on all error rates).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, ctx
from scipy.special import ndtr, ndtri

from ...mechanisms import InputError, Neighbouring, Notion, Run, Visibility
from ...mechanisms.validate import number
from ..bracket import Bracket
from ..pairs.tails import normal_tail
from ..rounding import float_above, float_below
from ..tradeoff import tradeoff
from .gaussian_dp import mu

_BITS = 96
_POINTS = 400


@dataclass(frozen=True, slots=True)
class GaussianFit:
    """mu: the least one, where both error rates are at least error_rates_at_least; its upper end is the curve meant.
    off: by how much at most the curve's true-positive rate exceeds the run's, at one false-positive rate.

    >>> from dpcert.mechanisms import Gaussian
    >>> gaussian_fit(Gaussian(2.0)).mu.at_most(0.500001)
    True
    """

    mu: Bracket
    error_rates_at_least: float
    off: Bracket


def gaussian_fit(
    run: Run,
    neighbouring: Neighbouring | None = None,
    *,
    notion: Notion = "dp",
    participation: Visibility | None = None,
    error_rates_at_least: float = 1e-3,
    rtol: float = 1e-4,
) -> GaussianFit:
    """The fit of a run. error_rates_at_least: above 0 and below 1/2. rtol: the relative width asked of mu.

    >>> from dpcert.mechanisms import Gaussian
    >>> fit = gaussian_fit(Gaussian(2.0))
    >>> round(fit.mu.upper, 6), fit.off.upper < 0.01  # the curve itself; what is left is the grid's
    (0.5, True)

    Raises InputError as `mu` does.
    """
    least = number("error_rates_at_least", error_rates_at_least)
    if not 0.0 < least < 0.5:
        raise InputError("error_rates_at_least", error_rates_at_least, "an error rate above 0 and below 1/2")
    against: dict[str, Any] = {"notion": notion, "participation": participation}
    found = mu(run, neighbouring, **against, error_rates_at_least=least, rtol=rtol)
    if not found.upper < 40.0:
        return GaussianFit(found, least, Bracket(0.0, 1.0, True, found.method))
    curve = tradeoff(run, neighbouring, **against)
    rates = _rates(found.upper, least)
    powers = [curve.beta(rate) for rate in rates]  # 1 - power
    with ctx.workprec(_BITS):
        allowed = [_power(rate, found.upper) for rate in rates]
        lower = max(0.0, *(float_below(one - 1 + arb(beta.lower)) for one, beta in zip(allowed, powers, strict=True)))
        # between two rates both powers grow: the curve's is at most the next one's, the run's at least the last one's
        steps = zip(allowed[1:], powers[:-1], strict=True)
        upper = max(float_above(following - 1 + arb(beta.upper)) for following, beta in steps)
    return GaussianFit(found, least, Bracket(min(lower, upper), min(1.0, max(0.0, upper)), True, found.method))


def _rates(level: float, least: float) -> list[float]:
    """False-positive rates from `least` to 1 - least, between which the Gaussian curve's power grows evenly."""
    first, last = ndtr(level + ndtri(least)), ndtr(level + ndtri(1.0 - least))
    inner = ndtr(ndtri(np.linspace(first, last, _POINTS)) - level)
    return [least, *(float(rate) for rate in inner[1:-1] if least < rate < 1.0 - least), 1.0 - least]


def _power(rate: float, level: float) -> arb:
    """Phi(Phi^-1(rate) + mu)."""
    quantile = -arb(2).sqrt() * (2 * arb(rate)).erfcinv()
    return normal_tail(-quantile - arb(level))
