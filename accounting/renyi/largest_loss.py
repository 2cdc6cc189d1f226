"""The largest privacy loss of any pair, rounded up: the Renyi divergence of order infinity."""

from __future__ import annotations

from ..pairs import Pair
from ..pairs.moments import SLACK


def largest_loss(pair: Pair) -> float:
    """An upper bound on log(dP/dQ); inf where the loss is unbounded."""
    value = pair.largest_loss()
    return value + SLACK * value
