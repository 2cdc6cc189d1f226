"""The best of a random number of private runs: no pair is known, only what its Renyi divergences are at most."""

from __future__ import annotations

import math
from dataclasses import dataclass

from flint import arb

from .pair import Composition, Pair


@dataclass(frozen=True, slots=True)
class SelectionPair(Pair):
    """products: what dominates one run, one for each order of the neighbours. gamma, shape, mean: of the number of
    runs, the mean rounded up. The divergences: renyi/selection_divergence.py."""

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
        most = _of_one_run(self.products)
        return None if most is None else (2 + arb(self.shape)) * most


@dataclass(frozen=True, slots=True)
class PoissonSelectionPair(Pair):
    """The same where the number of runs is Poisson distributed, and something fixed is released where it is 0."""

    products: tuple[Composition, ...]
    mean: float

    def words(self) -> str:
        """P against Q."""
        return f"the best of {self.mean:.6g} runs on average, Poisson distributed, each of which is bounded"

    def largest_loss(self) -> float:
        """epsilon + mean (e^epsilon - 1)/(e^epsilon + 1) of one run: the share of worse results moves by the total
        variation at most (docs/theory/selection.md)."""
        single = max(math.fsum(rounds * pair.largest_loss() for pair, rounds in product) for product in self.products)
        return (single + self.mean * math.tanh(single / 2)) * (1 + 2.0**-40)

    def supremum(self) -> arb | None:
        """At most the same, in balls."""
        most = _of_one_run(self.products)
        return None if most is None else most + arb(self.mean) * (most / 2).tanh()


def _of_one_run(products: tuple[Composition, ...]) -> arb | None:
    """One run's largest loss; None where it is infinite, or not known."""
    most = arb(0)
    for product in products:
        total = arb(0)
        for pair, rounds in product:
            loss = pair.supremum()
            if loss is None:
                return None
            total += rounds * loss
        most = most.max(total)
    return most
