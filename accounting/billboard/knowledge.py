"""Who knows what about one unit's participation, by sampling scheme and observer; the reasons in words.

The table that docs/theory/billboard.md derives, section "Who sees participation".
"""

from __future__ import annotations

from ...mechanisms import (
    CorrelatedGaussian,
    Cyclic,
    FixedSize,
    Mechanism,
    Poisson,
    RandomAllocation,
    Shuffled,
    TruncatedPoisson,
    VisibleParticipation,
    WithReplacement,
)
from ...mechanisms.word import Word
from .guarantees import Observer, ObserverKind


class Knows(Word):
    """How much an observer is taken to know of when one unit takes part."""

    NOTHING = "nothing"
    PARTLY = "partly"
    EVERYTHING = "everything"


class Clients(Word):
    """Whether a client's contribution or model depends on which earlier rounds it took part in (a persistent local
    model, control variates, a local step count), or on its data, its coins of the round and the billboard only."""

    STATELESS = "stateless"
    STATEFUL = "stateful"


def participation_known(step: Mechanism, observer: Observer, clients: Clients) -> tuple[Knows, str]:
    """What the observer must be assumed to know of one unit's participation in this step, and why.

    EVERYTHING where it does know, and where not knowing helps nobody in a way that is proven.
    """
    if isinstance(step, VisibleParticipation):
        return Knows.EVERYTHING, "the round shows whether the unit took part, whoever looks"
    if isinstance(step, CorrelatedGaussian):
        return Knows.EVERYTHING, "correlated noise: the cost is that of the worst participations allowed, seen or not"
    if isinstance(step, TruncatedPoisson):
        return (
            Knows.EVERYTHING,
            "cohorts cut at a largest size: no amplification is used; accounted as for one who knows",
        )
    if not isinstance(step, Poisson | FixedSize | Shuffled | WithReplacement | Cyclic | RandomAllocation):
        return Knows.EVERYTHING, "no sampling: everybody takes part in every round"
    if _everybody(step):
        return Knows.EVERYTHING, "the whole population takes part in every round"
    if isinstance(step, Cyclic):
        return Knows.EVERYTHING, "cyclic: the schedule is fixed and public; each pass counts each unit once"
    if observer.kind == ObserverKind.SERVER:
        return Knows.EVERYTHING, "the server draws the cohorts, or sees who uploads"
    if isinstance(step, Poisson):
        return (
            Knows.NOTHING,
            "Poisson: the others' coins are independent of the unit's, whoever pools them, with or without state",
        )
    if isinstance(step, RandomAllocation):
        return _allocated(step, clients)
    if observer.kind == ObserverKind.COALITION and _all_others(step, observer):
        return Knows.EVERYTHING, (
            "cohorts of a fixed size: the others know when they took part themselves, so together when the unit did"
        )
    return _without_the_others(step, observer, clients)


def _allocated(step: RandomAllocation, clients: Clients) -> tuple[Knows, str]:
    """Choices are independent; with several in a block, later contributions could carry what the earlier ones were."""
    if clients == Clients.STATEFUL and step.participations > 1:
        return Knows.EVERYTHING, (
            "random allocation with stateful clients: of several rounds in a block, later contributions may depend on "
            "which the earlier were, and no amplification is proven; accounted as for one who knows"
        )
    return Knows.NOTHING, "random allocation: the others' choices are independent of the unit's, whoever pools them"


def _without_the_others(step: Mechanism, observer: Observer, clients: Clients) -> tuple[Knows, str]:
    """Fixed-size, with-replacement or shuffled cohorts, before somebody who lacks at least one other member."""
    if isinstance(step, Shuffled):
        return _shuffled(observer, clients)
    if isinstance(step, WithReplacement):
        return (
            Knows.EVERYTHING,
            "drawn with replacement: hidden, but no amplification is used; accounted as for one who knows",
        )
    if clients == Clients.STATEFUL:
        return Knows.EVERYTHING, (
            "fixed-size cohorts with stateful clients: what others publish later tells who took part before, so "
            "amplification round by round is not sound; accounted as for one who knows"
        )
    if observer.kind == ObserverKind.COALITION:
        return Knows.PARTLY, (
            "fixed-size cohorts: J colluders in the cohort leave the unit a conditional rate of (q - J) / (m - c)"
        )
    return (
        Knows.NOTHING,
        "fixed-size cohorts, stateless clients, and no client among the observers: participation stays hidden",
    )


def _shuffled(observer: Observer, clients: Clients) -> tuple[Knows, str]:
    """The others hide the unit as long as nobody knows their batches, and nothing tells which the last ones were."""
    if observer.kind == ObserverKind.COALITION:
        return Knows.EVERYTHING, "shuffled: colluders know their own batches; accounted as for one who knows the unit's"
    if clients == Clients.STATEFUL:
        return Knows.EVERYTHING, (
            "shuffled batches with stateful clients: what clients publish later tells in which batches they were; "
            "accounted as for one who knows"
        )
    return (
        Knows.NOTHING,
        "shuffled batches, stateless clients, and no client among the observers: the unit's batch stays hidden",
    )


def _everybody(step: Mechanism) -> bool:
    if isinstance(step, RandomAllocation):
        return step.participations == step.rounds
    return isinstance(step, Poisson | FixedSize) and step.sampling_rate == 1.0


def _all_others(step: Mechanism, observer: Observer) -> bool:
    if observer.size is None:
        return True
    return isinstance(step, FixedSize | WithReplacement) and observer.size == step.population - 1
