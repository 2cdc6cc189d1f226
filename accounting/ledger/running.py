"""epsilon after every round of a training loop, at a cost that does not grow with the rounds."""

from __future__ import annotations

import math

from ...mechanisms import Disjoint, Mechanism, Repeat, Sequence, rounds_by_step
from ...mechanisms.neighbours import Neighbouring, Participation, Visibility, relation_meant
from ...mechanisms.validate import delta_below_one
from ..bracket import Bracket, OutOfReach
from ..epsilon import epsilon as epsilon_of
from ..losses.smooth import contour
from ..pairs import Pair
from ..pricing.dominating import dominating
from .running_layout import LedgerLayout, layout, loudness

GOOD = 2e-10
"""Width above which the inversion is laid out anew, relative to epsilon where that is above 1: two readings of the same
record, whatever was read before, differ by less than 1e-9."""

SPARE = 0.5
"""Share of GOOD that a layout may need for the rounds that there are already."""

EARLY, LATE, LOUDER = 1.25, 2.5, 1.05
"""Growth of the rounds after which the next layout is begun: early where noise has fallen by a factor of LOUDER."""

PACE = 2.0
"""How many mechanisms it counts for each new one: it is then complete before it is needed, without a pause."""

FEW = 50
"""So many mechanisms are counted at once: below a pause that anybody would notice."""

REACH = 8.0
"""Growth of the number of rounds, relative to what the layout is for, beyond which it is not even tried."""

PATIENCE = 1.3
"""Growth of the number of rounds after which an inversion is tried again where it did not serve."""


class RunningEpsilon:
    """The cost at one delta of everything recorded so far, after every round.

    Recording costs next to nothing, reading a row of numbers for each mechanism that is new since the last reading.
    The first reading is accounting.epsilon's to the last bit. Each is certified; the last digits of later
    ones may depend on when it was asked before. Where the rounds are not
    Gaussian or subsampled Gaussian ones, or no tight pair is known, it is accounting.epsilon's, at that one's cost.

    For rounds whose mechanisms are fixed in advance: what each of them computes may depend on all that was released
    before, its noise and sampling, and whether it runs at all, may not. For those there are filters and an odometer.

    >>> from dpcert.mechanisms import Gaussian, Poisson
    >>> spent = RunningEpsilon(delta=1e-5)
    >>> spent.record(Poisson(Gaussian(1.0), 0.01))
    >>> round(spent.epsilon().upper, 3)
    0.199
    """

    def __init__(
        self,
        delta: float,
        neighbouring: Neighbouring | None = None,
        *,
        participation: Visibility = Participation.HIDDEN,
    ) -> None:
        self.delta = delta_below_one("delta", delta)
        self.neighbouring = relation_meant(neighbouring, participation=participation)
        self.participation = Participation.named("participation", participation)
        self._counts: dict[Mechanism, int] = {}
        self._pairs: dict[Mechanism, tuple[Pair, ...]] = {}
        self._layout: LedgerLayout | None = None
        self._next: LedgerLayout | None = None
        self._credit = self._loudest = 0.0
        self._rounds = self._orders = 0
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

    def rounds_of(self, step: Mechanism) -> int:
        """How many rounds of this step are recorded."""
        return self._counts.get(step, 0)

    def _count(self, steps: dict[Mechanism, int], sign: int) -> None:
        """Add rounds to the record (sign 1), or take them back (-1): what each number is multiplied by."""
        self._reading = None
        for step, rounds in steps.items():
            self._counts[step] = self._counts.get(step, 0) + sign * rounds
            self._rounds += sign * rounds
            for one in (self._layout, self._next):
                if one is not None:
                    one.record(step, sign * rounds)

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
        if self.delta > 0.0 and self._tight and self._asked and self._rounds >= self._not_before:
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
        self._loudest = max(self._loudest, loudness(alone[0]))
        self._tight &= served and pairs.lower == pairs.upper and not isinstance(step, Disjoint)  # which has no orders

    def _from_running(self) -> Bracket:
        for one in (self._layout, self._next):
            reading = self._read_in(one) if one is not None else None
            if reading is not None:
                self._look_ahead()
                return reading
            self._layout, self._next = self._next, None
        self._layout = self._laid_out()
        reading = self._read_in(self._layout)
        if reading is None:
            self._layout = None
            raise OutOfReach("too few rounds for one inversion to serve several")
        return reading

    def _read_in(self, one: LedgerLayout) -> Bracket | None:
        """The reading of a layout that has counted everything; None where it is not narrow, or was made for fewer."""
        if self._rounds > REACH * one.ahead * one.rounds:
            return None
        self._credit += PACE * max(1, one.catch_up())
        low, high = one.between()
        return Bracket(low, high, True, contour.METHOD) if high - low <= _good(high) else None

    def _look_ahead(self) -> None:
        """Begin the next layout in time, let it count some of what it has not counted yet, and change to it."""
        now = self._layout
        if now is None or len(self._counts) <= FEW:
            return
        early = EARLY if self._loudest > LOUDER * now.loudest else LATE
        if self._next is None and self._rounds >= early * now.rounds:
            try:
                self._next, self._credit = self._laid_out(), 0.0
            except OutOfReach:
                return
        if self._next is not None:
            self._credit -= self._next.catch_up(math.floor(self._credit))
            if not self._next.waiting:
                self._layout, self._next = self._next, None

    def _laid_out(self) -> LedgerLayout:
        """A new layout for all rounds so far and as many more as can be; OutOfReach where there is none."""
        return layout(
            self._counts,
            self._pairs,
            self._orders,
            math.log(self.delta),
            lambda low, high: high - low <= SPARE * _good(high),
        )


def _good(epsilon: float) -> float:
    return GOOD * max(1.0, epsilon) if epsilon < math.inf else -1.0
