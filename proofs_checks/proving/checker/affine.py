"""Affine forms with exact coefficients: what is added, scaled and inserted. Nothing here asks for a sign."""

from __future__ import annotations

from fractions import Fraction
from typing import Self

from .following import refuse


class Affine:
    """constant + sum of coefficient * variable; immutable."""

    __slots__ = ("at_zero", "slopes")

    def __init__(self, slopes: dict[str, Fraction], at_zero: Fraction) -> None:
        self.slopes = {name: slope for name, slope in slopes.items() if slope != 0}
        self.at_zero = at_zero

    @classmethod
    def variable(cls, name: str) -> Self:
        return cls({name: Fraction(1)}, Fraction(0))

    def name(self) -> str:
        """The canonical text of the certificate format."""
        terms = [f"{slope}*{name}" for name, slope in sorted(self.slopes.items())]
        return "+".join(terms + ([str(self.at_zero)] if self.at_zero or not terms else []))

    def concrete(self) -> Fraction:
        if self.slopes:
            raise refuse("a concrete number is needed where there is a symbol")
        return self.at_zero

    def plus(self, other: Self, times: Fraction = Fraction(1)) -> Self:
        slopes = dict(self.slopes)
        for name, slope in other.slopes.items():
            slopes[name] = slopes.get(name, Fraction(0)) + slope * times
        return type(self)(slopes, self.at_zero + other.at_zero * times)

    def scaled(self, by: Fraction) -> Self:
        return type(self)({name: slope * by for name, slope in self.slopes.items()}, self.at_zero * by)

    def inserted(self, values: dict[str, Self]) -> Self:
        """With forms for some of the variables."""
        result = type(self)({n: s for n, s in self.slopes.items() if n not in values}, self.at_zero)
        for name in self.slopes.keys() & values.keys():
            result = result.plus(values[name], self.slopes[name])
        return result

    def value(self, point: dict[str, Fraction]) -> Fraction:
        return self.at_zero + sum((s * point[n] for n, s in self.slopes.items()), Fraction(0))

    def same(self, other: Self) -> bool:
        return self.slopes == other.slopes and self.at_zero == other.at_zero

    def __neg__(self) -> Self:
        return self.scaled(Fraction(-1))

    def __pos__(self) -> Self:
        return self
