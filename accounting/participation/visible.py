"""What a Gaussian run costs against an observer who sees the unit's participation, for every sampling scheme.

Given the public coins the run is a plain Gaussian composition of strength mu with mu^2 = s^2 * (sum over rounds of the
squared number of times that the unit was counted), s the distance that one contribution moves the sum in units of
the noise: docs/theory/billboard.md, section "Visible participation". The profile is attained: exact, both ways.
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from ...mechanisms import (
    Cyclic,
    FixedSize,
    Gaussian,
    Mechanism,
    Poisson,
    RandomAllocation,
    Shuffled,
    VisibleParticipation,
    WithReplacement,
    rounds_by_step,
)
from ...mechanisms.arrays import Floats
from ...mechanisms.neighbours import Neighbouring, Relation, neighbouring_relation, sensitivity
from ...mechanisms.validate import InputError
from ..bracket import Bracket
from ..rounding import UNIT
from .coalition import METHOD, invert
from .gaussian_mixture import Spread, binomial, certain, plus

_LIGHTEST_FACTOR = 1e-18
"""Outcomes this much less likely than delta (relative to the likeliest) are counted as missing mass."""

_MOST_PRODUCTS = 2**28
"""Size of a convolution above which it would take more than about a second."""


def epsilon_when_visible(run: Mechanism, delta: float, neighbouring: Neighbouring) -> Bracket | None:
    """The exact profile's epsilon, as a certified bracket; None when a round's noise is not Gaussian.

    Raises InputError for add-remove neighbours with sampling: being seen to take part gives the presence away.
    """
    law = visible_law(run, neighbouring_relation(neighbouring), max(1e-290, _LIGHTEST_FACTOR * delta))
    if law is None:
        return None
    low, high = invert(law, delta)
    return Bracket(low, high, True, METHOD)


def visible_law(run: Mechanism, relation: Relation, smallest: float) -> Spread | None:
    """The law of mu^2 over the public coins; outcomes lighter than `smallest` are left out."""
    laws = []
    for part, rounds in rounds_by_step(run).items():
        step = part.mechanism if isinstance(part, VisibleParticipation) else part
        base = step if isinstance(step, Gaussian) else getattr(step, "mechanism", None)
        if not isinstance(base, Gaussian):
            return None
        if relation == Relation.ADD_REMOVE and base is not step:
            expected = "zero-out or replace-one: being seen to take part gives the unit's presence away"
            raise InputError("neighbouring", relation, expected)
        laws.append(_law(step, rounds, (sensitivity(relation) / base.noise_multiplier) ** 2, smallest))
    return reduce(plus, laws)


def _law(step: Mechanism, rounds: int, shift_squared: float, smallest: float) -> Spread:
    if isinstance(step, Poisson | FixedSize) and step.sampling_rate < 1.0:
        return binomial(rounds, step.sampling_rate, shift_squared, smallest)
    if isinstance(step, WithReplacement):
        return _squares(rounds, step.draws, step.population, shift_squared, smallest)
    if isinstance(step, RandomAllocation):
        return certain(rounds * step.participations * shift_squared)
    if isinstance(step, Gaussian | Shuffled | Cyclic | Poisson | FixedSize):
        return certain(rounds * shift_squared)
    raise InputError("sampling", step, "a scheme with a known law of participation")


def _squares(rounds: int, draws: int, population: int, shift_squared: float, smallest: float) -> Spread:
    """shift_squared * sum over rounds of J^2, J ~ Bin(draws, 1/population) independent in every round.

    The law on the integers is the `rounds`-fold convolution of J^2's, by repeated squaring; sums of products of
    masses, all positive, so every convolution adds a relative error of at most its length in roundings.
    """
    if population == 1:
        return certain(rounds * float(draws) ** 2 * shift_squared)
    once = binomial(draws, 1.0 / population, 1.0, smallest)
    single = _Integers.of_squares(once)
    total: _Integers | None = None
    for bit in bin(rounds)[2:]:
        total = total.plus(total, smallest) if total else None
        if bit == "1":
            total = total.plus(single, smallest) if total else single
    if total is None:
        raise InputError("rounds", rounds, "at least one round")
    values = np.arange(total.first, total.first + len(total.low), dtype=np.float64) * shift_squared
    return Spread(values, values, total.low, total.high, total.missing)


class _Integers:
    """Bounds on the masses of first, first + 1, ...; missing bounds the mass elsewhere."""

    def __init__(self, first: int, low: Floats, high: Floats, missing: float) -> None:
        self.first, self.low, self.high, self.missing = first, low, high, missing

    @classmethod
    def of_squares(cls, once: Spread) -> _Integers:
        counts = once.low.astype(np.int64)
        first = int(counts[0]) ** 2
        low, high = (np.zeros(int(counts[-1]) ** 2 - first + 1) for _ in range(2))
        low[counts**2 - first], high[counts**2 - first] = once.mass_low, once.mass_high
        return cls(first, low, high, once.missing)

    def plus(self, other: _Integers, smallest: float) -> _Integers:
        if len(self.low) * len(other.low) > _MOST_PRODUCTS:
            raise InputError("draws", len(self.low), "fewer draws per unit of the population: their law is too wide")
        slack = 2 * (min(len(self.low), len(other.low)) + 2) * UNIT
        low = np.convolve(self.low, other.low) * (1.0 - slack)
        high = np.convolve(self.high, other.high) * (1.0 + slack)
        kept = np.flatnonzero(high >= smallest * high.max())
        start, end = int(kept[0]), int(kept[-1]) + 1
        dropped = float(high[:start].sum() + high[end:].sum())
        missing = (self.missing + other.missing + dropped) * (1.0 + 1e-9)
        return _Integers(self.first + other.first + start, low[start:end], high[start:end], missing)
