"""What is asked of the prover, and what was found so far."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .budget import Work
from .domain import Domain
from .proof import Counterexample, Proof, rounded_up
from .search import Piece

Progress = Callable[[int, int], None]
"""Called with the cases done and their number."""


def silent(done: int, total: int) -> None:
    """Progress that nobody asked for."""


@dataclass
class Question:
    """What is asked, and what was found so far."""

    mechanism: Callable[..., Any]
    notion: str
    claim: Fraction | None
    entries: int
    relation: str
    domain: Domain
    container: str
    delta: Fraction = Fraction(0)
    up_to: int | None = None
    """As many entries are enough; None: every number is asked for."""
    cases: dict[tuple[int, str], list[Piece]] = field(default_factory=dict)
    examples: list[Counterexample] = field(default_factory=list)
    dearest: Counterexample | None = None
    epsilon: Fraction | None = Fraction(0)
    words: str = ""
    work: Work = field(default_factory=Work)
    seconds: float = math.inf
    """For the search; and as many for the checker."""
    checking: Progress = silent
    began: float = field(default_factory=time.monotonic)

    def limited(self, seconds: float, questions: int | None) -> None:
        """The search ends after so many of them."""
        self.seconds = seconds
        self.work = Work(questions, time.monotonic() + seconds)

    def forget(self) -> None:
        """A search begins anew."""
        self.cases, self.examples, self.epsilon = {}, [], Fraction(0)

    @property
    def name(self) -> str:
        return f"{self.mechanism.__module__}:{getattr(self.mechanism, '__qualname__', type(self.mechanism).__name__)}"

    def _words(self) -> str:
        return "all answers to queries of sensitivity 1" if self.relation == "answers" else self.domain.words()

    def proof(self, verdict: str, reason: str, **more: Any) -> Proof:
        return Proof(
            self.name,
            verdict,
            None if self.claim is None else float(self.claim),
            None if self.epsilon is None or verdict == "unsupported" else rounded_up(self.epsilon),
            self.relation,
            self.words or self._words(),
            tuple(sorted({size for size, _ in self.cases})),
            reason,
            time.monotonic() - self.began,
            notion=self.notion,
            container=self.container,
            delta=float(self.delta),
            counterexamples=tuple(self.examples[:6]),
            dearest=self.dearest,
            asked=self.up_to,
            **more,
        )
