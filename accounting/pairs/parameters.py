"""Pairs whose parameters are moved to the far side of their uncertainty: a double stands for a decimal or a quotient.

The moved pairs bracket the stated one (docs/theory/lattices.md, section "Parameters"). A discrete Gaussian is left as
it is: its users carry the uncertainty of sigma themselves. A stated delta is taken as the double that it is.
"""

from __future__ import annotations

from typing import TypeVar

from ..rounding import PARAMETER
from .pair import Pair

MOVE = 2 * PARAMETER
"""How far parameters are moved."""

Kind = TypeVar("Kind", bound=Pair)


def dominating_parameters(pair: Kind) -> Kind:
    """A pair that dominates the given one for all parameters within PARAMETER of the given ones."""
    return pair.moved(1 + MOVE)


def dominated_parameters(pair: Kind) -> Kind:
    """A pair that the given one dominates for all parameters within PARAMETER of the given ones."""
    return pair.moved(1 - MOVE)
