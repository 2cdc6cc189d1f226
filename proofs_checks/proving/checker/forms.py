"""Exact affine forms over named reals, and tests of their sign: what symbols are in search and checker.

Noise variables are called n0, n1, ...; all others are of the data, or of a loop's state.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Self

Point = dict[str, Fraction]


class Form:
    """constant + sum of coefficient * variable; immutable."""

    __slots__ = ("at_zero", "slopes")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, slopes: Mapping[str, Fraction | int] | None = None, at_zero: Fraction | int = 0) -> None:
        self.slopes = {name: Fraction(slope) for name, slope in (slopes or {}).items() if slope}
        self.at_zero = Fraction(at_zero)

    @classmethod
    def _of(cls, slopes: dict[str, Fraction], at_zero: Fraction) -> Self:
        """Of fractions that are known to be ones, and no slope 0: quicker."""
        made = object.__new__(cls)
        made.slopes, made.at_zero = slopes, at_zero
        return made

    @classmethod
    def variable(cls, name: str) -> Self:
        return cls._of({name: Fraction(1)}, Fraction(0))

    def name(self) -> str:
        """The canonical text of the certificate format: equal forms have equal texts."""
        terms = [f"{slope}*{name}" for name, slope in sorted(self.slopes.items())]
        return "+".join(terms + ([str(self.at_zero)] if self.at_zero or not terms else []))

    def to_json(self) -> dict[str, str]:
        """As certificates have it: the constant is called nothing."""
        terms = {name: str(slope) for name, slope in sorted(self.slopes.items())}
        return terms | ({"": str(self.at_zero)} if self.at_zero else {})

    def plus(self, other: Form, times: Fraction | int = 1) -> Self:
        """self + times * other."""
        more = other if times == 1 else other.scaled(times)
        slopes = dict(self.slopes)
        for name, slope in more.slopes.items():
            total = slopes[name] + slope if name in slopes else slope
            if total:
                slopes[name] = total
            else:
                slopes.pop(name, None)
        return self._of(slopes, self.at_zero + more.at_zero if more.at_zero else self.at_zero)

    def scaled(self, by: Fraction | int) -> Self:
        if not by:
            return self._of({}, Fraction(0))
        if by == -1:
            return self._of({name: -slope for name, slope in self.slopes.items()}, -self.at_zero)
        return self._of({name: slope * by for name, slope in self.slopes.items()}, self.at_zero * by)

    def inserted(self, values: Mapping[str, Form]) -> Self:
        """With forms for some of the variables."""
        known = self.slopes.keys() & values.keys()
        result = self._of({n: s for n, s in self.slopes.items() if n not in known}, self.at_zero)
        for name in known:
            result = result.plus(values[name], self.slopes[name])
        return result

    def value(self, point: Mapping[str, Fraction]) -> Fraction:
        total = self.at_zero
        for name, slope in self.slopes.items():
            total = total + (point[name] if slope == 1 else slope * point[name])
        return total

    def same(self, other: Form) -> bool:
        return self.slopes == other.slopes and self.at_zero == other.at_zero

    @property
    def noisy(self) -> bool:
        """Whether noise is in it."""
        return any(noise_index(name) is not None for name in self.slopes)

    def __neg__(self) -> Self:
        return self.scaled(-1)

    def __add__(self, other: Form | Fraction | int) -> Self:
        return self.plus(other) if isinstance(other, Form) else self._of(self.slopes, self.at_zero + other)

    def __sub__(self, other: Form | Fraction | int) -> Self:
        return self.plus(other, -1) if isinstance(other, Form) else self._of(self.slopes, self.at_zero - other)

    def __rsub__(self, other: Fraction | int) -> Self:
        return -self + other

    def __mul__(self, factor: Fraction | int) -> Self:
        return self.scaled(factor)

    __radd__, __rmul__ = __add__, __mul__


def noise_index(name: str) -> int | None:
    """k for the k-th noise variable, nk."""
    return int(name[1:]) if name[0] == "n" and name[1:].isdigit() else None


class Sign:
    """form > 0 where strict, else form >= 0."""

    __slots__ = ("_key", "_opposite", "form", "strict")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, form: Form, strict: bool) -> None:
        self.form = form
        self.strict = strict
        self._key: tuple[Any, ...] | None = None
        self._opposite: tuple[Any, ...] | None = None

    def key(self) -> tuple[Any, ...]:
        """Equal for equal tests."""
        if self._key is None:
            self._key = (
                tuple(sorted((n, _pair(s)) for n, s in self.form.slopes.items())),
                _pair(self.form.at_zero),
                self.strict,
            )
        return self._key

    def opposite_key(self) -> tuple[Any, ...]:
        """The key of the negation."""
        if self._opposite is None:
            slopes, (p, q), strict = self.key()
            self._opposite = tuple((n, (-a, b)) for n, (a, b) in slopes), (-p, q), not strict
        return self._opposite

    def decided(self) -> bool | None:
        """Its truth where nothing is unknown in it."""
        if self.form.slopes:
            return None
        return self.form.at_zero > 0 if self.strict else self.form.at_zero >= 0

    def holds(self, point: Mapping[str, Fraction]) -> bool:
        """Whether it holds at a point."""
        value = self.form.value(point)
        return value > 0 if self.strict else value >= 0

    def negation(self) -> Sign:
        return Sign(-self.form, not self.strict)

    def to_json(self) -> dict[str, Any]:
        return {"form": self.form.to_json(), "strict": self.strict}

    def name(self) -> str:
        return f"{self.form.name()}{'>' if self.strict else '>='}0"


def _pair(value: Fraction) -> tuple[int, int]:
    """Hashes faster than the fraction."""
    return value.numerator, value.denominator
