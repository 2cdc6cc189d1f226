"""A run's profile asked for at many eps, each once, and what two neighbouring answers say of the trade-off curve.

D(x) = delta(log x), x = e^eps >= 1, is convex and nonincreasing. The line 1 - D(x) - x alpha supports the trade-off
curve (Dong, Roth, Su 2022, arXiv 1905.02383, Proposition 6), and touches it at the type I error -D'(x).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from flint import arb

from ..bracket import Bracket


class KnownProfile:
    """delta as certified brackets at eps >= 0; every eps is asked for once."""

    def __init__(self, deltas: Callable[[Sequence[float]], Sequence[Bracket]]) -> None:
        self._deltas = deltas
        self._known: dict[float, Bracket] = {}

    def __call__(self, epsilon: float) -> Bracket:
        """The bracket of delta at epsilon."""
        self.ask([epsilon])
        return self._known[epsilon]

    def ask(self, epsilons: Iterable[float]) -> None:
        """Makes the brackets at many epsilons known, for which accountants share work."""
        new = [epsilon for epsilon in dict.fromkeys(epsilons) if epsilon not in self._known]
        if new:
            self._known.update(zip(new, self._deltas(new), strict=True))

    @property
    def knots(self) -> tuple[tuple[float, Bracket], ...]:
        """What is known so far: (eps, delta), eps increasing."""
        return tuple(sorted(self._known.items()))

    def slope(self, left: float, right: float) -> float:
        """About -D'(x) between two eps: the type I error at which the lines between them touch the curve."""
        fall = _middle(self(left)) - _middle(self(right))
        return max(0.0, fall / (math.exp(left) * math.expm1(right - left)))


def steepness(left: tuple[float, Bracket], right: tuple[float, Bracket]) -> tuple[arb, arb]:
    """(at most, at least) the slope -(D(x') - D(x)) / (x' - x) of the chord between two knots."""
    length = arb(right[0]).exp() - arb(left[0]).exp()
    least = (arb(left[1].lower) - arb(right[1].upper)) / length
    most = (arb(left[1].upper) - arb(right[1].lower)) / length
    return least, most


def _middle(bracket: Bracket) -> float:
    return 0.5 * (bracket.lower + bracket.upper)
