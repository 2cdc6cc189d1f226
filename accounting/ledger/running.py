"""epsilon after every round of a training loop, at a cost that does not grow with the rounds."""

from __future__ import annotations

import math
from typing import Literal

from ...mechanisms import Mechanism, Neighbouring, Repeat, Sequence, neighbouring_relation, rounds_by_step
from ...mechanisms.validate import open_probability
from ..bracket import Bracket, OutOfReach
from ..contour import contour
from ..contour.running import RunningInversion
from ..dominating import dominating
from ..epsilon import epsilon as epsilon_of
from ..pairs import Pair

GOOD = 1e-8
"""Relative width above which the inversion is laid out anew."""

AHEAD = 1.05
"""Rounds for which it is laid out, relative to those that there are."""

PATIENCE = 1.3
"""Growth of the number of rounds after which an inversion is tried again where it did not serve."""


class RunningEpsilon:
    """The cost at one delta of everything recorded so far, after every round.

    Each bracket is certified; its last digits may depend on when it was asked before. Where the rounds are not
    Gaussian or subsampled Gaussian ones, or no tight pair is known, it is accounting.epsilon's, at that one's cost.
    """

    def __init__(
        self,
        delta: float,
        neighbouring: Neighbouring = "add-remove",
        *,
        participation: Literal["hidden", "visible"] = "hidden",
    ) -> None:
        self.delta = open_probability("delta", delta)
        self.neighbouring = neighbouring_relation(neighbouring)
        self.participation: Literal["hidden", "visible"] = participation
        self._counts: dict[Mechanism, int] = {}
        self._pairs: dict[Mechanism, tuple[Pair, ...]] = {}
        self._running: list[RunningInversion] = []
        self._tight = True
        self._reading: Bracket | None = None
        self._not_before = 0

    def record(self, mechanism: Mechanism) -> None:
        """Add what ran, whole runs included. Raises InputError, and records nothing, where no bound is known."""
        steps = rounds_by_step(mechanism)
        for step in steps:
            if step not in self._pairs:
                self._pairs[step] = self._orders(step)
        self._reading = None
        for step, rounds in steps.items():
            self._counts[step] = self._counts.get(step, 0) + rounds
            for order, running in enumerate(self._running):
                running.add(self._pair(step, order), rounds)

    def run(self) -> Mechanism | None:
        """Everything recorded, as one description; None for nothing."""
        parts = tuple(Repeat(step, rounds) for step, rounds in self._counts.items())
        return Sequence(parts) if parts else None

    def epsilon(self) -> Bracket:
        """The certified epsilon of everything recorded."""
        if self._reading is None:
            self._reading = self._read()
        return self._reading

    def _read(self) -> Bracket:
        run = self.run()
        if run is None:
            return Bracket(0.0, 0.0, True, "empty")
        rounds = sum(self._counts.values())
        if self._tight and rounds >= self._not_before:
            try:
                return self._from_running()
            except OutOfReach:
                self._not_before = math.ceil(PATIENCE * rounds)
        return epsilon_of(run, self.delta, self.neighbouring, participation=self.participation)

    def _orders(self, step: Mechanism) -> tuple[Pair, ...]:
        """The step's pair for each order of the neighbours; notes where that is not all there is to say."""
        pairs = dominating(step, self.neighbouring, self.participation)
        alone = tuple(product[0][0] for product in pairs.upper)
        served = all(contour.supports(product) for product in pairs.upper)
        self._tight &= served and pairs.lower == pairs.upper
        return alone

    def _pair(self, step: Mechanism, order: int) -> Pair:
        """A step with a single pair has it in every order."""
        pairs = self._pairs[step]
        return pairs[min(order, len(pairs) - 1)]

    def _from_running(self) -> Bracket:
        orders = max(len(pairs) for pairs in self._pairs.values())
        if len(self._running) == orders:
            ends = [running.between() for running in self._running]
            low, high = max(low for low, _ in ends), max(high for _, high in ends)
            if high - low <= GOOD * high < math.inf:
                return Bracket(low, high, True, contour.METHOD)
        self._running.clear()
        self._running += [self._laid_out(order) for order in range(orders)]
        ends = [running.between() for running in self._running]
        low, high = max(low for low, _ in ends), max(high for _, high in ends)
        if not high - low <= GOOD * high < math.inf:
            self._running.clear()
            raise OutOfReach("too few rounds for one inversion to serve several")
        return Bracket(low, high, True, contour.METHOD)

    def _laid_out(self, order: int) -> RunningInversion:
        """A new inversion for all rounds so far, and some more."""
        counts: dict[Pair, int] = {}
        for step, rounds in self._counts.items():
            pair = self._pair(step, order)
            counts[pair] = counts.get(pair, 0) + rounds
        ahead = tuple((pair, math.ceil(AHEAD * rounds)) for pair, rounds in counts.items())
        running = RunningInversion(ahead, math.log(self.delta))
        for pair, rounds in counts.items():
            running.add(pair, rounds)
        return running
