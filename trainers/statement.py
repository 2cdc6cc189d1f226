"""What a run's releases cost, with all that a reader must know to judge it; also of one that was stopped by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ..accounting.bracket import Bracket
from ..mechanisms.digits import as_given, interval
from .engine.checkpoint import Checkpoint
from .engine.paid_round import Paid
from .engine.privacy import PrivacyCost


@dataclass(frozen=True, slots=True)
class PrivacyStatement:
    """epsilon at delta, under which notion and neighbours, of which sampling and noise.

    against: a line for each single observer, in words; observers: the same as plain data, with whatever else the
    trainer has to say. assumptions: what is taken for granted; remarks: what else a reader should know of delta.
    """

    epsilon: Bracket
    delta: float
    notion: str
    neighbouring: str
    sampling: str
    noise_multiplier: float
    assumptions: tuple[str, ...]
    remarks: tuple[str, ...]
    against: tuple[str, ...]
    observers: dict[str, Any]
    seconds: float

    def __str__(self) -> str:
        about = f"{self.notion}, {self.neighbouring}, by {self.epsilon.method}"
        return "\n".join(
            [
                f"epsilon in {interval(self.epsilon)} at delta = {as_given(self.delta)} ({about})",
                *(f"  {line}" for line in self.against),
                *(f"  note: {remark}" for remark in self.remarks),
                *(f"  assuming that {assumption}" for assumption in self.assumptions),
            ]
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data; infinities stay floats."""
        return {
            "epsilon_lower": self.epsilon.lower,
            "epsilon_upper": self.epsilon.upper,
            "delta": self.delta,
            "notion": self.notion,
            "neighbouring": self.neighbouring,
            "sampling": self.sampling,
            "noise_multiplier": self.noise_multiplier,
            "accountant": self.epsilon.method,
            "certified": self.epsilon.certified,
            **self.observers,
            "assumptions": [*self.assumptions, *self.remarks],
            "seconds": self.seconds,
        }


def large_delta(delta: float, population: int) -> tuple[str, ...]:
    """The remark that a delta above 1 / population deserves."""
    if delta <= 1 / population:
        return ()
    return (f"delta is above 1/{population}: it allows one client to be exposed whole",)


SECRET_SEED = "the seed is secret: whoever knows it can subtract the noise"


class Stoppable(Protocol):
    """A trainer, as far as this goes."""

    paid: Paid
    cost: PrivacyCost
    checkpoint: Checkpoint | None

    @property
    def rounds(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Interrupted:
    """privacy: of all releases that were paid for, the last of which may not have been shown; None without noise.
    evaluation: the last one before. folder: of the checkpoint from which the run goes on; None without one."""

    name: str
    rounds: int
    of: int
    releases: int
    privacy: Bracket | None
    delta: float
    notion: str
    neighbouring: str
    evaluation: Mapping[str, Any]
    folder: Path | None

    def __str__(self) -> str:
        lines = [f"{self.name}: interrupted after {self.rounds} of {self.of} rounds"]
        scores = [f"{name.replace('_', ' ')} {value:.4f}" for name, value in self._scores().items()]
        if scores:
            lines.append(
                f"last evaluation, after round {self.evaluation.get('round', self.rounds)}: {', '.join(scores)}"
            )
        if self.privacy is None:
            lines.append("no privacy: trained without noise")
        else:
            spent = f"spent so far: epsilon in {interval(self.privacy)} at delta = {as_given(self.delta)}"
            releases = f"{self.releases} release{'' if self.releases == 1 else 's'}"
            lines.append(f"{spent} ({self.notion}, {self.neighbouring}; {releases})")
        if self.folder is None:
            lines.append("the model is lost; with --checkpoint FOLDER a run can be resumed")
        else:
            lines.append(f"resume it with the same command: its state is in {self.folder}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Plain data; infinities stay floats."""
        ends = self.privacy and {"epsilon_lower": self.privacy.lower, "epsilon_upper": self.privacy.upper}
        return {
            "algorithm": self.name,
            "interrupted": True,
            "rounds": self.rounds,
            "of_rounds": self.of,
            "releases": self.releases,
            "privacy": ends and ends | {"delta": self.delta, "notion": self.notion, "neighbouring": self.neighbouring},
            "last_evaluation": dict(self.evaluation) or None,
            "checkpoint": None if self.folder is None else str(self.folder),
        }

    def _scores(self) -> dict[str, float]:
        wanted = ("test_accuracy", "test_loss")
        return {name: self.evaluation[name] for name in wanted if isinstance(self.evaluation.get(name), float)}


def interrupted(
    name: str, trainer: Stoppable, of: int, history: Sequence[Mapping[str, Any]] = (), folder: Path | None = None
) -> Interrupted:
    """Of a trainer between two rounds, or in one: what was paid for counts, shown or not."""
    cost = trainer.cost
    spent, evaluation = cost.between(trainer.paid.drawings, trainer.paid.whole), history[-1] if history else {}
    against = cost.goal.delta, cost.notion, cost.relation
    return Interrupted(name, trainer.rounds, of, trainer.paid.releases, spent, *against, evaluation, folder)
