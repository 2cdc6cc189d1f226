"""Printed numbers: which values a number with so many digits can stand for."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from ...mechanisms import InputError

_FUZZ = 1e-9
"""Allowance for the error of the computed value itself, relative to it or, if less, to a hundred
units of the last digit. 2.575 + 1e-12 still rounds to either side."""

_DIRECTED = 0.01


@dataclass(frozen=True, slots=True)
class Printed:
    """A number as printed: `value`, and `unit`, one unit of its last printed digit."""

    value: float
    unit: float

    @property
    def interval(self) -> tuple[float, float]:
        """What it may have been before it was rounded to nearest."""
        return self.value - self.unit / 2, self.value + self.unit / 2

    @property
    def _directed(self) -> bool:
        return self.unit <= _DIRECTED * abs(self.value)

    def covered_by(self, computed: float) -> tuple[float, float]:
        """The range of the numbers with as many decimals as this one that `computed` could be printed as."""
        reach = self.unit if self._directed else self.unit / 2
        return computed - reach, computed + reach

    def rounding_of(self, computed: float) -> str | None:
        """How `computed` becomes this number: rounded to "nearest", "down" or "up"; None if it does not.

        Down and up count only where the last digit is below 1% of the number: 0.41 is not 0.5 rounded up.
        """
        slack = _FUZZ * min(abs(self.value), self.unit / _DIRECTED)
        if abs(computed - self.value) <= self.unit / 2 + slack:
            return "nearest"
        if not self._directed:
            return None
        if -slack <= computed - self.value < self.unit:
            return "down"
        if -slack <= self.value - computed < self.unit:
            return "up"
        return None


def printed(number: Printed | Decimal | str | float) -> Printed:
    """Reads a printed number. "1.0" has one decimal, 1e-5 a last digit of 1e-5, a float those of its repr.

    Raises InputError for what is not a finite number.
    """
    if isinstance(number, Printed):
        return number
    if isinstance(number, bool) or not isinstance(number, Decimal | str | float | int):
        raise InputError("printed", number, "a number as printed, such as 1.26 or '8.0'")
    try:
        decimal = Decimal(str(number).strip())
    except InvalidOperation as error:
        raise InputError("printed", number, "a number as printed, such as 1.26 or '8.0'") from error
    exponent = decimal.as_tuple().exponent
    if not isinstance(exponent, int):
        raise InputError("printed", number, "a finite number")
    return Printed(float(decimal), 10.0**exponent)


def significant_digits(number: float) -> int:
    """How many digits a parameter shows: 3 for 0.638, 1 for 4.0, 17 or so for a computed quotient."""
    return len(Decimal(repr(number)).normalize().as_tuple().digits)
