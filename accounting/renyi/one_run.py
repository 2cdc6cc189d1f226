"""One run's delta from above, for Renyi divergences of several runs: by what is exact, where that is quick."""

from __future__ import annotations

from collections.abc import Callable

from ..losses import closed_form
from ..losses import gaussian_rounds as gaussian
from ..losses.smooth import contour as densities
from ..pairs import Composition

_RTOL = 1e-3
"""Much finer than what it is for."""


def delta_above(product: Composition, epsilon: float, by_renyi: Callable[[Composition, float], float]) -> float:
    """At least the product pair's delta at epsilon >= 0; by_renyi: the bound where nothing exact is quick."""
    try:
        if gaussian.supports(product):
            return gaussian.delta(product, epsilon).upper
        if closed_form.supports(product):
            return closed_form.delta(product, epsilon).upper
        if densities.supports(product):
            return densities.delta(product, epsilon, _RTOL).upper
    except (ArithmeticError, ValueError):  # out of its reach here
        pass
    return by_renyi(product, epsilon)
