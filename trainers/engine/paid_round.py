"""What was paid for: releases, and the drawings of cohorts that they are of."""

from __future__ import annotations

from collections import Counter
from typing import Protocol, TypeVar

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


class Digested(Protocol):
    """A release before anybody sees it; the same digest means the same release."""

    def digest(self) -> str: ...


ReleaseT = TypeVar("ReleaseT", bound=Digested)


class PaidRounds(Protocol[ReleaseT]):
    """A trainer, as far as paying goes."""

    paid: Paid

    @property
    def rounds(self) -> int:
        """How many are done."""

    def affordable(self, attempt: int) -> bool:
        """Whether the budget allows this attempt at the next round."""

    def compute(self, attempt: int) -> ReleaseT:
        """The next round's release; a function of the state and the attempt alone, which changes nothing."""

    def publish(self, release: ReleaseT) -> None:
        """Show the release, and move the state on."""

    def commit(self, release: ReleaseT) -> None:
        """Make the round permanent."""


def paid_round(trainer: PaidRounds[ReleaseT]) -> bool:
    """One round; False where the budget does not allow it, and then nothing is released."""
    known = trainer.paid.latest(trainer.rounds)
    attempt = 0 if known is None else known.attempt
    if known is None and not trainer.affordable(attempt):
        return False
    release = trainer.compute(attempt)
    if known is not None and release.digest() != known.digest:
        known, attempt = None, attempt + 1
        if not trainer.affordable(attempt):
            return False
        release = trainer.compute(attempt)
    if known is None:
        trainer.paid.spend(trainer.rounds, attempt, release.digest())
    trainer.publish(release)
    trainer.commit(release)
    return True
