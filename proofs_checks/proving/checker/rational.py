"""Concrete numbers as the fractions that they are."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from .following import refuse


def rational(value: Any) -> Fraction:
    """A concrete number, exactly."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | int | Fraction):
        return Fraction(value)
    if isinstance(value, float) and math.isfinite(value):
        return Fraction(value)
    raise refuse(f"{type(value).__name__} {value!r:.40} in arithmetic")
