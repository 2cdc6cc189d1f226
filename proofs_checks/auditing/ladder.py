"""How large epsilon is, from an e-process: one process for each of a ladder of epsilons above the claim's.

The process at epsilon is a supermartingale if epsilon holds, and then so are those at all larger ones. Let e be the
smallest rung for which the mechanism is (e, delta)-DP: its process ever reaches 1/error with probability at most
`error` (Ville 1939). The bound is the last rung of those that were reached one after the other from the lowest, so that
a bound above the truth needs that very process to have reached it: nothing is lost for asking all rungs at once.
Of claims of many lines the rungs are mus: the process at mu bets against lines of mu-GDP, all of which hold if it does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.arrays import Floats
from .curve import ClaimedCurve, gdp_delta
from .outputs import Outputs

RUNGS, HIGHEST = 24, 8.0
"""Epsilons above the claim's, and the largest of them less the claim's; the nearer to the claim the closer together."""
STEEPS, STEEPEST = 12, 6.0
"""The same of mu."""
SHARES = np.array([0.0, 1.0, 2.0])
"""Lines of mu-GDP that are bet against: epsilon as a multiple of mu."""


class Played(Protocol):
    """A bet against (epsilon, delta), fixed before the trials it is played on."""

    def factors(self, dataset: Outputs, neighbour: Outputs) -> tuple[Floats, Floats]: ...


class Ladder:
    """quantity: "epsilon" or "mu". lines: of each rung, some (epsilon, delta) that hold if it does.

    Feed bets, at most one a rung, with the trials that they are played on.
    """

    def __init__(self, quantity: str, lines: Mapping[float, Sequence[tuple[float, float]]]) -> None:
        self.quantity = quantity
        self.lines = {rung: tuple(lines[rung]) for rung in sorted(lines)}
        self._wealth = dict.fromkeys(self.lines, 0.0)
        self._largest = dict.fromkeys(self.lines, 0.0)

    def play(
        self, bets: Mapping[float, Played], dataset: Outputs, neighbour: Outputs, order: NDArray[np.int64]
    ) -> None:
        """order: of the trials of both sides, the dataset's first, in which they are taken to have come."""
        for rung, bet in bets.items():
            path = self._wealth[rung] + np.cumsum(np.log(np.concatenate(bet.factors(dataset, neighbour)))[order])
            self._largest[rung] = max(self._largest[rung], float(path.max()))
            self._wealth[rung] = float(path[-1])

    def bound(self, error: float) -> float:
        """A lower bound, wrong with probability at most `error`; 0 where the first rung is not reached."""
        found = 0.0
        for rung in self.lines:
            if self._largest[rung] < math.log(1 / error):
                break
            found = rung
        return found


def above(claim: ClaimedCurve) -> Ladder:
    """The ladder over a claim: of epsilons at its delta where it is one line, else of mus."""
    if len(claim.epsilons) == 1:
        (delta,) = claim.deltas
        return Ladder("epsilon", {each: [(each, delta)] for each in _rungs(claim.epsilons[0], HIGHEST, RUNGS)})
    steps = _rungs(claim.mu or 0.0, STEEPEST, STEEPS)
    return Ladder("mu", {mu: [(float(eps), float(gdp_delta(eps, mu))) for eps in SHARES * mu] for mu in steps})


def _rungs(claimed: float, highest: float, count: int) -> list[float]:
    """The first is less than a hundredth of the way up: what exceeds its claim by little is told, too."""
    return [claimed + highest * ((k + 1) / count) ** 2 for k in range(count)]
