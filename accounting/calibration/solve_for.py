"""What a calibration solves for: its name, whether it is a whole number, which side is safe, and where to search."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Literal

from ...mechanisms.digits import rounded_down, rounded_up
from ...mechanisms.word import Word

DIGITS = 10
"""Values are decimals of so many digits, so that one can print the very value whose bracket was taken."""


class SolveFor(Word):
    """Noise is sought at the least, all others at the most.

    >>> SolveFor("rounds").is_whole, SolveFor("noise_std").is_noise, SolveFor("clip_norm").option
    (True, True, 'clip-norm')
    """

    NOISE_MULTIPLIER = "noise_multiplier"
    NOISE_STD = "noise_std"
    ROUNDS = "rounds"
    COHORT = "cohort"
    SAMPLING_RATE = "sampling_rate"
    CLIP_NORM = "clip_norm"

    @property
    def option(self) -> str:
        """As options and JSON spell it."""
        return self.replace("_", "-")

    @property
    def is_whole(self) -> bool:
        """Whether values are whole numbers."""
        return self in (SolveFor.ROUNDS, SolveFor.COHORT)

    @property
    def is_noise(self) -> bool:
        """Whether more of it is safer."""
        return self in (SolveFor.NOISE_MULTIPLIER, SolveFor.NOISE_STD)

    @property
    def search_range(self) -> tuple[float, float, float]:
        """Where a search gives up at the safest, where it starts, and where it gives up at the boldest."""
        return _SEARCH_RANGES[self]

    def in_words(self, value: float) -> str:
        """ "NAME = VALUE" in ten digits, rounded to the side that still meets the target."""
        shown = int(value) if self.is_whole else (rounded_up if self.is_noise else rounded_down)(value, DIGITS)
        return f"{self.option} = {shown}"

    def printable(self, value: float) -> float:
        """Few digits, on the side that is more private."""
        if self.is_whole:
            return int(value)
        direction = ROUND_CEILING if self.is_noise else ROUND_FLOOR
        return float(Context(prec=DIGITS, rounding=direction).plus(Decimal(repr(value))))


Solved = SolveFor | Literal["noise_multiplier", "noise_std", "rounds", "cohort", "sampling_rate", "clip_norm"]
"""What callers may say: a `SolveFor`, or its spelling."""

_SEARCH_RANGES = {
    SolveFor.NOISE_MULTIPLIER: (1e12, 1.0, 1e-6),
    SolveFor.NOISE_STD: (1e12, 1.0, 1e-12),
    SolveFor.ROUNDS: (1.0, 1024.0, 2.0**53),
    SolveFor.COHORT: (1.0, 64.0, 2.0**53),
    SolveFor.SAMPLING_RATE: (2.0**-40, 2.0**-6, 1.0),
    SolveFor.CLIP_NORM: (1e-12, 1.0, 1e12),
}
