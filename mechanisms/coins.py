"""Independent coins of one exact share, for many units at once."""

from __future__ import annotations

from fractions import Fraction

from .randomness import BitSource

TOGETHER = 4096
"""Units whose coins are flipped together where there are more of them; so many bits are one block of KeyedSource. Fewer
units have a coin each, as in all runs that were recorded: the law is the same, the cohorts of a seed are not."""


def heads(share: Fraction, units: int, source: BitSource) -> list[int]:
    """The units, ascending, whose coin shows heads. share: how often it does, with a power of two below the line."""
    if units <= TOGETHER:
        return [unit for unit in range(units) if source.below(share.denominator) < share.numerator]
    return [
        first + place
        for first in range(0, units, TOGETHER)
        for place in _ones(heads_together(share, min(TOGETHER, units - first), source))
    ]


def heads_together(share: Fraction, units: int, source: BitSource) -> int:
    """The same as a number whose bit k is 1 for heads of unit k.

    A coin shows heads where a uniform number is below the share. The binary digits of all units' numbers are drawn
    place by place, until no unit's number agrees with the share so far: some log2(units) + 2 places of them.

    >>> from dpcert.mechanisms.randomness import SeededTestSource
    >>> bin(heads_together(Fraction(1, 4), 16, SeededTestSource(3)))
    '0b1000010000101001'
    """
    everybody = (1 << units) - 1
    if share >= 1:
        return everybody
    below, agreeing, rest = 0, everybody, share
    while agreeing and rest:
        digits = source.below(everybody + 1)
        rest *= 2
        if rest >= 1:
            rest -= 1
            below |= agreeing & ~digits
            agreeing &= digits
        else:
            agreeing &= ~digits
    return below


def _ones(number: int) -> list[int]:
    """The places of the ones, ascending."""
    found, digits = [], bin(number)[:1:-1]
    place = digits.find("1")
    while place >= 0:
        found.append(place)
        place = digits.find("1", place + 1)
    return found
