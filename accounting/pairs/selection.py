"""The best of a random number of private runs: no pair is known, only what its Renyi divergences are at most."""

from __future__ import annotations

import math
from dataclasses import dataclass

from flint import arb

from .pair import Composition, Pair


@dataclass(frozen=True, slots=True)
class SelectionPair(Pair):
    """products: what dominates one run, one for each order of the neighbours. gamma, shape, mean: of the number of
    runs, the mean rounded up. The divergences: rdp/selection.py."""

    products: tuple[Composition, ...]
    gamma: float
    shape: float
    mean: float

    def words(self) -> str:
        """P against Q."""
        return f"the best of {self.mean:.6g} runs on average, each of which is bounded"

    def largest_loss(self) -> float:
        """(2 + shape) times one run's (Papernot, Steinke 2022, arXiv 2110.03620, Corollary 3)."""
        single = (math.fsum(rounds * pair.largest_loss() for pair, rounds in product) for product in self.products)
        return (2 + self.shape) * max(single) * (1 + 2.0**-40)

    def supremum(self) -> arb | None:
        """At most (2 + shape) times one run's."""
        most = arb(0)
        for product in self.products:
            total = arb(0)
            for pair, rounds in product:
                loss = pair.supremum()
                if loss is None:
                    return None
                total += rounds * loss
            most = most.max(total)
        return (2 + arb(self.shape)) * most
