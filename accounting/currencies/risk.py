"""What an attacker gains: the risk that a run leaves, read off its certified trade-off curve, two-sided.

Every number is about the strongest attack that two neighbours allow, with everything else known to the attacker; an
attack in practice does worse. For an attack with false-positive rate a, the true-positive rate is at most 1 - f(a).

- advantage: the largest true-positive minus false-positive rate, which is delta(0) (Yeom, Giacomelli, Fredrikson, Jha
  2018, arXiv 1709.01604, Definition 4; Kairouz, Oh, Viswanath 2015 for the identity).
- Bayes success at a prior p: the largest probability of a right guess, p (1 - f) + (1 - p) (1 - a) at the best a, which
  is 1 - p + p delta(log((1 - p) / p)) for p <= 1/2.
- posterior: what a positive answer of the best attack with false-positive rate a makes of a prior p,
  p tpr / (p tpr + (1 - p) a).
- reconstruction: who guesses right with probability a without the output guesses right with at most 1 - f(a) with it
  (Hayes, Mahloujifar, Balle 2023, arXiv 2302.07225, Theorem 2); only an adversary who knows all other data comes close.
- mu: the Gaussian curve that describes the curve best from above, and how far off it is (currencies/gaussian_fit.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from html import escape
from typing import Any

from ...mechanisms import InputError, Neighbouring, Notion, PrivacyNotion, Run, Visibility, relation_meant
from ...mechanisms.digits import interval, rounded_up
from ...mechanisms.text_table import paragraph, text_table
from ...mechanisms.validate import listed, number, open_probability
from ..bracket import Bracket
from ..epsilon import delta as delta_of
from ..question import RTOL
from ..rounding import widened_down, widened_up
from ..seconds import timed
from .gaussian_fit import GaussianFit, fit_curve
from .risk_picture import area, drawn
from .tradeoff import TradeOff, tradeoff

FALSE_POSITIVE_RATES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)

HOW_TO_READ = (
    "How to read a row: at this false-positive rate, the best attack correctly identifies at most the share in the "
    "second column of the people whose data were used; the ratio is the second column over the first. Posterior: how "
    "likely it then is that the data of somebody whom the attack names were used. Another reading: an attacker who "
    "would guess a secret with the probability in the first column without the release guesses it with at most the "
    "probability in the second column with it."
)

_SLACK = 2.0**-50


@dataclass(frozen=True, slots=True)
class AtRate:
    """The strongest attack with this false-positive rate: its true-positive rate, and what its "yes" makes of the
    prior. The true-positive rate is also the largest success of a reconstruction that succeeds with probability
    false_positive_rate by itself."""

    false_positive_rate: float
    true_positive_rate: Bracket
    posterior: Bracket

    def shown(self) -> tuple[str, str, str, str]:
        """The row of the table in words: both rates, the second over the first, and the posterior."""
        times = rounded_up(self.true_positive_rate.upper / self.false_positive_rate, 3)
        powers = interval(self.true_positive_rate, 5), times, interval(self.posterior, 5)
        return (f"{self.false_positive_rate:g}", *powers)


@dataclass(frozen=True, slots=True)
class Risk:
    """A run's risk table. prior: the attacker's probability, before, that the unit's data were used. fit: of a
    Gaussian curve, where a narrower one was asked for than the curve's points give. against: whom.

    advantage: the largest true-positive rate minus the false-positive rate. bayes_success: how often the best guess is
    right, with the prior. rates: one row per false-positive rate. curve: the trade-off curve that the table is read
    from.

    >>> from dpcert import Gaussian, risk
    >>> risk(Gaussian(1.0)).advantage.upper < 0.383
    True
    """

    prior: float
    advantage: Bracket
    bayes_success: Bracket
    rates: tuple[AtRate, ...]
    curve: TradeOff
    fit: GaussianFit | None = None
    against: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    seconds: float = field(default=0.0, compare=False, repr=False)

    def gaussian(self) -> GaussianFit:
        """The Gaussian curve that describes the curve best from above, from the smallest false-positive rate on (1/4 at
        most), as narrow as the curve's points let it be; `gaussian_fit` asks the accountants for more.

        >>> from dpcert import Gaussian, risk
        >>> risk(Gaussian(2.0)).gaussian().mu.at_most(0.500001)
        True
        """
        return self.fit or fit_curve(self.curve, min(0.25, *(row.false_positive_rate for row in self.rates)))

    def from_above(self) -> Risk:
        """The same of a run of which only the upper ends are known: nobody need find out more than by guessing."""
        curve = self.curve.from_above()
        rates = tuple(_at_rate(curve, row.false_positive_rate, self.prior) for row in self.rates)
        success = replace(self.bayes_success, lower=_bayes(self.prior, Bracket(0.0, 0.0, True, "none")).lower)
        advantage = replace(self.advantage, lower=0.0)
        fit = self.fit and self.fit.of(curve)
        return replace(self, advantage=advantage, bayes_success=success, rates=rates, curve=curve, fit=fit)

    def __str__(self) -> str:
        right, before = rounded_up(self.bayes_success.upper, 4), max(self.prior, 1 - self.prior)
        titles = ("false-positive rate", "true-positive rate", "ratio", "posterior")
        return "\n".join(
            [
                paragraph(
                    "What can the strongest attacker find out? It knows everything except whether one unit's data were "
                    f"used, and considers that to have probability {self.prior:g} beforehand (--prior)."
                ),
                paragraph(
                    f"The attacker guesses right with probability at most {right}; without the release, with "
                    f"{before:g}. Advantage (true-positive minus false-positive rate): {interval(self.advantage, 5)}."
                ),
                text_table(titles, [row.shown() for row in self.rates]),
                paragraph(HOW_TO_READ),
                paragraph(str(self.gaussian())),
            ]
        )

    def _repr_html_(self) -> str:
        """The same in a notebook, with the curve."""
        return f"<pre>{escape(str(self))}</pre>{drawn(area(self.curve.power))}"

    def to_json(self) -> dict[str, object]:
        """Plain data: every number as [lower, upper]."""
        rates = [
            {
                "false_positive_rate": row.false_positive_rate,
                "true_positive_rate": [row.true_positive_rate.lower, row.true_positive_rate.upper],
                "posterior": [row.posterior.lower, row.posterior.upper],
            }
            for row in self.rates
        ]
        return {
            "prior": self.prior,
            "advantage": [self.advantage.lower, self.advantage.upper],
            "bayes_success": [self.bayes_success.lower, self.bayes_success.upper],
            "rates": rates,
            **self.gaussian().to_json(),
            "certified": self.advantage.certified and all(row.true_positive_rate.certified for row in self.rates),
            **{name: value for name, value in self.against.items() if name != "rtol" or value != RTOL},
            "seconds": self.seconds,
        }


@timed
def risk(
    run: Run,
    neighbouring: Neighbouring | None = None,
    *,
    notion: Notion = PrivacyNotion.DP,
    participation: Visibility | None = None,
    false_positive_rates: Sequence[float] = FALSE_POSITIVE_RATES,
    prior: float = 0.5,
    rtol: float = RTOL,
) -> Risk:
    """What the strongest attack gains, as certified brackets.

    false_positive_rates: each above 0 and at most 1/2. prior: strictly between 0 and 1. rtol: the relative width asked
    of each delta, the curve's included.

    >>> from dpcert.mechanisms import Gaussian
    >>> table = risk(Gaussian(noise_multiplier=1 / 3), false_positive_rates=[1e-8])
    >>> f"{table.rates[0].true_positive_rate.upper:.4f}"
    '0.0045'

    Raises InputError for rates and priors out of range, and as accounting.delta does.
    """
    chance = open_probability("prior", prior)
    if not (false_positive_rates := listed("false_positive_rates", false_positive_rates)):
        raise InputError("false_positive_rates", false_positive_rates, "at least one rate")
    for rate in false_positive_rates:
        if not 0.0 < number("false_positive_rates", rate) <= 0.5:
            raise InputError("false_positive_rates", rate, "rates above 0 and at most 1/2")
    asked: dict[str, Any] = {"notion": notion, "participation": participation, "rtol": rtol}
    curve = tradeoff(run, neighbouring, points=33, narrow_at=false_positive_rates, **asked)

    @cache
    def delta_at(epsilon: float) -> Bracket:
        return delta_of(run, epsilon, neighbouring, **asked)

    return Risk(
        prior=chance,
        advantage=delta_at(0.0),
        bayes_success=_bayes(chance, delta_at(abs(math.log1p(-chance) - math.log(chance)))),
        rates=tuple(_at_rate(curve, rate, chance) for rate in false_positive_rates),
        curve=curve,
        against={"neighbouring": relation_meant(neighbouring, notion, participation), **asked},
    )


def _bayes(prior: float, delta: Bracket) -> Bracket:
    """1 - p + p delta, p the smaller of the two hypotheses' probabilities: the curve is symmetric.

    A change of eps by its rounding changes delta by less than that.
    """
    p = min(prior, 1.0 - prior)
    low = widened_down(1.0 - p + p * delta.lower, _SLACK)
    high = widened_up(1.0 - p + p * delta.upper, _SLACK)
    return Bracket(max(0.0, low), min(1.0, high), delta.certified, delta.method)


def _at_rate(curve: TradeOff, rate: float, prior: float) -> AtRate:
    power = curve.power(rate)
    ends = [prior * tpr / (prior * tpr + (1.0 - prior) * rate) for tpr in (power.lower, power.upper)]
    posterior = Bracket(
        widened_down(ends[0], _SLACK), min(1.0, widened_up(ends[1], _SLACK)), power.certified, power.method
    )
    return AtRate(float(rate), power, posterior)
