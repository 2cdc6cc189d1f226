"""One way to arrive at an epsilon, and how much a match of a printed number with one of many of them tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .printed import Printed


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
