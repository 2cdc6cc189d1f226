"""The best of a random number of private runs: no pair is known, only what its Renyi divergences are at most."""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb

from ..rounding import up
from .pair import Composition, Pair, failing, summed_supremum


@dataclass(frozen=True, slots=True)
class SelectionPair(Pair):
    """products: what dominates one run, one for each order of the neighbours. gamma, shape, mean: of the number of
    runs, the mean rounded up. The divergences: renyi/selection_divergence.py."""

    products: tuple[Composition, ...]
    gamma: float
    shape: float
    mean: float

    def words(self) -> str:
        return f"the best of {self.mean:.6g} runs on average, each of which is bounded"

    def failure(self) -> tuple[arb, Pair | None]:
        """At most `mean` times the largest of one run's (docs/theory/selection.md, "Runs that may fail")."""
        return failing(self, _failure_of_any(self))

    def _divergence(self, alpha: float) -> float | None:
        """From one run's, where that is known."""
        from ..renyi import renyi, selection_divergence  # which rest on pairs

        if not all(map(renyi.supports, self.products)):
            return None
        return selection_divergence.selection_divergence(self, alpha, renyi.of_product)

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
        return f"the best of {self.mean:.6g} runs on average, Poisson distributed, each of which is bounded"

    def failure(self) -> tuple[arb, Pair | None]:
        """At most `mean` times the largest of one run's (docs/theory/selection.md, "Runs that may fail")."""
        return failing(self, _failure_of_any(self))

    def _divergence(self, alpha: float) -> float | None:
        """From one run's, and its delta, where they are known."""
        from ..renyi import renyi, selection_divergence  # which rest on pairs

        if not all(map(renyi.supports, self.products)):
            return None
        return selection_divergence.poisson_divergence(self, alpha, renyi.of_product, renyi.delta_of_product)

    def supremum(self) -> arb | None:
        """At most the same, in balls."""
        most = _of_one_run(self.products)
        return None if most is None else most + arb(self.mean) * (most / 2).tanh()


def _of_one_run(products: tuple[Composition, ...]) -> arb | None:
    """One run's largest loss; None where it is infinite, or not known."""
    most = arb(0)
    for product in products:
        loss = summed_supremum(product)
        if loss is None:
            return None
        most = most.max(loss)
    return most


def _failure_of_any(pair: SelectionPair | PoissonSelectionPair) -> arb:
    from ..renyi import renyi  # which rests on pairs

    most = max(renyi.curve(product).failure for product in pair.products)
    return arb(min(1.0, up(pair.mean * most))) if most > 0 else arb(0)
