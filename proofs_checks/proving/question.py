"""What is asked of the prover, and what was found so far."""

from __future__ import annotations

import hashlib
import inspect
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from .checker.check import FORMAT
from .checker.pairs import Setting
from .proof import NAMES, Counterexample, Proof, rounded_up
from .search import Piece
from .solver import Work

Progress = Callable[[int, int], None]
"""Called with the cases done and their number."""


def silent(done: int, total: int) -> None:
    """Progress that nobody asked for."""


@dataclass
class Question:
    """What is asked, and what was found so far."""

    mechanism: Callable[..., Any]
    claim: Fraction | None
    entries: int
    setting: Setting
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

    @property
    def notion(self) -> str:
        return self.setting.notion

    def asks(self, notion: str, claim: Fraction | None) -> None:
        """Something else is asked from here on."""
        self.setting, self.claim = replace(self.setting, notion=notion), claim

    def certificate(self, merging: bool) -> dict[str, Any]:
        """What is claimed, and for each pair of neighbours its pieces. Numbers are fractions as text."""
        setting = self.setting
        return {
            "format": FORMAT,
            "function": self.name,
            "source_sha256": source_digest(self.mechanism),
            "relation": setting.relation,
            "container": setting.container,
            "domain": {
                "ends": [None if end is None else str(end) for end in (setting.low, setting.high)],
                "whole": setting.whole,
            },
            "sizes": sorted({entries for entries, _ in self.cases}),
            "merging": merging,
            NAMES[setting.notion]: str(self.epsilon),
            "cases": [
                {"entries": entries, "case": case, "pieces": [piece.to_json() for piece in pieces]}
                for (entries, case), pieces in self.cases.items()
            ],
        }

    def proof(self, verdict: str, reason: str, **more: Any) -> Proof:
        return Proof(
            self.name,
            verdict,
            None if self.claim is None else float(self.claim),
            None if self.epsilon is None or verdict == "unsupported" else rounded_up(self.epsilon),
            self.setting.relation,
            self.words or self.setting.words(),
            tuple(sorted({size for size, _ in self.cases})),
            reason,
            time.monotonic() - self.began,
            notion=self.notion,
            container=self.setting.container,
            delta=float(self.delta),
            counterexamples=tuple(self.examples[:6]),
            dearest=self.dearest,
            asked=self.up_to,
            **more,
        )


def source_digest(function: Callable[..., Any]) -> str | None:
    """SHA-256 of the function's source, where there is one to be read."""
    try:
        return hashlib.sha256(inspect.getsource(function).encode()).hexdigest()
    except (OSError, TypeError):
        return None
