"""What was paid for: releases, and the drawings of cohorts that they are of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


class Paid:
    """Releases by drawing. Where cohorts are drawn round by round each release is of a drawing of its own.

    period: the rounds that one drawing covers (CohortSampler). Attempts at a round that was paid for before are of
    other drawings: a whole one is charged for however few of them.
    """

    def __init__(self, period: int, releases: Iterable[tuple[int, int]] = ()) -> None:
        self._period = period
        self._of: Counter[tuple[int, int]] = Counter()
        for round_index, attempt in releases:
            self.add(round_index, attempt)

    def add(self, round_index: int, attempt: int) -> None:
        """One more release."""
        self._of[round_index // self._period, attempt] += 1

    def covers(self, round_index: int, attempt: int) -> bool:
        """Whether such a release is of a drawing that is paid for."""
        return (round_index // self._period, attempt) in self._of

    @property
    def releases(self) -> int:
        return self._of.total()

    @property
    def drawings(self) -> int:
        """All that were begun: what is charged."""
        return len(self._of)

    @property
    def whole(self) -> int:
        """Those of which every round was released: what is certainly revealed."""
        return sum(times >= self._period for times in self._of.values())
