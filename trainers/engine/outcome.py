"""What a training run came to, and who is told of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from ...accounting.bracket import Bracket
from ...mechanisms import Mechanism


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What training came to.

    rounds: completed. spent: drawings of cohorts paid for: one a release, or one an epoch; more than these only where a
    crashed round had to be repeated.
    privacy: bracket of epsilon; None without noise. mechanism: what was released, for the accountants.
    stopped_by_budget: whether one more round would have exceeded the budget.
    history: the evaluations on the way as JSON-able records; the last one is of the final models.
    """

    rounds: int
    spent: int
    privacy: Bracket | None
    mechanism: Mechanism | None
    stopped_by_budget: bool
    history: tuple[dict[str, Any], ...]
    seconds: float

    @property
    def final(self) -> dict[str, Any]:
        """The last evaluation."""
        return self.history[-1]


class Attests(Protocol):
    """What is told of a run, by its Trainer, before its first round, and after its last one, in the first process."""

    def begin(self, trainer: Any) -> None: ...
    def end(self, trainer: Any, outcome: Outcome) -> None: ...
