"""Exact affine expressions over named reals, and their arithmetic. Floats stand for the fractions that they are."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Self

import numpy as np

from .exact import Number, exact
from .unsupported import unsupported


class Affine:
    """sum of coefficient * variable, plus a constant. Noise variables are called n0, n1, ..."""

    __slots__ = ("constant", "terms")

    def __init__(self, terms: Mapping[str, Number] | None = None, constant: Number = 0) -> None:
        self.terms: dict[str, Number] = {name: value for name, value in (terms or {}).items() if value}
        self.constant: Number = constant

    @classmethod
    def of(cls, value: Any) -> Self:
        """The value as an expression."""
        if isinstance(value, cls):
            return value
        if isinstance(value, np.ndarray) and value.ndim == 0:
            return cls.of(value.item())
        return cls(None, exact(value))

    def number(self) -> Number:
        """The constant that it is."""
        if self.terms:
            raise unsupported("a concrete number is needed where the value depends on the data or on noise")
        return self.constant

    @property
    def noisy(self) -> bool:
        return any(is_noise(name) for name in self.terms)

    def text(self) -> str:
        """Canonical: equal expressions have equal texts."""
        parts = [f"{value}*{name}" for name, value in sorted(self.terms.items())]
        return "+".join([*parts, str(self.constant)]) if self.constant or not parts else "+".join(parts)

    def substitute(self, values: Mapping[str, Self]) -> Self:
        """Every variable in `values` replaced."""
        total = type(self)({k: v for k, v in self.terms.items() if k not in values}, self.constant)
        for name, factor in self.terms.items():
            if name in values:
                total = total + values[name] * factor
        return total

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        other = self.of(other)
        terms = dict(self.terms)
        for name, value in other.terms.items():
            terms[name] = terms.get(name, 0) + value
        return type(self)(terms, self.constant + other.constant)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        other = self.of(other)
        if self.terms and other.terms:
            raise unsupported("a product of two values that both depend on the data or on noise")
        left, right = (self, other.constant) if self.terms else (other, self.constant)
        return type(self)({name: value * right for name, value in left.terms.items()}, left.constant * right)

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        divisor = self.of(other).number()
        if divisor == 0:
            raise unsupported("a division by zero")
        return self * exact(Fraction(1) / divisor)

    def __rtruediv__(self, other: Any) -> Any:
        return self.of(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Self:
        return type(self)({name: -value for name, value in self.terms.items()}, -self.constant)

    def __pos__(self) -> Self:
        return self

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self + (-self.of(other))

    def __rsub__(self, other: Any) -> Any:
        return self.of(other) + (-self)

    def __pow__(self, power: Any) -> Any:
        if exact(power) == 1:
            return self
        raise unsupported("a power of a value that depends on the data or on noise")


def is_noise(name: str) -> bool:
    """Whether the variable is a noise: n and a number; no data variable is called so."""
    return name[0] == "n" and name[1:].isdigit()
