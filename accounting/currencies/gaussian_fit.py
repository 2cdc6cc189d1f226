"""The Gaussian curve that describes a run best from above, and how far off it is.

The least mu for which the run is mu-GDP where both error rates are at least a given one says of every attack in that
range what it can find out at most; it says more than can be found out by `off`, the largest difference of the two
true-positive rates at one false-positive rate (Gomez et al. 2025, arXiv 2503.10945, measure it on all error rates).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import arb, ctx
from scipy.special import ndtr, ndtri

from ...mechanisms import InputError, Neighbouring, Notion, PrivacyNotion, Run, Visibility
from ...mechanisms.arrays import Floats
from ...mechanisms.digits import interval, rounded_up
from ...mechanisms.notebook import InNotebook
from ...mechanisms.validate import number
from ..bracket import Bracket
from ..pairs.tails import normal_quantile, normal_tail
from ..rounding import up
from .gaussian_dp import METHOD, mu
from .gaussian_knots import from_lines
from .tradeoff import TradeOff, tradeoff

_BITS = 96
_POINTS = 65

_LARGEST = 40.0
"""A larger mu says nothing, and its powers are not told from 1."""

_SLACK = 2.0**-44
"""Above what doubles lose of differences of powers, tangents and chords, all of them about 1."""


@dataclass(frozen=True, slots=True)
class GaussianFit(InNotebook):
    """mu: the least one, where both error rates are at least error_rates_at_least; its upper end is the curve meant.
    off: by how much at most the curve's true-positive rate exceeds the run's, at one false-positive rate.

    error_rates_at_least: the two curves are compared where both error rates are at least this, in [0, 1/2).

    >>> from dpcert.mechanisms import Gaussian
    >>> gaussian_fit(Gaussian(2.0)).mu.at_most(0.500001)
    True
    """

    mu: Bracket
    error_rates_at_least: float
    off: Bracket

    def of(self, curve: TradeOff) -> GaussianFit:
        """The same mu for a curve of which only the upper ends are known."""
        off = _off(curve, self.mu.upper, self.error_rates_at_least)
        return GaussianFit(replace(self.mu, lower=0.0), self.error_rates_at_least, off)

    def __str__(self) -> str:
        return (
            f"In one number: where both error rates are at least {self.error_rates_at_least:g}, the run is mu-GDP with "
            f"mu in {interval(self.mu, 5)}. That mu overstates the true-positive rate of an attack by at most "
            f"{rounded_up(self.off.upper, 2)}."
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data: every number as [lower, upper]."""
        ends = {"mu": [self.mu.lower, self.mu.upper], "mu_error_rates_at_least": self.error_rates_at_least}
        return ends | {"mu_off": [self.off.lower, self.off.upper]}


def gaussian_fit(
    run: Run,
    neighbouring: Neighbouring | None = None,
    *,
    notion: Notion = PrivacyNotion.DP,
    participation: Visibility | None = None,
    error_rates_at_least: float = 1e-3,
    rtol: float = 1e-4,
) -> GaussianFit:
    """The fit of a run. error_rates_at_least: above 0 and below 1/2. rtol: the relative width asked of mu.

    >>> from dpcert.mechanisms import Gaussian
    >>> fit = gaussian_fit(Gaussian(2.0))
    >>> round(fit.mu.upper, 6), fit.off.upper < 1e-9  # the curve itself
    (0.5, True)

    Raises InputError as `mu` does.
    """
    least = number("error_rates_at_least", error_rates_at_least)
    if not 0.0 < least < 0.5:
        raise InputError("error_rates_at_least", error_rates_at_least, "an error rate above 0 and below 1/2")
    against: dict[str, Any] = {"notion": notion, "participation": participation}
    found = mu(run, neighbouring, **against, error_rates_at_least=least, rtol=rtol)
    curve = tradeoff(run, neighbouring, **against)
    return GaussianFit(found, least, _off(curve, found.upper, least))


def fit_curve(curve: TradeOff, error_rates_at_least: float) -> GaussianFit:
    """The fit of a curve that is known, without asking the accountants again: mu is as narrow as the curve's knots let
    it be. error_rates_at_least: above 0 and below 1/2.

    >>> from dpcert import Laplace, risk
    >>> fit = fit_curve(risk(Laplace(1.0)).curve, 1e-3)
    >>> fit.mu.lower > 1.0, fit.mu.upper < 1.3, fit.off.upper < 0.2
    (True, True, True)
    """
    certified = all(bracket.certified for _, bracket in curve.knots)
    if curve.mu is not None:
        lower, upper = curve.mu
    else:
        with ctx.workprec(_BITS):
            lower, upper = from_lines(curve.knots, error_rates_at_least)
    found = Bracket(lower, upper, certified, METHOD)
    return GaussianFit(found, error_rates_at_least, _off(curve, upper, error_rates_at_least))


def _off(curve: TradeOff, level: float, least: float) -> Bracket:
    """The largest of G_mu's power less the run's, both concave: between two rates the first is below its tangents at
    both, which change over at any rate between, and the second above its chord."""
    certified = all(bracket.certified for _, bracket in curve.knots)
    if not level < _LARGEST:
        return Bracket(0.0, 1.0, certified, METHOD)
    if curve.mu is not None:  # a Gaussian's density is below .4
        return Bracket(0.0, up(0.4 * max(0.0, level - curve.mu[0]), 2), certified, METHOD)
    rates = _rates(level, least)
    beta_low, beta_high = curve.band(rates)
    with ctx.workprec(_BITS):
        found = [_power(float(rate), level) for rate in rates]
    power, slope = (np.array(column) for column in zip(*found, strict=True))
    low, high = 1.0 - beta_high, 1.0 - beta_low  # the run's power
    a, b = rates[:-1], rates[1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = (power[1:] - power[:-1] + slope[:-1] * a - slope[1:] * b) / (slope[:-1] - slope[1:])
    middle = np.clip(np.where(np.isfinite(crossing), crossing, a), a, b)
    chord = low[:-1] + (low[1:] - low[:-1]) * ((middle - a) / (b - a))
    tangents = np.maximum(power[:-1] + slope[:-1] * (middle - a), power[1:] - slope[1:] * (b - middle))
    upper = max(float(np.max(power - low)), float(np.max(tangents - chord))) + _SLACK
    lower = max(0.0, float(np.max(power - high)) - _SLACK)
    return Bracket(min(lower, upper), min(1.0, max(0.0, upper)), certified, METHOD)


def _rates(level: float, least: float) -> Floats:
    """False-positive rates from `least` to 1 - least, between which the Gaussian curve's power grows evenly."""
    first, last = ndtr(level + ndtri(least)), ndtr(level + ndtri(1.0 - least))
    inner = ndtr(ndtri(np.linspace(first, last, _POINTS)[1:-1]) - level)
    within = inner[(inner > least) & (inner < 1.0 - least)]
    return np.unique(np.concatenate([[least], within, [1.0 - least]]))


def _power(rate: float, level: float) -> tuple[float, float]:
    """Phi(q + mu) with q = Phi^-1(rate), and its slope in the rate, e^(-mu q - mu^2 / 2): to 2^-50 each, relatively."""
    quantile, shift = -normal_quantile(arb(rate)), arb(level)
    return float(normal_tail(-quantile - shift).mid()), float((-shift * (quantile + shift / 2)).exp().mid())
