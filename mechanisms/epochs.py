"""How many rounds so many passes over the data are: the one rule of claims, plans and the command line."""

from __future__ import annotations

import math
from fractions import Fraction


def rounds_in(epochs: float, share: Fraction) -> int:
    """Rounds of `epochs` passes where one round is this share of a pass, in exact decimals; the last one counts whole.

    >>> rounds_in(60, Fraction(256, 60_000))  # 14,062.5
    14063
    """
    return math.ceil(Fraction(repr(float(epochs))) / share)


def exact_rate(rate: float) -> Fraction:
    """The fraction that a rate stands for: of small numbers if there is one, such as 1/3, else its shortest decimal.

    >>> exact_rate(1 / 3), exact_rate(0.003)
    (Fraction(1, 3), Fraction(3, 1000))
    """
    simple = Fraction(rate).limit_denominator(10**9)
    return simple if float(simple) == rate else Fraction(repr(float(rate)))
