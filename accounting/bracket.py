"""The answer type of every accountant: an interval, never a bare number."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..mechanisms.digits import interval
from ..mechanisms.notebook import InNotebook


class EmptyBracket(ArithmeticError):
    """Two brackets for the same quantity that do not overlap: one of them is wrong, so neither is used."""


class OutOfReach(ArithmeticError):
    """An accountant supports a composition in general, but cannot bracket it here at a reasonable cost."""


class Answered(Protocol):
    """What a bracket answers (bracket_report.BracketReport). seconds: that it took."""

    @property
    def seconds(self) -> float: ...
    def words(self, found: Bracket) -> str: ...
    def to_json(self, found: Bracket) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Bracket(InNotebook):
    """lower <= the true value <= upper.

    lower: the lower end: the true value is at least this. upper: the upper end: it is at most this.
    certified: True when every error (rounding, truncation, discretisation, search) is inside the interval.
    False marks an approximation, whose ends are estimates: it can never make a claim hold or fall.
    method: the accountants that gave the ends, such as "contour" or "gaussian".
    reached: whether it is as narrow as was asked for; False: the narrowest that was reached.
    about: what it answers; None where it is a part of another answer.
    """

    lower: float
    upper: float
    certified: bool
    method: str
    reached: bool = field(default=True, compare=False)
    about: Answered | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if math.isnan(self.lower) or math.isnan(self.upper) or self.lower > self.upper:
            raise EmptyBracket(f"no interval from {self.lower!r} to {self.upper!r} ({self.method})")

    def __str__(self) -> str:
        """Each end rounded outwards, and what they are worth; of an answer, with all that was asked.

        >>> print(Bracket(1.23456789012, 2.0, True, "contour"))
        [1.2345678, 2]; certified, by contour
        """
        return self.ends if self.about is None else self.about.words(self)

    @property
    def ends(self) -> str:
        """Both, and what they are worth."""
        return f"{interval(self)}; {self.kind}, by {self.method}"

    @property
    def kind(self) -> str:
        """What the ends are worth, in words."""
        return "certified" if self.certified else "an estimate, not a bound"

    def to_json(self, quantity: str = "") -> dict[str, Any]:
        """Plain data; the ends are named after the quantity: epsilon_lower, epsilon_upper. Infinities stay floats.

        Without a quantity: of an answer, with all that was asked.
        """
        if self.about is not None and not quantity:
            return self.about.to_json(self)
        named = f"{quantity}_" if quantity else ""
        ends = {f"{named}lower": self.lower, f"{named}upper": self.upper}
        return ends | {"accountant": self.method, "certified": self.certified, "reached": self.reached}

    @property
    def width(self) -> float:
        """upper - lower; 0 for two infinite ends."""
        return 0.0 if self.lower == self.upper else self.upper - self.lower

    def narrower_than(self, rtol: float) -> bool:
        """Whether the width is at most rtol, relative to the upper end."""
        return self.width <= rtol * self.upper and self.width < math.inf

    def at_most(self, value: float) -> bool:
        """Whether the true value is certainly at most `value`: what a claim of that value needs to hold.

        >>> Bracket(1.0, 2.0, True, "pld").at_most(2.0)
        True
        """
        return self.certified and self.upper <= value

    def exceeds(self, value: float) -> bool:
        """Whether the true value is certainly above `value`: a claim of that value is refuted then.

        >>> Bracket(1.0, 2.0, True, "pld").exceeds(1.5)  # nor is it certainly at most 1.5
        False
        """
        return self.certified and self.lower > value

    def intersect(self, other: Bracket) -> Bracket:
        """Both brackets hold the true value, so it is in the overlap. Only certified brackets qualify."""
        if not (self.certified and other.certified):
            raise ValueError("only certified brackets can be intersected: an estimate proves nothing")
        return self._joined(other, max(self.lower, other.lower), min(self.upper, other.upper), True)

    def maximum(self, other: Bracket) -> Bracket:
        """A bracket of the larger of two quantities."""
        lower, upper = max(self.lower, other.lower), max(self.upper, other.upper)
        return self._joined(other, lower, upper, self.certified and other.certified)

    def _joined(self, other: Bracket, lower: float, upper: float, certified: bool) -> Bracket:
        """With the names of those of the two that gave an end: of one alone where it gave both."""
        for each in (self, other):
            if (each.lower, each.upper) == (lower, upper) and each.method:
                return Bracket(lower, upper, certified, each.method)
        return Bracket(lower, upper, certified, names(self, other))


def names(*brackets: Bracket) -> str:
    """Every accountant that had a part, each once."""
    return "+".join(dict.fromkeys(name for bracket in brackets for name in bracket.method.split("+") if name))
