"""Who knows what about one unit's participation, by sampling scheme and observer; the reasons in words.

The table that docs/theory/billboard.md derives, section "Who sees participation".
"""

from __future__ import annotations

from typing import Literal

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
from .guarantees import Observer

Knows = Literal["nothing", "partly", "everything"]
Clients = Literal["stateless", "stateful"]
CLIENTS: tuple[Clients, ...] = ("stateless", "stateful")
"""Whether a client's contribution or model depends on which earlier rounds it took part in (a persistent local
model, control variates, a local step count), or on its data, its coins of the round and the billboard only."""


def participation_known(step: Mechanism, observer: Observer, clients: Clients) -> tuple[Knows, str]:
    """What the observer must be assumed to know of one unit's participation in this step, and why.

    "everything" where it does know, and where not knowing helps nobody in a way that is proven.
    """
    if isinstance(step, VisibleParticipation):
        return "everything", "the round shows whether the unit took part, whoever looks"
    if isinstance(step, CorrelatedGaussian):
        return "everything", "correlated noise: the cost is that of the worst participations allowed, seen or not"
    if isinstance(step, TruncatedPoisson):
        return "everything", "cohorts cut at a largest size: no amplification is used; accounted as for one who knows"
    if not isinstance(step, Poisson | FixedSize | Shuffled | WithReplacement | Cyclic | RandomAllocation):
        return "everything", "no sampling: everybody takes part in every round"
    if _everybody(step):
        return "everything", "the whole population takes part in every round"
    if isinstance(step, Cyclic):
        return "everything", "cyclic: the schedule is fixed and public; each pass counts each unit once"
    if observer.kind == "server":
        return "everything", "the server draws the cohorts, or sees who uploads"
    if isinstance(step, Poisson):
        return (
            "nothing",
            "Poisson: the others' coins are independent of the unit's, whoever pools them, with or without state",
        )
    if isinstance(step, RandomAllocation):
        return _allocated(step, clients)
    if observer.kind == "coalition" and _all_others(step, observer):
        return "everything", (
            "cohorts of a fixed size: the others know when they took part themselves, so together when the unit did"
        )
    return _without_the_others(step, observer, clients)


def _allocated(step: RandomAllocation, clients: Clients) -> tuple[Knows, str]:
    """Choices are independent; with several in a block, later contributions could carry what the earlier ones were."""
    if clients == "stateful" and step.participations > 1:
        return "everything", (
            "random allocation with stateful clients: of several rounds in a block, later contributions may depend on "
            "which the earlier were, and no amplification is proven; accounted as for one who knows"
        )
    return "nothing", "random allocation: the others' choices are independent of the unit's, whoever pools them"


def _without_the_others(step: Mechanism, observer: Observer, clients: Clients) -> tuple[Knows, str]:
    """Fixed-size, with-replacement or shuffled cohorts, before somebody who lacks at least one other member."""
    if isinstance(step, Shuffled):
        return _shuffled(observer, clients)
    if isinstance(step, WithReplacement):
        return (
            "everything",
            "drawn with replacement: hidden, but no amplification is used; accounted as for one who knows",
        )
    if clients == "stateful":
        return "everything", (
            "fixed-size cohorts with stateful clients: what others publish later tells who took part before, so "
            "amplification round by round is not sound; accounted as for one who knows"
        )
    if observer.kind == "coalition":
        return "partly", (
            "fixed-size cohorts: J colluders in the cohort leave the unit a conditional rate of (q - J) / (m - c)"
        )
    return (
        "nothing",
        "fixed-size cohorts, stateless clients, and no client among the observers: participation stays hidden",
    )


def _shuffled(observer: Observer, clients: Clients) -> tuple[Knows, str]:
    """The others hide the unit as long as nobody knows their batches, and nothing tells which the last ones were."""
    if observer.kind == "coalition":
        return "everything", "shuffled: colluders know their own batches; accounted as for one who knows the unit's"
    if clients == "stateful":
        return "everything", (
            "shuffled batches with stateful clients: what clients publish later tells in which batches they were; "
            "accounted as for one who knows"
        )
    return (
        "nothing",
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
