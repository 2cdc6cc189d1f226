"""What an accountant is: who brackets epsilon and delta of a product pair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from .bracket import Bracket
from .pairs import Composition


class Accountant(Protocol):
    """Brackets of the composed pair's own values, of a relative width of `rtol` where they can be had.

    finest: the relative width below which this accountant's brackets narrow nobody else's (0: they are as narrow as
    asked for). Calls may raise OutOfReach, which says that this accountant has no bracket here.
    """

    @property
    def name(self) -> str:
        """Its name in `accountant=`, and in a bracket's `method`."""

    @property
    def finest(self) -> float:
        """See above."""

    def supports(self, product: Composition) -> bool:
        """Whether it can bracket this product pair at all."""

    def epsilon(self, product: Composition, delta: float, rtol: float) -> Bracket:
        """The smallest epsilon >= 0 of the composed pair at 0 < delta < 1."""

    def delta(self, product: Composition, epsilon: float, rtol: float) -> Bracket:
        """The smallest delta of the composed pair at epsilon >= 0."""


Served = Callable[[Composition], bool]
Bracketed = Callable[[Composition, float], Bracket]
ManyBracketed = Callable[[Composition, Sequence[float], float], list[Bracket | None]]


@dataclass(frozen=True, slots=True)
class Untuned:
    """An accountant made of three functions that know no tolerance: their brackets are as narrow as they can be."""

    name: str
    supports: Served
    epsilon_of: Bracketed
    delta_of: Bracketed
    finest: float = 0.0

    def epsilon(self, product: Composition, delta: float, rtol: float) -> Bracket:
        """Whatever rtol is."""
        return self.epsilon_of(product, delta)

    def delta(self, product: Composition, epsilon: float, rtol: float) -> Bracket:
        """Whatever rtol is."""
        return self.delta_of(product, epsilon)


@dataclass(frozen=True, slots=True)
class Tuned:
    """An accountant made of three functions whose brackets are as narrow as asked for, where they can be."""

    name: str
    supports: Served
    epsilon_of: Callable[[Composition, float, float], Bracket]
    delta_of: Callable[[Composition, float, float], Bracket]
    finest: float = 0.0
    epsilons_of: ManyBracketed | None = None
    deltas_of: ManyBracketed | None = None
    """For many points at once, where they can share work: None for those that do not."""

    def epsilon(self, product: Composition, delta: float, rtol: float) -> Bracket:
        """The smallest epsilon, about rtol wide."""
        return self.epsilon_of(product, delta, rtol)

    def delta(self, product: Composition, epsilon: float, rtol: float) -> Bracket:
        """The smallest delta, about rtol wide."""
        return self.delta_of(product, epsilon, rtol)
