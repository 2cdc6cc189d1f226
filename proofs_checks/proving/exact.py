"""Numbers as exact ones: floats stand for the fractions that they are."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from .unsupported import unsupported

Number = int | Fraction


def exact(value: Any) -> Number:
    """The number as an exact one; integers stay integers, which are faster."""
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return int(value)
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else value
    if isinstance(value, float | np.floating):
        if not math.isfinite(value):
            raise unsupported(f"arithmetic with {float(value)}")
        return int(value) if float(value).is_integer() else Fraction(float(value))
    raise unsupported(f"arithmetic with {type(value).__name__}")
