"""A round that is paid for: spend, publish, commit. What privacy rests on, once for all trainers.

(1) The round's release is computed, of which nobody sees anything. (2) It is recorded as spent, on disk. (3) It is
published. (4) The new state is committed, which is the moment at which the round counts as done.

A round that was recorded as spent, whenever that was, but is not in the state runs again with the same random streams.
If its release has the recorded digest it is the same release, published once more at no cost. If not (another device,
other arithmetic, another state before it) the same noise on two different sums would reveal their difference: the round
then runs with fresh streams, and is recorded, and charged, as another attempt.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from .paid import Paid


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
