"""Where a function is likely to do something else: at the numbers in its code, and between two of them."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .names import followed
from .reachable import Reachable


@functools.lru_cache(16)
def landmarks(function: Callable[..., Any]) -> tuple[Fraction, ...]:
    """Its numbers, and those in the middle of two that are next to each other."""
    numbers = sorted(map(Fraction, Reachable(followed(function)).numbers))
    return (*numbers, *((low + high) / 2 for low, high in itertools.pairwise(numbers)))
