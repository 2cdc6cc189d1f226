"""Who took part in which round, to be compared with the scheme that was accounted (dpcert audit --schedule)."""

from __future__ import annotations

from ...mechanisms import InputError
from .trainer import Trainer


def keep_schedule(trainer: Trainer) -> None:
    """From now on the trainer's sampler keeps what it draws; the rounds before a resumed run's are drawn again.

    Raises InputError where everybody takes part in every round.
    """
    if trainer.sampler.sampling == "full":
        raise InputError("sampling", "full", "cohorts that are drawn: there is no schedule to log")
    trainer.sampler.kept = {}
    for before in range(trainer.rounds):
        paid = trainer.paid.latest(before)
        trainer.sampler.draw(trainer.streams, paid.attempt if paid else 0, before)


def schedule_of(trainer: Trainer) -> dict[str, object]:
    """The log of the rounds so far, of whole epochs where one drawing covers several rounds. As secret as the seed.

    A round that had to be repeated, with another release, is there as it was repeated.
    """
    kept = trainer.sampler.kept or {}
    rounds = [kept[done].tolist() for done in range(trainer.rounds - trainer.rounds % trainer.sampler.period)]
    return {"population": trainer.sampler.population, "sampling": trainer.sampler.in_claims(), "rounds": rounds}
