"""What a run had come to when it was stopped by hand: what is known, and what it had spent by then."""

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
