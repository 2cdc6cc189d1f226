"""What was paid for: releases, and the drawings of cohorts that they are of."""

from __future__ import annotations

from collections import Counter

from .spent import Spent, SpentRecord


class Paid:
    """Releases by drawing. Where cohorts are drawn round by round each release is of a drawing of its own.

    period: the rounds that one drawing covers (CohortSampler). Attempts at a round that was paid for before are of
    other drawings: a whole one is charged for however few of them. record: of this run; a new one in memory by default.
    """

    def __init__(self, period: int = 1, record: SpentRecord | None = None) -> None:
        self._period, self._record = period, record or SpentRecord.in_memory()
        self._of: Counter[tuple[int, int]] = Counter()
        for entry in self._record.entries:
            self._add(entry.round, entry.attempt)

    def spend(self, round_index: int, attempt: int, digest: str) -> None:
        """Pay for one more release, before anybody sees it."""
        self._record.spend(Spent(round_index, attempt, digest))
        self._add(round_index, attempt)

    def latest(self, round_index: int) -> Spent | None:
        """The last attempt at a round that was paid for."""
        return self._record.latest(round_index)

    def covers(self, round_index: int, attempt: int) -> bool:
        """Whether such a release is of a drawing that is paid for."""
        return (round_index // self._period, attempt) in self._of

    @property
    def head(self) -> str:
        """The hash of the last release in the run's record."""
        return self._record.mark.head

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

    def _add(self, round_index: int, attempt: int) -> None:
        self._of[round_index // self._period, attempt] += 1
