"""Several releases on one sample."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

from flint import arb

from ..losses.atoms import laws, product_cells
from ..losses.atoms.cells import Cells
from ..losses.atoms.edges import Resolution
from ..renyi import sampled_divergence
from ..rounding import widened_down, widened_up
from .gaussian import GaussianPair
from .moments import SLACK
from .order import Sampling
from .pair import Composition, Pair, failing, summed_supremum
from .renyi_bounds import RenyiPoints, ZcdpBound

_BITS = 128


@dataclass(frozen=True, slots=True)
class ProductPair(Pair):
    """The product of several pairs, as the base of one that is sampled as a whole: parts as in a Composition."""

    parts: Composition

    def moved(self, factor: float) -> Self:
        return replace(self, parts=tuple((part.moved(factor), rounds) for part, rounds in self.parts))

    def mirrored(self) -> Self:
        return replace(self, parts=tuple((part.mirrored(), rounds) for part, rounds in self.parts))

    def words(self) -> str:
        return " and ".join(f"{rounds} x {part.words()}" for part, rounds in self.parts)

    def losses(self) -> laws.Losses | None:
        """All parts' cells together, few enough at each step; of parts that no coin decides about."""
        parts = []
        for part, rounds in self.parts:
            known = part.losses()
            if known is None or known.cells is None or known.rate:
                return None
            parts.append((known.cells, rounds))

        def cells(resolution: Resolution) -> Cells:
            total: Cells | None = None
            for cut, rounds in parts:
                for _ in range(rounds):
                    total = product_cells.joined(total, cut(resolution), resolution.cells)
            assert total is not None
            return total

        return laws.of_cells(cells)

    def failure(self) -> tuple[arb, Pair | None]:
        """Where any part's loss is infinite."""
        finite = arb(1)
        for part, rounds in self.parts:
            finite *= (1 - part.failure()[0]) ** rounds
        return failing(self, 1 - finite)

    def supremum(self) -> arb | None:
        return summed_supremum(self.parts)

    def _stated_orders(self) -> tuple[float, ...]:
        """Those of any part."""
        return tuple(order for part, _ in self.parts for order in part.renyi().orders)

    def _slope(self, order: float) -> tuple[float, float]:
        """The sums."""
        slopes = [(rounds, part.renyi().slope(order)) for part, rounds in self.parts]
        least, most = (math.fsum(rounds * each[side] for rounds, each in slopes) for side in (0, 1))
        return widened_down(least, SLACK), widened_up(most, SLACK)

    def _divergence(self, alpha: float) -> float | None:
        """The sum, rounded up; where every part has one."""
        total = []
        for part, rounds in self.parts:
            one = part.renyi().divergence(alpha)
            if one is None:
                return None
            total.append(rounds * one)
        return math.fsum(total) * (1 + 2.0**-40)

    def _behind_coin(self, rate: float, coin: Sampling, alpha: float) -> float | None:
        """Where of one of the parts no more than its divergences is known, from the divergences of all together."""
        if coin == Sampling.REPLACE or self._divergence(alpha) is None or not _only_renyi(self):
            return None
        return sampled_divergence.sampled_divergence(self._known_divergence, rate, coin, alpha)

    def _known_divergence(self, alpha: float) -> float:
        found = self._divergence(alpha)
        assert found is not None
        return found


def _only_renyi(pair: Pair) -> bool:
    """Whether of the pair, or of one of its parts, nothing but Renyi divergences is known."""
    if isinstance(pair, ProductPair):
        return any(_only_renyi(part) for part, _ in pair.parts)
    return isinstance(pair, ZcdpBound | RenyiPoints)


def product_of(parts: Composition) -> Pair:
    """One pair for several on the same sample; Gaussian ones are one Gaussian (Dong, Roth, Su 2022, Corollary 3.3).

    Its shift is the root of the sum of squares, rounded once: within PARAMETER for all inputs within half of that.
    """
    squares = arb(0)
    counts: dict[Pair, int] = {}
    for pair, rounds in parts:
        if isinstance(pair, GaussianPair):
            squares += rounds * arb(pair.shift) ** 2
        else:
            counts[pair] = counts.get(pair, 0) + rounds
    if squares > 0:
        counts[GaussianPair(float(squares.sqrt().mid()))] = 1
    if len(counts) == 1:
        ((pair, rounds),) = counts.items()
        if rounds == 1:
            return pair
    return ProductPair(tuple(counts.items()))
