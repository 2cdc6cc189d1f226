"""All outcomes of a composition on one line."""

from __future__ import annotations

import math

from ...bracket import OutOfReach
from ...pairs import Composition
from ..line import Inversion, Plan, invert
from .densities import lay
from .saddle import Saddle, plan

_MARGIN = 3.0
"""By how much, as a logarithm, periodicity, truncation and discretisation each stay below what rtol allows."""

_DIGITS = 31.0
"""-log of the relative rounding of a sum, about: terms so much larger than delta leave nothing of it."""

_LATTICE = 15.0
"""-log of the relative error that lattices come down to, and that is worth the line's while."""

_MOST_PRODUCTS = 1.2e7
"""Frequencies times nodes: beyond it lattices are the quicker way."""


def inverted(composition: Composition, saddle: Saddle, error: float, square: float) -> Inversion:
    """An inversion whose ends are about `error` apart in log delta; square: of the shift that may smooth the loss."""
    accuracy = _MARGIN - math.log(error)
    chosen = plan(composition, saddle, accuracy, 0.5)
    if chosen.cancellation + min(-math.log(error), _LATTICE) > _DIGITS:
        raise OutOfReach("the terms are too much larger than delta")
    return laid(composition, chosen, accuracy, square)


def laid_around(composition: Composition, saddle: Saddle, error: float, decay: float) -> Inversion:
    """The same, and as narrow where delta e^{c epsilon} has fallen by a factor e^decay on either side."""
    return inverted(composition, saddle, error * math.exp(-decay), 0.0)


def laid(composition: Composition, chosen: Plan, accuracy: float, square: float) -> Inversion:
    """An inversion on a line that was chosen."""
    measure = lay(composition, chosen.points, accuracy + 2.0 + chosen.cancellation)
    nodes = sum(path.loss.size for part, _ in measure.sampled for path in part.paths)
    return invert(measure, measure, chosen, accuracy, square, int(_MOST_PRODUCTS / max(1, nodes)))
