"""epsilon after every round of a training loop, at a cost that does not grow with the rounds."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

from ...mechanisms import Mechanism, Neighbouring, Repeat, Sequence, neighbouring_relation, rounds_by_step
from ...mechanisms.validate import open_probability
from ..bracket import Bracket, OutOfReach
from ..contour import contour
from ..contour.running import RunningInversion
from ..dominating import dominating
from ..epsilon import epsilon as epsilon_of
from ..pairs import Composition, Pair

GOOD = 2e-10
"""Width above which the inversion is laid out anew, relative to epsilon where that is above 1: two readings of the same
record, whatever was read before, differ by less than 1e-9."""

AHEAD = Fraction(5, 4)
"""Rounds for which it is laid out, relative to those that there are; it then serves up to about twice as many."""

REACH = 4.0
"""Growth of the number of rounds beyond which an inversion is not even tried: it was laid out for fewer."""

PATIENCE = 1.3
"""Growth of the number of rounds after which an inversion is tried again where it did not serve."""


class RunningEpsilon:
    """The cost at one delta of everything recorded so far, after every round.

    Recording costs next to nothing, reading a row of numbers for each mechanism that is new since the last reading.
    The first reading is accounting.epsilon's to the last bit. Each is certified; the last digits of later
    ones may depend on when it was asked before. Where the rounds are not
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
        self._behind: dict[Mechanism, int] = {}
        self._rounds = self._orders = self._laid_out_at = 0
        self._tight, self._asked = True, False
        self._reading: Bracket | None = None
        self._not_before = 0

    def record(self, mechanism: Mechanism) -> None:
        """Add what ran, whole runs included. Raises InputError, and records nothing, where no bound is known."""
        steps = rounds_by_step(mechanism)
        for step in steps:
            if step not in self._pairs:
                self._prepare(step)
        self._count(steps, 1)

    def after(self, mechanism: Mechanism) -> Bracket:
        """What epsilon would be with the mechanism recorded, which it is not."""
        before = self._reading
        self.record(mechanism)
        try:
            return self.epsilon()
        finally:
            self._count(rounds_by_step(mechanism), -1)
            self._reading = before

    def _count(self, steps: dict[Mechanism, int], sign: int) -> None:
        """Add rounds to the record, or take them back."""
        self._reading = None
        for step, rounds in steps.items():
            self._counts[step] = self._counts.get(step, 0) + sign * rounds
            self._behind[step] = self._behind.get(step, 0) + sign * rounds
            self._rounds += sign * rounds

    def run(self) -> Mechanism | None:
        """Everything recorded, as one description; None for nothing."""
        parts = tuple(Repeat(step, rounds) for step, rounds in self._counts.items() if rounds)
        return Sequence(parts) if parts else None

    def epsilon(self) -> Bracket:
        """The certified epsilon of everything recorded."""
        if self._reading is None:
            self._reading = self._read()
        return self._reading

    def _read(self) -> Bracket:
        if not self._rounds:
            return Bracket(0.0, 0.0, True, "empty")
        if self._tight and self._asked and self._rounds >= self._not_before:
            try:
                return self._from_running()
            except OutOfReach:
                self._not_before = math.ceil(PATIENCE * self._rounds)
        run, self._asked = self.run(), True
        assert run is not None
        return epsilon_of(run, self.delta, self.neighbouring, participation=self.participation)

    def _prepare(self, step: Mechanism) -> None:
        """Find the step's pair for each order of the neighbours; note where that is not all there is to say."""
        pairs = dominating(step, self.neighbouring, self.participation)
        alone = tuple(product[0][0] for product in pairs.upper)
        served = all(contour.supports(product) for product in pairs.upper)
        self._pairs[step] = alone
        self._orders = max(self._orders, len(alone))
        self._tight &= served and pairs.lower == pairs.upper

    def _pair(self, step: Mechanism, order: int) -> Pair:
        """A step with a single pair has it in every order."""
        pairs = self._pairs[step]
        return pairs[min(order, len(pairs) - 1)]

    def _from_running(self) -> Bracket:
        if len(self._running) == self._orders and self._rounds <= REACH * self._laid_out_at:
            self._catch_up()
            reading = self._between()
            if reading is not None:
                return reading
        self._running.clear()
        self._behind.clear()
        self._running += [self._laid_out(order) for order in range(self._orders)]
        self._laid_out_at = self._rounds
        reading = self._between()
        if reading is None:
            self._running.clear()
            raise OutOfReach("too few rounds for one inversion to serve several")
        return reading

    def _catch_up(self) -> None:
        """Count in the inversions what was recorded since the last reading."""
        for step, rounds in self._behind.items():
            for order, running in enumerate(self._running):
                running.add(self._pair(step, order), rounds)
        self._behind.clear()

    def _between(self) -> Bracket | None:
        """The reading of the inversions as they are laid out; None where it is not narrow."""
        ends = [running.between() for running in self._running]
        low, high = max(low for low, _ in ends), max(high for _, high in ends)
        narrow = high - low <= GOOD * max(1.0, high) < math.inf
        return Bracket(low, high, True, contour.METHOD) if narrow else None

    def _laid_out(self, order: int) -> RunningInversion:
        """A new inversion for all rounds so far, and some more."""
        counts: dict[Pair, int] = {}
        for step, rounds in self._counts.items():
            if rounds:
                pair = self._pair(step, order)
                counts[pair] = counts.get(pair, 0) + rounds
        running = RunningInversion(_scaled(counts), math.log(self.delta))
        for pair, rounds in counts.items():
            running.add(pair, rounds)
        return running


def _scaled(counts: dict[Pair, int]) -> Composition:
    """AHEAD times as many rounds in all; what rounding a pair's count leaves over goes to the next ones."""
    composition, before, total = [], 0, 0
    for pair, rounds in counts.items():
        total += rounds
        until = math.ceil(AHEAD * total)
        composition.append((pair, until - before))
        before = until
    return tuple(composition)
