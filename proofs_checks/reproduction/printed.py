"""Printed numbers: which values so many digits can stand for, ways to arrive at one, and what a match tells."""

from __future__ import annotations

from collections.abc import Sequence
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


@dataclass(frozen=True, slots=True)
class Convention:
    """One way to arrive at an epsilon.

    name: the accounting, then the changes to what was described. value: its epsilon. reproduces: whether that
    becomes the printed number. covers: the printed numbers, with as many decimals, that it would give (from, to).
    rounding: "nearest", "down" or "up", whichever does it; None if none does.
    """

    name: str
    value: float
    reproduces: bool
    detail: str
    covers: tuple[float, float]
    changes: tuple[str, ...] = ()
    rounding: str | None = None


def said_of_digits(names: Sequence[str]) -> str:
    """Which of the conventions that give the printed number is the plainest, as a sentence; "" where none does."""
    if not names:
        return ""
    plainest = next((name for name in names if "orders" not in name), names[0])
    if plainest == "GDP-CLT":
        return "The printed number matches the central-limit approximation of GDP, which is not an upper bound."
    if len(names) == 1:
        return f"The printed number matches this convention: {plainest}."
    return f"The printed number matches {len(names)} conventions; the plainest is: {plainest}."


def not_reproduced(conventions: Sequence[Convention], target: Printed, kind: str = "conventions") -> str:
    """The sentence for a number that none of the conventions gives, with the nearest (of equals, the plainest)."""

    def far(convention: Convention) -> tuple[int, int, int]:
        tenths = round(10 * abs(convention.value - target.value) / target.unit)
        return tenths, len(convention.changes), len(convention.name)

    nearest = min(conventions, key=far)
    return (
        f"We could not reproduce the printed number: none of the {len(conventions)} {kind} tried gives its digits. "
        f"The nearest is {nearest.value:.6g}, from: {nearest.name}."
    )


@dataclass(frozen=True, slots=True)
class Chance:
    """Among the conventions with so many changes or fewer: how many match, and how many a stray number would.

    tried, matching: conventions. window: half to twice the printed number. any: the share of the numbers in the
    window that at least one of them gives, which is how often a number that has nothing to do with any of them
    would be "reproduced". expected: how many of them match such a number on average.
    """

    changes_at_most: int
    tried: int
    matching: int
    window: tuple[float, float]
    any: float
    expected: float


def chances(conventions: Sequence[Convention], target: Printed) -> tuple[Chance, ...]:
    """For each number of changes to the description, and all fewer; empty where there is no number to compare with."""
    if target.value <= 0 or not conventions:
        return ()
    window = target.value / 2, 2 * target.value
    found = []
    for most in sorted({len(convention.changes) for convention in conventions}):
        group = [convention for convention in conventions if len(convention.changes) <= most]
        parts = [part for convention in group if (part := _clipped(convention.covers, window))]
        length = window[1] - window[0]
        expected = sum(high - low for low, high in parts) / length
        matching = sum(convention.reproduces for convention in group)
        found.append(Chance(most, len(group), matching, window, _union(parts) / length, expected))
    return tuple(found)


def _clipped(part: tuple[float, float], window: tuple[float, float]) -> tuple[float, float] | None:
    low, high = max(part[0], window[0]), min(part[1], window[1])
    return (low, high) if low < high else None


def _union(parts: Sequence[tuple[float, float]]) -> float:
    """The length of the union of intervals."""
    total, end = 0.0, float("-inf")
    for low, high in sorted(parts):
        total += max(0.0, high - max(low, end))
        end = max(end, high)
    return total
