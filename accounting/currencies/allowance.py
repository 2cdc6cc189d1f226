"""Conversions back: how much of a guarantee an (epsilon, delta) target allows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from ...mechanisms import InputError
from ...mechanisms.digits import as_given, rounded_down, rounded_up
from ...mechanisms.notebook import InNotebook
from ...mechanisms.validate import delta_below_one, positive
from ..losses.crossing import Excess, crossing, over
from ..seconds import timed
from .convert import Known, KnownAs, convert

RTOL = 1e-6
"""The relative distance to an amount of which the target is not proved."""
_LEAST, _MOST = 1e-9, 1e6
"""Amounts beyond are not tried, but for some above a target that is large itself."""


@dataclass(frozen=True, slots=True)
class Allowance(InNotebook):
    """value: every mechanism with at most this much of `known` meets (epsilon, delta). beyond: the next
    amount, for which that is not proved. known_delta: beside a known epsilon."""

    known: Known
    value: float
    beyond: float
    epsilon: float
    delta: float
    known_delta: float = 0.0
    seconds: float = field(default=0.0, compare=False, repr=False)

    def __str__(self) -> str:
        beside = f" at delta = {as_given(self.known_delta)}" if self.known == Known.EPSILON else ""
        target = f"({as_given(self.epsilon)}, {as_given(self.delta)})"
        return (
            f"{self.known} = {rounded_down(self.value)}{beside} meets {target}\n  every mechanism with at most this "
            f"{self.known} does; for {self.known} = {rounded_up(self.beyond)} it is not proved"
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        beside = {"known_delta": self.known_delta} if self.known == Known.EPSILON else {}
        target = {"epsilon": self.epsilon, "delta": self.delta}
        solved = {"solve_for": self.known, "value": self.value, "beyond": self.beyond}
        return solved | target | beside | {"seconds": self.seconds}


@timed
def largest(known: KnownAs, epsilon: float, delta: float, known_delta: float = 0.0) -> Allowance:
    """The most rho, mu, or epsilon at known_delta, that is certain to give epsilon at delta: it never misses.

    >>> round(largest("rho", 3.0, 1e-5).value, 4)
    0.2242

    Raises InputError for values out of range, and where no amount meets the target.
    """
    target = positive("epsilon", epsilon)
    delta_below_one("delta", delta)
    known = Known.named("known", known)
    if known == Known.EPSILON and known_delta > delta:
        raise InputError("known_delta", known_delta, f"at most delta = {delta:g}: a failure is not made rarer")

    most = max(_MOST, 2 * target)

    def missed(inverse: float) -> Excess:  # epsilon falls as 1 / amount grows
        amount = min(1 / inverse, most) if inverse else most
        return Excess(over(convert(known, amount, "epsilon", known_delta=known_delta, delta=delta).at_most, target))

    beyond, met = crossing(missed, 1 / target, close=RTOL, farthest=1 / _LEAST)
    if met == math.inf:
        raise InputError("epsilon", epsilon, f"a larger target: no {known} from {_LEAST:g} on meets this one")
    if not beyond:
        raise InputError("epsilon", epsilon, f"a smaller target: {known} = {most:g} meets it, and more is not tried")
    return Allowance(known, 1 / met, 1 / beyond, target, delta, known_delta)
