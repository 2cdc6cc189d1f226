"""How large epsilon is, from an e-process: one process for each of a ladder of epsilons above the claim's.

The process at epsilon is a supermartingale if epsilon holds, and then so are those at all larger ones. Let e be the
smallest rung for which the mechanism is (e, delta)-DP: its process ever reaches 1/error with probability at most
`error` (Ville 1939). The bound is the last rung of those that were reached one after the other from the lowest, so that
a bound above the truth needs that very process to have reached it: nothing is lost for asking all rungs at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.arrays import Floats
from .outputs import Outputs

RUNGS, HIGHEST = 24, 8.0
"""Epsilons above the claim's, and the largest of them less the claim's; evenly spaced."""


class Played(Protocol):
    """A bet against (epsilon, delta), fixed before the trials it is played on."""

    @property
    def epsilon(self) -> float: ...

    def factors(self, dataset: Outputs, neighbour: Outputs) -> tuple[Floats, Floats]: ...


class Ladder:
    """epsilons: the rungs, from the lowest. Feed bets, at most one a rung, with the trials that they are played on."""

    def __init__(self, epsilon: float) -> None:
        self.epsilons = tuple(epsilon + HIGHEST * (k + 1) / RUNGS for k in range(RUNGS))
        self._wealth = dict.fromkeys(self.epsilons, 0.0)
        self._largest = dict.fromkeys(self.epsilons, 0.0)

    def play(self, bets: Sequence[Played], dataset: Outputs, neighbour: Outputs, order: NDArray[np.int64]) -> None:
        """order: of the trials of both sides, the dataset's first, in which they are taken to have come."""
        for bet in bets:
            path = self._wealth[bet.epsilon] + np.cumsum(np.log(np.concatenate(bet.factors(dataset, neighbour)))[order])
            self._largest[bet.epsilon] = max(self._largest[bet.epsilon], float(path.max()))
            self._wealth[bet.epsilon] = float(path[-1])

    def bound(self, error: float) -> float:
        """A lower bound on epsilon, wrong with probability at most `error`; 0 where the first rung is not reached."""
        found = 0.0
        for epsilon in self.epsilons:
            if self._largest[epsilon] < math.log(1 / error):
                break
            found = epsilon
        return found
