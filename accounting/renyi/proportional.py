"""Renyi divergences that are proportional to the order, as exact sums of decimals: D_alpha <= rho alpha.

Gaussian noise has rho = (move / noise)^2 / 2 at every order (Bun, Steinke 2016, arXiv 1605.02065, Proposition 1.6),
discrete Gaussian noise in the limit of large ones (Canonne, Kamath, Steinke 2020, arXiv 2004.00010, Proposition 5),
which is attained then; rounds add up (Bun, Steinke 2016, Lemma 1.8).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ...mechanisms import DiscreteGaussian, Gaussian, Group, Mechanism, Zcdp, rounds_by_step
from ...mechanisms.neighbours import Relation, sensitivity
from ..currencies.pure_dp import decimal


@dataclass(frozen=True, slots=True)
class Proportional:
    """D_alpha / alpha: at most `most`, at least `always` at every order, and as near as one likes to `limit`."""

    most: Fraction
    always: Fraction
    limit: Fraction


def proportional(run: Mechanism, relation: Relation) -> Proportional | None:
    """Of a run of such rounds; None where one is of another kind."""
    most, always, limit = Fraction(0), Fraction(0), Fraction(0)
    for part, rounds in rounds_by_step(run).items():
        base, units = (part.mechanism, part.units) if isinstance(part, Group) else (part, 1)
        if not isinstance(base, Gaussian | DiscreteGaussian | Zcdp):
            return None
        move = Fraction(units) * int(sensitivity(relation))
        if type(base) is Gaussian:  # not noise that units bring themselves
            each = rounds * (move / decimal(base.noise_multiplier)) ** 2 / 2
            always += each
            limit += each
        elif isinstance(base, DiscreteGaussian):
            each = rounds * (move * base.clip / decimal(base.sigma)) ** 2 / 2
            limit += each
        elif isinstance(base, Zcdp):
            each = rounds * units * units * decimal(base.rho)
        else:
            return None
        most += each
    return Proportional(most, always, limit)
