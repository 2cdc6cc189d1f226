"""`norm` and `dimension` in [mechanism]: of what a clipping bound is the norm, and what that makes of the noise."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated

from pydantic import model_validator

from .. import Gaussian, InputError
from ..quantity import Quantity
from ..validate import count
from ..word import Word
from .fields import MissingKeys, spelt
from .kinds import Described, MechanismTable


class Norm(Word):
    """Of what a clipping bound is the norm; a contribution of one number has them all."""

    NUMBER = "number"
    L1 = "l1"
    L2 = "l2"
    LINF = "linf"


def over_root(value: Fraction, square: int) -> tuple[float, float]:
    """value / sqrt(square), rounded down and up; the same twice where it is a decimal that a double stands for."""
    root = math.isqrt(square)
    near = float(value / root) if root * root == square else float(value) / math.sqrt(square)
    low = high = near
    while Fraction(repr(low)) ** 2 * square > value**2:
        low = math.nextafter(low, 0.0)
    while Fraction(repr(high)) ** 2 * square < value**2:
        high = math.nextafter(high, math.inf)
    return low, high


_NORM = "the norm that the clipping bound limits: number, l1, l2 (Euclidean) or linf (each coordinate separately)"


class NormedTable(MechanismTable):
    """norm: what the clipping bound is of: "number" where a contribution is one, the sum of absolute values (l1), the
    Euclidean norm (l2), or the largest absolute value (linf). dimension: how many numbers it has."""

    norm: Annotated[Norm, spelt(Norm), Quantity(Norm.named, _NORM)] | None = None
    dimension: Annotated[int, Quantity(count, "number of coordinates")] | None = None

    @model_validator(mode="after")
    def _consistent_norm(self) -> NormedTable:
        if self.norm == Norm.NUMBER and self.dimension not in (None, 1):
            raise InputError("dimension", self.dimension, "1, or no such key, with norm = 'number'")
        if self.norm in self.asks_dimension() and self.dimension is None:
            raise MissingKeys({"dimension": f"how many numbers a contribution has, with norm = '{self.norm}'"})
        if self.norm is None and self.dimension not in (None, 1) and self.asks_norm():
            raise MissingKeys({"norm": "what the clipping bound is of, beside dimension: l1, l2 or linf"})
        return self

    @classmethod
    def asks_dimension(cls) -> tuple[Norm, ...]:
        """The norms under which the cost depends on the dimension."""
        return (Norm.L2, Norm.LINF)

    @classmethod
    def asks_norm(cls) -> bool:
        """Whether it is not plain without saying what the clipping bound is of: for noise of bounded loss."""
        return True

    @property
    def is_one_number(self) -> bool:
        """Whether a contribution is one number, of which all norms are the same, or is taken for one."""
        return self.norm in (None, Norm.NUMBER) or self.dimension == 1

    @property
    def coordinates(self) -> int:
        """How many are clipped one by one: so many releases of one number each."""
        return (self.dimension or 1) if self.norm == Norm.LINF else 1

    @property
    def adds_up(self) -> bool:
        """Whether several numbers move together, in a way that the noise of one does not state."""
        return not self.is_one_number and self.norm == Norm.L2 and self.asks_norm()

    def only_one_number(self, why: str) -> None:
        """Raises InputError for several numbers."""
        if not self.is_one_number:
            expected = f"number: {why}; several numbers can be stated as releases of one number each"
            raise InputError("mechanism.norm", self.norm, expected)


class ClippedGaussianTable(NormedTable):
    """Gaussian noise, whose clipping bound is Euclidean unless norm = "linf" says that every coordinate was clipped by
    itself: then d coordinates move sqrt(d) times as far together."""

    @classmethod
    def asks_dimension(cls) -> tuple[Norm, ...]:
        return (Norm.LINF,)

    @classmethod
    def asks_norm(cls) -> bool:
        return False

    def clipped(self, noise_multiplier: float) -> Described:
        """Noise of this multiple of the clipping bound."""
        low, high = over_root(Fraction(repr(noise_multiplier)), self.coordinates)
        return Described(Gaussian(low), Gaussian(high))
